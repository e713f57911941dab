"""Alternation, medians and the comparison of tokens, on contestants whose speeds are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from clearformer.bench.contestant import Stopwatch, Written
from clearformer.bench.jobs import measure, prompt_of, prompts_of, require_sizes
from clearformer.bench.quiet import Calm, calibrate, spread_of
from clearformer.bench.rounds import alternate, first_difference, rows_of
from clearformer.errors import MachineError, UsageError
from clearformer.messages import bench as messages
from clearformer.text.bpe_train import train
from clearformer.text.load import tokenizer_from_folder

QUIET, BUSY = Calm(0.01, 1.0, 2), Calm(0.5, 0.4, 2)


@dataclass
class Clockwork:
    """Writes at a rate of its own, by a clock of its own: `first` seconds to the first token, `each` for the others."""

    name: str
    first: float
    each: float
    tokens: tuple[int, ...] = tuple(range(100))
    calls: list[tuple[str, int]] = field(default_factory=list)

    def write(self, prompts: Sequence[Sequence[int]], new: int) -> Written:
        self.calls.append((self.name, new))
        watch = Stopwatch(started=0.0, marks=[self.first + self.each * n for n in range(new)])
        return Written((self.tokens[:new],) * len(prompts), watch)


def nothing(done: int, total: int) -> None:
    """No bar."""


def test_the_runs_alternate_after_a_warm_up_each() -> None:
    calls: list[tuple[str, int]] = []
    ours, peer = Clockwork("ours", 1, 1, calls=calls), Clockwork("peer", 1, 1, calls=calls)
    done: list[tuple[int, int]] = []
    written = alternate([ours, peer], [[1]], 9, runs=3, warm_up=2, advance=lambda *at: done.append(at))
    assert calls == [("ours", 2), ("peer", 2), *[("ours", 9), ("peer", 9)] * 3]
    assert [len(runs) for runs in written] == [3, 3]
    assert done == [(n, 6) for n in range(1, 7)]


def test_medians_extremes_and_the_ratio_of_each_round() -> None:
    ours, peer = rows_of(["ours", "peer"], "tok/s", [[10.0, 30.0, 20.0], [5.0, 10.0, 20.0]])
    assert (ours.median, ours.low, ours.high) == (20.0, 10.0, 30.0)
    # Round by round 2, 3 and 1: the median is 2, whatever the quotient of the medians.
    assert (ours.ratio, peer.ratio) == (None, 2.0)
    assert rows_of(["ours"], "tok/s", [[1.0]])[0].ratio is None


@pytest.mark.parametrize(("job", "expected"), [("decode", [4.0, 2.0]), ("prefill", [32.0, 16.0])])
def test_decode_leaves_out_the_first_token_and_prefill_the_others(job, expected) -> None:
    contestants = [Clockwork("ours", 2.0, 0.25), Clockwork("peer", 4.0, 0.5)]
    how = {"new": 9, "runs": 2, "busy_ok": False, "advance": nothing, "look": lambda: QUIET}
    report = measure(job, contestants, [[0] * 64], **how)
    assert [row.median for row in report.rows] == expected
    assert report.rows[1].ratio == 2.0
    assert report.same_tokens is True
    # Three rows of that length are three times the tokens in the same seconds.
    three = measure(job, contestants, [[0] * 64] * 3, **how)
    assert [row.median for row in three.rows] == [3 * each for each in expected]


def test_other_tokens_are_noticed_and_counted() -> None:
    other = (0, 1, 2, 7, *range(4, 100))
    contestants = [Clockwork("ours", 1, 1), Clockwork("peer", 1, 1, tokens=other)]
    contestants.append(Clockwork("third", 1, 1))
    report = measure("decode", contestants, [[0]], new=9, runs=1, busy_ok=False, advance=nothing, look=lambda: QUIET)
    assert (report.same_tokens, report.differences) == (False, (None, 3, None))
    assert first_difference([[contestants[0].write([[1]], 3)], [contestants[1].write([[1]], 3)]]) is None
    rows = Written(((1, 2, 3), (4, 5, 6)), Stopwatch())
    assert first_difference([[rows], [Written(((1, 2, 3), (4, 5, 7)), Stopwatch())]]) == 2


def test_a_busy_machine_is_refused_before_and_after_the_runs() -> None:
    ours = Clockwork("ours", 1, 1)
    with pytest.raises(MachineError, match="busy: the same work took 50%") as busy:
        measure("decode", [ours], [[0]], new=9, runs=1, busy_ok=False, advance=nothing, look=lambda: BUSY)
    assert busy.value.failure is messages.BUSY
    assert not ours.calls
    looks = iter([QUIET, BUSY])
    with pytest.raises(MachineError):
        measure("decode", [ours], [[0]], new=9, runs=1, busy_ok=False, advance=nothing, look=lambda: next(looks))
    assert ours.calls
    looks = iter([QUIET, BUSY])
    report = measure("decode", [ours], [[0]], new=9, runs=1, busy_ok=True, advance=nothing, look=lambda: next(looks))
    assert report.calm == BUSY
    assert report.same_tokens is None


def test_calm_is_read_from_the_pieces_times() -> None:
    assert spread_of([2.0] * 20) == 0.0
    assert spread_of([1.0] * 10 + [3.0] * 10) == pytest.approx(2.0 / 2.0)
    assert not Calm(0.2, 1.0, 1).quiet
    assert not Calm(0.0, 0.5, 1).quiet
    found = calibrate()
    assert found.spread >= 0
    assert 0 < found.share <= 1


def test_the_prompt_has_the_length_asked_for(tmp_path) -> None:
    train(["a mill stood where the river"], vocabulary_size=270).save(tmp_path / "tokenizer.json")
    tokenizer = tokenizer_from_folder(tmp_path)
    assert len(prompt_of(tokenizer, 1000)) == 1000
    assert prompt_of(tokenizer, 1000)[:10] == prompt_of(tokenizer, 10)
    rows = prompts_of(tokenizer, 20, 3)
    assert rows[0] == prompt_of(tokenizer, 20)
    assert [len(row) for row in rows] == [20, 20, 20]
    assert len(set(map(tuple, rows))) == 3


@pytest.mark.parametrize(
    ("sizes", "complaint"),
    [
        ({"prompt": 0}, "--prompt: expected at least 1"),
        ({"new": 1}, "--new: expected at least 2"),
        ({"runs": 0}, "--runs: expected at least 1"),
        ({"rows": 0}, "--rows: expected at least 1"),
        ({"rows": 65}, "--rows: expected at most 64, got 65"),
        ({"prompt": 90}, "more than the 96 that toy holds"),
    ],
)
def test_sizes_that_measure_nothing_are_refused(sizes, complaint) -> None:
    with pytest.raises(UsageError, match=complaint):
        require_sizes(**{"prompt": 8, "new": 8, "runs": 1, "least_new": 2, "context": 96, "name": "toy", **sizes})
