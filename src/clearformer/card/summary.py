"""A model in one line of words."""

from __future__ import annotations

from collections.abc import Iterator

from clearformer.card.prices import Prices, reach_of
from clearformer.card.sentence import Sentence, sentence
from clearformer.cost.report import size
from clearformer.messages import Language
from clearformer.messages import card as say
from clearformer.spec import (
    ALiBi,
    Block,
    DecoderOnly,
    Dense,
    EncoderDecoder,
    EncoderOnly,
    Experts,
    FeedForward,
    Gated,
    LatentAttention,
    Learned,
    Parallel,
    RelativeBias,
    Rotary,
    Sinusoidal,
    Spec,
    Tokens,
    TwoTowers,
)
from clearformer.spec import (
    Language as Speaks,
)

_WORDS = {"en": ", ", "zh": "，"}


def summary(prices: Prices, language: Language) -> str:
    """Layers, size, heads, positions, network, norms, vocabulary, context and cache, each in a few words."""
    line = _WORDS[language].join(each.text(language) for each in _words(prices))
    return f"{line[0].upper()}{line[1:]}" + ("." if language == "en" else "。")


def short(count: int) -> str:
    """A number of parameters as one says it."""
    for unit, name in ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "k")):
        if count >= unit:
            digits = 1 if count < 1000 * unit else 0
            return f"{count / unit:,.{digits}f}{name}"
    return str(count)


def _words(prices: Prices) -> Iterator[Sentence]:
    yield _kind(prices.spec)
    yield sentence(say.PARAMETERS, count=short(prices.total))
    if prices.parameters.active != prices.total:
        yield sentence(say.ACTIVE, count=short(prices.parameters.active))
    if isinstance(prices.spec, TwoTowers):
        for side in prices.sides:
            words = _heads(side.stack.blocks) if side.stack.blocks else sentence(say.MULTI_HEAD, heads=0)
            values = {"width": side.stack.width, "length": side.context, "each": words.message, **words.values}
            yield sentence(say.TOWER[side.name], **values)
        return
    main = prices.sides[-1]
    yield sentence(say.WIDTH, width=main.stack.width)
    blocks = main.stack.blocks
    if blocks:
        yield _heads(blocks)
        yield from _windows(blocks)
    yield from _position(prices)
    if blocks:
        yield _network(blocks[-1].feedforward)
        yield _norm(blocks[-1])
    if isinstance(main.stack.input, Tokens):
        yield sentence(say.VOCABULARY, count=main.stack.input.vocabulary)
    if isinstance(main.head, Speaks) and main.head.tied:
        yield sentence(say.TIED)
    yield sentence(say.CONTEXT, count=main.context)
    if prices.writes:
        yield sentence(say.CACHE, size=size(prices.cache.per_token.value), dtype=prices.dtype)


def _kind(spec: Spec) -> Sentence:
    match spec:
        case DecoderOnly():
            return sentence(say.A_DECODER, count=len(spec.decoder.blocks))
        case EncoderOnly():
            return sentence(say.AN_ENCODER, count=len(spec.encoder.blocks))
        case EncoderDecoder():
            return sentence(say.BOTH, source=len(spec.encoder.blocks), target=len(spec.decoder.blocks))
        case TwoTowers():
            text = spec.text.decoder if isinstance(spec.text, DecoderOnly) else spec.text.encoder
            return sentence(say.TOWERS, text=len(text.blocks), image=len(spec.image.encoder.blocks))


def _heads(blocks: tuple[Block, ...]) -> Sentence:
    found = {(type(each), each.heads, getattr(each, "kv_heads", 0)) for each in (block.attention for block in blocks)}
    first = blocks[0].attention
    if len(found) > 1:
        return sentence(say.SEVERAL_HEADS)
    if isinstance(first, LatentAttention):
        return sentence(say.LATENT, heads=first.heads, rank=first.kv_rank)
    if first.kv_heads == first.heads:
        return sentence(say.MULTI_HEAD, heads=first.heads)
    if first.kv_heads == 1:
        return sentence(say.MULTI_QUERY, heads=first.heads)
    return sentence(say.GROUPED, heads=first.heads, kv_heads=first.kv_heads)


def _windows(blocks: tuple[Block, ...]) -> Iterator[Sentence]:
    reaches = [reach_of(block.attention) for block in blocks]
    narrow = [reach for reach in reaches if reach is not None]
    if narrow:
        yield sentence(say.WINDOWS, count=len(narrow), total=len(blocks), reach=max(narrow))


def _position(prices: Prices) -> Iterator[Sentence]:
    stack = prices.sides[-1].stack
    inside = [each.rotary if isinstance(each, LatentAttention) else each.position for each in prices.attentions]
    found = next((each for each in inside if each is not None), stack.input.position)
    match found:
        case Rotary():
            yield sentence(say.POSITIONS["Rotary"], base=found.base)
        case RelativeBias():
            yield sentence(say.POSITIONS["RelativeBias"], buckets=found.buckets)
        case ALiBi() | Sinusoidal() | Learned():
            yield sentence(say.POSITIONS[type(found).__name__])
        case None:
            pass


def _network(spec: FeedForward) -> Sentence:
    words = say.NETWORKS[type(spec).__name__]
    match spec:
        case Experts():
            return sentence(words, active=spec.active, count=spec.count, width=spec.expert.width)
        case Dense() | Gated():
            return sentence(words, activation=spec.activation, width=spec.width)


def _norm(block: Block) -> Sentence:
    norm = type(block.feedforward_norm or block.attention_norm).__name__
    placed = "parallel" if isinstance(block.arrangement, Parallel) else block.arrangement.placement
    return sentence(say.NORMS[placed], norm="–" if norm == "NoneType" else norm)
