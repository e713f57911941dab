"""K16: generation beside the module, alone and padded."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from doctor.checks.asking import causes
from doctor.corpus.cache_faults import generation_shares_one_position_between_rows, generation_tells_the_wrong_offset
from doctor.corpus.hand_written import Decoder
from doctor.corpus.sight_faults import decoder


def greedy(model: nn.Module, ids: Tensor, max_new_tokens: int, attention_mask: Tensor | None = None) -> Tensor:
    mask = torch.ones_like(ids) if attention_mask is None else attention_mask
    for _ in range(max_new_tokens):
        new = model(ids, mask)[:, -1:].argmax(-1)
        ids, mask = torch.cat([ids, new], 1), torch.cat([mask, torch.ones_like(new)], 1)
    return ids


def behind(model: nn.Module, ids: Tensor, max_new_tokens: int) -> Tensor:
    """Takes the answer of the last but one."""
    for _ in range(max_new_tokens):
        ids = torch.cat([ids, model(ids)[:, -2:-1].argmax(-1)], 1)
    return ids


def test_the_wrong_position_of_the_answer() -> None:
    torch.manual_seed(0)
    model = Decoder()
    nn.init.normal_(model.tokens.weight)
    assert causes("K16", **decoder(model, generate=behind)) == ["ERROR generation differs from forward"]


def test_a_wrong_offset() -> None:
    assert causes("K16", **generation_tells_the_wrong_offset()) == ["ERROR offset after prefill"]


def test_a_padded_batch_that_goes_on_otherwise() -> None:
    assert causes("K16", **generation_shares_one_position_between_rows()) == ["ERROR positions not from mask"]


def test_sound_generation() -> None:
    model = Decoder()
    nn.init.normal_(model.places.weight)
    assert causes("K16", **decoder(model, generate=greedy)) == []


def test_a_module_that_cannot_generate() -> None:
    assert causes("K16", **decoder(Decoder())) == ["-"]
