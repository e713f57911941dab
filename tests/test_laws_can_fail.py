"""Each law's tester sees a fault: the code is broken on purpose, and the tester must say so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

import pytest
import torch
from torch import Tensor

from clearformer import spec as s
from clearformer.laws import LawName, law
from clearformer.layers import attention, embed, frame, norm, stack
from clearformer.layers.mask import Mask
from law_testers.check import check
from law_testers.subject import make_subject

Patch = pytest.MonkeyPatch


def block(visibility: s.Visibility, position: s.AttentionPosition | None = None, dropout: float = 0.0) -> s.Block:
    seen = s.Attention(2, 1, 4, 4, visibility, position, dropout=dropout)
    return s.Block(seen, s.Gated(16), s.RMSNorm(), s.RMSNorm())


def decoder(*blocks: s.Block, position: s.InputPosition | None = None) -> s.DecoderOnly:
    return s.DecoderOnly(s.Stack(8, s.Tokens(13, position), blocks), s.Language(), context=24)


def encoder(*blocks: s.Block) -> s.EncoderOnly:
    return s.EncoderOnly(s.Stack(8, s.Tokens(13), blocks), s.Hidden(), context=24)


ROTARY = decoder(*[block(s.Causal(), s.Rotary())] * 2)
PLACED = decoder(block(s.Causal()), position=s.Learned(24))
LOCAL = decoder(*[block(s.Causal(window=3), s.Rotary())] * 2)
BARE = encoder(*[block(s.Full())] * 2)
DROPPING = decoder(block(s.Causal(), dropout=0.5))
FORECASTER = s.EncoderOnly(
    s.Stack(8, s.Series(2, normalise=s.ReversibleNorm()), (block(s.Full()),)), s.Forecast(3), context=24
)


def drops_while_speaking(patch: Patch) -> None:
    attend = attention.attend
    patch.setattr(attention, "attend", lambda *given, **how: attend(*given, **{**how, "dropout": 0.5}))


def norm_over_the_batch(patch: Patch) -> None:
    patch.setattr(norm.RMSNorm, "forward", lambda self, x: x / x.square().mean((0, -1), keepdim=True).sqrt())


def positions_count_slots(patch: Patch) -> None:
    patch.setattr(stack, "count_positions", lambda real, before=None: torch.arange(real.shape[1]).expand(real.shape))


def pads_are_seen(patch: Patch) -> None:
    visible = Mask.visible
    seen = lambda mask: visible(Mask(mask.visibility, mask.query_positions, mask.key_positions))  # noqa: E731
    patch.setattr(Mask, "visible", seen)


def one_key_too_far(patch: Patch) -> None:
    def visible(mask: Mask) -> Tensor:
        distance = mask.query_positions[:, None, :, None] - mask.key_positions[:, None, None, :]
        return distance >= -1

    patch.setattr(Mask, "visible", visible)
    patch.setattr(Mask, "is_plain_causal", False)


def cache_starts_at_zero(patch: Patch) -> None:
    patch.setattr(stack.Stack, "_positions", lambda self, ids, real, cache: (torch.arange(ids.shape[1])[None], True))


def chunks_see_their_own_end(patch: Patch) -> None:
    visible = Mask.visible

    def seen(mask: Mask) -> Tensor:
        chunked = mask.query_positions.shape[1] < mask.key_positions.shape[1]
        return torch.ones_like(visible(mask)) if chunked else visible(mask)

    patch.setattr(Mask, "visible", seen)


def window_one_wider(patch: Patch) -> None:
    def visible(mask: Mask) -> Tensor:
        assert isinstance(mask.visibility, s.Causal)
        distance = mask.query_positions[:, None, :, None] - mask.key_positions[:, None, None, :]
        return (distance >= 0) & (distance <= mask.visibility.window)

    patch.setattr(Mask, "visible", visible)


def angles_squared(patch: Patch) -> None:
    rotation = frame.rotation
    patch.setattr(frame, "rotation", lambda spec, width, places, *rest: rotation(spec, width, places**2, *rest))


def encoder_looks_back_only(patch: Patch) -> None:
    patch.setattr(Mask, "hides_nothing", False)
    patch.setattr(
        Mask, "visible", lambda mask: mask.key_positions[:, None, None] <= mask.query_positions[:, None, :, None]
    )


def level_forgotten(patch: Patch) -> None:
    patch.setattr(embed.Reversible, "restore", lambda self, forecast, level: forecast * level.deviation)


@dataclass(frozen=True)
class Fault:
    law: LawName
    spec: s.Spec
    plant: Callable[[Patch], None]


FAULTS = (
    Fault("determinism", DROPPING, drops_while_speaking),
    Fault("batch independence", ROTARY, norm_over_the_batch),
    Fault("padding independence", PLACED, positions_count_slots),
    Fault("padding independence", BARE, pads_are_seen),
    Fault("causality", ROTARY, one_key_too_far),
    Fault("cache equality", ROTARY, cache_starts_at_zero),
    Fault("chunk equality", ROTARY, chunks_see_their_own_end),
    Fault("window reach", LOCAL, window_one_wider),
    Fault("offset independence", ROTARY, angles_squared),
    Fault("permutation equivariance", BARE, encoder_looks_back_only),
    Fault("level equivariance", FORECASTER, level_forgotten),
)


def test_every_law_has_a_fault() -> None:
    assert {fault.law for fault in FAULTS} == set(get_args(LawName))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.law}-{fault.plant.__name__}")
def test_a_fault_is_caught(fault: Fault, dtype: torch.dtype, monkeypatch: Patch) -> None:
    found = law(fault.spec, fault.law)
    assert found is not None
    assert all(check(found, make_subject(fault.spec, seed, dtype)) for seed in range(5))
    fault.plant(monkeypatch)
    with pytest.raises(AssertionError):
        any(not check(found, make_subject(fault.spec, seed, dtype)) for seed in range(5))
