"""What every decoder is asked, over the tables of its module: its logits whichever side is padded, its size, the text
that it writes, its other heads."""

from __future__ import annotations

from typing import Any

from clearformer.load import Loaded
from parity.frame import Frame, same_size

NEW_TOKENS = 12
PROMPTS = (21, 13, 4)


class DecoderChecks(Frame):
    """MODEL speaks; HEADS are its other classes; SPEAKING are the choices whose text is compared, if not all are."""

    def test_equals_transformers(self, original, load_folder, choice):
        require_same(original(choice), load_folder(original(choice).folder))

    def test_writes_the_same(self, original, load_folder, speaking):
        require_same_text(original(speaking), load_folder(original(speaking).folder))

    def test_other_heads_equal_transformers(self, save_original, load_folder, head):
        kind, changes = head if isinstance(head, tuple) else (head, {})
        found = save_original(kind(kind.config_class(**self.small() | changes, num_labels=3)))
        loaded = load_folder(found.folder)
        assert found.distance(loaded) <= found.tolerance
        assert found.distance(loaded, left=True) <= found.tolerance


def require_same(found: Any, loaded: Loaded) -> None:
    """As many parameters, and the same answers whichever side the rows are padded on."""
    assert same_size(found, loaded)
    assert found.distance(loaded) <= found.tolerance
    assert found.distance(loaded, left=True) <= found.tolerance


def require_same_text(found: Any, loaded: Loaded, lengths: tuple[int, ...] = PROMPTS) -> None:
    """Greedy continuations of prompts of unequal length, ours from a cache and transformers' from its own."""
    theirs = found.greedy(lengths, NEW_TOKENS)
    assert found.greedy_by(loaded, lengths, NEW_TOKENS) == theirs
    assert len({token for text in theirs for token in text}) > 2
