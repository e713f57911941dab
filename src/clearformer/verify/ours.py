"""Our side: a spec with weights, run as PyTorch runs it, in float64, every named tensor kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, assert_never

import torch
from torch import Tensor, nn

from clearformer.build import empty
from clearformer.layers.attention import Attention
from clearformer.layers.latent_attention import LatentAttention
from clearformer.load import Loaded
from clearformer.model import DecoderOnly, EncoderDecoder, EncoderOnly, Model, TwoTowers
from clearformer.spec import Spec, Tokens, main_stack
from clearformer.taps import Listening
from clearformer.verify.reading import Reading
from clearformer.verify.recording import ANSWER, Heard, Recording, keeper, on_the_stream, silence

Weights = Mapping[str, Tensor]
Listener = Callable[[str, Tensor], None]


@dataclass(frozen=True)
class Suspect:
    """What is checked: a spec, and weights by name in float64."""

    spec: Spec
    weights: Weights

    def model(self) -> Model:
        """Its weights become the parameters themselves; nothing is copied."""
        model = empty(self.spec)
        shapes = {name: parameter.shape for name, parameter in model.named_parameters()}
        assert all(self.weights[name].shape == shape for name, shape in shapes.items())
        model.load_state_dict({name: self.weights[name] for name in shapes}, assign=True, strict=False)
        return model.eval()


def suspect_of(loaded: Loaded) -> Suspect:
    """The live model's own weights, so that what was changed after loading is seen."""
    weights = {name: value.detach().to("cpu", torch.float64) for name, value in loaded.model.named_parameters()}
    return Suspect(loaded.spec, weights)


def run(suspect: Suspect, reading: Reading, heard: Heard = silence) -> Recording:
    """All taps and the answer."""
    seen, listen = keeper(reading.first, heard=heard)
    finish(suspect.model(), reading, listen)
    return seen


def run_modules(suspect: Suspect, reading: Reading, modules: frozenset[str], heard: Heard = silence) -> Recording:
    """What each of the modules gives, beside the taps of what no module gives: streams and attention weights."""
    model = suspect.model()
    seen, listen = keeper(reading.first, heard=heard)

    def listen_beside(name: str, value: Tensor) -> None:
        if on_the_stream(name) or name.endswith("attention.weights"):
            listen(name, value)

    with watched(model, modules, listen):
        finish(model, reading, listen_beside)
    return seen


def finish(model: Model, reading: Reading, listen: Listener) -> None:
    """One pass, heard by `listen`; the answer last, unless it was the last tap's tensor already."""
    last: list[Tensor] = []

    def pass_on(name: str, value: Tensor) -> None:
        last[:] = [value]
        listen(name, value)

    with torch.inference_mode():
        answer = answer_of(model, reading, Listening(pass_on))
    if not last or answer is not last[0]:
        listen(ANSWER, answer)


def answer_of(model: Model, reading: Reading, tap: Listening) -> Tensor:
    """What the model gives, told the length of each sequence where a table is chosen by it."""
    dtype = next(model.parameters()).dtype
    data = reading.data.to(dtype) if reading.data.is_floating_point() else reading.data
    match model:
        case EncoderDecoder():
            assert reading.beside is not None
            source = _bound(data) if isinstance(model.spec.encoder.input, Tokens) else None
            memory = model.encode(data, length_bound=source, tap=tap)
            return model.decode(reading.beside, memory, length_bound=_bound(reading.beside), tap=tap)
        case TwoTowers():
            assert reading.beside is not None
            return model(data, reading.beside.to(dtype), tap=tap)
        case DecoderOnly() | EncoderOnly():
            if not isinstance(main_stack(model.spec).input, Tokens):
                return model(data, tap=tap)
            return model(data, segments=reading.segments, length_bound=_bound(data), tap=tap)
        case _:
            assert_never(model)


def variations(suspect: Suspect, reading: Reading, heard: Heard = silence) -> dict[str, Recording]:
    """The same pass otherwise arranged: what it moves by is the rounding of float64 in this model, on this input."""
    model = suspect.model()
    found: dict[str, Recording] = {}
    plain, listen = keeper(reading.first, heard=heard)
    with kernels(model, "plain"):
        finish(model, reading, listen)
    found["kernel"] = plain
    twice, listen = keeper(reading.twice().first, heard=heard)
    finish(model, reading.twice(), listen)
    found["batch"] = twice
    return found


def _bound(ids: Tensor) -> Tensor:
    """The length of each row."""
    return torch.full((len(ids),), ids.shape[1])


@contextmanager
def kernels(model: Model, kernel: Literal["plain", "sdpa"]) -> Iterator[None]:
    """Attention by the named kernel while the body runs."""
    layers = [module for module in model.modules() if isinstance(module, Attention | LatentAttention)]
    before = [layer.kernel for layer in layers]
    for layer in layers:
        layer.kernel = kernel
    try:
        yield
    finally:
        for layer, kept in zip(layers, before, strict=True):
            layer.kernel = kept


@contextmanager
def watched(model: nn.Module, names: frozenset[str], listen: Listener) -> Iterator[None]:
    """`listen` hears what each named module gives, positions before heads, while the body runs."""

    def hook(name: str) -> Callable[[nn.Module, object, Tensor], None]:
        return lambda module, given, output: listen(name, output.transpose(1, 2) if output.dim() == 4 else output)

    handles = [model.get_submodule(name).register_forward_hook(hook(name)) for name in sorted(names)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
