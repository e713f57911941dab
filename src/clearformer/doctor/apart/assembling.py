"""From a request to the parts: the user's code is loaded, a checkpoint becomes a module."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import nn

from clearformer.doctor.apart.request import Request
from clearformer.doctor.apart.user_code import callable_at, made_by
from clearformer.doctor.check import NotApplicable
from clearformer.doctor.checkpoint_files import config_of, understood
from clearformer.doctor.finding import Said
from clearformer.doctor.parts import Kind, Parts
from clearformer.errors import ClearformerError
from clearformer.load import Loaded, load
from clearformer.messages import doctor_process as say
from clearformer.messages import verbatim
from clearformer.spec import DecoderOnly, EncoderDecoder, EncoderOnly, Spec, Tokens, main_stack

_MODULES = ("model", "reference")


def together(request: Request) -> tuple[Parts, tuple[Said, ...]]:
    """The parts, and what there is to say about them. Raises UsageError for code that cannot be loaded."""
    made: dict[str, Any] = {}
    for name, target in request.code.items():
        if name in _MODULES:
            made[name] = made_by(target, nn.Module, say.ROLES["model"])
        elif name == "tokenizer":
            made[name] = made_by(target, object, say.ROLES["tokenizer"])
        else:
            made[name] = callable_at(target)
    if request.tokenizer is not None:
        made["tokenizer"] = Path(request.tokenizer)
    parts = Parts(
        **request.declared(),
        folder=None if request.folder is None else Path(request.folder),
        **made,
    )
    return (parts, ()) if request.checkpoint is None else _with_checkpoint(parts, request.checkpoint)


def _with_checkpoint(parts: Parts, place: str) -> tuple[Parts, tuple[Said, ...]]:
    """The checkpoint as a module; one that does not load leaves its files, which say why."""
    try:
        found = load(place)
    except ClearformerError as error:
        if parts.folder is None:
            raise
        if not parts.has("model") and (theirs := _as_transformers_reads(parts.folder)) is not None:
            config = config_of(parts.folder)
            rows = parts.vocab_size or config.get("vocab_size")
            return replace(parts, model=theirs, vocab_size=rows if isinstance(rows, int) else None), ()
        return parts, (Said(say.NOT_LOADED, {"why": verbatim(error.cause("en"), error.cause("zh"))}),)
    return _filled(parts, found), ()


def _as_transformers_reads(folder: Path) -> nn.Module | None:
    """A family that transformers knows and we do not: neither the folder's code nor a pickle is read. None where it
    does not load there either."""
    try:
        understood(folder)
    except NotApplicable:
        pass
    except ClearformerError:
        return None
    else:
        return None
    names = config_of(folder).get("architectures")
    try:
        import transformers

        kind = getattr(transformers, str(names[0]) if isinstance(names, list) and names else "AutoModel")
        model = kind.from_pretrained(folder, local_files_only=True, use_safetensors=True, trust_remote_code=False)
    except Exception:
        return None
    return model if isinstance(model, nn.Module) else None


def _filled(parts: Parts, found: Loaded) -> Parts:
    """What the spec and the generation config know, where the user has said nothing else."""
    defaults = found.generation
    known: dict[str, Any] = {
        "model": found.model,
        "kind": kind_of(found.spec),
        "vocab_size": vocabulary_of(found.spec),
        "tokenizer": found.tokenizer,
        "pad_id": defaults.pad_id,
        "bos_id": defaults.begin_id,
        "eos_id": defaults.end_ids[0] if defaults.end_ids else None,
    }
    return replace(parts, **{name: value for name, value in known.items() if not parts.has(name)})


def kind_of(spec: Spec) -> Kind | None:
    match spec:
        case DecoderOnly():
            return "decoder" if vocabulary_of(spec) is not None else "forecaster"
        case EncoderOnly():
            return "encoder"
        case EncoderDecoder():
            return "encoder-decoder" if vocabulary_of(spec) is not None else "forecaster"
    return None


def vocabulary_of(spec: Spec) -> int | None:
    """Rows of the table that ids index; None where what is read are no tokens."""
    if not isinstance(spec, DecoderOnly | EncoderOnly | EncoderDecoder):
        return None
    stack = spec.decoder if isinstance(spec, EncoderDecoder) else main_stack(spec)
    return stack.input.vocabulary if isinstance(stack.input, Tokens) else None
