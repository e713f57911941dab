"""What tables, networks, norms, layers and heads of output cost in the model at hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from clearformer.card.prices import Prices, all_of
from clearformer.card.sentence import Sentence, sentence
from clearformer.cost.report import size
from clearformer.cost.work import BYTES
from clearformer.messages import card_costs as say
from clearformer.spec import (
    Attention,
    Block,
    Dense,
    EncoderDecoder,
    Experts,
    FeedForward,
    Gated,
    Language,
    LatentAttention,
    LayerNorm,
    Patches,
    Tokens,
)

_IN_BLOCKS = ("attention", "cross_attention", "feedforward", "router")


def table(prices: Prices) -> Sentence:
    """A table that both sides share is reckoned once for both."""
    if isinstance(prices.spec, EncoderDecoder) and prices.spec.shared_vocabulary and prices.side:
        return table(Prices(prices.spec, prices.dtype))
    if not isinstance(prices.sides[-1].head, Language):
        return _share(prices, "tokens")
    count = prices.part("tokens")
    return sentence(say.TABLE, count=count, share=count / prices.total, flops=prices.work_of("head"))


def width(prices: Prices) -> Sentence:
    inside = prices.part(*_IN_BLOCKS) // max(len(prices.blocks), 1)
    return sentence(say.WIDTH, block=inside, stream=size(prices.width * BYTES[prices.dtype]))


def segments(prices: Prices) -> Sentence:
    return _share(prices, "segments")


def multiplied(prices: Prices) -> Sentence:
    return sentence(say.PRODUCTS, count=prices.width, unit=prices.unit)


def image(prices: Prices) -> Sentence | None:
    source = prices.sides[0].stack.input
    if not isinstance(source, Patches):
        return _share(prices, "patches")
    share = prices.full.executed.value / prices.full.forward
    return sentence(say.IMAGE, positions=source.length, flops=prices.full.forward, share=share)


def channels(prices: Prices) -> Sentence:
    return _share(prices, "patches")


def network(prices: Prices) -> Sentence:
    """All networks; where some are experts, those that are not."""
    dense = [each for each in prices.networks if not isinstance(each, Experts)]
    if not dense:
        return expert(prices) or _share(prices, "feedforward")
    if len(dense) < len(prices.networks):
        held = sum(_numbers(each, prices.width) for each in dense)
        return sentence(say.DENSE, count=held, blocks=len(dense), total=len(prices.networks))
    count = prices.part("feedforward")
    flops = prices.work_of("feedforward")
    return sentence(say.NETWORK, count=count, share=count / prices.total, flops=flops, unit=prices.unit)


def activation(prices: Prices) -> Sentence:
    """How often it is evaluated, and what stands beside it where it is a gate."""
    evaluations = sum(_evaluated(each) for each in prices.networks)
    plain = prices.otherwise(Gated, _without_gate)
    gate = prices.part("feedforward") - plain.part("feedforward")
    if not gate:
        return sentence(say.ACTIVATION, count=evaluations, unit=prices.unit)
    return sentence(say.GATE, count=evaluations, unit=prices.unit, gate=gate, share=gate / prices.total)


def network_biases(prices: Prices) -> Sentence:
    """What the biases of the networks hold, or what they would."""

    def held(bias: bool) -> int:
        dense = prices.otherwise(Dense, lambda each: replace(each, bias=bias))
        return dense.otherwise(Gated, lambda each: replace(each, bias=bias)).total

    if count := prices.total - held(False):
        return sentence(say.WITH_BIASES, count=count)
    return sentence(say.WITHOUT_BIASES, count=held(True) - prices.total)


def experts(prices: Prices) -> Sentence:
    return sentence(say.EXPERTS, total=prices.total, active=prices.parameters.active)


def expert(prices: Prices) -> Sentence | None:
    """One expert's numbers, from those that lie idle; a token multiplies each once in every block that has experts."""
    found = [each for each in prices.networks if isinstance(each, Experts)]
    idle = sum(each.count - each.active for each in found)
    if not idle:
        return None
    one = (prices.total - prices.parameters.active) // idle
    return sentence(say.EXPERT, count=one, flops=2 * one * len(found))


def shared_expert(prices: Prices) -> Sentence:
    without = prices.otherwise(Experts, lambda each: replace(each, shared=None, shared_gate=False))
    return sentence(say.SHARED, count=prices.total - without.total)


def router(prices: Prices) -> Sentence:
    return _share(prices, "router")


def norms(prices: Prices) -> Sentence:
    count = prices.part("norms")
    return sentence(say.NORMS, count=count, share=count / prices.total)


def norm_weights(prices: Prices) -> Sentence:
    return _share(prices, "norms")


def norm_biases(prices: Prices) -> Sentence:
    without = prices.otherwise(LayerNorm, lambda each: replace(each, bias=False))
    if count := prices.total - without.total:
        return sentence(say.WITH_BIASES, count=count)
    return sentence(say.WITHOUT_BIASES, count=prices.otherwise(LayerNorm, _with_bias).total - prices.total)


def layers(prices: Prices) -> Sentence:
    """A block, on average where they differ."""
    count = max(len(prices.blocks), 1)
    held, flops = prices.part(*_IN_BLOCKS) // count, prices.work_of(*_IN_BLOCKS) // count
    if not any(side.writes for side in prices.sides):
        return sentence(say.BLOCK_ALONE, count=held, flops=flops, unit=prices.unit)
    written = len([block for side in prices.sides if side.writes for block in side.stack.blocks])
    kept = prices.cache.per_token.value // max(written, 1)
    return sentence(say.BLOCK, count=held, flops=flops, unit=prices.unit, bytes=size(kept))


def two_sides(prices: Prices) -> Sentence | None:
    """What an encoder takes, and the attention that reads it."""
    if not isinstance(prices.spec, EncoderDecoder):
        return None
    kept = prices.parameters.by_part
    source = sum(each.value for key, each in kept.items() if key.startswith("encoder."))
    across = kept["decoder.cross_attention"].value if "decoder.cross_attention" in kept else 0
    return sentence(say.TWO_SIDES, source=source, across=across, share=(source + across) / prices.total)


def crossing(prices: Prices) -> Sentence:
    return _share(prices, "cross_attention")


def same(prices: Prices) -> Sentence:
    return sentence(say.SAME, count=prices.total, flops=prices.linear, unit=prices.unit)


def tied(prices: Prices) -> Sentence | None:
    """What the other choice would make of it."""
    if next(all_of(prices.spec, Language), None) is None:
        return None
    other = prices.otherwise(Language, lambda each: replace(each, tied=not each.tied))
    more = other.total - prices.total
    if more > 0:
        return sentence(say.TIED, count=more, share=more / prices.total)
    return sentence(say.UNTIED, count=-more, share=-more / prices.total)


def shared_tables(prices: Prices) -> Sentence | None:
    if not isinstance(prices.spec, EncoderDecoder):
        return None
    return _share(prices, "tokens")


def logits(prices: Prices) -> Sentence | None:
    """A number a token of the vocabulary."""
    found = prices.sides[-1].stack.input
    return sentence(say.PRODUCTS, count=found.vocabulary, unit=prices.unit) if isinstance(found, Tokens) else None


def logit_bias(prices: Prices) -> Sentence:
    other = prices.otherwise(Language, lambda each: replace(each, bias=not each.bias))
    held = prices.total - other.total
    return sentence(say.WITH_BIASES, count=held) if held > 0 else sentence(say.WITHOUT_BIASES, count=-held)


def head(prices: Prices) -> Sentence:
    return _share(prices, "head")


def scale(prices: Prices) -> Sentence:
    found = prices.parameters.by_part.get("scale")
    return sentence(say.FREE) if found is None else sentence(say.NUMBERS, count=found.value)


def dropout(prices: Prices) -> Sentence:
    return _held(prices, Block)


def attention_dropout(prices: Prices) -> Sentence:
    return _held(prices, Attention, LatentAttention)


def input_dropout(prices: Prices) -> Sentence:
    return _held(prices, Tokens, Patches)


def network_dropout(prices: Prices) -> Sentence:
    return _held(prices, Dense, Gated)


def drawn(prices: Prices) -> Sentence:
    return sentence(say.DRAWN, count=prices.total)


def balance(prices: Prices) -> Sentence:
    count = sum(each.count for each in prices.networks if isinstance(each, Experts))
    return sentence(say.ONCE_A_PASS, count=count)


def free(prices: Prices) -> Sentence:
    return sentence(say.FREE)


def _share(prices: Prices, part: str) -> Sentence:
    count = prices.part(part)
    return sentence(say.PART, count=count, share=count / prices.total)


def _held(prices: Prices, *kinds: type[Any]) -> Sentence:
    """What masks add to what training holds; where nothing is dropped, what they would."""

    def at(share: float) -> int:
        found = prices
        for kind in kinds:
            found = found.otherwise(kind, lambda each: replace(each, dropout=share))
        return found.held()

    drops = any(each.dropout for kind in kinds for each in all_of(prices.spec, kind))
    if drops:
        return sentence(say.DROPOUT, bytes=size(prices.held() - at(0.0)), length=prices.length)
    return sentence(say.NO_DROPOUT, bytes=size(at(0.1) - prices.held()), length=prices.length)


def _numbers(spec: Dense | Gated, width: int) -> int:
    """Matrices of D·F each, and their biases."""
    into = 2 if isinstance(spec, Gated) else 1
    return (into + 1) * width * spec.width + (into * spec.width + width if spec.bias else 0)


def _evaluated(spec: FeedForward) -> int:
    """Numbers that go through the activation for one position."""
    if isinstance(spec, Experts):
        shared = spec.shared.width if spec.shared is not None else 0
        return spec.active * spec.expert.width + shared
    return spec.width


def _without_gate(spec: Gated) -> Dense:
    return Dense(spec.width, spec.activation, spec.bias, spec.dropout)


def _with_bias(norm: LayerNorm) -> LayerNorm:
    return replace(norm, bias=True)
