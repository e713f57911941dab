"""What a command line asks of the doctor: code, a run, a checkpoint, a model's name."""

from __future__ import annotations

from pathlib import Path

from clearformer.cli.doctor_flags import Examining
from clearformer.cli.screen import Screen
from clearformer.doctor.apart.request import Request
from clearformer.doctor.apart.user_code import is_code
from clearformer.doctor.registry import BY_ID
from clearformer.doctor.symptom import Symptom
from clearformer.errors import UsageError
from clearformer.messages import cli as say_of_cli
from clearformer.messages import doctor_process as say

CODE = (
    *("loss", "collate", "generate", "sample", "penalise", "beam", "train", "resume", "loader", "forecast"),
    "reference",
)

SIZES = ("vocab", "context", "window", "heads")
IDS = ("pad", "bos", "eos")
LARGEST = 2**31


def request_for(target: str, flags: Examining, screen: Screen, seen: Symptom | None = None) -> Request:
    """The request; a name of the Hub is fetched first. Raises UsageError for what names nothing."""
    from clearformer.cost.fitting import bytes_of

    code = {name: value for name in CODE if (value := getattr(flags, name)) is not None}
    for name, place in code.items():
        if not is_code(place):
            raise UsageError(say.NO_CODE, option=f"--{name}", found=place)
    tokenizer = flags.tokenizer
    if tokenizer is not None and is_code(tokenizer):
        code["tokenizer"], tokenizer = tokenizer, None
    folder = checkpoint = None
    if is_code(target) or ".py" in target:
        code["model"] = target
    else:
        folder, checkpoint = _placed(target, screen)
    only = tuple(name.upper() for name in flags.only)
    if unknown := [name for name in only if name not in BY_ID]:
        raise UsageError(say.NO_SUCH_CHECK, found=unknown[0], known=", ".join(sorted(BY_ID)))
    _in_bounds(flags)
    if not 1 <= flags.time_limit <= 86_400:
        raise UsageError(say.BAD_TIME, found=flags.time_limit)
    return Request(
        code=code,
        folder=folder,
        checkpoint=checkpoint,
        tokenizer=tokenizer,
        kind=flags.kind,
        vocab_size=flags.vocab,
        context=flags.context,
        window=flags.window,
        heads=flags.heads,
        tied=flags.tied,
        pad_id=flags.pad,
        bos_id=flags.bos,
        eos_id=flags.eos,
        call=flags.call,
        quick=flags.quick,
        only=only,
        first=seen.checks if seen is not None else (),
        seconds=flags.time_limit,
        memory=None if flags.memory_limit is None else bytes_of(flags.memory_limit),
        network=flags.network,
        environment=flags.env,
    )


def _in_bounds(flags: Examining) -> None:
    """Raises UsageError for a size that nothing has, and for an id that the vocabulary lacks."""
    for name in SIZES:
        if (size := getattr(flags, name)) is not None and not 1 <= size <= LARGEST:
            raise UsageError(say.BAD_SIZE, option=f"--{name}", found=size, most=LARGEST)
    most = (flags.vocab or LARGEST) - 1
    for name in IDS:
        if (token := getattr(flags, name)) is not None and not 0 <= token <= most:
            raise UsageError(say.BAD_ID, option=f"--{name}", found=token, most=most)


def _placed(target: str, screen: Screen) -> tuple[str | None, str | None]:
    """(folder, checkpoint): a folder's files are looked at even where no model can be made of them."""
    from clearformer.store.resolve import resolve

    if (place := Path(target).expanduser()).is_dir():
        return str(place), str(place) if (place / "config.json").is_file() else None
    with screen.progress(say_of_cli.LOADING, in_bytes=True, name=target) as advance:
        found = resolve(target, progress=advance)
    return str(found.path) if found.kind == "folder" else None, str(found.path)
