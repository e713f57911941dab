"""The whole model: one stack or two, a head, and what holds between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

from clearformer.errors import SpecError
from clearformer.messages import Message
from clearformer.messages import spec as messages
from clearformer.spec import checks
from clearformer.spec.attention import Attention, Causal, Full
from clearformer.spec.block import Block
from clearformer.spec.heads import EndToken, First, Flatten, Forecast, Head, Hidden, Language, Pooling, Vector
from clearformer.spec.initialisation import Initialisation, Normal
from clearformer.spec.inputs import Input, Patches, Series, Tokens
from clearformer.spec.norms import Norm
from clearformer.spec.positions import Learned, RelativeBias, Sinusoidal

# Far above any model, and few enough that no file keeps a reader busy.
DEEPEST = 1024


@dataclass(frozen=True)
class Stack:
    """Input, blocks, final norm. The blocks are a tuple: position, window, norms and FFN are chosen layer by layer."""

    width: int
    input: Input
    blocks: tuple[Block, ...]
    final_norm: Norm | None = None

    def __post_init__(self) -> None:
        checks.positive(self, "width")
        if isinstance(self.input.position, Sinusoidal) and self.width % 2:
            raise SpecError(messages.SINUSOIDAL_WIDTH, found=self.width)
        if len(self.blocks) > DEEPEST:
            raise SpecError(messages.TOO_MANY_BLOCKS, limit=DEEPEST, found=len(self.blocks))
        self._share_equal_blocks()
        self._require_one_shared_bias()

    def _share_equal_blocks(self) -> None:
        """Equal blocks become one object: what folds over a stack then looks only at those that differ."""
        known: dict[Block, Block] = {}
        object.__setattr__(self, "blocks", tuple(known.setdefault(block, block) for block in self.blocks))

    def _require_one_shared_bias(self) -> None:
        sharing = {
            index: (block.attention.position, block.attention.heads)
            for index, block in enumerate(self.blocks)
            if isinstance(block.attention, Attention)
            and isinstance(block.attention.position, RelativeBias)
            and block.attention.position.shared
        }
        first = next(iter(sharing), None)
        for index, choice in sharing.items():
            if first is not None and choice != sharing[first]:
                raise SpecError(messages.SHARED_BIAS_DIFFERS, first=first, second=index)


@dataclass(frozen=True)
class EncoderOnly:
    """Every position sees every other: BERT, ViT, sentence encoders, patch forecasters."""

    encoder: Stack
    head: Head
    context: int
    initial: Initialisation = field(default_factory=Normal)

    def __post_init__(self) -> None:
        checks.positive(self, "context")
        _require_blocks(self.encoder, "encoder", visibility=Full, cross=False)
        _require_context(self.encoder, self.context)
        _require_head(self.head, self.encoder)


@dataclass(frozen=True)
class DecoderOnly:
    """Every position sees the past: GPT, Llama, CLIP's text tower."""

    decoder: Stack
    head: Head
    context: int
    initial: Initialisation = field(default_factory=Normal)

    def __post_init__(self) -> None:
        checks.positive(self, "context")
        if isinstance(self.decoder.input, Patches):
            raise SpecError(
                messages.INPUT_DOES_NOT_FIT, role="DecoderOnly", expected="Tokens or Series", found="Patches"
            )
        _require_blocks(self.decoder, "decoder", visibility=Causal, cross=False)
        _require_context(self.decoder, self.context)
        _require_head(self.head, self.decoder)


@dataclass(frozen=True)
class EncoderDecoder:
    """A source read both ways, a target written from left to right with an eye on it: the paper, T5, Marian, BART.

    `shared_vocabulary` keeps one token table for both sides; a tied head then is a third use of it.
    """

    encoder: Stack
    decoder: Stack
    head: Language
    context: int
    shared_vocabulary: bool = False
    initial: Initialisation = field(default_factory=Normal)

    def __post_init__(self) -> None:
        checks.positive(self, "context")
        if not isinstance(self.decoder.input, Tokens):
            found = type(self.decoder.input).__name__
            raise SpecError(messages.INPUT_DOES_NOT_FIT, role="EncoderDecoder.decoder", expected="Tokens", found=found)
        if isinstance(self.encoder.input, Series) and self.encoder.input.independent:
            found, expected = "Series(independent=True)", "one sequence a row"
            raise SpecError(messages.INPUT_DOES_NOT_FIT, role="EncoderDecoder.encoder", expected=expected, found=found)
        _require_blocks(self.encoder, "encoder", visibility=Full, cross=False)
        _require_blocks(self.decoder, "decoder", visibility=Causal, cross=True)
        _require_context(self.encoder, self.context)
        _require_context(self.decoder, self.context)
        _require_head(self.head, self.decoder)
        if self.shared_vocabulary:
            self._require_equal_tables(self.decoder.input)

    def _require_equal_tables(self, target: Tokens) -> None:
        source = self.encoder.input
        if not isinstance(source, Tokens):
            found = type(source).__name__
            raise SpecError(messages.INPUT_DOES_NOT_FIT, role="EncoderDecoder.encoder", expected="Tokens", found=found)
        if (source.vocabulary, self.encoder.width) != (target.vocabulary, self.decoder.width):
            raise SpecError(
                messages.SHARED_VOCABULARIES_DIFFER,
                encoder=source.vocabulary,
                encoder_width=self.encoder.width,
                decoder=target.vocabulary,
                decoder_width=self.decoder.width,
            )


@dataclass(frozen=True)
class TwoTowers:
    """Text and image encoded into one space and compared by scaled cosine (CLIP, arXiv 2103.00020).

    `initial_scale` is the logarithm at which the learnt scale starts; CLIP's is ln(1/0.07).
    """

    text: DecoderOnly | EncoderOnly
    image: EncoderOnly
    initial_scale: float = 2.6592

    def __post_init__(self) -> None:
        for name, tower in (("text", self.text), ("image", self.image)):
            if not isinstance(tower.head, Vector):
                _refuse_head(tower.head, messages.GIVES_NO_VECTOR, tower=name)
        if (text := _vector_width(self.text)) != (image := _vector_width(self.image)):
            raise SpecError(messages.TOWERS_DIFFER, text=text, image=image)


SingleStack = EncoderOnly | DecoderOnly
Spec = EncoderOnly | DecoderOnly | EncoderDecoder | TwoTowers


def main_stack(spec: SingleStack) -> Stack:
    """The one stack of a single-stack model."""
    return spec.decoder if isinstance(spec, DecoderOnly) else spec.encoder


def pooling_of(head: Head) -> Pooling | None:
    """The head's pooling; None for heads that answer at every position."""
    return None if isinstance(head, Hidden | Language) else head.pooling


def _vector_width(tower: SingleStack) -> int:
    assert isinstance(tower.head, Vector)
    take = tower.head.pooling.take
    positions = take.length if isinstance(take, Flatten) else 1
    return tower.head.width or positions * main_stack(tower).width


def _require_blocks(stack: Stack, role: str, *, visibility: type[Full] | type[Causal], cross: bool) -> None:
    for index, block in enumerate(stack.blocks):
        if not isinstance(block.attention.visibility, visibility):
            raise SpecError(
                messages.VISIBILITY_DOES_NOT_FIT,
                block=index,
                role=role,
                found=repr(block.attention.visibility),
                expected=f"{visibility.__name__}()",
            )
        if (block.cross_attention is not None) != cross:
            expected = "an Attention" if cross else "None"
            raise SpecError(messages.CROSS_DOES_NOT_FIT, block=index, role=role, expected=expected)


def _require_context(stack: Stack, context: int) -> None:
    position = stack.input.position
    if isinstance(position, Learned) and isinstance(stack.input, Patches):
        context = stack.input.length
    if isinstance(position, Learned) and context > position.length:
        raise SpecError(messages.CONTEXT_PAST_TABLE, context=context, length=position.length)


def _require_head(head: Head, stack: Stack) -> None:
    source = stack.input
    if isinstance(head, Language):
        if not isinstance(source, Tokens):
            if head.tied:
                raise SpecError(messages.TIED_NEEDS_TOKENS, found=type(source).__name__)
            _refuse_head(head, messages.SPEAKS_WITHOUT_TOKENS)
        return
    if isinstance(head, Forecast) and not isinstance(source, Series):
        _refuse_head(head, messages.CONTINUES_NO_SERIES)
    if isinstance(source, Series) and source.normalise and not isinstance(head, Forecast):
        _refuse_head(head, messages.RESTORES_NO_MEAN)
    if isinstance(source, Series) and source.independent and not isinstance(head, Forecast):
        _refuse_head(head, messages.MIXES_CHANNELS)
    if (pooling := pooling_of(head)) is not None:
        _require_pooling(head, pooling, source)


def _require_pooling(head: Head, pooling: Pooling, source: Input) -> None:
    match pooling.take, source:
        case First(), Patches(class_token=False):
            _refuse_head(head, messages.READS_NO_CLASS_TOKEN)
        case EndToken(id=end), Tokens(vocabulary=vocabulary) if end < vocabulary:
            pass
        case EndToken(), _:
            _refuse_head(head, messages.ENDS_OUTSIDE_VOCABULARY)
        case Flatten(), Tokens():
            _refuse_head(head, messages.FLATTENS_SENTENCES)
        case Flatten(length=length), Patches() if length != source.length:
            _refuse_head(head, messages.FLATTENS_ANOTHER_LENGTH, length=source.length)
        case _:
            pass


def _refuse_head(head: Head, reason: tuple[Message, Message], **values: object) -> NoReturn:
    why, mend = reason
    raise SpecError(messages.HEAD_DOES_NOT_FIT, head=type(head).__name__, why=why, mend=mend, **values)
