"""`clearformer bench attention|cache`: what grows with the length, and how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from clearformer.cli.bench_flags import Repeating, Timing, keep
from clearformer.cli.flags import Spoken
from clearformer.cli.screen import Screen
from clearformer.errors import MachineError, UsageError
from clearformer.messages import bench as say

if TYPE_CHECKING:
    from clearformer.bench.attention import AttentionRow, AttentionWork
    from clearformer.bench.cache import CacheRow, Slope
    from clearformer.bench.quiet import Calm
    from clearformer.spec import DecoderOnly

Lengths = Annotated[str, Parameter(name="--lengths", help="Lengths in tokens, commas between; 4K is 4,096.")]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Drawn(Timing):
    """How it is measured and shown."""

    plot: Annotated[Path | None, Parameter(help="Draw time and memory into this file (.png or .svg).")] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Keeping(Repeating):
    """How the cache is measured and shown."""

    dtype: Literal["float32", "bfloat16", "int8", "int4"] = "float32"
    """Compute in this number type; a peer beside int8 and int4 computes in bfloat16."""
    backend: Annotated[Literal["torch", "native"], Parameter(help="What writes with the cache.")] = "torch"
    alone: Annotated[bool, Parameter(negative=(), help="Leave out the whole text read again at every token.")] = False
    plot: Annotated[Path | None, Parameter(help="Draw time and memory into this file (.png or .svg).")] = None


def attention(
    *,
    lengths: Lengths = "1K,4K,16K,64K",
    heads: Annotated[int, Parameter(help="Heads of queries.")] = 8,
    kv_heads: Annotated[int | None, Parameter(help="Heads of keys and values; as many if left out.")] = None,
    width: Annotated[int, Parameter(help="Numbers of a head.")] = 64,
    batch: Annotated[int, Parameter(help="Sequences.")] = 1,
    training: Annotated[bool, Parameter(help="Compute the gradients as well.")] = False,
    window: Annotated[int | None, Parameter(help="Keys that a query sees; all before it if left out.")] = None,
    dropout: Annotated[float, Parameter(help="Share of the weights to drop.")] = 0.0,
    flags: Drawn = Drawn(),
    language: Spoken = "en",
) -> int:
    """Measure causal attention by plain products, by tiles and by SDPA: time and memory at each length."""
    import clearformer.bench.jobs as jobs
    import clearformer.machine as machine
    from clearformer.bench.attention import AttentionWork, measure_attention
    from clearformer.bench.pictures import draw_attention

    screen = Screen(language, flags)
    wanted = lengths_of(lengths)
    groups = heads if kv_heads is None else kv_heads
    work = AttentionWork(batch, heads, groups, width, flags.dtype, training, window, dropout)
    _require_sensible(work, flags)
    machine.checked_dtype(flags.dtype)
    threads = machine.use_threads(flags.threads)
    screen.note(say.CALIBRATING)
    before = jobs.require_calm(flags.busy_ok)
    with screen.progress(say.RUNNING) as advance:
        rows = measure_attention(work, wanted, runs=flags.runs, threads=threads, advance=advance)
    about = about_runs(threads, before, jobs.require_calm(flags.busy_ok))
    settings = {**asdict(work), "lengths": wanted, "runs": flags.runs}
    told = {"job": "attention", "machine": about, "settings": settings, "rows": [asdict(row) for row in rows]}
    screen_rows = [_attention_cells(row, screen) for row in rows]
    headings = (say.KERNEL, say.LENGTH, say.MEDIAN_MS, say.LOW, say.HIGH, say.BY_SDPA, say.PREDICTED, say.PEAK)
    _show(told, settings, screen_rows, headings, say.ATTENTION_ON, screen)
    keep(told, flags, screen)
    _draw(flags.plot, lambda path: draw_attention(path, rows, screen.language), screen)
    return 0


def cache(
    *,
    model: Annotated[
        str, Parameter(help="A built-in name, a folder, a .gguf file, a Hub id, or a name under runs/.")
    ] = "smollm2-135m",
    lengths: Lengths = "128,256,512,1K,2K",
    new: Annotated[int, Parameter(help="Tokens to write after it.")] = 8,
    vs: Annotated[
        Literal["hf"] | None,
        Parameter(help="Measure Hugging Face transformers beside it, in alternating runs."),
    ] = None,
    flags: Keeping = Keeping(),
    language: Spoken = "en",
) -> int:
    """Measure writing with the cache and without: time to the first token, time of each further one, and memory."""

    import clearformer.bench.jobs as jobs
    import clearformer.machine as machine
    from clearformer.bench.cache import CacheWork, Way, measure_cache, slope_of
    from clearformer.bench.hugging_face import require_transformers
    from clearformer.bench.pictures import draw_cache

    screen = Screen(language, flags)
    wanted = lengths_of(lengths)
    jobs.require_at_least({"--new": (new, 2), "--runs": (flags.runs, 1)})
    drawable(flags.plot)
    if vs:
        require_transformers()
    threads = machine.use_threads(flags.threads)
    spec, longest = _decoder(model, screen), max(wanted)
    per_token = _bytes_a_token(spec, flags)
    jobs.require_sizes(prompt=longest, new=new, runs=flags.runs, least_new=2, context=spec.context, name=model)
    without: tuple[Way, ...] = () if flags.alone else ("no cache",)
    ways: tuple[Way, ...] = ("cache", *without, *(("transformers",) if vs else ()))
    work = CacheWork(model, flags.dtype, flags.backend, new, threads)
    screen.note(say.CALIBRATING)
    before = jobs.require_calm(flags.busy_ok)
    with screen.progress(say.RUNNING) as advance:
        rows, same = measure_cache(work, ways, wanted, per_token=per_token, runs=flags.runs, advance=advance)
    bandwidth = machine.read_gb_per_s()
    about = about_runs(threads, before, jobs.require_calm(flags.busy_ok))
    slope = slope_of(rows, per_token, bandwidth)
    settings: dict[str, Any] = asdict(work) | {"lengths": wanted, "runs": flags.runs}
    del settings["threads"]
    told: dict[str, Any] = {"job": "cache", "machine": about, "settings": settings}
    told |= {"rows": [asdict(row) for row in rows], "same_tokens": same, "per_token": per_token}
    told |= {"read_gb_per_s": bandwidth, "slope": asdict(slope) | {"linear": slope.linear} if slope else None}
    headings = (say.WAY, say.LENGTH, say.FIRST_MS, say.EACH_MS, say.LOW, say.HIGH, say.CACHE_SIZE, say.PEAK)
    _show(told, settings, [_cache_cells(row) for row in rows], headings, say.CACHE_ON, screen)
    _tell_cache(same, slope, per_token, bandwidth, screen)
    keep(told, flags, screen)
    _draw(flags.plot, lambda path: draw_cache(path, rows, slope, screen.language), screen)
    return 1 if flags.dtype == "float32" and not same else 0


def _bytes_a_token(spec: DecoderOnly, flags: Keeping) -> int:
    """What the cache keeps of a token. Raises as `choose` does for a backend that does not do what is asked."""
    import torch

    import clearformer.machine as machine
    from clearformer.cache.static import cache_bytes
    from clearformer.speed.backend import Wanted, choose

    half = flags.dtype != "float32"
    machine.checked_dtype("bfloat16" if half else "float32")
    choose(spec, Wanted(flags.backend, flags.dtype))
    return cache_bytes(spec.decoder, 1, 1, torch.float16 if half else torch.float32)


def _require_sensible(work: AttentionWork, flags: Drawn) -> None:
    """Raises UsageError for an attention that cannot be."""
    from clearformer.bench.jobs import require_at_least

    counts = {"--heads": work.heads, "--kv-heads": work.kv_heads, "--width": work.width, "--batch": work.batch}
    counts |= {"--runs": flags.runs, "--window": 1 if work.window is None else work.window}
    require_at_least({option: (count, 1) for option, count in counts.items()})
    if not 0.0 <= work.dropout < 1.0:
        raise UsageError(say.BAD_DROPOUT, found=work.dropout)
    if work.heads % work.kv_heads:
        raise UsageError(say.UNEVEN_HEADS, heads=work.heads, groups=work.kv_heads)
    drawable(flags.plot)


def _decoder(model: str, screen: Screen) -> DecoderOnly:
    """Raises UsageError for a model that keeps no cache."""
    from clearformer.cli.spec_source import spec_of
    from clearformer.spec import DecoderOnly, Language

    spec = spec_of(model, screen)
    if not isinstance(spec, DecoderOnly) or not isinstance(spec.head, Language):
        raise UsageError(say.KEEPS_NO_CACHE, name=model)
    return spec


def lengths_of(text: str) -> list[int]:
    """`1K,4K,100` as numbers, ascending. Raises UsageError."""
    found = []
    for part in (part.strip() for part in text.split(",")):
        digits, factor = (part[:-1], 1024) if part[-1:] in ("K", "k") else (part, 1)
        if not (digits.isascii() and digits.isdigit()) or len(digits) > 7 or not int(digits):
            raise UsageError(say.BAD_LENGTHS, found=part)
        found.append(int(digits) * factor)
    return sorted(set(found))


def drawable(path: Path | None) -> None:
    """Raises UsageError for a picture of a kind that is not drawn."""
    if path is not None and path.suffix not in (".png", ".svg"):
        raise UsageError(say.BAD_PICTURE, path=path)


def about_runs(threads: int, before: Calm, after: Calm) -> dict[str, Any]:
    """What the figures belong to, and how quiet it was."""
    from clearformer.bench.jobs import about_machine

    calm = max(before, after, key=lambda each: each.spread)
    quiet = before.quiet and after.quiet
    return {**about_machine(threads), "quiet": quiet, "spread": calm.spread, "share": calm.share}


def _show(
    told: dict[str, Any],
    settings: dict[str, Any],
    rows: list[list[str]],
    headings: tuple[Any, ...],
    on: Any,
    screen: Screen,
) -> None:
    about = told["machine"]
    if screen.as_json:
        screen.json(told)
        return
    screen.say(on, date=about["date"], **{name: "–" if value is None else value for name, value in settings.items()})
    screen.say(say.MACHINE, **{**about, "transformers": about["transformers"] or "–"})
    screen.table(rows, [heading.text(screen.language) for heading in headings])
    if not about["quiet"]:
        screen.say(say.WAS_BUSY)


def _tell_cache(same: bool, slope: Slope | None, per_token: int, bandwidth: float, screen: Screen) -> None:
    if screen.as_json:
        return
    screen.say(say.SAME_TEXT if same else say.OTHER_TEXT)
    if slope:
        figures = {"measured": slope.measured * 1e6, "expected": slope.expected * 1e6}
        screen.say(say.SLOPE, **figures, ratio=slope.measured / slope.expected, bytes=per_token, bandwidth=bandwidth)
        if slope.linear is not None:
            screen.say(say.LINEAR if slope.linear else say.NOT_LINEAR, apart=slope.apart, start=slope.start * 1e3)


def _attention_cells(row: AttentionRow, screen: Screen) -> list[str]:
    times = [_milliseconds(each) for each in (row.median, row.low, row.high)]
    if row.outcome != "measured":
        times[0] = (say.TOO_LARGE if row.outcome == "too large" else say.FAILED).text(screen.language)
    ratio = "–" if row.ratio is None else f"{row.ratio:.2f}×"
    return [row.kernel, f"{row.length:,}", *times, ratio, _mebibytes(row.predicted), _mebibytes(row.peak)]


def _cache_cells(row: CacheRow) -> list[str]:
    times = [_milliseconds(each) for each in (row.first, row.each, row.low, row.high)]
    return [row.way, f"{row.length:,}", *times, _mebibytes(row.cache), _mebibytes(row.peak)]


def _milliseconds(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds * 1e3:,.1f}"


def _mebibytes(size: int | None) -> str:
    return "–" if size is None else f"{size / 2**20:,.1f}"


def _draw(path: Path | None, draw: Callable[[Path], Path], screen: Screen) -> None:
    if path is None:
        return
    try:
        draw(path)
    except OSError as error:
        raise MachineError(say.CANNOT_WRITE, path=path, detail=error.strerror or error) from error
    if not screen.as_json:
        screen.text(str(path))
