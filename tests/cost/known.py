"""Models whose costs are published."""

from __future__ import annotations

from dataclasses import replace

from clearformer import spec as s
from clearformer.spec.presets import modern_decoder, tiny_gpt


def without_biases(gpt: s.DecoderOnly) -> s.DecoderOnly:
    norm, block = s.LayerNorm(bias=False), gpt.decoder.blocks[0]
    assert isinstance(block.attention, s.Attention)
    assert isinstance(block.feedforward, s.Dense)
    bare = replace(
        block,
        attention=replace(block.attention, bias=s.Biases()),
        feedforward=replace(block.feedforward, bias=False),
        attention_norm=norm,
        feedforward_norm=norm,
    )
    return replace(gpt, decoder=replace(gpt.decoder, blocks=(bare,) * len(gpt.decoder.blocks), final_norm=norm))


GPT2 = without_biases(tiny_gpt(width=768, heads=12, layers=12, vocabulary=50257, context=1024))
"""GPT-2 of 124 million as nanoGPT counts it."""


def llama_7b(kv_heads: int = 32) -> s.DecoderOnly:
    """Llama 2's 7B, or the same with fewer key/value heads."""
    return modern_decoder(
        width=4096, heads=32, kv_heads=kv_heads, hidden=11008, layers=32, vocabulary=32000, context=4096
    )
