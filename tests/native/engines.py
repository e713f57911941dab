"""Small decoders for the compiled kernels."""

from __future__ import annotations

from clearformer import spec as s
from clearformer.native.engine import Engine
from clearformer.speed.native import NativeDecoder


def another_path(decoder: NativeDecoder, path: str, threads: int = 1) -> NativeDecoder:
    """The same program on another instruction set, with exactly so many threads."""
    decoder.engine = Engine(decoder.engine.program, threads=threads, path=path)
    return decoder


def llama(
    *, width: int = 64, heads: int = 4, kv_heads: int = 2, wide: int = 96, layers: int = 2, vocabulary: int = 50
) -> s.DecoderOnly:
    """A decoder in the form of Llama's."""
    each = width // heads
    attention = s.Attention(heads, kv_heads, each, each, s.Causal(), s.Rotary())
    block = s.Block(attention, s.Gated(wide), s.RMSNorm(), s.RMSNorm())
    return s.DecoderOnly(s.Stack(width, s.Tokens(vocabulary), (block,) * layers, s.RMSNorm()), s.Language(), 512)
