"""Hugging Face transformers reading a model's files: opened as its users open it, silent, from disk alone."""

from __future__ import annotations

import contextlib
import io
import os
import warnings
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from typing import Any

import torch

from clearformer.checkpoint.folder import CONFIG, MAX_CONFIG
from clearformer.checkpoint.reading import inside, read_json
from clearformer.errors import MachineError
from clearformer.families import family_of
from clearformer.messages import verify as messages
from clearformer.store.resolve import Located


def require_transformers() -> None:
    """Raises MachineError where transformers is not installed."""
    if find_spec("transformers") is None:
        raise MachineError(messages.NO_TRANSFORMERS)


def open_with_transformers(located: Located) -> tuple[Any, tuple[str, ...]]:
    """The model in float32 and evaluation mode, of the class that its config names; and the weights that it did not
    find in the files and drew.

    No code of the model's own is run, no pickle opened and nothing fetched. Raises MachineError where transformers is
    not installed or cannot read the model.
    """
    require_transformers()
    import transformers

    gguf = located.kind == "gguf"
    folder = located.path.parent if gguf else located.path
    extra: dict[str, object] = {"gguf_file": located.path.name} if gguf else {"use_safetensors": True}
    kind = getattr(transformers, _class_of(located), None)
    with silent():
        try:
            if kind is None:
                raise ValueError(f"it has no class {_class_of(located)}")
            options = {"dtype": torch.float32, "local_files_only": True, "output_loading_info": True, **extra}
            model, report = kind.from_pretrained(folder, **options)
        except (ValueError, OSError, KeyError, ImportError, RuntimeError) as error:
            detail = str(error).strip().partition("\n")[0].rstrip(".")
            version = metadata.version("transformers")
            values = {"version": version, "path": located.path, "detail": detail}
            raise MachineError(messages.CANNOT_LOAD, **values) from error
    return model.eval(), tuple(sorted(report["missing_keys"]))


def _class_of(located: Located) -> str:
    """The class that the config names; only one that the family knows, so that a file cannot choose another."""
    if located.kind == "gguf":
        return "AutoModelForCausalLM"
    config = read_json(inside(located.path, CONFIG), MAX_CONFIG)
    family = family_of(config, located.path / CONFIG)
    named = config.get("architectures")
    name = named[0] if isinstance(named, list) and named else named
    return name if isinstance(name, str) and name in family.architectures else family.architectures[0]


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Its bars and warnings are not part of the result, and cost time."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), os.environ.get("TQDM_DISABLE")
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    os.environ["TQDM_DISABLE"] = "1"
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(level)
        logging.enable_progress_bar()
        if bars is None:
            del os.environ["TQDM_DISABLE"]
        else:
            os.environ["TQDM_DISABLE"] = bars
