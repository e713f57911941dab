"""Which backend writes, and what is said where it is not the one that was asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clearformer import spec as s
from clearformer.errors import ClearformerError, MachineError, UsageError
from clearformer.messages import native as say
from clearformer.native.building import LIBRARY
from clearformer.native.library import Found
from clearformer.spec.presets import modern_decoder, transformer_base
from clearformer.speed import backend
from clearformer.speed.backend import Wanted, choose

DECODER = modern_decoder(width=32, heads=4, kv_heads=2, layers=1)


def latent() -> s.DecoderOnly:
    attention = s.LatentAttention(2, 4, 4, 8, s.Rotary(width=2))
    block = replace(DECODER.decoder.blocks[0], attention=attention)
    return replace(DECODER, decoder=replace(DECODER.decoder, blocks=(block,)))


def prefix() -> s.DecoderOnly:
    block = DECODER.decoder.blocks[0]
    block = replace(block, attention=replace(block.attention, visibility=s.Causal(prefix=True)))
    return replace(DECODER, decoder=replace(DECODER.decoder, blocks=(block,)))


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "found", lambda: Found(LIBRARY, ("plain",), None, object()))


@pytest.fixture
def no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "found", lambda: Found(LIBRARY, why=say.NO_COMPILER))


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "int4"])
def test_auto_takes_the_kernels_for_what_they_know(dtype: str) -> None:
    assert choose(DECODER, Wanted(dtype=dtype)).native
    assert choose(DECODER, Wanted("native", dtype)).native


LACKING = [
    (DECODER, Wanted(device="cuda"), "cuda"),
    (DECODER, Wanted(dtype="float64"), "float64"),
    (DECODER, Wanted(dtype="float16"), "float16"),
    (DECODER, Wanted(cached=False), "no-cache"),
    (latent(), Wanted(), "latent attention (block 0)"),
    (prefix(), Wanted(), "prefix"),
    (transformer_base(), Wanted(), "not a decoder"),
    (replace(DECODER, head=s.Hidden()), Wanted(), "no next token"),
]


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(("spec", "wanted", "word"), LACKING, ids=[word for *_, word in LACKING])
def test_what_the_kernels_lack_is_named(spec: s.Spec, wanted: Wanted, word: str) -> None:
    chosen = choose(spec, wanted)
    assert not chosen.native
    assert chosen.why is not None
    assert word in chosen.why.text("en")
    assert chosen.why.text("zh") != chosen.why.text("en")
    with pytest.raises(UsageError) as refused:
        choose(spec, replace(wanted, backend="native"))
    assert word in str(refused.value)
    if wanted.dtype == "float32":
        with pytest.raises(UsageError) as refused:
            choose(spec, replace(wanted, dtype="int4"))
        assert word in str(refused.value)
        assert "int4" in str(refused.value)


@pytest.mark.usefixtures("library")
def test_pytorch_is_taken_where_it_is_asked_for() -> None:
    chosen = choose(DECODER, Wanted("torch"))
    assert not chosen.native
    assert chosen.why is None
    with pytest.raises(UsageError, match="int8"):
        choose(DECODER, Wanted("torch", "int8"))


@pytest.mark.usefixtures("no_library")
def test_without_a_library_auto_says_so_and_goes_on() -> None:
    chosen = choose(DECODER, Wanted())
    assert not chosen.native
    assert chosen.absent
    refused: list[ClearformerError] = []
    for wanted in (Wanted("native"), Wanted(dtype="int4")):
        with pytest.raises(MachineError) as error:
            choose(DECODER, wanted)
        refused.append(error.value)
    assert all("compiler" in each.cause() for each in refused)
