"""`clearformer bench taps`: what it costs that one may look inside, while nobody looks."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from clearformer.cli.bench_flags import TIMING, Timing, keep
from clearformer.cli.bench_lengths import Lengths, about_runs, lengths_of
from clearformer.cli.flags import Spoken
from clearformer.cli.screen import Screen
from clearformer.errors import UsageError
from clearformer.messages import bench as say
from clearformer.messages import cli as say_everywhere

if TYPE_CHECKING:
    from clearformer.bench.taps import TapsRow


def taps(
    *,
    model: Annotated[
        str, Parameter(help="A built-in name, a folder, a .gguf file, a Hub id, or a name under runs/.")
    ] = "smollm2-135m",
    lengths: Lengths = "1,128",
    flags: Timing = TIMING,
    language: Spoken = "en",
) -> int:
    """Measure what the points for looking inside cost while they are off: a forward pass with them and without any."""
    import torch

    import clearformer.bench.jobs as jobs
    import clearformer.machine as machine
    from clearformer.bench.taps import ALLOWED, measure_taps
    from clearformer.load import loaded, look
    from clearformer.model import DecoderOnly
    from clearformer.store import resolve

    screen = Screen(language, flags)
    wanted = lengths_of(lengths)
    jobs.require_at_least({"--runs": (flags.runs, 1)})
    dtype = machine.checked_dtype(flags.dtype)
    threads = machine.use_threads(flags.threads)
    with screen.progress(say_everywhere.LOADING, in_bytes=True, name=model) as advance:
        found = look(resolve(model, progress=advance))
    _require_readable(found.spec, model, wanted)
    reader = loaded(found, torch.device("cpu"), dtype).model.eval()
    assert isinstance(reader, DecoderOnly)
    screen.note(say.CALIBRATING)
    before = jobs.require_calm(flags.busy_ok)
    with screen.progress(say.RUNNING) as advance:
        rows = measure_taps(reader, wanted, runs=flags.runs, advance=advance)
    about = about_runs(threads, before, jobs.require_calm(flags.busy_ok))
    settings = {"model": model, "dtype": flags.dtype, "lengths": wanted, "runs": flags.runs}
    told: dict[str, Any] = {"job": "taps", "machine": about, "settings": settings}
    told |= {"rows": [asdict(row) for row in rows], "allowed": ALLOWED, "within": _within(rows)}
    _tell(told, rows, screen)
    keep(told, flags, screen)
    return 0 if all(row.same for row in rows) else 1


def _require_readable(spec: object, model: str, lengths: list[int]) -> None:
    """Raises UsageError for a model that does not read text alone, or not so much of it."""
    from clearformer.spec import DecoderOnly, Tokens

    if not isinstance(spec, DecoderOnly) or not isinstance(spec.decoder.input, Tokens):
        raise UsageError(say.NO_DECODER, name=model)
    if max(lengths) > spec.context:
        raise UsageError(say.PAST_CONTEXT, found=max(lengths), context=spec.context, name=model)


def _within(rows: list[TapsRow]) -> bool:
    from clearformer.bench.taps import ALLOWED

    return all(row.cost <= ALLOWED for row in rows)


def _tell(told: dict[str, Any], rows: list[TapsRow], screen: Screen) -> None:
    if screen.as_json:
        screen.json(told)
        return
    about = told["machine"]
    screen.say(say.TAPS_ON, date=about["date"], **told["settings"])
    screen.say(say.MACHINE, **{**about, "transformers": about["transformers"] or "–"})
    headings = (say.LENGTH, say.TAPS_OFF_MS, say.NO_TAPS_MS, say.TAPS_COST, say.LOW, say.HIGH)
    cells = [
        [
            f"{row.length:,}",
            *(f"{each * 1e3:,.2f}" for each in (row.with_taps, row.without)),
            *(f"{each:+.2%}" for each in (row.cost, row.low, row.high)),
        ]
        for row in rows
    ]
    screen.table(cells, [heading.text(screen.language) for heading in headings])
    screen.say(say.TAPS_WITHIN if told["within"] else say.TAPS_BEYOND, allowed=told["allowed"])
    screen.say(say.SAME_ANSWER if all(row.same for row in rows) else say.OTHER_ANSWER)
    if not about["quiet"]:
        screen.say(say.WAS_BUSY)
