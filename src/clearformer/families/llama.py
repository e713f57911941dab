"""Llama 1 to 3.x, and the many models published in its form (SmolLM2, TinyLlama, Yi …).

Touvron et al. 2023 (arXiv 2302.13971); Grattafiori et al. 2024 (arXiv 2407.21783).
"""

from __future__ import annotations

from clearformer.families.config_reader import ConfigReader
from clearformer.families.family import Family
from clearformer.families.gated_decoder import (
    decoder_table,
    parts_of,
    read_attention,
    read_biases,
    read_decoder,
    read_gated,
    read_layers,
    read_norm,
    write_decoder,
    write_gated,
)
from clearformer.families.heads import decoder_classes
from clearformer.spec import Block, Spec

_CLASSES = decoder_classes("Llama")


def translate(config: ConfigReader, architecture: str) -> Spec:
    attention, norm = read_attention(config, read_biases(config)), read_norm(config)
    block = Block(attention, read_gated(config, bias=config.flag("mlp_bias", False)), norm, norm)
    # Sliced matrix products for old tensor-parallel checkpoints; rope_interleaved was never honoured.
    config.only("pretraining_tp", 1)
    config.only("rope_interleaved", False)
    config.only("partial_rotary_factor", 1.0, 1)
    config.harmless(("is_llama_config",))
    return read_decoder(config, architecture, _CLASSES, [block] * read_layers(config))


def to_config(spec: Spec) -> dict[str, object] | None:
    if (parts := parts_of(spec)) is None or parts.gated is None:
        return None
    return {
        **write_decoder(parts, "llama", _CLASSES),
        **write_gated(parts.gated),
        "attention_bias": parts.attention.bias.query,
        "mlp_bias": parts.gated.bias,
    }


LLAMA = Family(
    model_type="llama",
    architectures=_CLASSES,
    translate=translate,
    to_config=to_config,
    table=decoder_table,
)
