"""Llama and its descendants: RMSNorm, rotary attention over grouped heads, a gated feed-forward network.

A family's own file says how these stand in its block and what it adds to them; its numbers, its attention, the whole
model around its blocks and the names of its weights are read and written here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from clearformer.checkpoint.renames import Ignored, Row, Same, Split, Table, Tied
from clearformer.families.activations import ACTIVATIONS, foreign_name
from clearformer.families.config_reader import MAX_LAYERS, ConfigReader
from clearformer.families.heads import Architectures, decoder_head_rows, read_decoder_head, stems, write_head
from clearformer.families.multi_head import require_even_split
from clearformer.families.pretrained_config import require_decoder
from clearformer.families.rope import LLAMA_DIALECT, RopeDialect, read_rotary, stretched, write_rotary, written_length
from clearformer.messages import families as say
from clearformer.spec import (
    Attention,
    Biases,
    Block,
    DecoderOnly,
    EncoderOnly,
    Experts,
    Full,
    Gated,
    Normal,
    RMSNorm,
    Rotary,
    SingleStack,
    Spec,
    Stack,
    Tokens,
    main_stack,
)


@dataclass(frozen=True)
class Unsaid:
    """What a family means by keys that its config leaves out; None is what the other sizes give."""

    kv_heads: int | None = None
    head_width: int | None = None
    rope: RopeDialect = LLAMA_DIALECT


_GIVEN_BY_SIZES = Unsaid()


def read_layers(config: ConfigReader) -> int:
    return config.whole("num_hidden_layers", limit=MAX_LAYERS)


def read_norm(config: ConfigReader, eps: float = 1e-6) -> RMSNorm:
    """The norm of every block; `eps` is meant where the config names none."""
    return RMSNorm(config.number("rms_norm_eps", eps))


def read_biases(config: ConfigReader) -> Biases:
    """On all four projections, or on none."""
    return Biases.everywhere() if config.flag("attention_bias", False) else Biases()


def read_heads(config: ConfigReader, bias: Biases, unsaid: Unsaid = _GIVEN_BY_SIZES) -> Attention:
    """Grouped attention that sees the whole past and knows no positions."""
    width, heads = config.whole("hidden_size"), config.whole("num_attention_heads")
    absent = None if config.mentions("num_key_value_heads") else unsaid.kv_heads
    kv_heads = config.whole("num_key_value_heads", absent or heads)
    if not config.has("head_dim") and unsaid.head_width is None:
        require_even_split(config, width, heads)
    if heads % kv_heads:
        config.contradiction("num_attention_heads", "num_key_value_heads", say.KV_HEADS_DO_NOT_DIVIDE)
    key_width = config.whole("head_dim", unsaid.head_width or max(width // heads, 1))
    return Attention(heads, kv_heads, key_width, key_width, bias=bias, dropout=config.number("attention_dropout", 0.0))


def read_attention(config: ConfigReader, bias: Biases, unsaid: Unsaid = _GIVEN_BY_SIZES) -> Attention:
    """The same with rotary positions."""
    attention = read_heads(config, bias, unsaid)
    length = config.whole("max_position_embeddings")
    return replace(attention, position=read_rotary(config, length, attention.key_width, unsaid.rope))


def read_gated(config: ConfigReader, width: str = "intermediate_size", *, bias: bool = False) -> Gated:
    """A gated network; `width` is the key that says how wide."""
    return Gated(config.whole(width), config.choice("hidden_act", ACTIVATIONS, "silu"), bias=bias)


def read_tokens(config: ConfigReader) -> Tokens:
    return Tokens(config.whole("vocab_size"))


def read_decoder(
    config: ConfigReader,
    architecture: str,
    classes: Architectures,
    blocks: Sequence[Block],
    *,
    tokens: Tokens | None = None,
    tied: bool = False,
    cap: float | None = None,
) -> SingleStack:
    """The whole model around its blocks, whose norm is the last one too; `tied` and `cap` are those of the head.

    Blocks that see both ways make it an encoder (Gemma 3).
    """
    length = config.whole("max_position_embeddings")
    require_decoder(config)
    attentions = [block.attention for block in blocks if isinstance(block.attention, Attention)]
    rotaries = [each.position for each in attentions if isinstance(each.position, Rotary)]
    kind = EncoderOnly if isinstance(blocks[0].attention.visibility, Full) else DecoderOnly
    return kind(
        Stack(config.whole("hidden_size"), tokens or read_tokens(config), tuple(blocks), blocks[0].feedforward_norm),
        read_decoder_head(config, architecture, classes, tied=tied, cap=cap),
        context=max((stretched(rotary, length) for rotary in rotaries), default=length),
        initial=Normal(config.number("initializer_range", 0.02), residual_scaled=False),
    )


@dataclass(frozen=True)
class Parts:
    """A spec of this shape, with what a config says once. The first block stands for all: whatever differs from it is
    found when the written config is read back."""

    spec: SingleStack
    stack: Stack
    tokens: Tokens
    attentions: tuple[Attention, ...]
    norm: RMSNorm

    @property
    def attention(self) -> Attention:
        return self.attentions[0]

    @property
    def rotary(self) -> Rotary:
        """Of the first block that has one; a model without any may write any."""
        return next((each.position for each in self.attentions if isinstance(each.position, Rotary)), Rotary())

    @property
    def gated(self) -> Gated | None:
        """The first block's network that is one gated pair."""
        return next((block.feedforward for block in self.stack.blocks if isinstance(block.feedforward, Gated)), None)

    @property
    def experts(self) -> Experts | None:
        """The first block's network that is a mixture of experts."""
        return next((block.feedforward for block in self.stack.blocks if isinstance(block.feedforward, Experts)), None)

    @property
    def length(self) -> int:
        """What `max_position_embeddings` says."""
        rotaries = [each.position for each in self.attentions if isinstance(each.position, Rotary)]
        return min((written_length(rotary, self.spec.context) for rotary in rotaries), default=self.spec.context)


def parts_of(spec: Spec) -> Parts | None:
    """The parts that a config writes; None for a spec of another shape."""
    if not isinstance(spec, DecoderOnly | EncoderOnly):
        return None
    stack, norm = main_stack(spec), main_stack(spec).final_norm
    attentions = tuple(block.attention for block in stack.blocks if isinstance(block.attention, Attention))
    whole = attentions and len(attentions) == len(stack.blocks)
    if not (whole and isinstance(stack.input, Tokens) and isinstance(norm, RMSNorm)):
        return None
    return Parts(spec, stack, stack.input, attentions, norm)


def write_decoder(parts: Parts, model_type: str, classes: Architectures) -> dict[str, object]:
    """The keys that all these families have but for those of the network."""
    attention = parts.attention
    return {
        "model_type": model_type,
        "vocab_size": parts.tokens.vocabulary,
        "hidden_size": parts.stack.width,
        "num_hidden_layers": len(parts.stack.blocks),
        "num_attention_heads": attention.heads,
        "num_key_value_heads": attention.kv_heads,
        "head_dim": attention.key_width,
        "max_position_embeddings": parts.length,
        "rms_norm_eps": parts.norm.eps,
        "rope_parameters": write_rotary(parts.rotary),
        "attention_dropout": attention.dropout,
        **write_head(parts.spec.head, classes),
    }


def write_gated(gated: Gated) -> dict[str, object]:
    return {"intermediate_size": gated.width, "hidden_act": foreign_name(gated.activation)}


Pairs = tuple[tuple[str, str], ...]
"""Their name and ours, within one layer."""

QUERY_KEY_VALUE: Pairs = (
    ("self_attn.q_proj", "attention.query"),
    ("self_attn.k_proj", "attention.key"),
    ("self_attn.v_proj", "attention.value"),
)
OUTPUT: Pairs = (("self_attn.o_proj", "attention.output"),)
GATE_UP: Pairs = (("mlp.gate_proj", "feedforward.gate"), ("mlp.up_proj", "feedforward.up"))
DOWN: Pairs = (("mlp.down_proj", "feedforward.down"),)
ATTENTION, GATED = QUERY_KEY_VALUE + OUTPUT, GATE_UP + DOWN
HEAD_NORMS: Pairs = (("self_attn.q_norm", "attention.query_norm"), ("self_attn.k_norm", "attention.key_norm"))
NORMS: Pairs = (("input_layernorm", "attention_norm"), ("post_attention_layernorm", "feedforward_norm"))


class Fused(NamedTuple):
    """One of their matrices that holds several of ours, one below the other."""

    theirs: str
    ours: Pairs
    sizes: tuple[int, ...]


def fused_gate(width: int) -> Fused:
    """Gate and up projection in one matrix (Phi-3, GLM-4)."""
    return Fused("mlp.gate_up_proj", GATE_UP, (width, width))


def layer_stems(spec: Spec) -> tuple[str, ...]:
    """What may stand before a tensor's name within block i, first what transformers writes."""
    assert isinstance(spec, DecoderOnly | EncoderOnly)
    return tuple(f"{stem}layers.{{i}}" for stem in stems(spec.head, "model."))


def decoder_table(spec: Spec, layer: Pairs = ATTENTION + GATED + NORMS, fused: Iterable[Fused] = ()) -> Table:
    """The weights as transformers names them; `layer` pairs the names within a block."""
    assert isinstance(spec, DecoderOnly | EncoderOnly)
    ours = "decoder" if isinstance(spec, DecoderOnly) else "encoder"
    rows: list[Row | Tied | Ignored] = [
        Ignored("*.rotary_emb.inv_freq", "frequencies that the config gives, kept by old versions")
    ]
    for stem in stems(spec.head, "model."):
        rows += [
            Same(f"{stem}embed_tokens.weight", f"{ours}.embed.token.weight"),
            Same(f"{stem}norm.weight", f"{ours}.final_norm.weight"),
        ]
    for stem in layer_stems(spec):
        rows += [
            Same(f"{stem}.{their_name}.{kind}", f"{ours}.blocks.{{i}}.{our_name}.{kind}")
            for their_name, our_name in layer
            for kind in ("weight", "bias")
        ]
        for one in fused:
            parts = tuple(f"{ours}.blocks.{{i}}.{name}.weight" for _, name in one.ours)
            rows.append(Split(f"{stem}.{one.theirs}.weight", parts, one.sizes))
    tables = (f"{stem}embed_tokens.weight" for stem in stems(spec.head, "model."))
    return (*rows, *decoder_head_rows(spec.head, tables, ours))
