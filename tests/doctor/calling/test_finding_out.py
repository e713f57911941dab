"""How modules of every make are called: what is concluded, and what is said where nothing fits."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from clearformer.build import build
from clearformer.doctor.calling.finding_out import find_out
from clearformer.doctor.calling.subject import Subject
from clearformer.doctor.parts import Parts
from clearformer.errors import UsageError
from clearformer.spec import presets
from doctor.corpus.hand_written import VOCAB, WIDTH, Decoder, EncoderDecoder
from doctor.corpus.padding_faults import Deaf, Encoder

# PyTorch's own remark on nested tensors, while a test builds its modules.
pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor")

GENERATOR = torch.Generator().manual_seed(0)


def subject(model: nn.Module, **parts: Any) -> Subject:
    return find_out(Parts(model=model, **parts))[0]


class Answering(Decoder):
    """A decoder whose forward gives something else than the logits themselves."""

    def forward(self, idx: Tensor, targets: Tensor | None = None) -> Any:
        logits = super().forward(idx)
        if targets is None:
            return logits[:, [-1]], None
        return logits, logits.mean()


def test_a_decoder_is_told_by_what_it_reads() -> None:
    found = subject(Decoder())
    assert (found.kind, found.vocab_size, found.per_position) == ("decoder", VOCAB, True)
    assert found.call.padding is not None
    assert (found.call.padding.name, found.call.padding.marking) == ("attention_mask", "keep")
    assert found.call.padding.by_trial


def test_a_mask_without_effect_is_believed_by_its_name() -> None:
    padding = subject(Decoder(Deaf), kind="decoder").call.padding
    assert padding is not None
    assert (padding.marking, padding.by_trial) == ("keep", False)


class Hiding(Encoder):
    def forward(self, ids: Tensor, pads: Tensor | None = None) -> Tensor:
        return super().forward(ids, None if pads is None else ~pads)


class Keeping(Encoder):
    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        return super().forward(ids, mask)


@pytest.mark.parametrize(("model", "marking"), [(Hiding, "hide"), (Keeping, "keep")])
def test_polarity_is_found_by_trial(model: type[nn.Module], marking: str) -> None:
    padding = subject(model(), kind="encoder").call.padding
    assert padding is not None
    assert (padding.marking, padding.by_trial) == (marking, True)


def test_targets_open_the_answers_of_all_positions() -> None:
    found = subject(Answering(), kind="decoder")
    assert (found.call.labels, found.call.output, found.per_position) == ("targets", 0, True)


class Flat(Decoder):
    def forward(self, idx: Tensor) -> Any:
        return super().forward(idx).flatten(0, 1)


class VocabularyFirst(Decoder):
    def forward(self, idx: Tensor) -> Any:
        return super().forward(idx).transpose(1, 2)


@pytest.mark.parametrize("model", [Flat, VocabularyFirst])
def test_answers_in_another_shape_are_turned(model: type[Decoder]) -> None:
    torch.manual_seed(0)
    module = model()
    found = subject(module, kind="decoder", vocab_size=VOCAB)
    ids = found.inputs(2, 7, GENERATOR)
    assert torch.equal(found.answer(ids), Decoder.forward(module, ids))


def test_two_inputs_are_a_source_and_a_target() -> None:
    found = subject(EncoderDecoder())
    assert (found.kind, found.call.source, found.call.main) == ("encoder-decoder", "src", "tgt")
    assert found.call.source_padding is not None
    assert found.call.source_padding.name == "src_mask"


@pytest.mark.parametrize("batch_first", [True, False])
def test_torchs_transformer_takes_vectors_and_a_mask_that_hides(batch_first: bool) -> None:
    found = subject(nn.Transformer(WIDTH, 4, 1, 1, 64, batch_first=batch_first))
    assert (found.call.takes, found.width, found.call.batch_first) == ("vectors", WIDTH, batch_first)
    assert found.call.seeing is not None
    assert (found.call.seeing.name, found.call.seeing.marking) == ("tgt_mask", "hide")
    assert {mask.name for mask in found.call.source_masks} == {"src_key_padding_mask", "memory_key_padding_mask"}
    assert found.answer(found.inputs(2, 5, GENERATOR)).shape == (2, 5, WIDTH)


class TimeFirst(nn.Module):
    """As PyTorch's tutorials write it: (T, B), positions along the first axis, the mask from outside."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.head = nn.Embedding(VOCAB, WIDTH), nn.Linear(WIDTH, VOCAB)
        self.places = nn.Parameter(torch.randn(64, 1, WIDTH))
        self.stack = nn.TransformerEncoder(nn.TransformerEncoderLayer(WIDTH, 4, 64), 1)

    def forward(self, src: Tensor, src_mask: Tensor | None = None) -> Tensor:
        return self.head(self.stack(self.tokens(src) + self.places[: len(src)], src_mask))


class Slipped(TimeFirst):
    """Positions along the second axis, attention along the first: a slip, and no sequence first."""

    def forward(self, src: Tensor) -> Tensor:
        return self.head(self.stack(self.tokens(src) + self.places[: src.shape[1], 0]))


def test_sequence_first_is_found_where_it_is_meant() -> None:
    found = subject(TimeFirst(), kind="decoder")
    assert not found.call.batch_first
    assert found.call.seeing is not None
    assert found.call.padding is None
    assert subject(Slipped(), kind="encoder").call.batch_first


def test_our_own_models() -> None:
    decoder = subject(build(presets.tiny_gpt(width=16, heads=2, layers=1, vocabulary=30, context=32)))
    assert decoder.kind == "decoder"
    assert decoder.call.cache is not None
    assert decoder.call.cache.start == "ours"
    forecaster = presets.patch_forecaster(
        channels=2, lookback=32, horizon=4, patch=8, width=16, heads=2, hidden=16, layers=1
    )  # fmt: skip
    found = subject(build(forecaster))
    assert (found.kind, found.width, found.per_position) == ("forecaster", 2, False)


class Pooled(nn.Module):
    """A classifier that is told lengths."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.head = nn.Embedding(VOCAB, WIDTH), nn.Linear(WIDTH, 3)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        real = (torch.arange(ids.shape[1]) < lengths[:, None])[..., None]
        return self.head((self.tokens(ids) * real).sum(1) / lengths[:, None])


def test_lengths_stand_for_a_mask() -> None:
    found = subject(Pooled(), kind="encoder")
    assert found.call.padding is not None
    assert (found.call.padding.marking, found.call.answers) == ("count", "whole")
    ids = found.inputs(2, 6, GENERATOR)
    mask = torch.arange(6).expand(2, 6) < 4
    assert torch.allclose(found.answer(ids, mask=mask), found.answer(ids[:, :4]), atol=1e-6)


class Gadget(Decoder):
    def forward(self, idx: Tensor, gadget: dict[str, int]) -> Tensor:  # type: ignore[override]
        return super().forward(idx + gadget["shift"])


class Nothing(Decoder):
    def forward(self, idx: Tensor) -> None:  # type: ignore[override]
        super().forward(idx)


@pytest.mark.parametrize(("model", "seen"), [(Gadget, "gadget=None"), (Nothing, "NoneType")])
def test_what_cannot_be_called_is_told_with_what_was_tried(model: type[nn.Module], seen: str) -> None:
    with pytest.raises(UsageError, match=seen) as caught:
        subject(model(), kind="decoder", vocab_size=VOCAB)
    assert "--call" in caught.value.remedy("en")
    assert "--call" in caught.value.remedy("zh")


def test_the_users_words_make_it_callable() -> None:
    found = subject(Gadget(), kind="decoder", vocab_size=VOCAB, call='ids=idx always=gadget:{"shift":0}')
    assert found.raised is None
    assert found.call.fixed == (("gadget", {"shift": 0}),)


class Raising(Decoder):
    def forward(self, idx: Tensor) -> Tensor:
        return super().forward(idx).transpose(0, 1).view(-1)


def test_a_module_that_fails_itself_is_a_subject_with_its_failure() -> None:
    found = subject(Raising(), kind="decoder", vocab_size=VOCAB)
    assert isinstance(found.raised, RuntimeError)


def test_a_vocabulary_beyond_the_table_is_refused() -> None:
    with pytest.raises(UsageError, match=f"{VOCAB} rows"):
        subject(Decoder(), kind="decoder", vocab_size=10 * VOCAB)


def test_a_module_without_numbers_is_refused() -> None:
    with pytest.raises(UsageError, match="meta"):
        subject(Decoder().to("meta"))


class Replacing(Encoder):
    """Its causal mask is a default: a mask that is handed in takes its place."""

    def forward(self, ids: Tensor, attn_bias: Tensor | None = None) -> Tensor:
        if attn_bias is None:
            attn_bias = torch.full((ids.shape[1], ids.shape[1]), float("-inf")).triu(1)
        x = self.tokens(ids) + self.places(torch.arange(ids.shape[1]))
        for block in self.blocks:
            h, seen = block.norm1(x), block.attention
            query, key, value = (seen.split(each(h)) for each in (seen.query, seen.key, seen.value))
            weights = (seen.scale(query @ key.mT, query.shape[-1]) + attn_bias).softmax(-1)
            x = x + seen.out(seen.merge(weights @ value))
            x = x + block.feedforward(block.norm2(x))
        return self.head(self.norm(x))  # type: ignore[no-any-return]


def test_a_mask_that_takes_the_place_of_the_causal_one_says_who_sees_whom() -> None:
    call = subject(Replacing(), kind="decoder").call
    assert call.padding is None
    assert call.seeing is not None
    assert call.seeing.name == "attn_bias"
