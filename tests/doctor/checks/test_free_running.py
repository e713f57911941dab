"""K25 on a sound decoder, and on losses and a leak with which a batch is learnt and not said."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from doctor.checks.asking import causes

VOCAB = 40


class Block(nn.Module):
    """One attention block; `ahead` is how many later positions it sees."""

    def __init__(self, ahead: int = 0) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCAB, 32), nn.Embedding(64, 32)
        self.qkv, self.head, self.ahead = nn.Linear(32, 96), nn.Linear(32, VOCAB), ahead

    def forward(self, input_ids: Tensor) -> Tensor:
        length = input_ids.shape[1]
        hidden = self.tokens(input_ids) + self.places(torch.arange(length))
        query, key, value = self.qkv(hidden).chunk(3, -1)
        keeps = torch.ones(length, length).tril(self.ahead).bool()
        return self.head(hidden + F.scaled_dot_product_attention(query, key, value, attn_mask=keeps))


def unshifted(logits: Tensor, targets: Tensor) -> Tensor:
    """Takes the labels as they come; what comes is fed to it wrongly by the loop that the test stands for."""
    return F.cross_entropy(logits.flatten(0, 1), targets.roll(1, 1).flatten())


def test_it_does_not_fire() -> None:
    assert causes("K25", model=Block(), kind="decoder", vocab_size=VOCAB) == []


def test_it_fires_where_the_future_is_read() -> None:
    found = causes("K25", model=Block(ahead=1), kind="decoder", vocab_size=VOCAB)
    assert found == ["ERROR teacher and free run apart"]


def test_it_fires_where_the_loss_asks_for_the_input() -> None:
    found = causes("K25", model=Block(), kind="decoder", vocab_size=VOCAB, loss=unshifted)
    assert found == ["ERROR teacher and free run apart"]


def test_a_loss_that_does_not_say_who_moves_its_labels_is_not_taught() -> None:
    def loss(logits: Tensor, labels: Tensor) -> Tensor:
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten())

    assert causes("K25", model=Block(), kind="decoder", vocab_size=VOCAB, loss=loss) == []


def test_the_module_is_not_trained() -> None:
    model = Block()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    causes("K25", model=model, kind="decoder", vocab_size=VOCAB)
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())


def test_it_is_not_applicable_where_nothing_is_learnt() -> None:
    frozen = Block().requires_grad_(requires_grad=False)
    assert causes("K25", kind="decoder", vocab_size=VOCAB) == ["-"]
    assert causes("K25", model=frozen, kind="decoder", vocab_size=VOCAB) == ["-"]
