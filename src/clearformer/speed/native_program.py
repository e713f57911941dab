"""A decoder's spec and weights as a program for the compiled kernels: matrices packed, choices as numbers.

Each weight is asked for once, packed, and let go: besides the packed ones a single weight is in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, assert_never

import numpy as np
import torch
from torch import Tensor

from clearformer import spec as specs
from clearformer.native import structures as c
from clearformer.native.engine import ROWS, Program
from clearformer.native.matrix import Format, Matrix, Packing, Place, Rows, Source
from clearformer.speed.native_packing import packing_of, packing_of_table
from clearformer.speed.native_positions import Positions

_LANES = 16
_FLOATS: dict[torch.dtype, tuple[Source, torch.dtype]] = {
    torch.float32: ("F32", torch.float32),
    torch.bfloat16: ("BF16", torch.int16),
    torch.float16: ("F16", torch.float16),
}
_BLOCK_BYTES: dict[Source, int] = {"Q4_0": 18, "Q4_1": 20, "Q8_0": 34}
_BLOCK = 32


class Weight(Protocol):
    """A weight as it is stored: `blocks` names GGML's type where `tensor` holds its bytes, row by row; `decoded` that
    which its numbers were decoded from."""

    @property
    def tensor(self) -> Tensor: ...
    @property
    def blocks(self) -> str | None: ...
    @property
    def decoded(self) -> str | None: ...


class Weights(Protocol):
    """Where weights come from: a model in memory, or a file."""

    def take(self, name: str) -> Weight:
        """The weight of this name; each is taken once."""
        ...


def program_of(
    spec: specs.DecoderOnly, weights: Weights, dtype: Format, *, threads: int = 1
) -> tuple[Program, Positions]:
    """The program, packed by `threads`, and what positions mean in it. The spec is one that `native_lacks` finds
    nothing in."""
    return _Building(spec, weights, dtype, threads).program()


class _Building:
    def __init__(self, spec: specs.DecoderOnly, weights: Weights, dtype: Format, threads: int) -> None:
        self.spec, self.stack, self.weights = spec, spec.decoder, weights
        self.dtype, self.threads = dtype, threads
        self.positions = Positions(spec.decoder)
        self.kept: list[Any] = []
        self.packed: list[tuple[tuple[str, ...], Matrix]] = []

    def program(self) -> tuple[Program, Positions]:
        source, head = self.stack.input, self.spec.head
        assert isinstance(source, specs.Tokens)
        assert isinstance(head, specs.Language)
        told = c.Program(
            width=self.stack.width,
            vocabulary=source.vocabulary,
            layer_count=len(self.stack.blocks),
            half_cache=self.dtype != "float32",
            rows=ROWS,
            embed_scale=self._embed_scale(source),
            hidden_scale=head.hidden_scale,
            logit_cap=head.cap or 0.0,
        )
        table = self._table("decoder.embed.token.weight", source.vocabulary)
        told.embed = table.pointer
        if isinstance(source.position, specs.Learned):
            self.positions.learned = self._floats("decoder.embed.position.weight")
        if source.segments:
            told.segment = self._keep(self._floats("decoder.embed.segment.weight")[0])
        told.embed_norm = self._norm("decoder.embed.norm", source.norm)
        layers = (c.Layer * max(len(self.stack.blocks), 1))()
        for index, block in enumerate(self.stack.blocks):
            layers[index] = self._layer(f"decoder.blocks.{index}", block)
        told.layers = layers
        told.final_norm = self._norm("decoder.final_norm", self.stack.final_norm)
        self._head(told, head, source.vocabulary, table)
        self.kept.append(layers)
        return Program(told, self.kept, self.packed), self.positions

    def _embed_scale(self, source: specs.Tokens) -> float:
        """Where the spec rounds it to the model's type, so is it here."""
        rounds = source.round_scale and self.dtype == "bfloat16"
        return torch.tensor(source.scale, dtype=torch.bfloat16).item() if rounds else source.scale

    def _head(self, told: c.Program, head: specs.Language, vocabulary: int, table: Matrix) -> None:
        if head.transform is not None:
            told.transform = self._linear(["head.transform.dense"], head.transform.bias)
            told.transform_activation = c.ACTIVATIONS.index(head.transform.activation)
            told.transform_norm = self._norm("head.transform.norm", head.transform.norm)
        rows = table if head.tied else self._table("head.project.weight", vocabulary)
        told.head = c.Linear(rows.pointer, self._bias([("head.bias", 0)], vocabulary) if head.bias else None)

    # ---- blocks ----

    def _layer(self, name: str, block: specs.Block) -> c.Layer:
        assert isinstance(block.attention, specs.Attention)
        match block.arrangement:
            case specs.Sequential(placement=placement):
                place: str = placement
            case specs.Parallel(shared_norm=shared):
                place = "parallel_shared" if shared else "parallel"
        layer = c.Layer(placement=c.PLACEMENTS.index(place))
        layer.attention_norm = self._norm(f"{name}.attention_norm", block.attention_norm)
        layer.feedforward_norm = self._norm(f"{name}.feedforward_norm", block.feedforward_norm)
        if place == "sandwich":
            layer.attention_output_norm = self._norm(f"{name}.attention_output_norm", block.attention_norm)
            layer.feedforward_output_norm = self._norm(f"{name}.feedforward_output_norm", block.feedforward_norm)
        layer.attention = self._attention(f"{name}.attention", block.attention)
        layer.feedforward = self._mixture(f"{name}.feedforward", block.feedforward)
        return layer

    def _attention(self, name: str, spec: specs.Attention) -> c.Attention:
        position, window = spec.position, None
        if isinstance(spec.visibility, specs.Causal):
            window = spec.visibility.window
        told = c.Attention(
            heads=spec.heads,
            kv_heads=spec.kv_heads,
            key_width=spec.key_width,
            value_width=spec.value_width,
            window=window or 0,
            rotary=-1,
            bias=-1,
            scale=spec.score_scale,
            score_cap=spec.score_cap or 0.0,
        )
        if isinstance(position, specs.Rotary):
            told.rotary = self.positions.rotary(position, spec.key_width)
            told.rotary_width = position.rotated(spec.key_width)
            told.rotary_interleaved = position.layout == "interleaved"
        elif position is not None:
            name_of_table = f"{name}.relative.weight"
            told.bias = self.positions.bias(position, spec.heads, lambda: self._floats(name_of_table))
        if spec.qk_norm is not None:
            told.norm_over_projection = spec.qk_norm.over == "projection"
            told.query_norm = self._norm(f"{name}.query_norm", spec.qk_norm.norm)
            told.key_norm = self._norm(f"{name}.key_norm", spec.qk_norm.norm)
        biased = (spec.bias.query, spec.bias.key, spec.bias.value)
        told.joint = self._linear([f"{name}.{part}" for part in ("query", "key", "value")], *biased, normalised=True)
        told.output = self._linear([f"{name}.output"], spec.bias.output)
        return told

    def _mixture(self, name: str, spec: specs.FeedForward) -> c.Mixture:
        match spec:
            case specs.Dense() | specs.Gated():
                return c.Mixture(count=1, active=1, experts=self._networks([name], spec))
            case specs.Experts():
                return self._experts(name, spec)
            case _:
                assert_never(spec)

    def _experts(self, name: str, spec: specs.Experts) -> c.Mixture:
        router, groups = spec.router, spec.router.groups
        told = c.Mixture(
            count=spec.count,
            active=spec.active,
            normalise=router.normalise,
            scale=router.scale,
            groups=groups.count if groups else 0,
            groups_kept=groups.kept if groups else 0,
            best_two=bool(groups and groups.judged_by == "best_two"),
        )
        match router:
            case specs.SoftmaxRouter(softmax=softmax):
                told.router_kind = c.SOFTMAX_BEFORE if softmax == "before" else c.SOFTMAX_AFTER
            case specs.SigmoidRouter(selection_bias=biased):
                told.router_kind = c.SIGMOID
                told.selection_bias = self._keep(self._floats(f"{name}.router.selection_bias")) if biased else None
            case _:
                assert_never(router)
        # A choice among experts is not left to rounded scores.
        told.router = self._linear([f"{name}.router"], False, format="float32")
        told.experts = self._networks([f"{name}.experts.{expert}" for expert in range(spec.count)], spec.expert)
        if spec.shared is not None:
            told.shared = self._networks([f"{name}.shared"], spec.shared)
        if spec.shared_gate:
            told.shared_gate = self._linear([f"{name}.shared_gate"], False, format="float32")
        return told

    def _networks(self, names: Sequence[str], spec: specs.Dense | specs.Gated) -> Any:
        networks = (c.FeedForward * len(names))()
        gated = isinstance(spec, specs.Gated)
        for network, name in zip(networks, names, strict=True):
            network.width, network.gated = spec.width, gated
            network.activation = c.ACTIVATIONS.index(spec.activation)
            network.up = self._gated(name, spec) if gated else self._linear([f"{name}.up"], spec.bias, normalised=True)
            network.down = self._linear([f"{name}.down"], spec.bias)
        self.kept.append(networks)
        return networks

    # ---- weights ----

    def _linear(
        self, names: Sequence[str], *biased: bool, format: Format | None = None, normalised: bool = False
    ) -> c.Linear:
        """Projections of one input, one above the other; `normalised` where it is the stream after a norm."""
        weights = [f"{name}.weight" for name in names]
        stored = [self._stored(name) for name in weights]
        packing = format or packing_of(self.dtype, stored, normalised=normalised)
        matrix = self._matrix(weights, packing, sum(each.rows for each in stored), stored[0].columns)
        places, first = [], 0
        for each in stored:
            matrix.fill(each, Place(first), threads=self.threads)
            places.append(first)
            first += each.rows
        given = (
            [(f"{name}.bias", at) for name, at, has in zip(names, places, biased, strict=True) if has]
            if any(biased)
            else []
        )
        return c.Linear(matrix.pointer, self._bias(given, first) if given else None)

    def _gated(self, name: str, spec: specs.Dense | specs.Gated) -> c.Linear:
        """Gate and other half in turn, sixteen rows of each."""
        weights = [f"{name}.{part}.weight" for part in ("gate", "up")]
        stored = [self._stored(weight) for weight in weights]
        padded = -(-spec.width // _LANES) * _LANES
        matrix = self._matrix(weights, packing_of(self.dtype, stored, normalised=True), 2 * padded, stored[0].columns)
        for half, each in enumerate(stored):
            matrix.fill(each, Place(half * _LANES, _LANES, 2 * _LANES), threads=self.threads)
        if not spec.bias:
            return c.Linear(matrix.pointer, None)
        halves = np.zeros((2, padded), np.float32)
        for half, part in enumerate(("gate", "up")):
            halves[half, : spec.width] = self._floats(f"{name}.{part}.bias")
        woven = halves.reshape(2, -1, _LANES).transpose(1, 0, 2)
        return c.Linear(matrix.pointer, self._keep(np.ascontiguousarray(woven).reshape(-1)))

    def _table(self, name: str, vocabulary: int) -> Matrix:
        """The token table or the head."""
        stored = self._stored(name)
        matrix = self._matrix([name], packing_of_table(self.dtype), vocabulary, stored.columns)
        matrix.fill(stored, threads=self.threads)
        return matrix

    def _matrix(self, names: Sequence[str], packing: Packing, rows: int, columns: int) -> Matrix:
        matrix = Matrix(packing, rows, columns)
        self.packed.append((tuple(names), matrix))
        return matrix

    def _stored(self, name: str) -> Rows:
        weight = self.weights.take(name)
        tensor = weight.tensor.detach().contiguous()
        if weight.blocks is not None:
            source = next(known for known in _BLOCK_BYTES if known == weight.blocks)
            columns = tensor.shape[1] // _BLOCK_BYTES[source] * _BLOCK
            return Rows(source, tensor.numpy(), tensor.shape[0], columns)
        tensor = tensor if tensor.dtype in _FLOATS else tensor.float()
        source, seen_as = _FLOATS[tensor.dtype]
        return Rows(source, tensor.view(seen_as).numpy(), tensor.shape[0], tensor.shape[1], weight.decoded)

    def _floats(self, name: str) -> np.ndarray:
        return self.weights.take(name).tensor.detach().float().contiguous().numpy()

    def _keep(self, numbers: np.ndarray) -> int:
        """The address of a padded copy that lives as long as the program."""
        padded = np.zeros(-(-numbers.size // _LANES) * _LANES + _LANES, np.float32)
        padded[: numbers.size] = numbers.reshape(-1)
        self.kept.append(padded)
        return padded.ctypes.data

    def _bias(self, parts: Sequence[tuple[str, int]], outputs: int) -> int:
        joined = np.zeros(outputs, np.float32)
        for name, first in parts:
            numbers = self._floats(name)
            joined[first : first + numbers.size] = numbers
        return self._keep(joined)

    def _norm(self, name: str, spec: specs.Norm | None) -> c.Norm:
        match spec:
            case None:
                return c.Norm(kind=c.NO_NORM)
            case specs.LayerNorm():
                weight = self._keep(self._floats(f"{name}.weight")) if spec.weight else None
                bias = self._keep(self._floats(f"{name}.bias")) if spec.bias else None
                return c.Norm(c.LAYER, spec.eps, weight, bias)
            case specs.RMSNorm():
                gain = self._floats(f"{name}.weight")
                return c.Norm(c.RMS, spec.eps, self._keep(1 + gain if spec.unit_offset else gain), None)
            case _:
                assert_never(spec)
