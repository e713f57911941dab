"""Both programs on the same small folder: the same tokens, exactly as many as asked for."""

from __future__ import annotations

import pytest
import torch

from clearformer.bench import hugging_face
from clearformer.bench.hugging_face import HuggingFace
from clearformer.bench.ours import Clearformer
from clearformer.errors import MachineError
from clearformer.load import load
from clearformer.store import Located, resolve
from drawing.folders import llama_folder

PROMPT = [5, 80, 200, 33, 7]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("bench") / "model"
    llama_folder(place)
    return place


def test_both_write_the_same_tokens_past_every_end(folder) -> None:
    rows = [PROMPT, [9, 8, 7, 6, 5], PROMPT[::-1]]
    ours = Clearformer(load(folder)).write(rows, 40)
    theirs = HuggingFace(resolve(str(folder)), torch.float32).write(rows, 40)
    assert [len(row) for row in ours.tokens] == [40, 40, 40]
    assert ours.tokens == theirs.tokens
    for written in (ours, theirs):
        assert len(written.watch.marks) == 40
        assert written.prefill_seconds > 0
        assert written.decode_seconds > 0


def test_ours_is_not_ended_by_its_end_token(folder) -> None:
    speaker = load(folder)
    first = Clearformer(speaker).write([PROMPT], 3).tokens[0][0]
    (folder / "generation_config.json").write_text(f'{{"eos_token_id": {first}}}')
    assert first in load(folder).generation.end_ids
    assert len(Clearformer(load(folder)).write([PROMPT], 3).tokens[0]) == 3


def test_the_peer_reads_the_type_asked_for(folder) -> None:
    assert HuggingFace(resolve(str(folder)), torch.bfloat16)._model.dtype == torch.bfloat16


def test_a_peer_that_is_missing_is_named_with_its_remedy(monkeypatch) -> None:
    monkeypatch.setattr(hugging_face, "find_spec", lambda name: None)
    with pytest.raises(MachineError, match=r"pip install transformers"):
        hugging_face.require_transformers()


def test_a_model_that_the_peer_cannot_read_is_named(tmp_path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(MachineError, match="cannot load"):
        HuggingFace(Located("folder", tmp_path, "empty"), torch.float32)
