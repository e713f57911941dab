"""`clearformer bench start`: from the start of a process to its first token, and the memory that it takes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from clearformer.cli.bench_flags import Repeating, keep, names_in
from clearformer.cli.flags import Spoken
from clearformer.cli.screen import Screen
from clearformer.errors import UsageError
from clearformer.messages import bench as say
from clearformer.messages import cli as say_everywhere

if TYPE_CHECKING:
    from pathlib import Path

    from clearformer.bench.start import Beyond, Program, StartRow

PROMPT = "The capital of France is"
_PEER: Literal["llama.cpp"] = "llama.cpp"


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Starting(Repeating):
    """What is started."""

    model: str = "smollm2-135m"
    """A built-in name, a folder, a .gguf file, a Hub id, or a name under runs/."""
    dtype: Literal["float32", "bfloat16", "int8", "int4"] = "float32"
    """The number type of the weights, and of the GGUF file that all programs read."""
    backend: Literal["auto", "torch", "native"] = "auto"
    """What computes: PyTorch, the compiled kernels, or of the two what writes faster and is exact enough."""
    vs: Annotated[str, Parameter(help="llama.cpp: start it beside ours, in alternating runs.")] = ""


def start(*, flags: Starting = Starting(), language: Spoken = "en") -> int:
    """Measure a cold start from a GGUF file: seconds until the first token and the most memory, by `import torch`."""
    import clearformer.bench.jobs as jobs
    import clearformer.machine as machine
    from clearformer.bench.environments import LLAMA_CPP, python_of
    from clearformer.bench.llama_cpp import gguf_of
    from clearformer.bench.start import beyond, measure_start
    from clearformer.store import resolve

    screen = Screen(language, flags)
    names = names_in(flags.vs)
    if unknown := next((name for name in names if name != _PEER), None):
        raise UsageError(say.UNKNOWN_PEER, found=unknown, known=_PEER)
    jobs.require_at_least({"--runs": (flags.runs, 1)})
    python = python_of(LLAMA_CPP) if names else None
    threads = machine.use_threads(flags.threads)
    with screen.progress(say_everywhere.PULLING, in_bytes=True, name=flags.model) as advance:
        located = resolve(flags.model, progress=advance)
    with screen.progress(say_everywhere.EXPORTING, in_bytes=True, name=flags.model) as advance:
        file = gguf_of(located, flags.dtype, advance)
    screen.note(say.CALIBRATING)
    before = jobs.require_calm(flags.busy_ok)
    with screen.progress(say.RUNNING) as advance:
        rows = measure_start(_programs(file, flags, threads), python, runs=flags.runs, advance=advance)
    after = jobs.require_calm(flags.busy_ok)
    calm = max(before, after, key=lambda each: each.spread)
    found = beyond(rows, file.stat().st_size + _cache_bytes(file, flags.dtype))
    about = {**jobs.about_machine(threads), "quiet": calm.quiet, "spread": calm.spread, "share": calm.share}
    settings = {"model": flags.model, "dtype": flags.dtype, "backend": flags.backend, "runs": flags.runs}
    told: dict[str, Any] = {"job": "start", "machine": about, "settings": settings}
    told |= {"rows": [asdict(row) for row in rows], "beyond": asdict(found)}
    _tell(told, rows, found, screen)
    keep(told, flags, screen)
    return 0


def _programs(file: Path, flags: Starting, threads: int) -> dict[Program, dict[str, object]]:
    """What is started, the bare import first; llama.cpp where it is asked for."""
    greedy = ["--max-new-tokens", "1", "--temperature", "0", "--threads", str(threads)]
    ours = ["generate", str(file), PROMPT, "--backend", flags.backend, "--dtype", flags.dtype, *greedy]
    found: dict[Program, dict[str, object]] = {"import torch": {}, "clearformer": {"arguments": ours}}
    if flags.vs:
        found[_PEER] = {"file": str(file), "prompt": PROMPT, "threads": threads}
    return found


def _cache_bytes(file: Path, dtype: str) -> int:
    """Keys and values of the prompt and one token more; 0 for a model that keeps none."""
    import torch

    from clearformer.cache.static import cache_bytes
    from clearformer.load import look
    from clearformer.spec import DecoderOnly
    from clearformer.store import Located

    found = look(Located("gguf", file, file.stem))
    assert found.tokenizer is not None
    if not isinstance(found.spec, DecoderOnly):
        return 0
    number = torch.float32 if dtype == "float32" else torch.float16
    return cache_bytes(found.spec.decoder, 1, len(found.tokenizer.encode(PROMPT)) + 1, number)


def _tell(told: dict[str, Any], rows: list[StartRow], found: Beyond, screen: Screen) -> None:
    if screen.as_json:
        screen.json(told)
        return
    about = told["machine"]
    screen.say(say.START_ON, date=about["date"], **told["settings"])
    screen.say(say.MACHINE, **{**about, "transformers": about["transformers"] or "–"})
    headings = (say.CONTESTANT, say.FIRST_MS, say.LOW, say.HIGH, say.PEAK)
    cells = [
        [row.name, *(f"{each * 1e3:,.0f}" for each in (row.median, row.low, row.high)), f"{row.peak / 2**20:,.0f}"]
        for row in rows
    ]
    screen.table(cells, [heading.text(screen.language) for heading in headings])
    if found.allowed_seconds is not None:
        screen.say(say.SECONDS_BEYOND, found=found.seconds, allowed=found.allowed_seconds)
    screen.say(say.BYTES_BEYOND, found=found.bytes / 2**20, allowed=found.allowed_bytes / 2**20)
    if not about["quiet"]:
        screen.say(say.WAS_BUSY)
