"""`clearformer bench decode|prefill|attention|cache|train`: our speed, alone or side by side with others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from clearformer.cli.bench_flags import TIMING, Repeating, Timing, keep
from clearformer.cli.bench_lengths import attention, cache
from clearformer.cli.flags import Spoken
from clearformer.cli.screen import Screen
from clearformer.cli.speaking import filled
from clearformer.messages import bench as say
from clearformer.messages import cli as say_everywhere

if TYPE_CHECKING:
    from clearformer.bench.jobs import Job, Report
    from clearformer.bench.rounds import Row

bench = App(name="bench")
bench.command(attention)
bench.command(cache)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Measuring(Repeating):
    """What is measured, and with what."""

    dtype: Literal["float32", "bfloat16", "int8", "int4"] = "float32"
    """Compute in this number type; a peer beside int8 and int4 computes in bfloat16."""
    backend: Literal["auto", "torch", "native"] = "auto"
    """What computes: PyTorch, the compiled kernels, or whichever of them is faster and exact enough."""
    model: str = "smollm2-135m"
    """A built-in name, a folder, a .gguf file, a Hub id, or a name under runs/."""
    vs: Literal["hf"] | None = None
    """Measure Hugging Face transformers beside it, in alternating runs."""


Reading = Annotated[int, Parameter(name="--prompt", help="Tokens of the prompt.")]
Writing = Annotated[int, Parameter(name="--new", help="Tokens to write after it.")]


@bench.command
def decode(
    *, prompt: Reading = 128, new: Writing = 128, flags: Measuring = Measuring(), language: Spoken = "en"
) -> int:
    """Measure writing: tokens a second after the first, batch 1, greedy."""
    return _run("decode", prompt, new, flags, Screen(language, flags))


@bench.command
def prefill(*, prompt: Reading = 512, flags: Measuring = Measuring(), language: Spoken = "en") -> int:
    """Measure reading: prompt tokens a second until the first new token is there, batch 1."""
    return _run("prefill", prompt, 1, flags, Screen(language, flags))


@bench.command
def train(
    *,
    shape: Annotated[
        Literal["char", "small", "translation"],
        Parameter(help="The model and the batch: decoders of 0.8 and 13.9 million, or 7.6 million that translate."),
    ] = "small",
    vs: Annotated[
        str,
        Parameter(
            help="Peers, commas between: nanogpt-like, hf, litgpt, x-transformers, nn; to translate: hf, joeynmt, nn."
        ),
    ] = "",
    steps: Annotated[int, Parameter(help="Updates a run.")] = 10,
    compiled: Annotated[
        bool, Parameter(name="--compile", help="Compile every model; its time is not counted.")
    ] = False,
    flags: Timing = TIMING,
    language: Spoken = "en",
) -> int:
    """Measure training: tokens a second over whole updates, forward, backward and optimizer."""
    import clearformer.bench.jobs as jobs
    import clearformer.machine as machine
    from clearformer.bench.shapes import SHAPES
    from clearformer.bench.training import measure_training, peer_trainee
    from clearformer.bench.training_ours import our_trainee

    screen = Screen(language, flags)
    jobs.require_at_least({"--steps": (steps, 1), "--runs": (flags.runs, 1)})
    dtype = machine.checked_dtype(flags.dtype)
    threads = machine.use_threads(flags.threads)
    names = [name.strip() for name in vs.split(",") if name.strip()]
    peers = [peer_trainee(name, SHAPES[shape], dtype, compiled=compiled) for name in names]
    with our_trainee(SHAPES[shape], flags.dtype, compiled=compiled, note=lambda m, v: screen.note(m, **v)) as ours:
        screen.note(say.CALIBRATING)
        before = jobs.require_calm(flags.busy_ok)
        with screen.progress(say.RUNNING) as advance:
            rows = measure_training([ours, *peers], SHAPES[shape], runs=flags.runs, steps=steps, advance=advance)
        after = jobs.require_calm(flags.busy_ok)
    calm = max(before, after, key=lambda calm: calm.spread)
    settings = {"shape": shape, "dtype": flags.dtype, "compile": compiled, "steps": steps, "runs": flags.runs}
    about = {**jobs.about_machine(threads), "quiet": calm.quiet, "spread": calm.spread, "share": calm.share}
    told = {"job": "train", "machine": about, "settings": settings, "rows": [asdict(row) for row in rows]}
    if screen.as_json:
        screen.json(told)
    else:
        screen.say(say.TRAINING_ON, date=about["date"], **settings)
        _tell_rows(rows, about, screen)
        if not calm.quiet:
            screen.say(say.WAS_BUSY)
    keep(told, flags, screen)
    return 0


def _run(job: Job, prompt: int, new: int, flags: Measuring, screen: Screen) -> int:
    """0, or 1 if both programs compute in float32 and write different tokens."""
    import clearformer.bench.jobs as jobs
    import clearformer.machine as machine
    from clearformer.bench.contestant import Contestant
    from clearformer.bench.expected import expected_tok_s, rates_of
    from clearformer.bench.hugging_face import HuggingFace, require_transformers
    from clearformer.bench.ours import Clearformer
    from clearformer.generate.speaker import speaking_model, tokenizer_of
    from clearformer.load import look
    from clearformer.speed.backend import PACKED_TYPES, Wanted
    from clearformer.store import home, resolve

    if flags.vs:
        require_transformers()
    dtype = machine.checked_dtype("bfloat16" if flags.dtype in PACKED_TYPES else flags.dtype)
    threads = machine.use_threads(flags.threads)
    with screen.progress(say_everywhere.PULLING, in_bytes=True, name=flags.model) as advance:
        located = resolve(flags.model, progress=advance)
    screen.note(say.LOADING, name=flags.model)
    speaker = filled(look(located), Wanted(flags.backend, flags.dtype), threads, screen)
    context = speaking_model(speaker).spec.context
    least = 2 if job == "decode" else 1
    jobs.require_sizes(prompt=prompt, new=new, runs=flags.runs, least_new=least, context=context, name=flags.model)
    ours = Clearformer(speaker)
    contestants: list[Contestant] = [ours]
    if flags.vs:
        # Kernels of ours leave torch one thread, and a peer computes with all of them.
        machine.use_threads(threads)
        contestants.append(HuggingFace(located, dtype))
    ids = jobs.prompt_of(tokenizer_of(speaker), prompt)
    screen.note(say.CALIBRATING)
    with screen.progress(say.RUNNING) as advance:
        report = jobs.measure(job, contestants, ids, new=new, runs=flags.runs, busy_ok=flags.busy_ok, advance=advance)
    sizes = {"prompt": prompt, "new": new}
    expected = None
    if flags.dtype == "float32" or flags.dtype == "bfloat16":
        rates = rates_of(home(), ours.backend, flags.dtype, threads)
        expected = expected_tok_s(speaker.spec, job, rates, flags.dtype, **sizes) if rates else None
    told = {**contents(report, jobs.about_machine(threads), flags, **sizes), "expected": expected}
    _tell(report, told, new, screen)
    keep(told, flags, screen)
    return 1 if flags.dtype == "float32" and report.same_tokens is False else 0


def contents(report: Report, machine: dict[str, Any], flags: Measuring, *, prompt: int, new: int) -> dict[str, Any]:
    """The object that `--json` prints."""
    settings = {"model": flags.model, "dtype": flags.dtype, "prompt": prompt, "new": new, "runs": flags.runs}
    calm = report.calm
    return {
        "job": report.job,
        "machine": {**machine, "quiet": calm.quiet, "spread": calm.spread, "share": calm.share},
        "settings": settings,
        "rows": [asdict(row) for row in report.rows],
        "same_tokens": report.same_tokens,
        "first_difference": report.first_difference,
    }


def _tell(report: Report, told: dict[str, Any], new: int, screen: Screen) -> None:
    if screen.as_json:
        screen.json(told)
        return
    screen.say(say.ON, job=report.job, date=told["machine"]["date"], **told["settings"])
    _tell_rows(report.rows, told["machine"], screen)
    if report.first_difference is not None:
        screen.say(say.OTHER_TOKENS, first=report.first_difference + 1, count=new)
    elif report.same_tokens:
        screen.say(say.SAME_TOKENS, count=new)
    if told["expected"] is not None:
        screen.say(say.EXPECTED, expected=told["expected"], ratio=report.rows[0].median / told["expected"])
    if not report.calm.quiet:
        screen.say(say.WAS_BUSY)


def _tell_rows(rows: Sequence[Row], about: dict[str, Any], screen: Screen) -> None:
    screen.say(say.MACHINE, **{**about, "transformers": about["transformers"] or "–"})
    headings = (say.CONTESTANT, say.UNIT, say.MEDIAN, say.LOW, say.HIGH, say.RATIO)
    cells = [
        [row.name, row.unit, *(f"{n:.1f}" for n in (row.median, row.low, row.high)), _ratio(row.ratio)] for row in rows
    ]
    screen.table(cells, [heading.text(screen.language) for heading in headings])


def _ratio(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio:.2f}×"
