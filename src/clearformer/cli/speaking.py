"""What `generate`, `chat` and `embed` share: where to compute, how to write, loading a model, text as it comes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from clearformer.cli.flags import Progressing
from clearformer.cli.screen import Screen, harmless
from clearformer.generate.settings import Options
from clearformer.messages import cli as say

if TYPE_CHECKING:
    from clearformer.load import Found, Loaded
    from clearformer.speed.backend import Wanted

Text = Annotated[str | None, Parameter(help="The text to read; without it, standard input.")]
Model = Annotated[str, Parameter(help="A built-in name, a folder, a .gguf file, a Hub id, or a name under runs/.")]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Placing(Progressing):
    """Where to compute."""

    device: str = "cpu"
    """Where to compute: cpu, cuda, cuda:1, mps."""
    threads: int | None = None
    """Processor threads to compute with; one a core if left out."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Computing(Placing):
    """Where and in what numbers to compute."""

    dtype: Literal["float32", "bfloat16", "float16", "float64"] = "float32"
    """The number type of weights and cache."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Speaking(Placing):
    """Where, in what numbers and by what to compute a text."""

    dtype: Literal["float32", "bfloat16", "float16", "float64", "int8", "int4"] = "float32"
    """The number type of the weights; int8 and int4 are packed by the native backend."""
    backend: Literal["auto", "torch", "native"] = "auto"
    """What computes: PyTorch, the compiled kernels, or of the two what writes faster and is exact enough."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Writing(Options):
    """How to write."""

    use_cache: Annotated[bool, Parameter(name="--cache", negative="--no-cache")] = True
    """Keep keys and values; without, every step reads the whole text again."""


COMPUTING = Computing()
SPEAKING = Speaking()
WRITING = Writing()


def loaded(model: str, flags: Computing, screen: Screen) -> Loaded:
    """The model in memory, fetched with a bar if it must be. Raises MachineError for what this machine lacks."""
    import clearformer.machine as machine
    from clearformer.load import load

    device = machine.checked_device(flags.device)
    dtype = machine.checked_dtype(flags.dtype, flags.device)
    machine.use_threads(flags.threads)
    with screen.progress(say.LOADING, in_bytes=True, name=model) as advance:
        return load(model, device=device, dtype=dtype, progress=advance)


def ready_to_write(model: str, flags: Speaking, screen: Screen, *, cached: bool = True) -> Loaded:
    """The model as its backend wants it: packed for the compiled kernels, or PyTorch's, its projections packed where
    this processor gains by it. Only for writing text; where `auto` falls back to PyTorch, a note says why."""
    import clearformer.machine as machine
    from clearformer.load import look
    from clearformer.speed.backend import PACKED_TYPES, Wanted
    from clearformer.store import resolve

    machine.checked_device(flags.device)
    if flags.dtype not in PACKED_TYPES:
        machine.checked_dtype(flags.dtype, flags.device)
    threads = machine.use_threads(flags.threads)
    with screen.progress(say.LOADING, in_bytes=True, name=model) as advance:
        found = look(resolve(model, progress=advance))
    return filled(found, Wanted(flags.backend, flags.dtype, flags.device, cached), threads, screen)


def filled(found: Found, wanted: Wanted, threads: int, screen: Screen) -> Loaded:
    """What was found, with its weights in the hands of the chosen backend."""
    import torch

    from clearformer.load import loaded, weights_of, with_model
    from clearformer.messages import native as say_of_native
    from clearformer.native.structures import BLOCKS
    from clearformer.spec import DecoderOnly
    from clearformer.speed.backend import choose
    from clearformer.speed.native import NativeDecoder, as_format
    from clearformer.speed.pack import packed

    chosen = choose(found.spec, wanted)
    if not chosen.native:
        if chosen.why is not None:
            screen.note(say_of_native.NOT_THERE if chosen.absent else say_of_native.FALLS_BACK, why=chosen.why)
        speaker = loaded(found, torch.device(wanted.device), getattr(torch, wanted.dtype))
        return replace(speaker, model=packed(speaker.model))
    assert isinstance(found.spec, DecoderOnly)
    decoder = NativeDecoder(found.spec, weights_of(found, blocks=BLOCKS), as_format(wanted.dtype), threads=threads)
    if decoder.engine.threads < threads:
        screen.note(say_of_native.FEWER_THREADS, found=decoder.engine.threads, wanted=threads)
    # torch only samples now, and its idle threads would keep ours from the cores.
    torch.set_num_threads(1)
    return with_model(found, decoder)


def write(piece: str) -> None:
    """A piece of the result, at once."""
    print(harmless(piece), end="", flush=True)
