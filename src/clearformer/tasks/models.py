"""Which model a text task trains: a design and its sizes. The vocabulary comes from the tokenizer, the context from the
data; a spec of the user's own is taken as it is, its vocabulary aside.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from clearformer.errors import TrainingError
from clearformer.messages import tasks as say
from clearformer.spec import (
    Classes,
    DecoderOnly,
    EncoderOnly,
    First,
    Head,
    Language,
    Mean,
    Pooling,
    SingleStack,
    Tokens,
    Transform,
    main_stack,
)
from clearformer.spec.presets import bert_encoder, modern_decoder, tiny_gpt
from clearformer.tasks.ranges import require_counts


@dataclass(frozen=True)
class Gpt:
    """GPT-2's design (Radford et al. 2019): pre-norm, GELU, learned positions, a tied head."""

    width: int = 128
    heads: int = 4
    layers: int = 4
    dropout: float = 0.0

    def __post_init__(self) -> None:
        require_counts(self, "width", "heads", "layers")


@dataclass(frozen=True)
class Modern:
    """Llama's design: RMSNorm, rotary positions, grouped queries, SwiGLU. `hidden` None is 8/3 of the width, rounded up
    to a multiple of 32 (Shazeer 2020, arXiv 2002.05202)."""

    width: int = 128
    heads: int = 4
    kv_heads: int = 2
    layers: int = 4
    hidden: int | None = None
    rope_base: float = 10000.0
    dropout: float = 0.0

    def __post_init__(self) -> None:
        require_counts(self, "width", "heads", "kv_heads", "layers")


@dataclass(frozen=True)
class Encoder:
    """BERT's design (Devlin et al. 2018, arXiv 1810.04805). `hidden` None is four times the width."""

    width: int = 128
    heads: int = 4
    layers: int = 4
    hidden: int | None = None
    dropout: float = 0.1
    pooled: bool = False
    """Classify by the mean of all positions and not by the first, which BERT's tanh layer transforms."""

    def __post_init__(self) -> None:
        require_counts(self, "width", "heads", "layers")


@dataclass(frozen=True)
class Custom:
    """Any one-stack model over tokens; its vocabulary is replaced by the tokenizer's."""

    spec: SingleStack


DecoderChoice = Gpt | Modern | Custom
EncoderChoice = Encoder | Custom


def decoder_spec(choice: DecoderChoice, vocabulary: int, context: int) -> DecoderOnly:
    """The decoder with a language head. Raises SpecError for sizes that do not fit together, TrainingError for a spec
    that is no such model."""
    match choice:
        case Gpt(width, heads, layers, dropout):
            return tiny_gpt(
                width=width, heads=heads, layers=layers, vocabulary=vocabulary, context=context, dropout=dropout
            )
        case Modern():
            return modern_decoder(
                width=choice.width,
                heads=choice.heads,
                kv_heads=choice.kv_heads,
                hidden=choice.hidden or -(-8 * choice.width // 96) * 32,
                layers=choice.layers,
                vocabulary=vocabulary,
                context=context,
                rope_base=choice.rope_base,
                dropout=choice.dropout,
            )
        case Custom(spec):
            if not isinstance(spec, DecoderOnly) or not isinstance(spec.head, Language):
                found = f"{type(spec).__name__}, {type(spec.head).__name__}"
                raise TrainingError(say.CUSTOM_DOES_NOT_FIT, expected="DecoderOnly, Language", found=found)
            fitted = _fitted(spec, vocabulary, context)
            assert isinstance(fitted, DecoderOnly)
            return fitted


def encoder_spec(choice: EncoderChoice, vocabulary: int, context: int, *, classes: int | None = None) -> EncoderOnly:
    """The encoder with BERT's masked-language head, or with its pooler and logits over so many classes. Raises as
    `decoder_spec` does."""
    match choice:
        case Encoder(width, heads, layers, hidden, dropout, pooled):
            return bert_encoder(
                width=width,
                heads=heads,
                hidden=hidden or 4 * width,
                layers=layers,
                vocabulary=vocabulary,
                context=context,
                segments=1,
                dropout=dropout,
                head=None if classes is None else _classes(classes, dropout, pooled=pooled),
            )
        case Custom(spec):
            wanted: type[Head] = Language if classes is None else Classes
            if not isinstance(spec, EncoderOnly) or not isinstance(spec.head, wanted):
                found = f"{type(spec).__name__}, {type(spec.head).__name__}"
                raise TrainingError(say.CUSTOM_DOES_NOT_FIT, expected=f"EncoderOnly, {wanted.__name__}", found=found)
            if isinstance(spec.head, Classes) and classes is not None:
                spec = replace(spec, head=replace(spec.head, count=classes))
            fitted = _fitted(spec, vocabulary, context)
            assert isinstance(fitted, EncoderOnly)
            return fitted


def _classes(count: int, dropout: float, *, pooled: bool) -> Classes:
    pooling = Pooling(Mean()) if pooled else Pooling(First(), Transform("tanh"))
    return Classes(count, pooling, dropout=dropout)


def _fitted(spec: SingleStack, vocabulary: int, context: int) -> SingleStack:
    stack = main_stack(spec)
    if not isinstance(stack.input, Tokens):
        raise TrainingError(say.CUSTOM_READS_NO_TOKENS, found=type(stack.input).__name__)
    if spec.context < context:
        raise TrainingError(say.CUSTOM_CONTEXT, expected=context, found=spec.context)
    stack = replace(stack, input=replace(stack.input, vocabulary=vocabulary))
    return replace(spec, decoder=stack) if isinstance(spec, DecoderOnly) else replace(spec, encoder=stack)
