"""The frame of a family's tests: tables stand in its module, and each shared test runs over one of them.

SMALL is the config of all; CHOICES change it, for MODEL or for the class that a choice names; WRONG plants a value in a
choice's config. A class that inherits a frame collects its tests.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from typing import Any

import pytest

from clearformer.build import empty
from clearformer.errors import CheckpointError, UsageError
from clearformer.load import Loaded


class Frame:
    """A planted wrong value is noticed, whatever the family."""

    @classmethod
    def small(cls) -> Mapping[str, Any]:
        return sys.modules[cls.__module__].SMALL

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """From the module's tables, whatever arguments a test asks for."""
        module, names = metafunc.module, metafunc.fixturenames
        if "wrong" in names:
            metafunc.parametrize(("choice", "wrong"), module.WRONG)
        elif "choice" in names:
            metafunc.parametrize("choice", module.CHOICES)
        if "speaking" in names:
            metafunc.parametrize("speaking", getattr(module, "SPEAKING", module.CHOICES))
        if "head" in names:
            metafunc.parametrize("head", module.HEADS)

    def test_a_wrong_value_is_noticed(self, original, with_config, load_folder, choice, wrong):
        found = original(choice)
        require_noticed(found, lambda: load_folder(with_config(found.folder, wrong)))


def require_noticed(found: Any, load: Any) -> None:
    """What is loaded is refused, or its answer is not the original's."""
    try:
        distance = found.distance(load())
    except (CheckpointError, UsageError):
        return
    assert distance > 2 * found.tolerance


def of_choice(module: Any, choice: str) -> tuple[Any, dict[str, Any]]:
    """The class and the changes of a choice."""
    entry = module.CHOICES[choice]
    return entry if isinstance(entry, tuple) else (module.MODEL, entry)


# Weights that transformers keeps as buffers: Marian's and BART's, and DeepSeek-V3's.
BUFFERED = ("final_logits_bias", "e_score_correction_bias")


def same_size(found: Any, loaded: Loaded, unread: Collection[str] = ()) -> bool:
    """Whether both have as many weights; `unread` ones do not count, nor sines that no training changes."""
    model = found.model
    theirs = [each for name, each in model.named_parameters() if each.requires_grad and name not in unread]
    theirs += [each for name, each in model.named_buffers() if name.endswith(BUFFERED)]
    return sum(each.numel() for each in empty(loaded.spec).parameters()) == sum(each.numel() for each in theirs)
