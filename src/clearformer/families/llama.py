"""Llama 1 to 3.x, and the many models published in its form (SmolLM2, TinyLlama, Yi …).

Touvron et al. 2023 (arXiv 2302.13971); Grattafiori et al. 2024 (arXiv 2407.21783).
"""

from __future__ import annotations

from clearformer.checkpoint.renames import Ignored, Permuted, Row, Same, Table, Tied
from clearformer.families import llama_gguf
from clearformer.families.activations import ACTIVATIONS, foreign_name
from clearformer.families.config_reader import MAX_LAYERS, ConfigReader
from clearformer.families.family import Family, GGUFForm
from clearformer.families.heads import decoder_head_rows, read_labels, write_labels
from clearformer.families.rope import read_rotary, stretched, write_rotary, written_length
from clearformer.messages import families as say
from clearformer.spec import (
    Attention,
    Biases,
    Block,
    Classes,
    DecoderOnly,
    Gated,
    Head,
    Hidden,
    Language,
    Last,
    Normal,
    Pooling,
    Regression,
    RMSNorm,
    Rotary,
    Spec,
    Stack,
    Tokens,
)

_LANGUAGE, _HIDDEN, _LABELS = "LlamaForCausalLM", "LlamaModel", "LlamaForSequenceClassification"


def translate(config: ConfigReader, architecture: str) -> Spec:
    width = config.whole("hidden_size")
    length = config.whole("max_position_embeddings")
    rotary = read_rotary(config, length)
    norm = RMSNorm(config.number("rms_norm_eps", 1e-6))
    block = Block(
        attention=_attention(config, width, rotary),
        feedforward=Gated(
            config.whole("intermediate_size"),
            config.choice("hidden_act", ACTIVATIONS, "silu"),
            bias=config.flag("mlp_bias", False),
        ),
        attention_norm=norm,
        feedforward_norm=norm,
    )
    # Sliced matrix products for old tensor-parallel checkpoints; rope_interleaved was never honoured.
    config.only("pretraining_tp", 1)
    config.only("rope_interleaved", False)
    config.only("partial_rotary_factor", 1.0, 1)
    config.only("is_encoder_decoder", False)
    config.harmless(("is_llama_config",))
    layers = config.whole("num_hidden_layers", limit=MAX_LAYERS)
    return DecoderOnly(
        decoder=Stack(width, Tokens(config.whole("vocab_size")), (block,) * layers, final_norm=norm),
        head=_head(config, architecture),
        context=stretched(rotary, length),
        initial=Normal(config.number("initializer_range", 0.02), residual_scaled=False),
    )


def _attention(config: ConfigReader, width: int, rotary: Rotary) -> Attention:
    heads = config.whole("num_attention_heads")
    kv_heads = config.whole("num_key_value_heads", heads)
    if not config.has("head_dim") and width % heads:
        config.contradiction("hidden_size", "num_attention_heads", say.HEADS_DO_NOT_DIVIDE_WIDTH)
    if heads % kv_heads:
        config.contradiction("num_attention_heads", "num_key_value_heads", say.KV_HEADS_DO_NOT_DIVIDE)
    key_width = config.whole("head_dim", max(width // heads, 1))
    bias = config.flag("attention_bias", False)
    return Attention(
        heads,
        kv_heads,
        key_width,
        key_width,
        position=rotary,
        bias=Biases.everywhere() if bias else Biases(),
        dropout=config.number("attention_dropout", 0.0),
    )


def _head(config: ConfigReader, architecture: str) -> Head:
    tied = config.flag("tie_word_embeddings", False)
    if architecture == _LANGUAGE:
        return Language(tied)
    return read_labels(config, Pooling(Last()), bias=False) if architecture == _LABELS else Hidden()


def to_config(spec: Spec) -> dict[str, object] | None:
    if not isinstance(spec, DecoderOnly) or not isinstance(spec.decoder.input, Tokens) or not spec.decoder.blocks:
        return None
    block, norm = spec.decoder.blocks[0], spec.decoder.final_norm
    attention, feedforward = block.attention, block.feedforward
    if not (isinstance(attention, Attention) and isinstance(feedforward, Gated) and isinstance(norm, RMSNorm)):
        return None
    if not isinstance(attention.position, Rotary):
        return None
    written: dict[str, object] = {
        "architectures": [_LANGUAGE],
        "model_type": "llama",
        "vocab_size": spec.decoder.input.vocabulary,
        "hidden_size": spec.decoder.width,
        "intermediate_size": feedforward.width,
        "num_hidden_layers": len(spec.decoder.blocks),
        "num_attention_heads": attention.heads,
        "num_key_value_heads": attention.kv_heads,
        "head_dim": attention.key_width,
        "hidden_act": foreign_name(feedforward.activation),
        "max_position_embeddings": written_length(attention.position, spec.context),
        "rms_norm_eps": norm.eps,
        "rope_parameters": write_rotary(attention.position),
        "attention_bias": attention.bias.query,
        "mlp_bias": feedforward.bias,
        "attention_dropout": attention.dropout,
        "tie_word_embeddings": isinstance(spec.head, Language) and spec.head.tied,
    }
    match spec.head:
        case Classes() | Regression() as head:
            written |= {"architectures": [_LABELS], **write_labels(head)}
        case Hidden():
            written["architectures"] = [_HIDDEN]
    return written


_LAYER = (
    ("self_attn.q_proj", "attention.query"),
    ("self_attn.k_proj", "attention.key"),
    ("self_attn.v_proj", "attention.value"),
    ("self_attn.o_proj", "attention.output"),
    ("mlp.gate_proj", "feedforward.gate"),
    ("mlp.up_proj", "feedforward.up"),
    ("mlp.down_proj", "feedforward.down"),
    ("input_layernorm", "attention_norm"),
    ("post_attention_layernorm", "feedforward_norm"),
)


def table(spec: Spec) -> Table:
    assert isinstance(spec, DecoderOnly)
    stem = "" if isinstance(spec.head, Hidden) else "model."
    rows: list[Row | Tied | Ignored] = [
        Same(f"{stem}embed_tokens.weight", "decoder.embed.token.weight"),
        *(
            Same(f"{stem}layers.{{i}}.{theirs}.{kind}", f"decoder.blocks.{{i}}.{ours}.{kind}")
            for theirs, ours in _LAYER
            for kind in ("weight", "bias")
        ),
        Same(f"{stem}norm.weight", "decoder.final_norm.weight"),
        Ignored("*.rotary_emb.inv_freq", "frequencies that the config gives, kept by old versions"),
    ]
    return (*rows, *decoder_head_rows(spec.head, "model.embed_tokens.weight"))


def gguf_table(spec: Spec) -> Table:
    """llama.cpp's names; query and key rows lie as rotary pairs side by side."""
    assert isinstance(spec, DecoderOnly)
    attention = spec.decoder.blocks[0].attention
    assert isinstance(attention, Attention)
    rotated = {"attention.query": attention.heads, "attention.key": attention.kv_heads}
    rows: list[Row | Tied | Ignored] = [
        Same("token_embd.weight", "decoder.embed.token.weight"),
        Same("output_norm.weight", "decoder.final_norm.weight"),
        Same("output.weight", "head.project.weight"),
        Ignored("rope_freqs.weight", "read with the metadata, as a scaling of the rotary positions"),
    ]
    for theirs, ours in llama_gguf.LAYER:
        for kind in ("weight", "bias"):
            names = f"blk.{{i}}.{theirs}.{kind}", f"decoder.blocks.{{i}}.{ours}.{kind}"
            rows.append(Permuted(*names, rotated[ours]) if ours in rotated else Same(*names))
    return tuple(rows)


LLAMA = Family(
    model_type="llama",
    architectures=(_LANGUAGE, _HIDDEN, _LABELS),
    translate=translate,
    to_config=to_config,
    table=table,
    gguf=GGUFForm(
        "llama",
        lambda metadata, tensors: translate(llama_gguf.to_config(metadata, tensors), _LANGUAGE),
        gguf_table,
    ),
)
