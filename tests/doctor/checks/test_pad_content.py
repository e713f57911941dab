"""K09: what stands under the mask, read or not."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from clearformer.doctor.diagnose import examine
from clearformer.doctor.parts import Parts
from doctor.checks.asking import causes
from doctor.corpus.hand_written import Attention, Decoder
from doctor.corpus.padding_faults import Deaf, Encoder, FloatPadding, Turned, encoder
from doctor.corpus.sight_faults import decoder


@pytest.mark.parametrize(
    ("attention", "cause"),
    [(Deaf, "padding mask without effect"), (Turned, "padding mask inverted"), (FloatPadding, "mask added as 0 and 1")],
)
def test_a_mask_that_does_not_hide(attention: type[Attention], cause: str) -> None:
    assert causes("K09", **encoder(Encoder(attention))) == [f"ERROR {cause}"]
    assert causes("K09", **decoder(Decoder(attention))) == [f"ERROR {cause}"]


class Pooled(Encoder):
    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        return super().forward(input_ids, attention_mask).mean(1)


def test_a_mean_that_counts_padding() -> None:
    assert causes("K09", **encoder(Pooled())) == ["ERROR padding pooled in"]


def test_sound_models() -> None:
    assert causes("K09", **decoder(Decoder())) == causes("K09", **encoder(Encoder())) == []


def test_a_module_without_a_mask_has_no_such_law() -> None:
    assert causes("K09", model=nn.Sequential(nn.Embedding(20, 8)), kind="encoder") == ["-"]


class KeyPadding(nn.Module):
    """PyTorch's attention, handed a mask as it comes: 1 keeps, where PyTorch hides or adds."""

    def __init__(self, number: torch.dtype) -> None:
        super().__init__()
        self.tokens, self.norm, self.head = nn.Embedding(60, 32), nn.LayerNorm(32), nn.Linear(32, 60)
        self.places = nn.Parameter(torch.randn(64, 32))
        self.attention, self.number = nn.MultiheadAttention(32, 4, batch_first=True), number

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None) -> torch.Tensor:
        length = input_ids.shape[1]
        x = self.tokens(input_ids) + self.places[:length]
        ahead = torch.ones(length, length, dtype=torch.bool).triu(1)
        padding = None if attention_mask is None else attention_mask.to(self.number)
        mixed, _ = self.attention(x, x, x, key_padding_mask=padding, attn_mask=ahead, need_weights=False)
        return self.head(self.norm(x + mixed))  # type: ignore[no-any-return]


@pytest.mark.filterwarnings("ignore:Support for mismatched")
@pytest.mark.parametrize(
    ("number", "cause"), [(torch.bool, "padding mask inverted"), (torch.float32, "mask added as 0 and 1")]
)
def test_a_mask_that_keeps_where_pytorch_hides(number: torch.dtype, cause: str) -> None:
    diagnosis = examine(Parts(model=KeyPadding(number), kind="decoder", vocab_size=60))
    assert diagnosis.errors[0].cause == cause


class OnQueries(Attention):
    """The mask lies along the queries: it empties the padding's own rows and hides no key."""

    def forward(self, x: Tensor, memory: Tensor | None = None, padding: Tensor | None = None) -> Tensor:
        query, key, value = (self.split(each(x)) for each in (self.query, self.key, self.value))
        hidden = self.hidden(x.shape[1], x.shape[1])
        if padding is not None:
            hidden = hidden | ~padding.bool()[:, None, :, None]
        return self.out(self.merge(self.attend(query, key, value, hidden)))


def test_a_mask_along_the_queries() -> None:
    assert causes("K09", **decoder(Decoder(OnQueries))) == ["ERROR padding mask on queries"]
