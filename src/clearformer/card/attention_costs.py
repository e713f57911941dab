"""What heads, windows and positions cost in the model at hand."""

from __future__ import annotations

import math
from dataclasses import replace

from clearformer.card.prices import Prices, reach_of
from clearformer.card.sentence import Sentence, sentence
from clearformer.cost.parameters import bias_owners
from clearformer.cost.report import size
from clearformer.cost.work import BYTES
from clearformer.messages import card_costs as say
from clearformer.spec import (
    AnyAttention,
    Attention,
    Biases,
    LatentAttention,
    RelativeBias,
    Rotary,
)


def heads(prices: Prices) -> Sentence:
    """Pairs cost by H·(K + U), a table of scores by H."""
    found = prices.attentions
    most = max(each.heads for each in found)
    table = most * prices.length**2 * BYTES[prices.dtype]
    pair = sum(map(_pair, found))
    return sentence(say.HEADS, pair=pair, length=prices.length, table=size(table))


def kv_heads(prices: Prices) -> Sentence | None:
    """Beside as many as query heads, or beside one where there are as many."""
    if not prices.writes:
        return sentence(say.NO_CACHE, count=prices.part("attention"))
    found = [each for each in prices.attentions if isinstance(each, Attention)]
    if not found:
        return latent(prices)
    bytes_now = size(prices.cache.per_token.value)
    if any(each.kv_heads < each.heads for each in found):
        all_of_them = prices.otherwise(Attention, lambda each: replace(each, kv_heads=each.heads))
        return sentence(
            say.KEPT_HEADS,
            bytes=bytes_now,
            other=max(each.heads for each in found),
            kept=size(all_of_them.cache.per_token.value),
            more=all_of_them.total - prices.total,
        )
    one = prices.otherwise(Attention, lambda each: replace(each, kv_heads=1))
    return sentence(
        say.ALL_HEADS,
        bytes=bytes_now,
        kept=size(one.cache.per_token.value),
        fewer=prices.total - one.total,
    )


def head_width(prices: Prices) -> Sentence:
    first, count = prices.attentions[0], prices.part("attention")
    inner = first.heads * _key_width(first)
    return sentence(say.HEAD_WIDTH, inner=inner, width=prices.width, count=count, share=count / prices.total)


def value_width(prices: Prices) -> Sentence:
    first, count = prices.attentions[0], prices.part("attention")
    inner = first.heads * first.value_width
    return sentence(say.VALUE_WIDTH, inner=inner, width=prices.width, count=count, share=count / prices.total)


def latent(prices: Prices) -> Sentence | None:
    """Beside the keys and values of all heads."""
    found = [each for each in prices.attentions if isinstance(each, LatentAttention)]
    if not found:
        return None
    kept = sum(each.heads * (_key_width(each) + each.value_width) for each in found) * BYTES[prices.dtype]
    now = size(prices.cache.per_token.value)
    return sentence(say.LATENT, bytes=now, heads=found[0].heads, kept=size(kept))


def query_latent(prices: Prices) -> Sentence:
    direct = prices.otherwise(LatentAttention, lambda each: replace(each, query_rank=None))
    return sentence(say.QUERY_LATENT, count=prices.part("attention"), other=direct.part("attention"))


def biases(prices: Prices) -> Sentence:
    """What the biases of attention hold, or what they would."""
    without = prices.otherwise(Attention, lambda each: replace(each, bias=Biases()))
    without = without.otherwise(LatentAttention, lambda each: replace(each, bias=False))
    if held := prices.total - without.total:
        return sentence(say.WITH_BIASES, count=held)
    everywhere = prices.otherwise(Attention, lambda each: replace(each, bias=Biases.everywhere()))
    everywhere = everywhere.otherwise(LatentAttention, lambda each: replace(each, bias=True))
    return sentence(say.WITHOUT_BIASES, count=everywhere.total - prices.total)


def window(prices: Prices) -> Sentence:
    """How much of the cache is read, and of the pairs seen."""
    share = prices.full.visible.value / max(prices.full.executed.value, 1)
    if not prices.writes:
        return sentence(say.SEEN, length=prices.length, share=share)
    whole, within = prices.cache.whole.value, prices.cache.within_windows.value
    return sentence(say.WINDOW, length=prices.length, whole=size(whole), within=size(within), share=share)


def cap(prices: Prices) -> Sentence:
    reach = [min(reach_of(each) or prices.length, prices.length) * each.heads for each in prices.attentions]
    return sentence(say.CAP, count=sum(reach), length=prices.length)


def context(prices: Prices) -> Sentence:
    """The cache at full length, and the last token's work there; or the table that holds its positions."""
    table = prices.part("positions")
    if table:
        return sentence(say.PART, count=table, share=table / prices.total)
    if not prices.writes:
        share = prices.full.executed.value / max(prices.full.forward, 1)
        return sentence(say.LENGTH, length=prices.length, share=share)
    attention = sum(_pair(each) * min(reach_of(each) or prices.length, prices.length) for each in prices.attentions)
    return sentence(
        say.CONTEXT,
        cache=size(prices.cache.whole.value),
        length=prices.length,
        attention=attention,
        linear=prices.linear,
    )


def rotary(prices: Prices) -> Sentence | None:
    """Six operations a pair of numbers, in each head of queries and keys."""
    turned = [(each, turning) for each in prices.attentions if (turning := _rotary(each)) is not None]
    if not turned:
        return None
    work = sum(3 * turning.rotated(_key_width(each)) * (each.heads + _rotated_keys(each)) for each, turning in turned)
    slowest = max(_slowest(turning, turning.rotated(_key_width(each))) for each, turning in turned)
    return sentence(say.ROTARY, flops=work, unit=prices.unit, linear=prices.linear, wave=slowest)


def added(prices: Prices) -> Sentence:
    """A bias on each score; a learnt one is kept in a table."""
    owners = [owner for side in prices.sides for owner in bias_owners(side.stack)]
    if owners:
        buckets = [(each.position, each.heads) for each in owners]
        return sentence(
            say.NUMBERS, count=sum(p.buckets * heads for p, heads in buckets if isinstance(p, RelativeBias))
        )
    count = prices.length * sum(each.heads for each in prices.attentions)
    return sentence(say.ADDED, count=count, length=prices.length)


def _pair(spec: AnyAttention) -> int:
    return 2 * spec.heads * (_key_width(spec) + spec.value_width)


def _key_width(spec: AnyAttention) -> int:
    return spec.key_width + (spec.rotary_width if isinstance(spec, LatentAttention) else 0)


def _rotary(spec: AnyAttention) -> Rotary | None:
    if isinstance(spec, LatentAttention):
        return spec.rotary
    return spec.position if isinstance(spec.position, Rotary) else None


def _rotated_keys(spec: AnyAttention) -> int:
    return 1 if isinstance(spec, LatentAttention) else spec.kv_heads


def _slowest(turning: Rotary, width: int) -> float:
    """Positions in a whole turn of the last pair, before any stretching."""
    return 2 * math.pi * turning.base ** ((width - 2) / width)
