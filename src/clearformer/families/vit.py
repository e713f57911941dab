"""The Vision Transformer (Dosovitskiy et al. 2020, arXiv 2010.11929): an encoder over the patches of an image."""

from __future__ import annotations

from dataclasses import replace

from clearformer.checkpoint.renames import Ignored, Reshaped, Row, Same, Table, Tied
from clearformer.families.activations import ACTIVATIONS, foreign_name
from clearformer.families.config_reader import MAX_LAYERS, ConfigReader
from clearformer.families.family import Family
from clearformer.families.heads import read_labels, stems, write_labels
from clearformer.families.multi_head import read_multi_head
from clearformer.families.patches import patch_row
from clearformer.families.pretrained_config import require_encoder
from clearformer.spec import (
    Attention,
    Biases,
    Block,
    Classes,
    Dense,
    EncoderOnly,
    First,
    Full,
    Hidden,
    LayerNorm,
    Learned,
    Normal,
    Patches,
    Pooling,
    Regression,
    Spec,
    Stack,
)

_HIDDEN, _LABELS = "ViTModel", "ViTForImageClassification"


def translate(config: ConfigReader, architecture: str) -> Spec:
    width, attention = read_multi_head(config)
    norm = LayerNorm(config.number("layer_norm_eps", 1e-12))
    dropout = config.number("hidden_dropout_prob", 0.0)
    biased = config.flag("qkv_bias", True)
    block = Block(
        attention=replace(
            attention,
            visibility=Full(),
            bias=Biases(query=biased, key=biased, value=biased, output=True),
            dropout=config.number("attention_probs_dropout_prob", 0.0),
        ),
        feedforward=Dense(config.whole("intermediate_size"), config.choice("hidden_act", ACTIVATIONS, "gelu")),
        attention_norm=norm,
        feedforward_norm=norm,
        dropout=dropout,
    )
    patches = _read_patches(config, dropout)
    # A pooler that only ViTModel has, and that no hidden state passes; the decoder of masked pixels.
    config.harmless(("pooler_output_size", "pooler_act", "encoder_stride", "tie_word_embeddings"))
    require_encoder(config)
    layers = config.whole("num_hidden_layers", limit=MAX_LAYERS)
    return EncoderOnly(
        encoder=Stack(width, patches, (block,) * layers, final_norm=norm),
        head=read_labels(config, Pooling(First()), bias=True) if architecture == _LABELS else Hidden(),
        context=patches.length,
        initial=Normal(config.number("initializer_range", 0.02), residual_scaled=False),
    )


def _read_patches(config: ConfigReader, dropout: float) -> Patches:
    height, width = _two_sides(config, "image_size", 224)
    patch, across = _two_sides(config, "patch_size", 16)
    if patch != across:
        config.cannot_say("patch_size", str(patch), [patch, across])
    length = (height // patch) * (width // patch) + 1
    channels = config.whole("num_channels", 3)
    return Patches(height, width, patch, channels, position=Learned(length), dropout=dropout)


def _two_sides(config: ConfigReader, key: str, default: int) -> tuple[int, int]:
    """Height and width; one number means both."""
    if isinstance(sides := config.raw(key), list) and len(sides) == 2:
        members = ConfigReader({f"{key}[{i}]": side for i, side in enumerate(sides)}, config.path)
        return members.whole(f"{key}[0]"), members.whole(f"{key}[1]")
    side = config.whole(key, default)
    return side, side


def to_config(spec: Spec) -> dict[str, object] | None:
    if not isinstance(spec, EncoderOnly) or not isinstance(spec.encoder.input, Patches) or not spec.encoder.blocks:
        return None
    block, patches, norm = spec.encoder.blocks[0], spec.encoder.input, spec.encoder.final_norm
    attention, feedforward = block.attention, block.feedforward
    if not (isinstance(attention, Attention) and isinstance(feedforward, Dense) and isinstance(norm, LayerNorm)):
        return None
    written: dict[str, object] = {
        "architectures": [_HIDDEN],
        "model_type": "vit",
        "image_size": patches.height if patches.height == patches.width else [patches.height, patches.width],
        "patch_size": patches.patch,
        "num_channels": patches.channels,
        "hidden_size": spec.encoder.width,
        "intermediate_size": feedforward.width,
        "num_hidden_layers": len(spec.encoder.blocks),
        "num_attention_heads": attention.heads,
        "hidden_act": foreign_name(feedforward.activation),
        "layer_norm_eps": norm.eps,
        "qkv_bias": attention.bias.query,
        "hidden_dropout_prob": block.dropout,
        "attention_probs_dropout_prob": attention.dropout,
    }
    match spec.head:
        case Classes() | Regression() as head:
            written |= {"architectures": [_LABELS], **write_labels(head)}
    return written


_LAYER = (
    ("attention.attention.query", "attention.query"),
    ("attention.attention.key", "attention.key"),
    ("attention.attention.value", "attention.value"),
    ("attention.output.dense", "attention.output"),
    ("intermediate.dense", "feedforward.up"),
    ("output.dense", "feedforward.down"),
    ("layernorm_before", "attention_norm"),
    ("layernorm_after", "feedforward_norm"),
)


def table(spec: Spec) -> Table:
    assert isinstance(spec, EncoderOnly)
    rows = [row for stem in stems(spec.head, "vit.") for row in _stack_rows(stem, spec.encoder)]
    return (
        *rows,
        *(Same(f"classifier.{kind}", f"head.project.{kind}") for kind in ("weight", "bias")),
        Ignored("*pooler.dense.*", "the pooler, which hidden states do not pass"),
        Ignored("*embeddings.mask_token", "what stood for hidden patches in pre-training"),
    )


def _stack_rows(stem: str, stack: Stack) -> list[Row | Tied | Ignored]:
    assert isinstance(stack.input, Patches)
    width, length = stack.width, stack.input.length
    embed, table, project = "encoder.embed", f"{stem}embeddings", f"{stem}embeddings.patch_embeddings.projection"
    rows: list[Row | Tied | Ignored] = [
        Reshaped(f"{table}.cls_token", f"{embed}.class_token", (1, 1, width), (width,)),
        Reshaped(f"{table}.position_embeddings", f"{embed}.position.weight", (1, length, width), (length, width)),
        patch_row(f"{project}.weight", f"{embed}.project.weight", stack.input, width),
        Same(f"{project}.bias", f"{embed}.project.bias"),
    ]
    for kind in ("weight", "bias"):
        rows.append(Same(f"{stem}layernorm.{kind}", f"encoder.final_norm.{kind}"))
        rows += [
            Same(f"{stem}encoder.layer.{{i}}.{theirs}.{kind}", f"encoder.blocks.{{i}}.{ours}.{kind}")
            for theirs, ours in _LAYER
        ]
    return rows


VIT = Family(
    model_type="vit",
    architectures=(_HIDDEN, _LABELS),
    translate=translate,
    to_config=to_config,
    table=table,
)
