"""What no Transformer can be is refused when it is said, with expected, found and remedy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from clearformer import spec as s
from clearformer.errors import ClearformerError, SpecError, UsageError
from clearformer.messages import Failure
from clearformer.messages import spec as messages
from clearformer.spec.codec import from_json
from clearformer.spec.presets import preset
from clearformer.spec.typed import Reader

SEEN = s.Attention(2, 1, 4, 4)
LOOKING = replace(SEEN, visibility=s.Full())
BLOCK = s.Block(SEEN, s.Dense(8), s.RMSNorm(), s.RMSNorm())
OPEN = replace(BLOCK, attention=LOOKING)
READING = replace(BLOCK, cross_attention=LOOKING)
SERIES, IMAGE, TOKENS = s.Series(2), s.Patches(4, 4, 2, class_token=False), s.Tokens(9)
LEVELLED, APART = replace(SERIES, normalise=s.ReversibleNorm()), replace(SERIES, independent=True)


def decoder(block: s.Block = BLOCK, source: s.Input = TOKENS, head: s.Head | None = None) -> s.DecoderOnly:
    return s.DecoderOnly(s.Stack(8, source, (block,)), head or s.Language(), context=16)


def encoder(block: s.Block = OPEN, source: s.Input = TOKENS, head: s.Head | None = None) -> s.EncoderOnly:
    return s.EncoderOnly(s.Stack(8, source, (block,)), head or s.Hidden(), context=16)


def translator(
    source: s.Input = TOKENS, target: s.Input = TOKENS, *, shared: bool = False, block: s.Block = READING
) -> s.EncoderDecoder:
    sides = s.Stack(8, source, (OPEN,)), s.Stack(8, target, (block,))
    return s.EncoderDecoder(*sides, s.Language(tied=False), context=16, shared_vocabulary=shared)


def sharing(*biases: s.RelativeBias) -> s.Stack:
    blocks = [replace(BLOCK, attention=replace(SEEN, position=bias)) for bias in biases]
    return s.Stack(8, TOKENS, tuple(blocks))


def towers(text: int | None, image: int) -> s.TwoTowers:
    return s.TwoTowers(decoder(head=s.Vector(width=text)), encoder(source=IMAGE, head=s.Vector(width=image)))


def pooled(take: s.Take) -> s.Classes:
    return s.Classes(2, s.Pooling(take))


def experts(active: int, groups: s.RouterGroups | None = None, **choices: object) -> s.Experts:
    return s.Experts(4, active, s.Dense(8), s.SoftmaxRouter(groups=groups), **choices)


CASES: list[tuple[str, Callable[[], object]]] = [
    ("OUT_OF_RANGE", lambda: s.Tokens(0)),
    ("OUT_OF_RANGE", lambda: s.Dense(True)),
    ("OUT_OF_RANGE", lambda: s.Dense(8.0)),
    ("OUT_OF_RANGE", lambda: s.LayerNorm(0.0)),
    ("OUT_OF_RANGE", lambda: s.LayerNorm(math.nan)),
    ("OUT_OF_RANGE", lambda: s.Dense(8, dropout=1.0)),
    ("OUT_OF_RANGE", lambda: s.Full(radius=-1)),
    ("OUT_OF_RANGE", lambda: s.Rotary(base=1.0)),
    ("OUT_OF_RANGE", lambda: s.Llama3Scaling(2.0, 8, low_frequency=4.0, high_frequency=4.0)),
    ("OUT_OF_RANGE", lambda: s.LongRoPE((0.0,), (1.0,), 8, 1.0)),
    ("OUT_OF_RANGE", lambda: s.RelativeBias(8, max_distance=4)),
    ("OUT_OF_RANGE", lambda: s.RouterGroups(2, 3)),
    ("OUT_OF_RANGE", lambda: experts(1, s.RouterGroups(4, 2, "best_two"))),
    ("OUT_OF_RANGE", lambda: experts(1, shared_gate=True)),
    ("OUT_OF_RANGE", lambda: experts(1, balance_loss=math.nan)),
    ("OUT_OF_RANGE", lambda: s.Pooling(s.Flatten(3), s.Transform("tanh"))),
    ("NOT_ONE_OF", lambda: s.Dense(8, "swish")),
    ("NOT_ONE_OF", lambda: s.Transform("swish")),
    ("NOT_ONE_OF", lambda: s.Sequential("between")),
    ("NOT_ONE_OF", lambda: s.Rotary(layout="pairs")),
    ("HEADS_DO_NOT_DIVIDE", lambda: s.Attention(6, 4, 4, 4)),
    ("WIDTH_DOES_NOT_SPLIT", lambda: s.split_width(10, 4)),
    ("ROTARY_WIDTH", lambda: replace(SEEN, position=s.Rotary(width=6))),
    ("ROTARY_WIDTH", lambda: s.Attention(2, 1, 5, 4, position=s.Rotary())),
    ("ROTARY_NEEDS_WIDTH", lambda: s.LatentAttention(2, 4, 4, 6, s.Rotary())),
    ("SINUSOIDAL_WIDTH", lambda: s.Stack(7, s.Tokens(9, s.Sinusoidal()), (BLOCK,))),
    ("TOO_MANY_BLOCKS", lambda: s.Stack(8, TOKENS, (BLOCK,) * 1025)),
    ("LONGROPE_LENGTH", lambda: s.Rotary(width=4, scaling=s.LongRoPE((1.0,), (1.0, 2.0), 8, 1.0))),
    ("SHARED_BIAS_DIFFERS", lambda: sharing(s.RelativeBias(8, 16), s.RelativeBias(16, 32))),
    ("CROSS_ATTENTION_SEES_ALL", lambda: replace(BLOCK, cross_attention=SEEN)),
    ("CROSS_ATTENTION_SEES_ALL", lambda: replace(BLOCK, cross_attention=replace(LOOKING, position=s.ALiBi()))),
    ("PARALLEL_NORMS", lambda: replace(BLOCK, arrangement=s.Parallel(shared_norm=True))),
    ("PARALLEL_HAS_NO_CROSS", lambda: replace(READING, arrangement=s.Parallel())),
    ("CROSS_NORM_WITHOUT_CROSS", lambda: replace(BLOCK, cross_norm=s.RMSNorm())),
    ("VISIBILITY_DOES_NOT_FIT", lambda: decoder(OPEN)),
    ("VISIBILITY_DOES_NOT_FIT", lambda: encoder(BLOCK)),
    ("CROSS_DOES_NOT_FIT", lambda: decoder(READING)),
    ("CROSS_DOES_NOT_FIT", lambda: translator(block=BLOCK)),
    ("CONTEXT_PAST_TABLE", lambda: decoder(source=s.Tokens(9, s.Learned(8)))),
    ("CONTEXT_PAST_TABLE", lambda: encoder(source=replace(IMAGE, position=s.Learned(3)))),
    ("TIED_NEEDS_TOKENS", lambda: encoder(source=IMAGE, head=s.Language(tied=True))),
    ("INPUT_DOES_NOT_FIT", lambda: decoder(source=IMAGE)),
    ("INPUT_DOES_NOT_FIT", lambda: translator(target=SERIES)),
    ("INPUT_DOES_NOT_FIT", lambda: translator(source=IMAGE, shared=True)),
    ("INPUT_DOES_NOT_FIT", lambda: translator(source=APART)),
    ("HEAD_DOES_NOT_FIT", lambda: encoder(source=IMAGE, head=s.Language(tied=False))),
    ("HEAD_DOES_NOT_FIT", lambda: decoder(head=s.Forecast(3))),
    ("HEAD_DOES_NOT_FIT", lambda: encoder(source=LEVELLED, head=s.Hidden())),
    ("HEAD_DOES_NOT_FIT", lambda: encoder(source=APART, head=pooled(s.Mean()))),
    ("HEAD_DOES_NOT_FIT", lambda: encoder(source=IMAGE, head=pooled(s.First()))),
    ("HEAD_DOES_NOT_FIT", lambda: encoder(head=pooled(s.EndToken(9)))),
    ("HEAD_DOES_NOT_FIT", lambda: encoder(head=pooled(s.Flatten(4)))),
    ("HEAD_DOES_NOT_FIT", lambda: encoder(source=IMAGE, head=pooled(s.Flatten(5)))),
    ("HEAD_DOES_NOT_FIT", lambda: s.TwoTowers(decoder(), encoder(source=IMAGE, head=s.Vector()))),
    ("SHARED_VOCABULARIES_DIFFER", lambda: translator(source=s.Tokens(8), shared=True)),
    ("PATCH_DOES_NOT_DIVIDE", lambda: s.Patches(4, 6, 4)),
    ("EXPERTS_UNREACHABLE", lambda: experts(5)),
    ("EXPERTS_UNREACHABLE", lambda: experts(3, s.RouterGroups(2, 1))),
    ("TOWERS_DIFFER", lambda: towers(5, 6)),
    ("TOWERS_DIFFER", lambda: towers(None, 6)),
    ("UNKNOWN_TYPE", lambda: from_json({"type": "DecoderOlny"})),
    ("UNKNOWN_FIELD", lambda: from_json({"type": "DecoderOnly", "contxt": 3})),
    ("MISSING_FIELD", lambda: from_json({"type": "DecoderOnly"})),
    ("WRONG_KIND", lambda: from_json("DecoderOnly")),
    ("TYPE_LEFT_OUT", lambda: Reader({}, SpecError, implied=True).read({}, s.Spec, "spec", "spec")),
    ("UNKNOWN_PRESET", lambda: preset("tiny-gtp")),
]
FAILURES = {name: value for name, value in vars(messages).items() if isinstance(value, Failure)}


@pytest.mark.parametrize(("name", "make"), CASES, ids=[f"{name}-{index}" for index, (name, _) in enumerate(CASES)])
def test_the_impossible_is_refused_by_name(name: str, make: Callable[[], object]) -> None:
    with pytest.raises(UsageError if name == "UNKNOWN_PRESET" else SpecError) as caught:
        make()
    assert caught.value.failure is FAILURES[name]
    require_readable(caught.value)


def require_readable(error: ClearformerError) -> None:
    """One line of cause and one of remedy in both languages, every value filled in."""
    for language in ("en", "zh"):
        for text in (error.cause(language), error.remedy(language)):
            assert text
            assert "\n" not in text
            assert not {"{", "}"} & set(text.replace(repr({}), ""))
    assert error.cause("en") != error.cause("zh")


def test_every_failure_is_reached() -> None:
    assert {name for name, _ in CASES} == FAILURES.keys()


def test_what_stands_beside_the_impossible_is_possible() -> None:
    """The cases fail for their own reason: each of their parts, put right, is a spec."""
    assert decoder().decoder.blocks[0].attention is SEEN
    assert encoder(source=IMAGE, head=pooled(s.Flatten(4)))
    assert encoder(source=LEVELLED, head=s.Forecast(3))
    assert encoder(head=pooled(s.EndToken(8)))
    assert translator(shared=True)
    assert translator(source=SERIES)
    assert towers(6, 6)
    assert towers(None, 8)
    assert sharing(s.RelativeBias(8, 16), s.RelativeBias(8, 16))
    assert experts(2, s.RouterGroups(2, 1))
    assert experts(4)
    assert s.Rotary(width=4, scaling=s.LongRoPE((1.0, 1.0), (1.0, 2.0), 8, 1.0))


def test_the_cause_names_owner_expected_and_found() -> None:
    with pytest.raises(SpecError, match=r"Dense\.dropout must be a probability in \[0, 1\); found 1\.5"):
        s.Dense(8, dropout=1.5)
    with pytest.raises(SpecError, match="found swish"):
        s.Dense(8, "swish")
