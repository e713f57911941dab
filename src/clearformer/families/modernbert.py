"""ModernBERT (Warner et al. 2024, arXiv 2412.13663): an encoder with rotary positions, gated units, and most of its
layers local."""

from __future__ import annotations

from dataclasses import replace

from clearformer.checkpoint.renames import Ignored, Row, Same, Split, Table, Tied
from clearformer.families.activations import ACTIVATIONS, foreign_name
from clearformer.families.config_reader import MAX_LAYERS, ConfigReader
from clearformer.families.family import Family
from clearformer.families.fused_attention import fused_attention_rows
from clearformer.families.heads import (
    Labels,
    bare_first,
    encoder_classes,
    read_encoder_head,
    stems,
    vocabulary_rows,
    write_head,
)
from clearformer.families.layer_kinds import (
    GLOBAL,
    LOCAL,
    first_reach,
    first_rotaries,
    read_local_layers,
    write_layer_types,
)
from clearformer.families.multi_head import read_multi_head
from clearformer.families.pretrained_config import require_encoder
from clearformer.families.rope import read_rotary_by_kind, stretched, write_rotary, written_length
from clearformer.spec import (
    Attention,
    Biases,
    Block,
    Classes,
    EncoderOnly,
    First,
    Full,
    Gated,
    Head,
    Language,
    LayerNorm,
    Mean,
    Normal,
    Pooling,
    Regression,
    Spec,
    Stack,
    Take,
    Tokens,
    Transform,
)

_CLASSES = encoder_classes("ModernBert")
_BASES = {GLOBAL: ("global_rope_theta", 160000.0), LOCAL: ("local_rope_theta", 10000.0)}
_TAKES: dict[str, Take] = {"cls": First(), "mean": Mean()}


def translate(config: ConfigReader, architecture: str) -> Spec:
    length = config.whole("max_position_embeddings")
    width, plain = read_multi_head(config)
    norm = LayerNorm(config.number("norm_eps", 1e-5), bias=config.flag("norm_bias", False))
    rotaries = read_rotary_by_kind(config, length, _BASES)
    bias = Biases.everywhere() if config.flag("attention_bias", False) else Biases()
    heads = replace(plain, bias=bias, dropout=config.number("attention_dropout", 0.0))
    radius = config.whole("local_attention", 128) // 2
    kinds = {
        False: replace(heads, visibility=Full(), position=rotaries[GLOBAL]),
        True: replace(heads, visibility=Full(radius), position=rotaries[LOCAL]),
    }
    feedforward = Gated(
        config.whole("intermediate_size"),
        config.choice("hidden_activation", ACTIVATIONS, "gelu"),
        bias=config.flag("mlp_bias", False),
        dropout=config.number("mlp_dropout", 0.0),
    )
    # The embedding's norm stands right before the first attention, which has none of its own.
    blocks = tuple(
        Block(kinds[is_local], feedforward, norm if index else None, norm)
        for index, is_local in enumerate(_read_local_layers(config))
    )
    _require_plain(config)
    tokens = Tokens(config.whole("vocab_size"), norm=norm, dropout=config.number("embedding_dropout", 0.0))
    return EncoderOnly(
        encoder=Stack(width, tokens, blocks, final_norm=norm),
        head=_head(config, architecture, norm),
        context=max(stretched(rotary, length) for rotary in rotaries.values()),
        initial=Normal(config.number("initializer_range", 0.02), residual_scaled=True),
    )


def _read_local_layers(config: ConfigReader) -> tuple[bool, ...]:
    """All but the global layers: spelt out, or every n-th a global one, the first included."""
    layers, every = config.whole("num_hidden_layers", limit=MAX_LAYERS), config.whole("global_attn_every_n_layers", 3)
    return read_local_layers(config, [layer % every != 0 for layer in range(layers)], "global_attn_every_n_layers")


def _require_plain(config: ConfigReader) -> None:
    config.only("position_embedding_type", "absolute")
    config.only("rope_scaling", None)
    require_encoder(config)
    # Never read, or of training and its kernels.
    config.harmless(("layer_norm_eps", "initializer_cutoff_factor", "deterministic_flash_attn", "reference_compile"))
    config.harmless(("sparse_prediction", "sparse_pred_ignore_index", "repad_logits_with_grad"))


def _head(config: ConfigReader, architecture: str, norm: LayerNorm) -> Head:
    activation = config.choice("classifier_activation", ACTIVATIONS, "gelu")
    transform = Transform(activation, norm, bias=config.flag("classifier_bias", False))
    language = Language(bias=config.flag("decoder_bias", True), transform=transform)
    take, dropout = config.choice("classifier_pooling", _TAKES, "cls"), config.number("classifier_dropout", 0.0)
    return read_encoder_head(config, architecture, _CLASSES, language, Labels(Pooling(take, transform), dropout))


def to_config(spec: Spec) -> dict[str, object] | None:
    if not isinstance(spec, EncoderOnly) or not isinstance(spec.encoder.input, Tokens):
        return None
    feedforward = spec.encoder.blocks[0].feedforward if spec.encoder.blocks else None
    attention = [block.attention for block in spec.encoder.blocks if isinstance(block.attention, Attention)]
    norm = spec.encoder.final_norm
    if not (attention and isinstance(feedforward, Gated) and isinstance(norm, LayerNorm)):
        return None
    written: dict[str, object] = {
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
        **_write_kinds(attention, spec.context),
        **write_head(spec.head, _CLASSES, "classifier_dropout"),
    }
    match spec.head:
        case Language(transform=Transform() as transform) as head:
            written |= {"decoder_bias": head.bias, **_write_transform(transform)}
        case (
            Classes(pooling=Pooling(transform=Transform() as transform))
            | Regression(pooling=Pooling(transform=Transform() as transform)) as head
        ):
            take = next((key for key, take in _TAKES.items() if take == head.pooling.take), None)
            written |= {"classifier_pooling": take, **_write_transform(transform)}
    return written


def _write_kinds(attentions: list[Attention], context: int) -> dict[str, object]:
    """What each layer sees, and the rotary positions of both kinds."""
    rotaries, radius = first_rotaries(attentions), first_reach(attentions)
    local = {} if radius is None else {"local_attention": max(2 * radius, 1)}
    return {
        "max_position_embeddings": min((written_length(each, context) for each in rotaries.values()), default=context),
        "layer_types": write_layer_types(attentions),
        "rope_parameters": {kind: write_rotary(rotary) for kind, rotary in rotaries.items()},
        **local,
    }


def _write_transform(transform: Transform) -> dict[str, object]:
    return {"classifier_activation": foreign_name(transform.activation), "classifier_bias": transform.bias}


def table(spec: Spec) -> Table:
    assert isinstance(spec, EncoderOnly)
    rows = [row for stem in stems(spec.head, "model.") for row in _stack_rows(stem, spec.encoder)]
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
        tables = (f"{stem}embeddings.tok_embeddings.weight" for stem in stems(spec.head, "model."))
        rows.append(Same("decoder.bias", "head.bias"))
        rows += vocabulary_rows(spec.head, "decoder.weight", tables, "encoder.embed.token.weight")
    return tuple(rows)


def _stack_rows(stem: str, stack: Stack) -> list[Row | Tied | Ignored]:
    layer, block = f"{stem}layers.{{i}}", "encoder.blocks.{i}"
    feedforward = stack.blocks[0].feedforward
    assert isinstance(feedforward, Gated)
    rows: list[Row | Tied | Ignored] = [
        Same(f"{stem}embeddings.tok_embeddings.weight", "encoder.embed.token.weight"),
        *fused_attention_rows(f"{layer}.attn.Wqkv", f"{block}.attention", stack),
    ]
    for kind in ("weight", "bias"):
        gated = tuple(f"{block}.feedforward.{part}.{kind}" for part in ("gate", "up"))
        rows += [
            Same(f"{stem}embeddings.norm.{kind}", f"encoder.embed.norm.{kind}"),
            Same(f"{layer}.attn_norm.{kind}", f"{block}.attention_norm.{kind}"),
            Same(f"{layer}.attn.Wo.{kind}", f"{block}.attention.output.{kind}"),
            Same(f"{layer}.mlp_norm.{kind}", f"{block}.feedforward_norm.{kind}"),
            Split(f"{layer}.mlp.Wi.{kind}", gated, (feedforward.width,) * 2),
            Same(f"{layer}.mlp.Wo.{kind}", f"{block}.feedforward.down.{kind}"),
            Same(f"{stem}final_norm.{kind}", f"encoder.final_norm.{kind}"),
        ]
    return rows


MODERNBERT = Family(
    model_type="modernbert",
    architectures=bare_first(_CLASSES),
    translate=translate,
    to_config=to_config,
    table=table,
)
