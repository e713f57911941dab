"""ModernBERT (Warner et al. 2024, arXiv 2412.13663): an encoder with rotary positions, gated units, and most of its
layers local."""

from __future__ import annotations

from clearformer.checkpoint.renames import Ignored, Row, Same, Split, Table, Tied
from clearformer.families.activations import ACTIVATIONS, foreign_name
from clearformer.families.config_reader import MAX_LAYERS, ConfigReader
from clearformer.families.family import Family
from clearformer.families.heads import read_labels, write_labels
from clearformer.families.rope import read_rotary_by_kind, stretched, write_rotary, written_length
from clearformer.messages import families as say
from clearformer.spec import (
    Attention,
    Biases,
    Block,
    Classes,
    DynamicNTK,
    EncoderOnly,
    First,
    Full,
    Gated,
    Head,
    Hidden,
    Language,
    LayerNorm,
    Mean,
    Normal,
    Pooling,
    Regression,
    Rotary,
    Spec,
    Stack,
    Take,
    Tokens,
    Transform,
    Vector,
)

_HIDDEN, _LANGUAGE, _LABELS = "ModernBertModel", "ModernBertForMaskedLM", "ModernBertForSequenceClassification"
_GLOBAL, _LOCAL = "full_attention", "sliding_attention"
_BASES = {_GLOBAL: ("global_rope_theta", 160000.0), _LOCAL: ("local_rope_theta", 10000.0)}
_TAKES: dict[str, Take] = {"cls": First(), "mean": Mean()}


def translate(config: ConfigReader, architecture: str) -> Spec:
    width, length = config.whole("hidden_size"), config.whole("max_position_embeddings")
    norm = LayerNorm(config.number("norm_eps", 1e-5), bias=config.flag("norm_bias", False))
    rotaries = read_rotary_by_kind(config, length, _BASES)
    radius = config.whole("local_attention", 128) // 2
    attention = {
        _GLOBAL: _read_attention(config, width, Full(), rotaries[_GLOBAL]),
        _LOCAL: _read_attention(config, width, Full(radius), rotaries[_LOCAL]),
    }
    feedforward = Gated(
        config.whole("intermediate_size"),
        config.choice("hidden_activation", ACTIVATIONS, "gelu"),
        bias=config.flag("mlp_bias", False),
        dropout=config.number("mlp_dropout", 0.0),
    )
    # The embedding's norm stands right before the first attention, which has none of its own.
    blocks = tuple(
        Block(attention[kind], feedforward, norm if index else None, norm)
        for index, kind in enumerate(_read_kinds(config))
    )
    _require_plain(config)
    tokens = Tokens(config.whole("vocab_size"), norm=norm, dropout=config.number("embedding_dropout", 0.0))
    return EncoderOnly(
        encoder=Stack(width, tokens, blocks, final_norm=norm),
        head=_head(config, architecture, norm),
        context=max(stretched(rotary, length) for rotary in rotaries.values()),
        initial=Normal(config.number("initializer_range", 0.02), residual_scaled=True),
    )


def _read_attention(config: ConfigReader, width: int, visibility: Full, rotary: Rotary) -> Attention:
    heads = config.whole("num_attention_heads")
    if width % heads:
        config.contradiction("hidden_size", "num_attention_heads", say.HEADS_DO_NOT_DIVIDE_WIDTH)
    return Attention(
        heads,
        heads,
        width // heads,
        width // heads,
        visibility=visibility,
        position=rotary,
        bias=Biases.everywhere() if config.flag("attention_bias", False) else Biases(),
        dropout=config.number("attention_dropout", 0.0),
    )


def _read_kinds(config: ConfigReader) -> tuple[str, ...]:
    """Each layer's kind: spelt out, or every n-th a global one, the first included."""
    layers = config.whole("num_hidden_layers", limit=MAX_LAYERS)
    every = config.whole("global_attn_every_n_layers", 3)
    counted = [_LOCAL if index % every else _GLOBAL for index in range(layers)]
    if (listed := config.raw("layer_types")) is None:
        return tuple(counted)
    if not isinstance(listed, list) or len(listed) != layers or any(kind not in (_GLOBAL, _LOCAL) for kind in listed):
        config.cannot_say("layer_types", f"{layers} × ({_GLOBAL} | {_LOCAL})", listed)
    if config.has("global_attn_every_n_layers") and listed != counted:
        config.contradiction("layer_types", "global_attn_every_n_layers", say.LAYERS_DIFFER)
    return tuple(listed)


def _require_plain(config: ConfigReader) -> None:
    config.only("position_embedding_type", "absolute")
    config.only("rope_scaling", None)
    config.only("is_decoder", False)
    config.only("is_encoder_decoder", False)
    # Never read, or of training and its kernels.
    config.harmless(("layer_norm_eps", "initializer_cutoff_factor", "deterministic_flash_attn", "reference_compile"))
    config.harmless(("sparse_prediction", "sparse_pred_ignore_index", "repad_logits_with_grad"))


def _head(config: ConfigReader, architecture: str, norm: LayerNorm) -> Head:
    tied, bias = config.flag("tie_word_embeddings", True), config.flag("decoder_bias", True)
    activation = config.choice("classifier_activation", ACTIVATIONS, "gelu")
    transform = Transform(activation, norm, bias=config.flag("classifier_bias", False))
    take, dropout = config.choice("classifier_pooling", _TAKES, "cls"), config.number("classifier_dropout", 0.0)
    if architecture == _LANGUAGE:
        return Language(tied, bias=bias, transform=transform)
    if architecture == _LABELS:
        return read_labels(config, Pooling(take, transform), bias=True, dropout=dropout)
    return Hidden()


def to_config(spec: Spec) -> dict[str, object] | None:
    if not isinstance(spec, EncoderOnly) or not isinstance(spec.encoder.input, Tokens):
        return None
    feedforward = spec.encoder.blocks[0].feedforward if spec.encoder.blocks else None
    attention = [block.attention for block in spec.encoder.blocks if isinstance(block.attention, Attention)]
    norm = spec.encoder.final_norm
    if not (attention and isinstance(feedforward, Gated) and isinstance(norm, LayerNorm)):
        return None
    written: dict[str, object] = {
        "architectures": [_HIDDEN],
        "model_type": "modernbert",
        "vocab_size": spec.encoder.input.vocabulary,
        "hidden_size": spec.encoder.width,
        "intermediate_size": feedforward.width,
        "num_hidden_layers": len(spec.encoder.blocks),
        "num_attention_heads": attention[0].heads,
        "hidden_activation": foreign_name(feedforward.activation),
        "norm_eps": norm.eps,
        "norm_bias": norm.bias,
        "attention_bias": attention[0].bias.query,
        "mlp_bias": feedforward.bias,
        "embedding_dropout": spec.encoder.input.dropout,
        "attention_dropout": attention[0].dropout,
        "mlp_dropout": feedforward.dropout,
        "tie_word_embeddings": not isinstance(spec.head, Language) or spec.head.tied,
        **_write_kinds(attention, spec.context),
    }
    match spec.head:
        case Language(transform=Transform() as transform) as head:
            written |= {"architectures": [_LANGUAGE], "decoder_bias": head.bias, **_write_transform(transform)}
        case (
            Classes(pooling=Pooling(transform=Transform() as transform))
            | Regression(pooling=Pooling(transform=Transform() as transform)) as head
        ):
            take = next((key for key, take in _TAKES.items() if take == head.pooling.take), None)
            written |= {"classifier_pooling": take, "classifier_dropout": head.dropout, **_write_transform(transform)}
            written |= {"architectures": [_LABELS], **write_labels(head)}
    return written


def _write_kinds(attention: list[Attention], context: int) -> dict[str, object]:
    """What each layer sees, and the rotary positions of both kinds."""
    kinds: list[str] = []
    parameters: dict[str, object] = {}
    written: dict[str, object] = {"max_position_embeddings": context}
    for layer in attention:
        radius = layer.visibility.radius if isinstance(layer.visibility, Full) else None
        kinds.append(_GLOBAL if radius is None else _LOCAL)
        if radius is not None:
            written["local_attention"] = max(2 * radius, 1)
        if isinstance(layer.position, Rotary):
            parameters[kinds[-1]] = write_rotary(layer.position)
            if isinstance(layer.position.scaling, DynamicNTK):
                written["max_position_embeddings"] = written_length(layer.position, context)
    return written | {"layer_types": kinds, "rope_parameters": parameters}


def _write_transform(transform: Transform) -> dict[str, object]:
    return {"classifier_activation": foreign_name(transform.activation), "classifier_bias": transform.bias}


def table(spec: Spec) -> Table:
    assert isinstance(spec, EncoderOnly)
    bare = isinstance(spec.head, Hidden | Vector)
    rows = [row for stem in (("", "model.") if bare else ("model.", "")) for row in _stack_rows(stem, spec.encoder)]
    speaks = isinstance(spec.head, Language)
    place = "transform" if speaks else "pooling.transform"
    for kind in ("weight", "bias"):
        rows += [
            Same(f"head.dense.{kind}", f"head.{place}.dense.{kind}"),
            Same(f"head.norm.{kind}", f"head.{place}.norm.{kind}"),
        ]
        if not speaks:
            rows.append(Same(f"classifier.{kind}", f"head.project.{kind}"))
    if isinstance(spec.head, Language):
        tokens = "model.embeddings.tok_embeddings.weight"
        rows += [
            Same("decoder.bias", "head.bias"),
            Tied("decoder.weight", tokens) if spec.head.tied else Same("decoder.weight", "head.project.weight"),
        ]
    return tuple(rows)


def _stack_rows(stem: str, stack: Stack) -> list[Row | Tied | Ignored]:
    layer, block = f"{stem}layers.{{i}}", "encoder.blocks.{i}"
    feedforward = stack.blocks[0].feedforward
    assert isinstance(feedforward, Gated)
    rows: list[Row | Tied | Ignored] = [
        Same(f"{stem}embeddings.tok_embeddings.weight", "encoder.embed.token.weight"),
    ]
    for kind in ("weight", "bias"):
        fused = tuple(f"{block}.attention.{part}.{kind}" for part in ("query", "key", "value"))
        gated = tuple(f"{block}.feedforward.{part}.{kind}" for part in ("gate", "up"))
        rows += [
            Same(f"{stem}embeddings.norm.{kind}", f"encoder.embed.norm.{kind}"),
            Same(f"{layer}.attn_norm.{kind}", f"{block}.attention_norm.{kind}"),
            Split(f"{layer}.attn.Wqkv.{kind}", fused, (stack.width,) * 3),
            Same(f"{layer}.attn.Wo.{kind}", f"{block}.attention.output.{kind}"),
            Same(f"{layer}.mlp_norm.{kind}", f"{block}.feedforward_norm.{kind}"),
            Split(f"{layer}.mlp.Wi.{kind}", gated, (feedforward.width,) * 2),
            Same(f"{layer}.mlp.Wo.{kind}", f"{block}.feedforward.down.{kind}"),
            Same(f"{stem}final_norm.{kind}", f"encoder.final_norm.{kind}"),
        ]
    return rows


MODERNBERT = Family(
    model_type="modernbert",
    architectures=(_HIDDEN, _LANGUAGE, _LABELS),
    translate=translate,
    to_config=to_config,
    table=table,
)
