"""What Llama shares with its descendants: pre-norm blocks of grouped rotary attention and a gated network.

Each of them differs in little: biases, windows, norms of queries and keys, experts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clearformer.checkpoint.renames import Ignored, Row, Same, Table, Tied
from clearformer.families.activations import ACTIVATIONS, foreign_name
from clearformer.families.config_reader import MAX_LAYERS, ConfigReader
from clearformer.families.decoder_heads import read_decoder_head
from clearformer.families.heads import decoder_head_rows, write_labels
from clearformer.families.rope import DEFAULT_BASE, RopeDialect, read_rotary, stretched, write_rotary, written_length
from clearformer.messages import families as say
from clearformer.spec import (
    Attention,
    Biases,
    Block,
    Classes,
    DecoderOnly,
    Experts,
    FeedForward,
    Gated,
    Hidden,
    Language,
    Normal,
    Regression,
    RMSNorm,
    Rotary,
    Spec,
    Stack,
    Tokens,
)

ATTENTION = (
    ("self_attn.q_proj", "attention.query"),
    ("self_attn.k_proj", "attention.key"),
    ("self_attn.v_proj", "attention.value"),
    ("self_attn.o_proj", "attention.output"),
)
GATED = (
    ("mlp.gate_proj", "feedforward.gate"),
    ("mlp.up_proj", "feedforward.up"),
    ("mlp.down_proj", "feedforward.down"),
)
NORMS = (
    ("input_layernorm", "attention_norm"),
    ("post_attention_layernorm", "feedforward_norm"),
)


def read_layers(config: ConfigReader) -> int:
    return config.whole("num_hidden_layers", limit=MAX_LAYERS)


def read_norm(config: ConfigReader, eps: float = 1e-6) -> RMSNorm:
    """The norm of every block; `eps` is meant where the config names none."""
    return RMSNorm(config.number("rms_norm_eps", eps))


@dataclass(frozen=True)
class Unsaid:
    """What a family means by keys that its config leaves out; None is what the other sizes give."""

    kv_heads: int | None = None
    head_width: int | None = None
    rope_base: float = DEFAULT_BASE


_GIVEN_BY_SIZES = Unsaid()


def read_attention(config: ConfigReader, bias: Biases, unsaid: Unsaid = _GIVEN_BY_SIZES) -> Attention:
    """Grouped rotary attention that sees the whole past."""
    width, heads = config.whole("hidden_size"), config.whole("num_attention_heads")
    absent = None if config.mentions("num_key_value_heads") else unsaid.kv_heads
    kv_heads = config.whole("num_key_value_heads", absent or heads)
    if not config.has("head_dim") and unsaid.head_width is None and width % heads:
        config.contradiction("hidden_size", "num_attention_heads", say.HEADS_DO_NOT_DIVIDE_WIDTH)
    if heads % kv_heads:
        config.contradiction("num_attention_heads", "num_key_value_heads", say.KV_HEADS_DO_NOT_DIVIDE)
    key_width = config.whole("head_dim", unsaid.head_width or max(width // heads, 1))
    return Attention(
        heads,
        kv_heads,
        key_width,
        key_width,
        position=read_rotary(config, config.whole("max_position_embeddings"), RopeDialect(unsaid.rope_base)),
        bias=bias,
        dropout=config.number("attention_dropout", 0.0),
    )


def read_gated(config: ConfigReader, width: str = "intermediate_size", *, bias: bool = False) -> Gated:
    """A gated network; `width` is the key that says how wide."""
    return Gated(config.whole(width), config.choice("hidden_act", ACTIVATIONS, "silu"), bias=bias)


def read_decoder(
    config: ConfigReader, architecture: str, norm: RMSNorm, sublayers: Sequence[tuple[Attention, FeedForward]]
) -> DecoderOnly:
    """The whole model around its blocks, of which each is one pair of `sublayers`."""
    blocks = tuple(Block(attention, feedforward, norm, norm) for attention, feedforward in sublayers)
    rotary = sublayers[0][0].position
    assert isinstance(rotary, Rotary)
    config.only("is_encoder_decoder", False)
    return DecoderOnly(
        decoder=Stack(config.whole("hidden_size"), Tokens(config.whole("vocab_size")), blocks, final_norm=norm),
        head=read_decoder_head(config, architecture, tied=False),
        context=stretched(rotary, config.whole("max_position_embeddings")),
        initial=Normal(config.number("initializer_range", 0.02), residual_scaled=False),
    )


@dataclass(frozen=True)
class Parts:
    """A spec of this shape, with what a config says once."""

    spec: DecoderOnly
    tokens: Tokens
    attention: Attention
    rotary: Rotary
    norm: RMSNorm

    @property
    def blocks(self) -> tuple[Block, ...]:
        return self.spec.decoder.blocks

    @property
    def gated(self) -> Gated | None:
        """The first block's network that is one gated pair."""
        return next((block.feedforward for block in self.blocks if isinstance(block.feedforward, Gated)), None)

    @property
    def experts(self) -> Experts | None:
        """The first block's network that is a mixture of experts."""
        return next((block.feedforward for block in self.blocks if isinstance(block.feedforward, Experts)), None)


def parts_of(spec: Spec) -> Parts | None:
    """The parts that a config writes, read off the first block; None for a spec of another shape."""
    if not isinstance(spec, DecoderOnly) or not spec.decoder.blocks:
        return None
    tokens, attention, norm = spec.decoder.input, spec.decoder.blocks[0].attention, spec.decoder.final_norm
    if not (isinstance(tokens, Tokens) and isinstance(attention, Attention) and isinstance(norm, RMSNorm)):
        return None
    return Parts(spec, tokens, attention, attention.position, norm) if isinstance(attention.position, Rotary) else None


def write_decoder(parts: Parts, model_type: str, classes: tuple[str, str, str]) -> dict[str, object]:
    """The keys that all these families have; `classes` are the family's `architectures`."""
    spec, attention = parts.spec, parts.attention
    language, hidden, labels = classes
    written: dict[str, object] = {
        "architectures": [language],
        "model_type": model_type,
        "vocab_size": parts.tokens.vocabulary,
        "hidden_size": spec.decoder.width,
        "num_hidden_layers": len(parts.blocks),
        "num_attention_heads": attention.heads,
        "num_key_value_heads": attention.kv_heads,
        "head_dim": attention.key_width,
        "max_position_embeddings": written_length(parts.rotary, spec.context),
        "rms_norm_eps": parts.norm.eps,
        "rope_parameters": write_rotary(parts.rotary),
        "attention_dropout": attention.dropout,
        "tie_word_embeddings": isinstance(spec.head, Language) and spec.head.tied,
    }
    match spec.head:
        case Classes() | Regression() as head:
            written |= {"architectures": [labels], **write_labels(head)}
        case Hidden():
            written["architectures"] = [hidden]
    return written


def write_gated(gated: Gated) -> dict[str, object]:
    return {"intermediate_size": gated.width, "hidden_act": foreign_name(gated.activation)}


def layer_stem(spec: Spec) -> str:
    """What stands before a tensor's name within block i; a model without a head lacks its outer module."""
    assert isinstance(spec, DecoderOnly)
    return f"{_stem(spec)}layers.{{i}}"


def _stem(spec: DecoderOnly) -> str:
    return "" if isinstance(spec.head, Hidden) else "model."


def decoder_table(spec: Spec, layer: Iterable[tuple[str, str]] = ATTENTION + GATED + NORMS) -> Table:
    """The weights as transformers names them; `layer` pairs the names within a block."""
    assert isinstance(spec, DecoderOnly)
    stem = _stem(spec)
    rows: list[Row | Tied | Ignored] = [
        Same(f"{stem}embed_tokens.weight", "decoder.embed.token.weight"),
        *(
            Same(f"{layer_stem(spec)}.{theirs}.{kind}", f"decoder.blocks.{{i}}.{ours}.{kind}")
            for theirs, ours in layer
            for kind in ("weight", "bias")
        ),
        Same(f"{stem}norm.weight", "decoder.final_norm.weight"),
        Ignored("*.rotary_emb.inv_freq", "frequencies that the config gives, kept by old versions"),
    ]
    return (*rows, *decoder_head_rows(spec.head, "model.embed_tokens.weight"))
