"""Models of the Hugging Face Hub, through huggingface_hub and its own cache; HF_* variables are honoured by it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clearformer.errors import StoreError, UsageError
from clearformer.messages import store as say
from clearformer.store.places import Kind, Progress, contents

# Weights without code: no pickles, no Python, no other framework's copies.
_FILES = ["*.safetensors", "*.json", "*.jinja", "*.model", "vocab.txt", "merges.txt"]
_OTHERS = ["onnx/*", "openvino/*", "original/*"]
_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)


def split_id(model: str) -> tuple[str, str | None] | None:
    """`org/name` or `org/name/FILE.gguf` as (id, file or None); None for what cannot be a Hub id."""
    parts = model.split("/")
    file = parts.pop() if len(parts) > 2 and parts[-1].endswith(".gguf") else None
    hub_id = "/".join(parts)
    if not _ID.fullmatch(hub_id) or ".." in model or "--" in hub_id or hub_id.endswith((".git", ".ipynb")):
        return None
    return hub_id, file


def fetch(hub_id: str, file: str | None, progress: Progress) -> tuple[Kind, Path]:
    """The local copy of a Hub model, fetched if it must be: a folder, or a GGUF file. Raises StoreError."""
    if file:
        return "gguf", _one_file(hub_id, file)
    names = _list(hub_id)
    if names is None or any(name.endswith(".safetensors") for name in names):
        if found := contents(snapshot(hub_id, None, progress)):
            return found
        raise StoreError(say.HUB_NO_WEIGHTS, name=hub_id)
    files = [name for name in names if name.endswith(".gguf")]
    if not files:
        raise StoreError(say.HUB_NO_WEIGHTS, name=hub_id)
    if len(files) > 1:
        raise UsageError(say.HUB_SEVERAL, name=hub_id, files=", ".join(files))
    return "gguf", _one_file(hub_id, files[0])


def snapshot(hub_id: str, target: Path | None, progress: Progress) -> Path:
    """Config, safetensors and tokenizer of a model, in `target` or in the Hub's cache. Raises StoreError."""
    from huggingface_hub import snapshot_download

    with _hub_errors(hub_id):
        found = snapshot_download(
            hub_id, allow_patterns=_FILES, ignore_patterns=_OTHERS, local_dir=target, tqdm_class=_bar(progress)
        )
    return Path(str(found))


def _one_file(hub_id: str, file: str) -> Path:
    from huggingface_hub import hf_hub_download

    with _hub_errors(hub_id):
        return Path(str(hf_hub_download(hub_id, file)))


def _list(hub_id: str) -> list[str] | None:
    """The files of a Hub model; None where the Hub cannot be asked, and its cache must do."""
    from huggingface_hub import HfApi

    try:
        with _hub_errors(hub_id):
            # Not list_repo_files, which retries for half a minute where there is no network.
            return [file.rfilename for file in HfApi().model_info(hub_id).siblings or []]
    except StoreError as error:
        if error.failure is say.HUB_UNREACHABLE:
            return None
        raise


@contextmanager
def _hub_errors(hub_id: str) -> Iterator[None]:
    from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError

    try:
        yield
    except (RepositoryNotFoundError, HFValidationError):  # the first covers gated models
        raise StoreError(say.HUB_NOT_FOUND, name=hub_id) from None
    except Exception as error:  # the HTTP library's own errors, and the operating system's, have no common tree
        detail = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        raise StoreError(say.HUB_UNREACHABLE, name=hub_id, detail=detail) from error


def _bar(progress: Progress) -> Any:
    """A tqdm class that shows nothing and reports the bytes of the whole snapshot to `progress`."""
    from huggingface_hub.utils.tqdm import tqdm

    class Silent(tqdm):
        n: float

        def __init__(self, *args: Any, **options: Any) -> None:
            self.counts_bytes = options.get("name") == "huggingface_hub.snapshot_download"
            super().__init__(*args, **{**options, "disable": True})
            self.total, self.n = options.get("total", 0), 0

        def update(self, n: float | None = 1) -> bool | None:
            self.n += n or 0
            if self.counts_bytes:
                progress(int(self.n), int(self.total or 0))
            return None

    return Silent
