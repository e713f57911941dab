"""CLIP's two towers (Radford et al. 2021, arXiv 2103.00020): each one's section of the config, and its tensors' names.

A section leaves out whatever is as in CLIP ViT-B/32, so every key has its default.
"""

from __future__ import annotations

from dataclasses import replace

from clearformer.checkpoint.renames import Ignored, Row, Same, Tied
from clearformer.families.activations import ACTIVATIONS, foreign_name
from clearformer.families.config_reader import MAX_LAYERS, ConfigReader
from clearformer.families.multi_head import multi_head
from clearformer.families.patches import patch_row
from clearformer.families.pretrained_config import HARMLESS, require_encoder
from clearformer.spec import (
    Attention,
    Biases,
    Block,
    Causal,
    DecoderOnly,
    Dense,
    EncoderOnly,
    EndToken,
    First,
    Full,
    Head,
    Hidden,
    LayerNorm,
    Learned,
    Normal,
    Patches,
    Pooling,
    Stack,
    Tokens,
    Vector,
    Visibility,
)

TEXT_MODEL, IMAGE_MODEL = "clip_text_model", "clip_vision_model"

# Before transformers 4.31 every config said 2, and a text was pooled where its id is largest: at CLIP's last id.
_OLD_END = 2


def read_text(config: ConfigReader, joint: int | None, *, normalise: bool) -> DecoderOnly:
    """`joint` is the width of the space that both towers share; None for a tower that stops at its hidden states."""
    vocabulary = config.whole("vocab_size", 49408)
    context = config.whole("max_position_embeddings", 77)
    end = config.whole("eos_token_id", 49407, at_least=0)
    end = vocabulary - 1 if end == _OLD_END else end
    head = Hidden() if joint is None else Vector(Pooling(EndToken(end)), joint, normalise)
    width, norm, blocks = _read_blocks(config, Causal(), width=512, hidden=2048, heads=8)
    stack = Stack(width, Tokens(vocabulary, Learned(context)), blocks, final_norm=norm)
    return DecoderOnly(stack, head, context, Normal(config.number("initializer_range", 0.02), residual_scaled=True))


def read_image(config: ConfigReader, joint: int | None, *, normalise: bool) -> EncoderOnly:
    """transformers norms the pooled class token alone, and we all positions: the same at the one that is read.

    `joint` as above; a tower without it stops at that token, transformers' `pooler_output`.
    """
    width, norm, blocks = _read_blocks(config, Full(), width=768, hidden=3072, heads=12)
    side, patch = config.whole("image_size", 224), config.whole("patch_size", 32)
    length = (side // patch) ** 2 + 1
    channels = config.whole("num_channels", 3)
    patches = Patches(side, side, patch, channels, position=Learned(length), bias=False, norm=norm)
    head: Head = Vector(Pooling(First()), joint, normalise)
    initial = Normal(config.number("initializer_range", 0.02), residual_scaled=True)
    return EncoderOnly(Stack(width, patches, blocks, final_norm=norm), head, patches.length, initial)


def _read_blocks(
    config: ConfigReader, visibility: Visibility, *, width: int, hidden: int, heads: int
) -> tuple[int, LayerNorm, tuple[Block, ...]]:
    """Width, norm and blocks; the arguments are the defaults."""
    width, heads = config.whole("hidden_size", width), config.whole("num_attention_heads", heads)
    norm = LayerNorm(config.number("layer_norm_eps", 1e-5))
    block = Block(
        attention=replace(
            multi_head(config, width, heads),
            visibility=visibility,
            bias=Biases.everywhere(),
            dropout=config.number("attention_dropout", 0.0),
        ),
        feedforward=Dense(
            config.whole("intermediate_size", hidden), config.choice("hidden_act", ACTIVATIONS, "quick_gelu")
        ),
        attention_norm=norm,
        feedforward_norm=norm,
    )
    _require_plain(config)
    return width, norm, (block,) * config.whole("num_hidden_layers", 12, limit=MAX_LAYERS)


def _require_plain(config: ConfigReader) -> None:
    require_encoder(config)
    # How weights are drawn, and keys that no version has read.
    config.harmless(("initializer_factor", "dropout", "tie_word_embeddings", "tie_encoder_decoder"))
    config.harmless(("cross_attention_hidden_size", "tf_legacy_loss", "projection_dim", *HARMLESS))


def write_text(tower: DecoderOnly) -> dict[str, object] | None:
    """The section that `read_text` reads; None for a tower of another kind."""
    written = _write_blocks(tower.decoder)
    if written is None or not isinstance(tower.decoder.input, Tokens):
        return None
    written |= {
        "model_type": TEXT_MODEL,
        "vocab_size": tower.decoder.input.vocabulary,
        "max_position_embeddings": tower.context,
    }
    if isinstance(tower.head, Vector) and isinstance(take := tower.head.pooling.take, EndToken):
        written["eos_token_id"] = take.id
    return written


def write_image(tower: EncoderOnly) -> dict[str, object] | None:
    """The section that `read_image` reads; None for a tower of another kind."""
    written, patches = _write_blocks(tower.encoder), tower.encoder.input
    if written is None or not isinstance(patches, Patches):
        return None
    return written | {
        "model_type": IMAGE_MODEL,
        "image_size": patches.height,
        "patch_size": patches.patch,
        "num_channels": patches.channels,
    }


def _write_blocks(stack: Stack) -> dict[str, object] | None:
    if not stack.blocks:
        return None
    block, norm = stack.blocks[0], stack.final_norm
    attention, feedforward = block.attention, block.feedforward
    if not (isinstance(attention, Attention) and isinstance(feedforward, Dense) and isinstance(norm, LayerNorm)):
        return None
    return {
        "hidden_size": stack.width,
        "intermediate_size": feedforward.width,
        "num_hidden_layers": len(stack.blocks),
        "num_attention_heads": attention.heads,
        "hidden_act": foreign_name(feedforward.activation),
        "layer_norm_eps": norm.eps,
        "attention_dropout": attention.dropout,
    }


_LAYER = (
    ("self_attn.q_proj", "attention.query"),
    ("self_attn.k_proj", "attention.key"),
    ("self_attn.v_proj", "attention.value"),
    ("self_attn.out_proj", "attention.output"),
    ("layer_norm1", "attention_norm"),
    ("mlp.fc1", "feedforward.up"),
    ("mlp.fc2", "feedforward.down"),
    ("layer_norm2", "feedforward_norm"),
)


def text_rows(stem: str, ours: str) -> list[Row | Tied | Ignored]:
    """`stem` is theirs before the tower's names; `ours` is our stack's name."""
    return [
        Same(f"{stem}embeddings.token_embedding.weight", f"{ours}.embed.token.weight"),
        Same(f"{stem}embeddings.position_embedding.weight", f"{ours}.embed.position.weight"),
        *_layer_rows(stem, ours),
        *(Same(f"{stem}final_layer_norm.{kind}", f"{ours}.final_norm.{kind}") for kind in ("weight", "bias")),
        POSITION_IDS,
    ]


def image_rows(stem: str, ours: str, stack: Stack) -> list[Row | Tied | Ignored]:
    """As `text_rows`, for the image tower."""
    assert isinstance(stack.input, Patches)
    embed = f"{stem}embeddings"
    rows: list[Row | Tied | Ignored] = [
        Same(f"{embed}.class_embedding", f"{ours}.embed.class_token"),
        patch_row(f"{embed}.patch_embedding.weight", f"{ours}.embed.project.weight", stack.input, stack.width),
        Same(f"{embed}.position_embedding.weight", f"{ours}.embed.position.weight"),
        *_layer_rows(stem, ours),
        POSITION_IDS,
    ]
    for kind in ("weight", "bias"):
        # The misspelling is the published name.
        rows.append(Same(f"{stem}pre_layrnorm.{kind}", f"{ours}.embed.norm.{kind}"))
        rows.append(Same(f"{stem}post_layernorm.{kind}", f"{ours}.final_norm.{kind}"))
    return rows


def _layer_rows(stem: str, ours: str) -> list[Row]:
    return [
        Same(f"{stem}encoder.layers.{{i}}.{theirs}.{kind}", f"{ours}.blocks.{{i}}.{mine}.{kind}")
        for theirs, mine in _LAYER
        for kind in ("weight", "bias")
    ]


POSITION_IDS = Ignored("*embeddings.position_ids", "0, 1, 2, …, kept as a buffer by old versions")
