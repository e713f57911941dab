"""What is read: text, drawn ids, images, series and pairs of them, each within what the model can take."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from clearformer import spec as s
from clearformer.errors import UsageError
from clearformer.families.generation import GenerationDefaults
from clearformer.load import Loaded, load
from clearformer.spec.presets import modern_decoder, patch_forecaster
from clearformer.verify.reading import MOST_TOKENS, reading_for
from clearformer.verify.verifying import verify
from drawing.built import drawn
from drawing.folders import llama_folder
from drawing.small import SPECS

TINY = modern_decoder(width=24, heads=2, kv_heads=1, hidden=16, layers=1, vocabulary=11, context=64)


def in_memory(spec: s.Spec, generation: GenerationDefaults | None = None) -> Loaded:
    return Loaded("drawn", drawn(spec, 1), spec, None, generation or GenerationDefaults(), None)


@pytest.mark.parametrize("name", SPECS)
def test_a_model_of_every_kind_is_equal_to_its_twin(name) -> None:
    found = verify(in_memory(SPECS[name]), against="numpy")
    assert (found.verdict, found.first_difference) == ("equal", None)
    assert len(found.rows) > 5


def test_a_model_of_no_file_has_nothing_for_transformers_to_read() -> None:
    with pytest.raises(UsageError, match="read from no file"):
        verify(in_memory(TINY))


@pytest.fixture(scope="module")
def llama(tmp_path_factory) -> Loaded:
    folder = tmp_path_factory.mktemp("reading") / "llama"
    llama_folder(folder)
    return load(folder)


def test_a_text_is_read_up_to_the_most_and_what_is_left_out_is_counted(llama) -> None:
    tokens = llama.tokenizer.encode("the cat " * 300)
    reading = reading_for(llama, "the cat " * 300)
    assert reading.data.tolist() == [tokens[:MOST_TOKENS]]
    assert reading.left_out == len(tokens) - MOST_TOKENS
    assert reading_for(llama, "the cat").left_out == 0


def test_no_count_of_positions_is_that_of_the_heads(llama) -> None:
    """Four query heads; B H T K and B T H K could not be told apart."""
    text = next(words for words in ("a b c d", "a b", "a b c", "a") if len(llama.tokenizer.encode(words)) >= 4)
    ids = llama.tokenizer.encode(text)[:4]
    shortened = replace(llama, spec=replace(llama.spec, context=4))
    assert reading_for(shortened, text).data.tolist() == [ids[:3]]


def test_drawn_ids_hold_no_padding_and_no_end() -> None:
    reading = reading_for(in_memory(TINY, GenerationDefaults(pad_id=3, end_ids=(5, 7))), None)
    assert reading.drawn
    assert not {3, 5, 7} & set(reading.data[0].tolist())
    assert len(set(reading.data[0].tolist())) > 5


def test_a_model_without_text_refuses_one() -> None:
    forecaster = patch_forecaster(lookback=24, patch=4, stride=4, width=8, heads=2, hidden=16, layers=1)
    with pytest.raises(UsageError, match="reads no text"):
        reading_for(in_memory(forecaster), "words")
    with pytest.raises(UsageError, match="tokenizer"):
        reading_for(
            in_memory(modern_decoder(width=24, heads=2, kv_heads=1, hidden=16, layers=1, vocabulary=11)), "words"
        )


def test_a_batch_of_two_is_the_same_twice(llama) -> None:
    reading = reading_for(llama, "the cat sat")
    both = reading.twice()
    values = torch.from_numpy(np.arange(24.0)).reshape(2, 3, 4)
    assert torch.equal(both.data[0], both.data[1])
    assert torch.equal(both.first(values), values[:1])
    assert torch.equal(both.first(values.flatten(0, 1)), values[0])
    assert reading.first(values) is values
