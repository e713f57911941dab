"""A library's long work hears Ctrl-C, and gives back what it gave or raised."""

from __future__ import annotations

import _thread
import random
import threading

import pytest

from clearformer.text.interruptible import interruptibly
from clearformer.text.training import _pieces, train_bpe


def test_the_result_and_the_error_come_through() -> None:
    assert interruptibly(lambda: 7) == 7

    def fail() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError, match="x"):
        interruptibly(fail)


def test_an_interrupt_is_heard_while_the_work_goes_on() -> None:
    going, done = threading.Event(), threading.Event()

    def work() -> None:
        going.set()
        done.wait(60)

    def press() -> None:
        going.wait()
        _thread.interrupt_main()

    threading.Thread(target=press, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        interruptibly(work)
    assert not done.is_set()
    done.set()


def test_a_text_without_a_space_is_learnt_as_one_with_short_words_is() -> None:
    """Cut or whole, the frequent pairs are the same ones; and no character is lost."""
    letters = "".join(random.Random(0).choices("abcd", [64, 16, 4, 1], k=60_000))
    words = [letters[at : at + 500] for at in range(0, len(letters), 500)]
    specials = {"unk_token": "[UNK]"}
    long, short = (train_bpe(texts, 261, specials) for texts in ([letters], words))
    assert long.encode(letters[:300]) == short.encode(letters[:300])
    for text in (letters, " a" * 50_000 + "\n" + letters):
        assert "".join(_pieces([text])) == text
        assert max(len(word) for piece in _pieces([text]) for word in piece.split()) <= 1000
