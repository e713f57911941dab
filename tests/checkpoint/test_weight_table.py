"""Weight tables: each row against the original's arithmetic, any table its own inverse, each fault named."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.checkpoint.renames import (
    Fallback,
    Ignored,
    OneRow,
    Permuted,
    Reshaped,
    Same,
    Split,
    Stacked,
    Tied,
    Transposed,
)
from clearformer.checkpoint.weight_table import dump, load
from clearformer.errors import CheckpointError


@dataclass(frozen=True)
class InMemory:
    """A TensorFile without a file."""

    tensors: dict[str, torch.Tensor]
    path: Path = Path("memory")
    metadata: dict[str, object] = field(default_factory=dict)

    def names(self):
        return tuple(self.tensors)

    def shape(self, name):
        return tuple(self.tensors[name].shape)

    def dtype(self, name):
        return self.tensors[name].dtype

    def tensor(self, name):
        return self.tensors[name]


def shapes(tensors):
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}


SIZES = st.integers(1, 4)


@st.composite
def rows_with_tensors(draw):
    """A random table and random tensors of ours that it covers."""
    table, ours = [], {}
    for n in range(draw(st.integers(1, 5))):
        layers = draw(st.integers(0, 11))
        theirs, mine, width = f"h.{{i}}.t{n}", f"blocks.{{i}}.o{n}", draw(SIZES)
        match draw(st.sampled_from(["same", "transposed", "split", "stacked", "reshaped", "permuted"])):
            case "same":
                row, parts = Same(theirs, mine), {mine: tuple(draw(st.lists(SIZES, max_size=3)))}
            case "transposed":
                row, parts = Transposed(theirs, mine), {mine: (draw(SIZES), width)}
            case "split":
                sizes, groups = tuple(draw(st.lists(SIZES, min_size=1, max_size=3))), draw(SIZES)
                transposed = draw(st.booleans())
                names = tuple(f"{mine}.{k}" for k in range(len(sizes)))
                axis = draw(st.integers(0, 1))
                row = Split(theirs, names, sizes, axis, groups, transposed)
                along = axis if not transposed else 1 - axis
                dims = [(groups * s, width) if along == 0 else (width, groups * s) for s in sizes]
                parts = dict(zip(names, dims, strict=True))
            case "stacked":
                count, names = draw(SIZES), tuple(f"{mine}.{{e}}.{k}" for k in range(draw(SIZES)))
                row, shape = Stacked(theirs, names if len(names) > 1 else names[0], count), (draw(SIZES), width)
                parts = {name.replace("{e}", str(e)): shape for e in range(count) for name in names}
            case "reshaped":
                kernel = (draw(SIZES), width, width)
                flat = (draw(SIZES), kernel[0] * width**2)
                row, parts = Reshaped(theirs, mine, (flat[0], *kernel), flat), {mine: flat}
            case _:
                heads = draw(SIZES)
                row, parts = (
                    Permuted(theirs, mine, heads),
                    {mine: (heads * 2 * width, *draw(st.lists(SIZES, max_size=1)))},
                )
        table.append(row)
        for i in range(layers + 1):
            ours |= {name.format(i=i): torch.randn(shape, dtype=torch.float64) for name, shape in parts.items()}
    return tuple(table), ours


@given(rows_with_tensors())
@settings(max_examples=100, deadline=None)
def test_load_is_the_inverse_of_dump(case):
    table, ours = case
    file = InMemory(dump(table, ours))
    assert sum(t.numel() for t in file.tensors.values()) == sum(t.numel() for t in ours.values())
    back = load(table, file, shapes(ours))
    assert list(back) == list(ours)
    assert all(torch.equal(back[name], ours[name]) and back[name].is_contiguous() for name in ours)
    again = dump(table, back)
    assert all(torch.equal(again[name], tensor) for name, tensor in file.tensors.items())


def test_split_is_gpt2s_conv1d():
    x, weight = (
        torch.randn(5, 4).double(),
        torch.randn(4, 12).double(),
    )  # GPT-2: x @ weight, then three parts of width 4
    row = Split("w", ("q", "k", "v"), (4, 4, 4), axis=1, transposed=True)
    for expected, part in zip((x @ weight).split(4, dim=1), row.to_ours((weight,)), strict=True):
        assert torch.allclose(x @ part.t(), expected)


def test_split_is_neoxs_interleaving():
    H, K, D = 3, 2, 6
    x, weight = torch.randn(5, D).double(), torch.randn(3 * D, D).double()
    expected = (x @ weight.t()).view(5, H, 3 * K).chunk(3, dim=-1)  # as GPTNeoXAttention and BLOOM split
    parts = Split("w", ("q", "k", "v"), (K, K, K), groups=H).to_ours((weight,))
    for found, theirs in zip(parts, expected, strict=True):
        assert torch.allclose((x @ found.t()).view(5, H, K), theirs)


def test_stacked_is_gate_over_up_expert_by_expert():
    E, F, D = 3, 5, 4
    x, weight = torch.randn(7, D).double(), torch.randn(E, 2 * F, D).double()
    names = ("x.{e}.gate", "x.{e}.up")
    row = Stacked("w", names, E)
    assert row.our_names({}) == ("x.0.gate", "x.0.up", "x.1.gate", "x.1.up", "x.2.gate", "x.2.up")
    found = dict(zip(row.our_names({}), row.to_ours((weight,)), strict=True))
    for expert in range(E):
        # As transformers splits what it has multiplied.
        gate, up = (x @ weight[expert].t()).chunk(2, dim=-1)
        assert torch.allclose(x @ found[f"x.{expert}.gate"].t(), gate)
        assert torch.allclose(x @ found[f"x.{expert}.up"].t(), up)


def test_reshaped_is_a_convolution_over_patches():
    C, P, D = 3, 4, 5
    image, kernel = torch.randn(2, C, 2 * P, 3 * P).double(), torch.randn(D, C, P, P).double()
    (matrix,) = Reshaped("w", "w", (D, C, P, P), (D, C * P * P)).to_ours((kernel,))
    expected = torch.nn.functional.conv2d(image, kernel, stride=P).flatten(2).transpose(1, 2)
    patches = torch.nn.functional.unfold(image, P, stride=P).transpose(1, 2)
    assert torch.allclose(patches @ matrix.t(), expected)


@pytest.mark.parametrize(("heads", "shape"), [(4, (32, 5)), (2, (12, 3))])
def test_permuted_undoes_what_llama_cpp_did(heads, shape):
    processor = pytest.importorskip("transformers.modeling_gguf_pytorch_utils").LlamaTensorProcessor()
    stored = torch.randn(shape)
    expected = processor._reverse_permute_weights(stored.numpy(), heads, heads)
    assert torch.equal(Permuted("w", "w", heads).to_ours((stored,))[0], torch.from_numpy(expected))


TABLE = (
    Same("embed.weight", "embed"),
    Same("h.{i}.norm.gamma", "blocks.{i}.norm"),
    Same("h.{i}.norm.weight", "blocks.{i}.norm"),
    Split("h.{i}.qkv", ("blocks.{i}.q", "blocks.{i}.k"), (2, 2)),
    Tied("lm_head.weight", to="embed.weight"),
    Ignored("h.*.inv_freq", "a table that is computed"),
)
WANTED = {"embed": (5, 2), "blocks.0.norm": (2,), "blocks.0.q": (2, 2), "blocks.0.k": (2, 2)}


def foreign(**changes):
    tensors = {"embed.weight": torch.randn(5, 2), "h.0.norm.weight": torch.randn(2), "h.0.qkv": torch.randn(4, 2)}
    tensors |= {name.replace("__", "."): tensor for name, tensor in changes.items()}
    return InMemory({name: tensor for name, tensor in tensors.items() if tensor is not None})


def test_alternatives_ignored_and_tied():
    file = foreign(h__0__norm__weight=None, h__0__norm__gamma=torch.ones(2), h__0__inv_freq=torch.ones(1))
    file.tensors["lm_head.weight"] = file.tensors["embed.weight"].clone()
    loaded = load(TABLE, file, WANTED, dtype=torch.bfloat16)
    assert loaded["blocks.0.norm"].tolist() == [1, 1]
    assert {tensor.dtype for tensor in loaded.values()} == {torch.bfloat16}
    assert set(dump(TABLE, loaded)) == {"embed.weight", "h.0.norm.gamma", "h.0.qkv"}


def test_a_fallback_is_taken_when_nothing_else_is_there():
    """One table under three names, of which a file keeps one, or all alike; a head that is its copy or its own."""
    table = (Same("shared", "embed"), Fallback("source", "embed"), Tied("source", "shared"))
    head = (Same("head", "head"), Fallback("shared", "head"), OneRow("bias", "bias"))
    wanted, numbers = {"embed": (3, 2)}, torch.randn(3, 2)
    for names in (("shared",), ("source",), ("source", "shared")):
        file = InMemory({name: numbers.clone() for name in names})
        assert torch.equal(load(table, file, wanted)["embed"], numbers)
    with pytest.raises(CheckpointError, match="missing: shared"):
        load(table, InMemory({}), wanted)
    with pytest.raises(CheckpointError, match="source must equal shared"):
        load(table, InMemory({"shared": numbers, "source": -numbers}), wanted)
    both = {"embed": (3, 2), "head": (3, 2), "bias": (3,)}
    file = InMemory({"shared": numbers, "bias": torch.ones(1, 3)})
    loaded = load((*table, *head), file, both)
    assert torch.equal(loaded["head"], numbers)
    file.tensors["head"] = -numbers
    loaded = load((*table, *head), file, both)
    assert torch.equal(loaded["head"], -numbers)
    written = dump((*table, *head), loaded)
    assert {name: tuple(tensor.shape) for name, tensor in written.items()} == {
        "shared": (3, 2),
        "head": (3, 2),
        "bias": (1, 3),
    }


FAULTS = {
    "missing": ({"h__0__qkv": None}, "1 tensors that the config calls for are missing: h.0.qkv"),
    "both alternatives missing": ({"h__0__norm__weight": None}, "missing: h.0.norm.gamma"),
    "a layer too many": ({"h__1__qkv": torch.ones(4, 2)}, "1 tensors have no place in this model: h.1.qkv"),
    "a layer 00": ({"h__00__qkv": torch.ones(4, 2)}, "no place in this model: h.00.qkv"),
    "vocabulary": ({"embed__weight": torch.ones(6, 2)}, r"embed.weight: expected shape \[5, 2\], found \[6, 2\]"),
    "fused": ({"h__0__qkv": torch.ones(6, 2)}, r"h.0.qkv: expected shape \[4, 2\], found \[6, 2\]"),
    "dimensions": ({"h__0__qkv": torch.ones(8)}, r"h.0.qkv: expected shape \[4, 2\], found \[8\]"),
    "integers": ({"embed__weight": torch.ones(5, 2, dtype=torch.int32)}, "weights, found torch.int32"),
    "untied": ({"lm_head__weight": torch.ones(5, 2)}, "lm_head.weight must equal embed.weight"),
    "given twice": ({"h__0__norm__gamma": torch.ones(2)}, "blocks.0.norm is given twice, by h.0.norm.gamma"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_named(fault):
    changes, message = FAULTS[fault]
    with pytest.raises(CheckpointError, match=message):
        load(TABLE, foreign(**changes), WANTED)


def test_a_tensor_that_no_row_names():
    for action in (
        lambda: load(TABLE, foreign(), {**WANTED, "adapter": (1,)}),
        lambda: dump(TABLE, {"adapter": torch.ones(1)}),
    ):
        with pytest.raises(CheckpointError, match="no row for adapter"):
            action()
