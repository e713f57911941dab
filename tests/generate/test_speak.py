"""Text in, text out: pieces against whole texts, stop strings, empty prompts, models that cannot write."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch

from clearformer.build import build
from clearformer.errors import GenerationError, UsageError
from clearformer.families import GenerationDefaults
from clearformer.generate.draft import Draft, Writer
from clearformer.generate.speak import complete, generate, stream
from clearformer.generate.speaker import end_ids
from clearformer.spec.presets import tiny_gpt

PROMPT = "hello, 世界"


def test_the_pieces_are_the_text(speaker: Any) -> None:
    options = {"temperature": 1.5, "seed": 3, "max_new_tokens": 30}
    whole = generate(speaker, PROMPT, **options)
    result = complete(speaker, PROMPT, **options)
    assert "".join(stream(speaker, PROMPT, **options)) == whole == result.text
    assert whole == speaker.tokenizer.decode(result.token_ids)
    assert (result.backend, result.dtype, result.seed) == ("torch", "float64", 3)
    assert result.prompt_tokens == len(PROMPT.encode())
    assert result.prefill_tok_s is not None
    assert result.prefill_tok_s > 0


def test_a_list_of_prompts_gives_a_list(speaker: Any) -> None:
    texts = generate(speaker, [PROMPT, "a"], max_new_tokens=8)
    assert texts == [generate(speaker, PROMPT, max_new_tokens=8), generate(speaker, "a", max_new_tokens=8)]
    with pytest.raises(UsageError, match="at least one text"):
        generate(speaker, [])


def test_nothing_is_computed_before_the_first_piece_is_wanted(speaker: Any) -> None:
    with pytest.raises(UsageError):
        stream(speaker, PROMPT, top_p=0.0)
    pieces = stream(speaker, PROMPT, max_new_tokens=3)
    assert isinstance(pieces, Iterator)
    assert not torch.is_inference_mode_enabled()
    next(pieces, None)
    assert not torch.is_inference_mode_enabled()


def test_an_end_token_is_counted_and_not_shown(speaker: Any, toys: Any) -> None:
    assert end_ids(replace(speaker, generation=GenerationDefaults(end_ids=(7,)))) == {7, toys.END, toys.TURN}
    assert end_ids(replace(speaker, template=None)) == {toys.END}
    assert end_ids(replace(speaker, template="{{ raise_exception('only with a system message') }}")) == {toys.END}
    written = complete(speaker, PROMPT, max_new_tokens=12).token_ids
    ended = complete(replace(speaker, generation=GenerationDefaults(end_ids=(written[5],))), PROMPT, max_new_tokens=12)
    cut = written[: written.index(written[5]) + 1]
    assert (ended.token_ids, ended.stop_reason) == (cut, "stop")
    assert ended.text == speaker.tokenizer.decode(cut[:-1])


def writer(tokenizer: Any, text: str, *stops: str) -> tuple[list[str], bool]:
    """The pieces given out for a text pushed byte by byte, and whether a stop string ended it."""
    one = Writer(tokenizer, stops)
    pieces = [one.push(byte) for byte in text.encode()]
    return [*pieces, one.finish()], one.stopped


@pytest.mark.parametrize(
    ("text", "stops", "shown"),
    [
        ("one. two. three", ("two",), "one. "),
        ("aab", ("ab",), "a"),
        ("aabaabaac", ("aabaac",), "aab"),
        ("abc", ("abcd",), "abc"),
        ("x\n\nHuman", ("Human:", "\n\n"), "x"),
        ("x\n\nHuman", ("zz",), "x\n\nHuman"),
        ("世界和平", ("界和",), "世"),
        ("stop", ("stop",), ""),
    ],
)
def test_a_stop_string_ends_the_text_before_it(speaker: Any, text: str, stops: tuple[str, ...], shown: str) -> None:
    pieces, stopped = writer(speaker.tokenizer, text, *stops)
    assert "".join(pieces) == shown
    assert stopped == any(stop in text for stop in stops)


def test_only_what_may_become_a_stop_string_is_held_back(speaker: Any) -> None:
    pieces, _ = writer(speaker.tokenizer, "a-b--c", "--x")
    assert pieces == ["a", "", "-b", "", "", "--c", ""]


def test_a_stop_string_ends_a_generation(speaker: Any) -> None:
    free = complete(speaker, PROMPT, max_new_tokens=40, seed=3, temperature=1.5)
    stop = free.text[5:8]
    result = complete(speaker, PROMPT, max_new_tokens=40, seed=3, temperature=1.5, stop=(stop,))
    assert result.text == free.text[: free.text.index(stop)]
    assert result.stop_reason == "stop_string"
    assert result.token_ids == free.token_ids[: result.new_tokens]
    assert result.new_tokens < free.new_tokens


def test_a_draft_that_is_broken_off_gives_out_what_it_held(speaker: Any) -> None:
    draft = Draft([1], limit=9, context=99, writer=Writer(speaker.tokenizer, ["abc"]))
    assert [draft.accept(byte) for byte in b"xab"] == ["x", "", ""]
    assert (draft.text, draft.close(), draft.text, draft.close()) == ("x", "ab", "xab", "")


def test_an_empty_prompt_starts_at_the_begin_token(speaker: Any, toys: Any) -> None:
    (expected,) = toys.run(speaker, [[toys.BEGIN]], max_new_tokens=6)
    assert complete(speaker, "", max_new_tokens=6).token_ids == expected.token_ids
    without = replace(speaker, tokenizer=toys.bytes_tokenizer(begin=False))
    with pytest.raises(GenerationError, match="prompt is empty") as caught:
        complete(without, "")
    assert (caught.value.kind, caught.value.exit_code) == ("generation", 1)
    named = replace(without, generation=GenerationDefaults(begin_id=toys.BEGIN))
    assert complete(named, "", max_new_tokens=6).token_ids == expected.token_ids


def test_a_model_that_cannot_write_says_so(speaker: Any) -> None:
    from clearformer import spec as specs

    gpt = tiny_gpt(width=8, heads=1, layers=1, vocabulary=259, context=8)
    silent = build(replace(gpt, head=specs.Vector(specs.Pooling(specs.Last()))))
    with pytest.raises(UsageError, match="no language head"):
        generate(replace(speaker, model=silent), PROMPT)
    with pytest.raises(UsageError, match="without a tokenizer"):
        generate(replace(speaker, tokenizer=None), PROMPT)


def test_two_threads_write_what_one_writes(speaker: Any) -> None:
    expected = generate(speaker, PROMPT, max_new_tokens=10, temperature=1.0, seed=5)
    texts: list[str] = []
    work = [
        threading.Thread(
            target=lambda: texts.append(generate(speaker, PROMPT, max_new_tokens=10, temperature=1.0, seed=5))
        )
        for _ in range(2)
    ]
    for each in work:
        each.start()
    for each in work:
        each.join()
    assert texts == [expected] * 2
