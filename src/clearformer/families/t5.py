"""T5 (Raffel et al. 2019, arXiv 1910.10683), its version 1.1 (Shazeer 2020, arXiv 2002.05202) and Flan-T5 (Chung et al.
2022, arXiv 2210.11416): no biases, positions in the scores alone."""

from __future__ import annotations

from clearformer.checkpoint.renames import Fallback, Ignored, Row, Same, Table, Tied
from clearformer.families.activations import ACTIVATIONS, foreign_name
from clearformer.families.config_reader import MAX_LAYERS, ConfigReader
from clearformer.families.family import Family
from clearformer.families.shared_table import shared_table_rows
from clearformer.messages import families as say
from clearformer.spec import (
    Activation,
    Attention,
    Block,
    Causal,
    Dense,
    EncoderDecoder,
    EncoderOnly,
    Full,
    Gated,
    Hidden,
    Language,
    RelativeBias,
    RMSNorm,
    Spec,
    Stack,
    T5Init,
    Tokens,
)

_BOTH, _FIRST, _ENCODER = "T5ForConditionalGeneration", "T5WithLMHeadModel", "T5EncoderModel"
_GATED = "gated-gelu"


def translate(config: ConfigReader, architecture: str) -> Spec:
    layers = config.whole("num_layers", limit=MAX_LAYERS)
    decoder_layers = config.whole("num_decoder_layers", layers, limit=MAX_LAYERS)
    # Positions know no end: this is the length of the texts that it was trained on.
    context, initial = config.whole("n_positions", 512), T5Init(config.number("initializer_factor", 1.0))
    encoder, head = _stack(config, layers, decodes=False), _head(config)
    config.only("is_decoder", False)
    config.harmless(("classifier_dropout", "num_labels"))
    if architecture == _ENCODER:
        # Whatever it says of the decoder that it was parted from.
        config.flag("is_encoder_decoder", False)
        return EncoderOnly(encoder, Hidden(), context, initial)
    config.only("is_encoder_decoder", True)
    decoder = _stack(config, decoder_layers, decodes=True)
    return EncoderDecoder(encoder, decoder, head, context, shared_vocabulary=True, initial=initial)


def _stack(config: ConfigReader, layers: int, *, decodes: bool) -> Stack:
    heads, key_width = config.whole("num_heads"), config.whole("d_kv")
    norm, dropout = RMSNorm(config.number("layer_norm_epsilon", 1e-6)), config.number("dropout_rate", 0.1)
    distance = RelativeBias(
        config.whole("relative_attention_num_buckets", 32),
        config.whole("relative_attention_max_distance", 128),
        two_sided=not decodes,
    )
    plain = Attention(heads, heads, key_width, key_width, visibility=Full(), scale=1.0, dropout=dropout)
    own = Attention(
        heads,
        heads,
        key_width,
        key_width,
        visibility=Causal() if decodes else Full(),
        position=distance,
        scale=1.0,
        dropout=dropout,
    )
    block = Block(
        attention=own,
        feedforward=_feedforward(config, dropout),
        attention_norm=norm,
        feedforward_norm=norm,
        cross_attention=plain if decodes else None,
        cross_norm=norm if decodes else None,
        dropout=dropout,
    )
    tokens = Tokens(config.whole("vocab_size"), dropout=dropout)
    return Stack(config.whole("d_model"), tokens, (block,) * layers, final_norm=norm)


def _feedforward(config: ConfigReader, dropout: float) -> Dense | Gated:
    """`feed_forward_proj` names the activation, behind `gated-` where there is a gate."""
    key = "feed_forward_proj"
    written = config.text(key) or "relu"
    gate, _, name = written.rpartition("-")
    if gate not in ("", "gated") or name not in ACTIVATIONS:
        config.cannot_say(key, "relu | gated-gelu | ACTIVATION | gated-ACTIVATION", written)
    # This one name means the tanh form that version 1.1 was trained with.
    activation: Activation = "gelu_tanh" if written == _GATED else ACTIVATIONS[name]
    if config.has("dense_act_fn") and config.choice("dense_act_fn", ACTIVATIONS) != activation:
        config.contradiction(key, "dense_act_fn", say.ACTIVATIONS_DIFFER)
    config.only("is_gated_act", gate == "gated")
    width = config.whole("d_ff")
    if gate:
        return Gated(width, activation, dropout=dropout)
    return Dense(width, activation, bias=False, dropout=dropout)


def _head(config: ConfigReader) -> Language:
    """Version 1.0's head is the token table, its hidden states scaled; 1.1 has one of its own, and no scale.

    transformers 5 writes `tie_word_embeddings` true for both, and the scale beside it.
    """
    tied = config.flag("tie_word_embeddings", True)
    scaled = config.flag("scale_decoder_outputs", tied)
    scale = config.whole("d_model") ** -0.5 if scaled else 1.0
    return Language(tied=tied and scaled, hidden_scale=scale)


def to_config(spec: Spec) -> dict[str, object] | None:
    if not isinstance(spec, EncoderDecoder | EncoderOnly) or not spec.encoder.blocks:
        return None
    block, tokens, norm = spec.encoder.blocks[0], spec.encoder.input, spec.encoder.final_norm
    attention, feedforward = block.attention, block.feedforward
    if not (isinstance(attention, Attention) and isinstance(feedforward, Dense | Gated)):
        return None
    if not (isinstance(attention.position, RelativeBias) and isinstance(tokens, Tokens) and isinstance(norm, RMSNorm)):
        return None
    return {
        "model_type": "t5",
        "vocab_size": tokens.vocabulary,
        "d_model": spec.encoder.width,
        "d_kv": attention.key_width,
        "d_ff": feedforward.width,
        "num_layers": len(spec.encoder.blocks),
        "num_heads": attention.heads,
        "relative_attention_num_buckets": attention.position.buckets,
        "relative_attention_max_distance": attention.position.max_distance,
        "feed_forward_proj": _projection(feedforward),
        "layer_norm_epsilon": norm.eps,
        "dropout_rate": block.dropout,
        "n_positions": spec.context,
        **_write_decoder(spec),
    }


def _write_decoder(spec: EncoderDecoder | EncoderOnly) -> dict[str, object]:
    if isinstance(spec, EncoderOnly):
        return {"architectures": [_ENCODER], "is_encoder_decoder": False}
    return {
        "architectures": [_BOTH],
        "is_encoder_decoder": True,
        "num_decoder_layers": len(spec.decoder.blocks),
        "tie_word_embeddings": spec.head.tied,
        "scale_decoder_outputs": spec.head.hidden_scale != 1.0,
    }


def _projection(feedforward: Dense | Gated) -> str:
    if isinstance(feedforward, Dense):
        return foreign_name(feedforward.activation)
    # Behind the gate "gelu" means the tanh form, so the exact one goes by its other name.
    names: dict[Activation, str] = {"gelu_tanh": "gelu", "gelu": "gelu_python"}
    return "gated-" + names.get(feedforward.activation, foreign_name(feedforward.activation))


_ATTENTION = (("q", "query"), ("k", "key"), ("v", "value"), ("o", "output"))
_DENSE = (("wi", "up"), ("wo", "down"))
_GATED_DENSE = (("wi_0", "gate"), ("wi_1", "up"), ("wo", "down"))
# A block's sublayers, by which side has them: their name there, the name of our module and of its norm.
_SUBLAYERS = {
    "encoder": (
        ("SelfAttention", "attention", "attention_norm"),
        ("DenseReluDense", "feedforward", "feedforward_norm"),
    ),
    "decoder": (
        ("SelfAttention", "attention", "attention_norm"),
        ("EncDecAttention", "cross_attention", "cross_norm"),
        ("DenseReluDense", "feedforward", "feedforward_norm"),
    ),
}


def table(spec: Spec) -> Table:
    assert isinstance(spec, EncoderDecoder | EncoderOnly)
    dense = _GATED_DENSE if isinstance(spec.encoder.blocks[0].feedforward, Gated) else _DENSE
    rows: list[Row | Tied | Ignored] = []
    for side, sublayers in _SUBLAYERS.items():
        for number, (name, module, norm) in enumerate(sublayers):
            theirs, ours = f"{side}.block.{{i}}.layer.{number}", f"{side}.blocks.{{i}}"
            parts = dense if module == "feedforward" else _ATTENTION
            rows += [Same(f"{theirs}.{name}.{part}.weight", f"{ours}.{module}.{own}.weight") for part, own in parts]
            rows.append(Same(f"{theirs}.layer_norm.weight", f"{ours}.{norm}.weight"))
        bias = "SelfAttention.relative_attention_bias"
        rows.append(Same(f"{side}.block.{{i}}.layer.0.{bias}.weight", f"{side}.blocks.{{i}}.attention.relative.weight"))
        rows.append(Same(f"{side}.final_layer_norm.weight", f"{side}.final_norm.weight"))
    if isinstance(spec, EncoderOnly):
        rows.append(Ignored("decoder.*", "the decoder of the pair that the encoder was saved with"))
        return (*rows, *shared_table_rows(("",), head="lm_head.weight"))
    rows += shared_table_rows(("",), head="lm_head.weight" if spec.head.tied else None)
    if not spec.head.tied:
        # A head that was never told apart from the table is not in the file.
        rows += [Same("lm_head.weight", "head.project.weight"), Fallback("shared.weight", "head.project.weight")]
    rows.append(Ignored("*.EncDecAttention.relative_attention_bias.weight", "a table that was never read"))
    return tuple(rows)


T5 = Family("t5", (_BOTH, _FIRST, _ENCODER), translate, to_config, table)
