"""`clearformer bench decode|prefill`: how fast a model writes and reads, beside Hugging Face and llama.cpp."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from clearformer.cli.bench_flags import Repeating, keep, names_in
from clearformer.cli.bench_tables import tell_rows
from clearformer.cli.flags import Spoken
from clearformer.cli.screen import Screen
from clearformer.cli.speaking import filled
from clearformer.errors import UsageError
from clearformer.messages import bench as say
from clearformer.messages import cli as say_everywhere

if TYPE_CHECKING:
    from clearformer.bench.contestant import Contestant
    from clearformer.bench.jobs import Job, Report
    from clearformer.bench.limits import Reached
    from clearformer.bench.ours import Clearformer
    from clearformer.load import Loaded
    from clearformer.store import Located

PEERS = ("hf", "llama.cpp")
Number = Literal["float32", "bfloat16", "int8", "int4"]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Measuring(Repeating):
    """What is measured, and with what."""

    dtype: Number = "float32"
    """Compute in this number type; a peer beside int8 and int4 computes in bfloat16."""
    backend: Literal["auto", "torch", "native"] = "auto"
    """What computes: PyTorch, the compiled kernels, or of the two what writes faster and is exact enough."""
    model: str = "smollm2-135m"
    """A built-in name, a folder, a .gguf file, a Hub id, or a name under runs/."""
    vs: str = ""
    """Programs beside it in alternating runs, commas between: hf, llama.cpp."""


@dataclass(frozen=True)
class Sizes:
    """`rows` prompts of `prompt` tokens, and `new` tokens after each."""

    prompt: int
    new: int
    rows: int = 1


Reading = Annotated[int, Parameter(name="--prompt", help="Tokens of the prompt.")]
Writing = Annotated[int, Parameter(name="--new", help="Tokens to write after it.")]
Together = Annotated[int, Parameter(name="--rows", help="Texts of that length that are written side by side.")]


def decode(
    *,
    prompt: Reading = 128,
    new: Writing = 128,
    rows: Together = 1,
    flags: Measuring = Measuring(),
    language: Spoken = "en",
) -> int:
    """Measure writing: tokens a second of all rows after their first, greedy."""
    return _run("decode", Sizes(prompt, new, rows), flags, Screen(language, flags))


def prefill(*, prompt: Reading = 512, flags: Measuring = Measuring(), language: Spoken = "en") -> int:
    """Measure reading: prompt tokens a second until the first new token is there, batch 1."""
    return _run("prefill", Sizes(prompt, 1), flags, Screen(language, flags))


def _run(job: Job, sizes: Sizes, flags: Measuring, screen: Screen) -> int:
    """0, or 1 if both programs that compute in float32 alone write different tokens."""
    import clearformer.bench.jobs as jobs
    import clearformer.machine as machine
    from clearformer.bench.ours import Clearformer
    from clearformer.generate.speaker import speaking_model, tokenizer_of
    from clearformer.load import look
    from clearformer.speed.backend import PACKED_TYPES, Wanted
    from clearformer.store import resolve

    peers = peers_of(flags.vs)
    machine.checked_dtype("bfloat16" if flags.dtype in PACKED_TYPES else flags.dtype)
    threads = machine.use_threads(flags.threads)
    with screen.progress(say_everywhere.PULLING, in_bytes=True, name=flags.model) as advance:
        located = resolve(flags.model, progress=advance)
    screen.note(say.LOADING, name=flags.model)
    speaker = filled(look(located), Wanted(flags.backend, flags.dtype), threads, screen)
    context = speaking_model(speaker).spec.context
    least = {"least_new": 2 if job == "decode" else 1, "context": context}
    jobs.require_sizes(**asdict(sizes), **least, runs=flags.runs, name=flags.model)
    # Kernels of ours leave torch one thread; a peer, and the look at the machine, take all of them.
    machine.use_threads(threads)
    ours = Clearformer(speaker)
    with ExitStack() as stack:
        contestants: list[Contestant] = [ours]
        contestants += [_peer(name, located, flags, sizes, threads, stack, screen) for name in peers]
        ids = jobs.prompts_of(tokenizer_of(speaker), sizes.prompt, sizes.rows)
        screen.note(say.CALIBRATING)
        runs, busy_ok = flags.runs, flags.busy_ok
        with screen.progress(say.RUNNING) as advance:
            report = jobs.measure(job, contestants, ids, new=sizes.new, runs=runs, busy_ok=busy_ok, advance=advance)
    reached = _reached(speaker, report, flags.dtype, sizes)
    about = jobs.about_machine(threads) | {"llama_cpp": next((v for v in map(_version, contestants) if v), None)}
    told = contents(report, about, flags, sizes, ours.backend)
    told |= {"reached": asdict(reached) | {"share": reached.share}}
    told |= {"expected": _expected(ours, speaker, job, flags.dtype, threads, sizes)}
    _tell(report, reached, told, screen)
    keep(told, flags, screen)
    return int(flags.dtype == "float32" and any(_differs(report, row) for row in range(1, len(report.rows))))


def peers_of(text: str) -> list[str]:
    """What `--vs` names. Raises UsageError for a program that is unknown, MachineError for one that is absent."""
    from clearformer.bench.environments import LLAMA_CPP, python_of
    from clearformer.bench.hugging_face import require_transformers

    names = names_in(text)
    if unknown := next((name for name in names if name not in PEERS), None):
        raise UsageError(say.UNKNOWN_PEER, found=unknown, known=", ".join(PEERS))
    for name in names:
        require_transformers() if name == "hf" else python_of(LLAMA_CPP)
    return names


def _peer(
    name: str, located: Located, flags: Measuring, sizes: Sizes, threads: int, stack: ExitStack, screen: Screen
) -> Contestant:
    import torch

    from clearformer.bench.hugging_face import HuggingFace
    from clearformer.bench.llama_cpp import LlamaCpp, gguf_of

    if name == "hf":
        return HuggingFace(located, torch.float32 if flags.dtype == "float32" else torch.bfloat16)
    with screen.progress(say_everywhere.EXPORTING, in_bytes=True, name=flags.model) as advance:
        file = gguf_of(located, flags.dtype, advance)
    capacity = sizes.prompt + sizes.new
    return stack.enter_context(LlamaCpp(file, rows=sizes.rows, capacity=capacity, threads=threads))


def _version(contestant: Contestant) -> str | None:
    from clearformer.bench.llama_cpp import LlamaCpp

    return contestant.version if isinstance(contestant, LlamaCpp) else None


def _differs(report: Report, row: int) -> bool:
    """llama.cpp keeps its cache in half precision, so that its float32 is not ours."""
    return report.rows[row].name == "transformers" and report.differences[row] is not None


def _reached(speaker: Loaded, report: Report, dtype: str, sizes: Sizes) -> Reached:
    from clearformer.bench.limits import products_reached, reading_reached

    spec, tok_s = speaker.spec, report.rows[0].median
    if report.job == "prefill":
        return products_reached(spec, dtype, length=sizes.prompt, tok_s=tok_s)
    length = sizes.prompt + sizes.new // 2
    return reading_reached(speaker.model, spec, dtype, rows=sizes.rows, length=length, tok_s=tok_s)


def _expected(ours: Clearformer, speaker: Loaded, job: Job, dtype: Number, threads: int, sizes: Sizes) -> float | None:
    """None where the backend was not measured in this type, or for several rows, which no rate is known for."""
    from clearformer.bench.expected import expected_tok_s, rates_of
    from clearformer.bench.limits import bytes_a_number
    from clearformer.store import home

    rates = rates_of(home(), ours.backend, dtype, threads)
    if sizes.rows > 1 or rates is None:
        return None
    held = bytes_a_number(speaker.model)
    return expected_tok_s(speaker.spec, job, rates, held, prompt=sizes.prompt, new=sizes.new)


def contents(report: Report, machine: dict[str, Any], flags: Measuring, sizes: Sizes, backend: str) -> dict[str, Any]:
    """The object that `--json` prints."""
    settings = {"model": flags.model, "dtype": flags.dtype, "backend": backend, **asdict(sizes), "runs": flags.runs}
    calm = report.calm
    rows = zip(report.rows, report.differences, strict=True)
    return {
        "job": report.job,
        "machine": {**machine, "quiet": calm.quiet, "spread": calm.spread, "share": calm.share},
        "settings": settings,
        "rows": [{**asdict(row), "first_difference": first} for row, first in rows],
        "same_tokens": report.same_tokens,
    }


def _tell(report: Report, reached: Reached, told: dict[str, Any], screen: Screen) -> None:
    if screen.as_json:
        screen.json(told)
        return
    settings = told["settings"]
    screen.say(say.ON, job=report.job, date=told["machine"]["date"], **settings)
    tell_rows(report.rows, told["machine"], screen)
    for row, first in zip(report.rows[1:], report.differences[1:], strict=True):
        if first is None:
            screen.say(say.SAME_TOKENS, name=row.name, count=settings["new"])
        else:
            screen.say(say.OTHER_TOKENS, name=row.name, first=first + 1, count=settings["new"])
    figures = asdict(reached) | {"share": reached.share}
    screen.say(say.OF_READING if reached.limit == "memory read" else say.OF_PRODUCTS, **figures)
    if told["expected"] is not None:
        screen.say(say.EXPECTED, expected=told["expected"], ratio=report.rows[0].median / told["expected"])
    if not report.calm.quiet:
        screen.say(say.WAS_BUSY)
