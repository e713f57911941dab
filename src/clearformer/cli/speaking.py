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
    from clearformer.load import Loaded

Text = Annotated[str | None, Parameter(help="The text to read; without it, standard input.")]
Model = Annotated[str, Parameter(help="A built-in name, a folder, a .gguf file, a Hub id, or a name under runs/.")]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Computing(Progressing):
    """Where and in what numbers to compute."""

    device: str = "cpu"
    """Where to compute: cpu, cuda, cuda:1, mps."""
    dtype: Literal["float32", "bfloat16", "float16", "float64"] = "float32"
    """The number type of weights and cache."""
    threads: int | None = None
    """Processor threads to compute with; one a core if left out."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Writing(Options):
    """How to write."""

    use_cache: Annotated[bool, Parameter(name="--cache", negative="--no-cache")] = True
    """Keep keys and values; without, every step reads the whole text again."""


COMPUTING = Computing()
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


def ready_to_write(model: str, flags: Computing, screen: Screen) -> Loaded:
    """`loaded`, with projections packed where this processor gains by it: only for writing text."""
    from clearformer.speed.pack import packed

    speaker = loaded(model, flags, screen)
    return replace(speaker, model=packed(speaker.model))


def write(piece: str) -> None:
    """A piece of the result, at once."""
    print(harmless(piece), end="", flush=True)
