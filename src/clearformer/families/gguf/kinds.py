"""Which tensors of a GGUF file are kept finer than the rest, as llama.cpp's converter and quantiser keep them."""

from __future__ import annotations

from collections.abc import Collection

from clearformer.checkpoint.gguf_blocks import BLOCK, LAYOUTS, Kind

# Added to activations, or choosing experts: small tables with which llama.cpp computes in float32.
_WHOLE = ("position_embd.weight", "token_types.weight", "ffn_gate_inp.weight", "_norm.weight")


def kind_of(name: str, shape: tuple[int, ...], wanted: Kind, names: Collection[str]) -> Kind:
    """The kind of one tensor of a file with these `names`: vectors stay whole, the head of a Q4_0 file is Q8_0, and a
    row that is not of whole blocks is kept in F16."""
    if len(shape) < 2 or name.endswith(_WHOLE):
        return "f32"
    head = "output.weight" if "output.weight" in names else "token_embd.weight"
    kind: Kind = "q8_0" if wanted == "q4_0" and name == head else wanted
    return "f16" if falls_back(shape, kind) else kind


def falls_back(shape: tuple[int, ...], kind: Kind) -> bool:
    """Rows of this length do not divide into blocks of the kind."""
    return LAYOUTS[kind].numbers == BLOCK and shape[-1] % BLOCK != 0
