"""Weight tables: each row against the original's arithmetic, any table its own inverse, each fault named."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.checkpoint.renames import Ignored, Permuted, Reshaped, Same, Split, Tied, Transposed
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
        match draw(st.sampled_from(["same", "transposed", "split", "reshaped", "permuted"])):
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
