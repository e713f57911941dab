"""A Llama and a BERT beside their originals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
import torch

from clearformer.load import Loaded, load
from drawing.folders import bert_folder, llama_folder

TEXT = "the cat sat on 中文 the mat."


@dataclass(frozen=True)
class Pair:
    """The same weights, ours and theirs."""

    ours: Loaded
    theirs: Any

    @property
    def ids(self) -> torch.Tensor:
        return torch.tensor([self.ours.tokenizer.encode(TEXT)])


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    folder = tmp_path_factory.mktemp("llama") / "model"
    original = llama_folder(folder)
    return Pair(load(folder), original)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    folder = tmp_path_factory.mktemp("bert") / "model"
    original = bert_folder(folder)
    return Pair(load(folder), original)


@pytest.fixture(params=["llama", "bert"])
def pair(request: pytest.FixtureRequest) -> Pair:
    found: Pair = request.getfixturevalue(request.param)
    return found
