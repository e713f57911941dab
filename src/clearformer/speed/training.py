"""How a run computes: kernel, number type, oneDNN's products, compiling; measured, and applied from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

import torch
from torch import nn

from clearformer.errors import MachineError, UsageError
from clearformer.layers.attention import Attention
from clearformer.layers.head import Language, Numbers, Vector
from clearformer.layers.kernels import Kernel
from clearformer.layers.latent_attention import LatentAttention
from clearformer.layers.stack import Stack
from clearformer.machine import checked_dtype
from clearformer.messages import Message
from clearformer.messages import speed as say
from clearformer.speed import attention_choice, compiling, switch
from clearformer.speed.measurements import Measurements, alternating
from clearformer.speed.observation import Observed, observe, undone

AnyModule = TypeVar("AnyModule", bound=nn.Module)
Note = Callable[[Message, dict[str, Any]], None]
Dtype = Literal["float32", "bfloat16"]
_BFLOAT16_GAIN = 1.2
_TIMED_PRODUCTS = 6


class Wanted(Protocol):
    """What a recipe asks for: a fixed choice, or `auto`."""

    @property
    def device(self) -> str: ...
    @property
    def dtype(self) -> Literal["float32", "bfloat16", "auto"]: ...
    @property
    def compile(self) -> Literal["auto", "yes", "no"]: ...
    @property
    def kernel(self) -> Literal["auto", "plain", "tiled", "sdpa"]: ...
    @property
    def switch(self) -> Literal["auto", "yes", "no"]: ...
    @property
    def checkpoint_activations(self) -> bool: ...


@dataclass(frozen=True)
class Choices:
    """What was chosen; `recompute` is activation checkpointing. Plain values, to be kept with the run and reused."""

    compile: bool = False
    kernel: Kernel = "sdpa"
    switch: bool = False
    dtype: Dtype = "float32"
    recompute: bool = False
    device: str = "cpu"
    threads: int = 1

    def facts(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Choices:
        """The inverse of `facts`."""
        return cls(**facts)


def choose(
    model: nn.Module,
    wanted: Wanted,
    step: Callable[[], object],
    *,
    steps: int,
    folder: Path,
    note: Note,
    fixed_shapes: bool = True,
) -> Choices:
    """Settle every `auto` for a run of `steps` steps. Each choice is told to `note`, with its figures.

    `step` is one forward and backward pass on a training batch; it leaves neither gradients nor drawn random numbers.
    Figures are kept in `folder`. `fixed_shapes` False: batches differ in shape, and compiling is not tried.
    Raises UsageError for choices that exclude each other, MachineError for a switch that is not float32.
    """
    kept, on_cpu = Measurements(folder), torch.device(wanted.device).type == "cpu"
    if wanted.switch == "yes" and not on_cpu:
        raise UsageError(say.SWITCH_CPU_ONLY, device=wanted.device)
    if wanted.compile == "yes" and wanted.checkpoint_activations:
        raise UsageError(say.COMPILED_RECOMPUTED)
    with undone(model):
        seen = observe(model, step)
        turned = on_cpu and _switch(wanted, seen, kept, note)
        with switch.switched(turned):
            dtype = _dtype(wanted, seen, kept, turned, note)
            kernel = _kernel(wanted, seen, kept, dtype, turned, note)
        threads, recompute = torch.get_num_threads(), wanted.checkpoint_activations
        eager = Choices(False, kernel, turned, dtype, recompute, wanted.device, threads)
        with apply(model, eager):
            fast = _compile(model, wanted, step, steps, kept, eager, seen, fixed_shapes, note)
    return replace(eager, compile=fast)


@contextmanager
def apply(model: AnyModule, choices: Choices) -> Iterator[AnyModule]:
    """The model itself, computing as chosen until the block ends; then everything is as it was."""
    with ExitStack() as stack:
        stack.enter_context(switch.switched(choices.switch))
        for module in model.modules():
            if isinstance(module, Attention | LatentAttention):
                stack.enter_context(_with(module, kernel=choices.kernel))
            elif isinstance(module, Stack):
                stack.enter_context(_with(module, recompute=choices.recompute))
        if choices.compile:
            stack.enter_context(compiling.compiled(model))
        if choices.dtype == "bfloat16":
            stack.enter_context(compiling.autocast(model, (Stack, Language, Numbers, Vector), choices.device))
        yield model


@contextmanager
def _with(module: nn.Module, **values: object) -> Iterator[None]:
    before = {name: getattr(module, name) for name in values}
    for name, value in values.items():
        setattr(module, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)


def _switch(wanted: Wanted, seen: Observed, kept: Measurements, note: Note) -> bool:
    """Only where its products are float32's, and faster."""
    if wanted.switch == "no" or not torch.backends.mkldnn.is_available():
        return False
    products = seen.products.most_common(_TIMED_PRODUCTS)
    shapes = [shape for shape, _ in products]
    error = kept.ask(f"switch error {shapes}", lambda: switch.probe(shapes))["error"]
    if error > switch.LARGEST_ERROR:
        if wanted.switch == "yes":
            raise MachineError(say.SWITCH_INEXACT, error=f"{error:.1e}", most=f"{switch.LARGEST_ERROR:.0e}")
        note(say.SWITCH_NOT_FLOAT32, {"error": error})
        return False
    if wanted.switch == "yes":
        return True
    seconds = kept.ask(f"switch gain {products}", lambda: switch.gain(products))
    times = seconds["default"] / seconds["switched"]
    turned = times >= switch.LEAST_GAIN
    note(say.SWITCHED if turned else say.NOT_SWITCHED, {"times": times, "error": error})
    return turned


def _dtype(wanted: Wanted, seen: Observed, kept: Measurements, turned: bool, note: Note) -> Dtype:
    if wanted.dtype != "auto":
        checked_dtype(wanted.dtype, wanted.device)
        return wanted.dtype
    products = seen.products.most_common(_TIMED_PRODUCTS)

    def measure() -> dict[str, float]:
        def work(dtype: torch.dtype) -> Callable[[], None]:
            prepared = [(switch.operands(shape, dtype, wanted.device), count) for shape, count in products]
            return lambda: switch.multiply_all(prepared)

        return alternating({"float32": work(torch.float32), "bfloat16": work(torch.bfloat16)})

    seconds = kept.ask(f"types {wanted.device} switch {turned} {products}", measure)
    times = seconds["float32"] / seconds["bfloat16"]
    note(say.TYPE_CHOSEN, {"dtype": "bfloat16" if times >= _BFLOAT16_GAIN else "float32", "times": times})
    return "bfloat16" if times >= _BFLOAT16_GAIN else "float32"


def _kernel(wanted: Wanted, seen: Observed, kept: Measurements, dtype: Dtype, turned: bool, note: Note) -> Kernel:
    if wanted.kernel != "auto":
        return wanted.kernel
    attentions = dict(seen.attentions)
    kernels = attention_choice.candidates(attentions, wanted.device)
    if attentions and "plain" not in kernels:
        note(say.TABLES_TOO_LARGE, {"size": attention_choice.tables_bytes(attentions) / 2**30})
    if not attentions or len(kernels) == 1:
        return "sdpa"
    typed: torch.dtype = getattr(torch, dtype)
    seconds = kept.ask(
        f"attention {kernels} {wanted.device} {dtype} switch {turned} {sorted(map(repr, attentions.items()))}",
        lambda: attention_choice.time_kernels(attentions, typed, wanted.device, kernels),
    )
    kernel = attention_choice.fastest(seconds)
    times = ", ".join(f"{name} {each * 1e3:.1f} ms" for name, each in seconds.items())
    note(say.KERNEL_CHOSEN, {"kernel": kernel, "times": times})
    return kernel


def _compile(
    model: nn.Module,
    wanted: Wanted,
    step: Callable[[], object],
    steps: int,
    kept: Measurements,
    eager: Choices,
    seen: Observed,
    fixed_shapes: bool,
    note: Note,
) -> bool:
    """`auto` compiles where the run is long enough to win back the time that compiling takes."""
    if wanted.compile != "auto":
        return wanted.compile == "yes"
    if not fixed_shapes or wanted.checkpoint_activations or not compiling.may_pay(seen.seconds, steps):
        return False
    # The step that was observed was the first, and slow for that.
    if not compiling.may_pay(compiling.time_step(step), steps):
        return False
    shapes = sorted(map(repr, [*seen.products.items(), *seen.attentions.items()]))
    figures = kept.ask(f"compile {eager} {shapes}", lambda: compiling.time_compiling(model, step))
    fast = compiling.pays(figures, steps)
    milliseconds = {name: figures[name] * 1e3 for name in ("eager", "compiled")}
    note(say.COMPILED if fast else say.NOT_COMPILED, {**milliseconds, "compiling": figures["compiling"]})
    return fast
