"""GPT-2 (Radford et al. 2019): the decoder of 2018 with the norm moved to the front of each sublayer."""

from __future__ import annotations

from dataclasses import replace

from clearformer.checkpoint.renames import Ignored, Row, Same, Split, Table, Tied, Transposed
from clearformer.families.activations import ACTIVATIONS, foreign_name
from clearformer.families.config_reader import MAX_LAYERS, ConfigReader
from clearformer.families.family import Family
from clearformer.families.fused_attention import PARTS
from clearformer.families.heads import Architectures, decoder_head_rows, read_decoder_head, stems, write_head
from clearformer.families.multi_head import read_multi_head
from clearformer.families.pretrained_config import require_decoder
from clearformer.spec import (
    Attention,
    Biases,
    Block,
    DecoderOnly,
    Dense,
    LayerNorm,
    Learned,
    Normal,
    Spec,
    Stack,
    Tokens,
)

_CLASSES = Architectures("GPT2LMHeadModel", "GPT2Model", "GPT2ForSequenceClassification")


def translate(config: ConfigReader, architecture: str) -> Spec:
    width, plain = read_multi_head(config, ("n_embd", "n_head"))
    context = config.whole("n_positions")
    config.only("n_ctx", context)
    attention = replace(plain, bias=Biases.everywhere(), dropout=config.number("attn_pdrop", 0.1))
    norm = LayerNorm(config.number("layer_norm_epsilon", 1e-5))
    dropout = config.number("resid_pdrop", 0.1)
    feedforward = Dense(
        config.whole("n_inner", 4 * width), config.choice("activation_function", ACTIVATIONS, "gelu_new")
    )
    blocks = tuple(
        Block(replace(attention, scale=scale), feedforward, norm, norm, dropout=dropout)
        for scale in _scales(config, attention.key_width)
    )
    require_decoder(config)
    # The order of a product and its float32 accumulation; and the double-heads model's second head.
    config.flag("reorder_and_upcast_attn", False)
    config.harmless(f"summary_{part}" for part in ("type", "use_proj", "activation", "proj_to_labels", "first_dropout"))
    tokens = Tokens(config.whole("vocab_size"), Learned(context), dropout=config.number("embd_pdrop", 0.1))
    return DecoderOnly(
        decoder=Stack(width, tokens, blocks, final_norm=norm),
        head=read_decoder_head(config, architecture, _CLASSES, tied=True),
        context=context,
        initial=Normal(config.number("initializer_range", 0.02), residual_scaled=True),
    )


def _scales(config: ConfigReader, key_width: int) -> list[float | None]:
    """Each layer's score scale: 1/√K or 1, over the layer's number where the config says so (Mistral's GPT-2)."""
    layers = config.whole("n_layer", limit=MAX_LAYERS)
    scaled = config.flag("scale_attn_weights", True)
    if config.flag("scale_attn_by_inverse_layer_idx", False):
        first = key_width**-0.5 if scaled else 1.0
        return [first / layer for layer in range(1, layers + 1)]
    return [None if scaled else 1.0] * layers


def to_config(spec: Spec) -> dict[str, object] | None:
    if not isinstance(spec, DecoderOnly) or not isinstance(spec.decoder.input, Tokens) or not spec.decoder.blocks:
        return None
    first, last, norm = spec.decoder.blocks[0], spec.decoder.blocks[-1], spec.decoder.final_norm
    attention, feedforward = first.attention, first.feedforward
    if not (isinstance(attention, Attention) and isinstance(feedforward, Dense) and isinstance(norm, LayerNorm)):
        return None
    return {
        "model_type": "gpt2",
        "vocab_size": spec.decoder.input.vocabulary,
        "n_embd": spec.decoder.width,
        "n_head": attention.heads,
        "n_layer": len(spec.decoder.blocks),
        "n_positions": spec.context,
        "n_inner": feedforward.width,
        "activation_function": foreign_name(feedforward.activation),
        "layer_norm_epsilon": norm.eps,
        "scale_attn_weights": attention.scale is None or attention.scale != 1.0,
        "scale_attn_by_inverse_layer_idx": attention.scale != last.attention.scale
        or (attention.scale is not None and attention.scale != 1.0),
        "embd_pdrop": spec.decoder.input.dropout,
        "attn_pdrop": attention.dropout,
        "resid_pdrop": first.dropout,
        **write_head(spec.head, _CLASSES),
    }


_LAYER = (
    # theirs, llama.cpp's, ours
    ("ln_1", "attn_norm", "attention_norm"),
    ("ln_2", "ffn_norm", "feedforward_norm"),
)
_MATRICES = (
    ("attn.c_proj", "attn_output", "attention.output"),
    ("mlp.c_fc", "ffn_up", "feedforward.up"),
    ("mlp.c_proj", "ffn_down", "feedforward.down"),
)


def _fused(kind: str) -> tuple[str, ...]:
    return tuple(f"decoder.blocks.{{i}}.attention.{part}.{kind}" for part in PARTS)


def table(spec: Spec) -> Table:
    """Conv1D keeps its matrices inputs first, and query, key and value in one."""
    assert isinstance(spec, DecoderOnly)
    sizes = (spec.decoder.width,) * 3
    rows: list[Row | Tied | Ignored] = []
    # The Hub's own gpt2 has bare names.
    for stem in stems(spec.head, "transformer."):
        rows += [
            Same(f"{stem}wte.weight", "decoder.embed.token.weight"),
            Same(f"{stem}wpe.weight", "decoder.embed.position.weight"),
            Split(f"{stem}h.{{i}}.attn.c_attn.weight", _fused("weight"), sizes, axis=1, transposed=True),
            Split(f"{stem}h.{{i}}.attn.c_attn.bias", _fused("bias"), sizes),
        ]
        for theirs, _, ours in _MATRICES:
            rows.append(Transposed(f"{stem}h.{{i}}.{theirs}.weight", f"decoder.blocks.{{i}}.{ours}.weight"))
            rows.append(Same(f"{stem}h.{{i}}.{theirs}.bias", f"decoder.blocks.{{i}}.{ours}.bias"))
        for kind in ("weight", "bias"):
            rows += [
                Same(f"{stem}h.{{i}}.{theirs}.{kind}", f"decoder.blocks.{{i}}.{ours}.{kind}")
                for theirs, _, ours in _LAYER
            ]
            rows.append(Same(f"{stem}ln_f.{kind}", f"decoder.final_norm.{kind}"))
    rows += [
        Ignored("*.attn.bias", "the causal mask, kept as a buffer by old versions"),
        Ignored("*.attn.masked_bias", "the number that masked scores were set to"),
    ]
    tables = (f"{stem}wte.weight" for stem in stems(spec.head, "transformer."))
    return (*rows, *decoder_head_rows(spec.head, tables))


GPT2 = Family(
    model_type="gpt2",
    architectures=_CLASSES,
    translate=translate,
    to_config=to_config,
    table=table,
)
