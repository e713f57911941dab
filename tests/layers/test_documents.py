"""A row of several documents gives what each gives alone: every position, visibility, norm and router of the specs."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from clearformer import spec as s
from clearformer.errors import UsageError
from clearformer.layers import checks
from clearformer.layers.documents import lengths, places, runs
from clearformer.layers.kernels import Kernel
from clearformer.model import DecoderOnly, EncoderOnly
from drawing.built import drawn
from drawing.models import VOCABULARY, decoders, token_encoders
from drawing.small import block, decoder
from law_testers.subject import NEAR, margins

LENGTHS = ((3, 5, 1), (1, 7, 1), (9, 0, 0))
SPECS = st.one_of(decoders(), token_encoders())


def with_kernel(model: torch.nn.Module, kernel: Kernel) -> None:
    for module in model.modules():
        if hasattr(module, "kernel"):
            module.kernel = kernel


def packed_rows(rng: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids, and numbers that name neighbours apart but come again later in the row."""
    ids = torch.from_numpy(rng.integers(0, VOCABULARY, (len(LENGTHS), sum(LENGTHS[0]))))
    numbers = [np.repeat([4, 2, 4], row) for row in LENGTHS]
    return ids, torch.from_numpy(np.stack(numbers))


def compare(spec: s.DecoderOnly | s.EncoderOnly, seed: int, kernel: Kernel) -> bool:
    model = drawn(spec, seed)
    assert isinstance(model, DecoderOnly | EncoderOnly)
    with_kernel(model, kernel)
    ids, numbers = packed_rows(np.random.default_rng(seed))
    with torch.no_grad(), margins() as won:
        together = model(ids, documents=numbers)
        alone = torch.stack(
            [
                torch.cat([model(part[None])[0] for part in row.split([n for n in sizes if n])])
                for row, sizes in zip(ids, LENGTHS, strict=True)
            ]
        )
    if min(won, default=1.0) < NEAR[torch.float64]:
        return False
    torch.testing.assert_close(together, alone, rtol=0, atol=1e-9 * max(1.0, float(alone.abs().max())))
    return True


def types_in(value: object) -> Iterator[str]:
    if dataclasses.is_dataclass(value):
        yield type(value).__name__
        for each in dataclasses.fields(value):
            yield from types_in(getattr(value, each.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from types_in(item)


@pytest.mark.parametrize("kernel", ["plain", "tiled", "sdpa"])
def test_packed_equals_each_document_alone(kernel: Kernel) -> None:
    reached: Counter[str] = Counter()

    @settings(max_examples=80)
    @given(SPECS, st.integers(0, 2**32 - 1))
    def one(spec: s.DecoderOnly | s.EncoderOnly, seed: int) -> None:
        assume(isinstance(spec.head, s.Language | s.Hidden))
        if compare(spec, seed, kernel):
            reached.update(set(types_in(spec)))

    one()
    positions = ("ALiBi", "RelativeBias", "Rotary", "Learned", "Sinusoidal", "DynamicNTK", "LongRoPE", "YaRN")
    assert not [name for name in (*positions, "Causal", "Full", "LatentAttention", "Experts") if not reached[name]]


def test_the_comparison_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Positions that do not restart, and documents that see each other, are both caught."""
    from clearformer.layers import stack

    learned = s.DecoderOnly(
        s.Stack(8, s.Tokens(VOCABULARY, s.Learned(16)), (block(s.Causal()),)), s.Language(), context=16
    )
    with monkeypatch.context() as patch:
        patch.setattr(stack, "places_in_documents", lambda runs, real: torch.arange(runs.shape[1]).expand_as(runs))
        with pytest.raises(AssertionError):
            compare(learned, 0, "sdpa")
    with monkeypatch.context() as patch:
        patch.setattr(stack, "document_runs", torch.zeros_like)
        with pytest.raises(AssertionError):
            compare(learned, 0, "sdpa")


def test_places_and_lengths_by_counting() -> None:
    numbers = torch.tensor([[7, 7, 3, 3, 3, 7], [1, 1, 1, 2, 2, 2]])
    real = torch.tensor([[1, 0, 1, 1, 0, 1], [0, 1, 1, 1, 1, 0]]).bool()
    found = runs(numbers)
    assert found.tolist() == [[0, 0, 1, 1, 1, 2], [0, 0, 0, 1, 1, 1]]
    for known in (None, real):
        tokens = torch.ones_like(numbers) if known is None else known.long()
        positions = places(found, known)
        sizes = lengths(found, positions, known)
        for b, t in np.ndindex(2, 6):
            same = found[b] == found[b, t]
            assert sizes[b, t] == tokens[b, same].sum()
            if tokens[b, t]:
                assert positions[b, t] == tokens[b, :t][same[:t]].sum()


def test_padding_inside_a_packed_row_changes_nothing() -> None:
    model = drawn(decoder(block(s.Causal())), 0)
    ids = torch.tensor([[3, 1, 4, 1, 5]])
    padded = torch.tensor([[0, 3, 1, 0, 4, 1, 5, 0]])
    real = torch.tensor([[0, 1, 1, 0, 1, 1, 1, 0]]).bool()
    with torch.no_grad():
        plain = model(ids, documents=torch.tensor([[0, 0, 1, 1, 1]]))
        found = model(padded, real=real, documents=torch.tensor([[0, 0, 0, 0, 1, 1, 1, 1]]))[real]
    torch.testing.assert_close(found, plain[0], rtol=0, atol=1e-12)


def test_what_does_not_go_with_documents_is_refused() -> None:
    ids = torch.zeros(1, 4, dtype=torch.long)
    model = drawn(decoder(block(s.Causal(prefix=True))), 0)
    with pytest.raises(UsageError, match="documents"):
        model(ids, documents=ids, prefix=torch.tensor([2]))
    with pytest.raises(UsageError, match="documents"):
        checks.documents(ids, ids[:, :2], None, None)
    with pytest.raises(UsageError, match="documents"):
        checks.documents(ids, ids > 0, None, None)
    pooled = drawn(
        s.EncoderOnly(s.Stack(8, s.Tokens(11), (block(s.Full()),)), s.Classes(3, s.Pooling(s.Mean())), context=16), 0
    )
    with pytest.raises(UsageError, match="one answer a row"):
        pooled(ids, documents=ids)


def test_hidden_and_logits_are_the_forward_pass() -> None:
    model = drawn(decoder(block(s.Causal())), 0)
    ids = torch.tensor([[1, 2, 3], [4, 5, 6]])
    with torch.no_grad():
        assert torch.equal(model.logits(model.hidden(ids)), model(ids))
        torch.testing.assert_close(model.logits(model.hidden(ids)[0, 1]), model(ids)[0, 1], rtol=0, atol=1e-12)
