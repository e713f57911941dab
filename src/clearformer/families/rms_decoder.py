"""What the descendants of Llama share: RMSNorm, rotary attention over grouped heads, a gated feed-forward network.

A family's own file says how these stand in its block; sizes, heads and tensor names are read and written here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from clearformer.checkpoint.renames import Ignored, Row, Same, Split, Table, Tied
from clearformer.families.config_reader import ConfigReader
from clearformer.families.heads import decoder_head_rows, write_labels
from clearformer.families.rope import written_length
from clearformer.messages import families as say
from clearformer.spec import (
    Attention,
    Block,
    Classes,
    DecoderOnly,
    EncoderOnly,
    Gated,
    Head,
    Hidden,
    Language,
    Normal,
    Regression,
    RMSNorm,
    Rotary,
    Spec,
    Tokens,
    main_stack,
)


class Names(NamedTuple):
    """A family's classes in transformers: with a language head, with none, with a classifier."""

    language: str
    hidden: str
    labels: str


def read_heads(config: ConfigReader, width: int, key_width: int | None = None) -> tuple[int, int, int]:
    """Query heads, key/value heads and their width; where `head_dim` is absent, `key_width`, or D / heads for None."""
    heads = config.whole("num_attention_heads")
    kv_heads = config.whole("num_key_value_heads", heads)
    if key_width is None and not config.has("head_dim"):
        require_split(config, width, heads)
    if heads % kv_heads:
        config.contradiction("num_attention_heads", "num_key_value_heads", say.KV_HEADS_DO_NOT_DIVIDE)
    return heads, kv_heads, config.whole("head_dim", key_width or max(width // heads, 1))


def require_split(config: ConfigReader, width: int, heads: int) -> None:
    """Refuse heads that do not divide the width; transformers does so in some families even where `head_dim` rules."""
    if width % heads:
        config.contradiction("hidden_size", "num_attention_heads", say.HEADS_DO_NOT_DIVIDE_WIDTH)


def read_initial(config: ConfigReader) -> Normal:
    """How the weights were drawn, beside what old configs say of every model."""
    config.only("is_encoder_decoder", False)
    config.harmless(("auto_map", "cache_implementation"))
    return Normal(config.number("initializer_range", 0.02), residual_scaled=False)


@dataclass(frozen=True)
class Parts:
    """What such a family can say of a spec. The first block stands for all: whatever differs from it is found when the
    written config is read back."""

    width: int
    tokens: Tokens
    blocks: tuple[Block, ...]
    attention: Attention
    attentions: tuple[Attention, ...]
    feedforward: Gated
    norm: RMSNorm
    head: Head
    context: int

    @property
    def rotary(self) -> Rotary:
        """Of the first block that has one; a model without any may write any."""
        return next((each.position for each in self.attentions if isinstance(each.position, Rotary)), Rotary())


def parts_of(spec: Spec) -> Parts | None:
    """The parts of a stack of the common form; None for every other spec."""
    if not isinstance(spec, DecoderOnly | EncoderOnly):
        return None
    stack = main_stack(spec)
    attentions = tuple(block.attention for block in stack.blocks if isinstance(block.attention, Attention))
    if not attentions or len(attentions) != len(stack.blocks) or not isinstance(stack.input, Tokens):
        return None
    feedforward, norm = stack.blocks[0].feedforward, stack.final_norm
    if not isinstance(feedforward, Gated) or not isinstance(norm, RMSNorm):
        return None
    return Parts(
        stack.width, stack.input, stack.blocks, attentions[0], attentions, feedforward, norm, spec.head, spec.context
    )


def write_sizes(parts: Parts, model_type: str, names: Names) -> dict[str, object]:
    """The keys that all these families have in common."""
    written: dict[str, object] = {
        "architectures": [names.language],
        "model_type": model_type,
        "vocab_size": parts.tokens.vocabulary,
        "hidden_size": parts.width,
        "intermediate_size": parts.feedforward.width,
        "num_hidden_layers": len(parts.blocks),
        "num_attention_heads": parts.attention.heads,
        "num_key_value_heads": parts.attention.kv_heads,
        "max_position_embeddings": written_length(parts.rotary, parts.context),
        "rms_norm_eps": parts.norm.eps,
        "attention_dropout": parts.attention.dropout,
        "tie_word_embeddings": isinstance(parts.head, Language) and parts.head.tied,
    }
    match parts.head:
        case Classes() | Regression() as head:
            written |= {"architectures": [names.labels], **write_labels(head)}
        case Hidden():
            written["architectures"] = [names.hidden]
    return written


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
MATRICES = QUERY_KEY_VALUE + OUTPUT + GATE_UP + DOWN
HEAD_NORMS: Pairs = (("self_attn.q_norm", "attention.query_norm"), ("self_attn.k_norm", "attention.key_norm"))
PRE_NORMS: Pairs = (("input_layernorm", "attention_norm"), ("post_attention_layernorm", "feedforward_norm"))


class Fused(NamedTuple):
    """One of their matrices that holds several of ours, one below the other."""

    theirs: str
    ours: tuple[str, ...]
    sizes: tuple[int, ...]


def fused_gate(width: int) -> Fused:
    """Gate and up projection in one matrix (Phi-3, GLM-4)."""
    return Fused("mlp.gate_up_proj", tuple(ours for _, ours in GATE_UP), (width, width))


def decoder_table(spec: Spec, layer: Pairs, fused: Iterable[Fused] = ()) -> Table:
    """The weight table of a stack with these names in each layer."""
    assert isinstance(spec, DecoderOnly | EncoderOnly)
    ours = "decoder" if isinstance(spec, DecoderOnly) else "encoder"
    theirs = "" if isinstance(spec.head, Hidden) else "model."
    rows: list[Row | Tied | Ignored] = [
        Same(f"{theirs}embed_tokens.weight", f"{ours}.embed.token.weight"),
        Same(f"{theirs}norm.weight", f"{ours}.final_norm.weight"),
        Ignored("*.rotary_emb.inv_freq", "frequencies that the config gives, kept by old versions"),
    ]
    for kind in ("weight", "bias"):
        rows += [
            Same(f"{theirs}layers.{{i}}.{their_name}.{kind}", f"{ours}.blocks.{{i}}.{our_name}.{kind}")
            for their_name, our_name in layer
        ]
    for one in fused:
        parts = tuple(f"{ours}.blocks.{{i}}.{name}.weight" for name in one.ours)
        rows.append(Split(f"{theirs}layers.{{i}}.{one.theirs}.weight", parts, one.sizes))
    return (*rows, *decoder_head_rows(spec.head, "model.embed_tokens.weight"))
