"""`clearformer bench decode|prefill|start|attention|cache|taps|train`: our speed, alone or side by side with others."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Literal

from cyclopts import App, Parameter

from clearformer.cli.bench_flags import TIMING, Timing, keep, names_in
from clearformer.cli.bench_lengths import attention, cache
from clearformer.cli.bench_speed import decode, prefill
from clearformer.cli.bench_start import start
from clearformer.cli.bench_tables import tell_rows
from clearformer.cli.bench_taps import taps
from clearformer.cli.flags import Spoken
from clearformer.cli.screen import Screen
from clearformer.messages import bench as say

bench = App(name="bench")
bench.command(decode)
bench.command(prefill)
bench.command(start)
bench.command(attention)
bench.command(cache)
bench.command(taps)


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
    peers = [peer_trainee(name, SHAPES[shape], dtype, compiled=compiled) for name in names_in(vs)]
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
        tell_rows(rows, about, screen)
        if not calm.quiet:
            screen.say(say.WAS_BUSY)
    keep(told, flags, screen)
    return 0
