"""`generate`, `chat`, `embed`: what reaches which stream, and how bad input and Ctrl-C end."""

from __future__ import annotations

import io
import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

import pytest
import torch

from clearformer import spec as specs
from clearformer.build import build
from clearformer.families import GenerationDefaults
from clearformer.generate.decode import Decoding
from clearformer.spec.presets import tiny_gpt
from clearformer.text.byte_alphabet import spell
from clearformer.text.fast import FastTokenizer

TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant: "


@dataclass(frozen=True)
class Toy:
    model: Any
    tokenizer: Any
    name: str = "toy"
    generation: GenerationDefaults = field(default_factory=GenerationDefaults)
    template: str | None = TEMPLATE
    source_tokenizer: Any = None
    path: Any = None

    @property
    def spec(self) -> specs.Spec:
        return self.model.spec  # type: ignore[no-any-return]


def printable_speaker() -> Toy:
    """A small random model whose every token is one ASCII letter, digit or blank."""
    import tokenizers

    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ?!.,:\n"
    words = {spell(letter.encode()): number for number, letter in enumerate(letters)}
    backend = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=words, merges=[]))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.decoder = tokenizers.decoders.ByteLevel()
    spec = tiny_gpt(width=16, heads=2, layers=1, vocabulary=len(letters), context=128)
    model = build(spec, generator=torch.Generator().manual_seed(1)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 1.5 / math.sqrt(16), generator=torch.Generator().manual_seed(5))
    return Toy(model, FastTokenizer(backend, {}))


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    """`load` gives the toy, whatever is asked for."""
    toy = printable_speaker()
    answer_with(toy, monkeypatch)
    return toy


def answer_with(speaker: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every name is the speaker's, and PyTorch computes it."""
    load = import_module("clearformer.load")
    monkeypatch.setattr(import_module("clearformer.store"), "resolve", lambda name, **choices: name)
    monkeypatch.setattr(load, "look", lambda located: speaker)
    for name in ("load", "loaded"):
        monkeypatch.setattr(load, name, lambda found, *choices, **more: speaker)
    backend = import_module("clearformer.speed.backend")
    monkeypatch.setattr(backend, "choose", lambda spec, wanted: backend.Chosen(native=False))


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    def give(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))

    return give


@pytest.fixture
def interrupt_at(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Ctrl-C comes between a token and its printing, at the given (answer, token), counted from 1."""
    steps = Decoding.steps
    answers = 0

    def plan(*moments: tuple[int, int]) -> None:
        def interrupted(decoder: Decoding) -> Any:
            nonlocal answers
            answers += 1
            for number, step in enumerate(steps(decoder), start=1):
                if (answers, number) in moments:
                    raise KeyboardInterrupt
                yield step

        monkeypatch.setattr(Decoding, "steps", interrupted)

    return plan


def test_the_text_goes_to_stdout_and_nothing_else(clearformer: Any) -> None:
    ended = clearformer("generate", "toy", "hello", "--max-new-tokens", "12")
    told = clearformer("generate", "toy", "hello", "--max-new-tokens", "12", "--json").json
    assert (ended.code, ended.out) == (0, told["text"] + "\n")
    assert "ended by: length" in ended.err
    assert clearformer("generate", "toy", "hello", "--max-new-tokens", "12", "--quiet").err == ""
    assert len(told["text"]) == told["new_tokens"] == len(told["token_ids"]) == 12
    assert (told["prompt_tokens"], told["stop_reason"], told["backend"]) == (5, "length", "torch")
    assert "top_logprobs" not in told


def test_the_prompt_may_come_through_a_pipe(clearformer: Any, stdin: Any) -> None:
    expected = clearformer("generate", "toy", "hello").out
    stdin(b"hello")
    assert clearformer("generate", "toy").out == expected


def test_without_the_cache_and_in_small_pieces_the_text_is_the_same(clearformer: Any) -> None:
    expected = clearformer("generate", "toy", "hello there").out
    assert clearformer("generate", "toy", "hello there", "--no-cache").out == expected
    assert clearformer("generate", "toy", "hello there", "--prefill-chunk", "2").out == expected


def test_sampling_flags_reach_the_sampler(clearformer: Any) -> None:
    def text(*flags: str) -> Any:
        return clearformer("generate", "toy", "hello", "--max-new-tokens", "20", "--json", *flags).json

    greedy, warm = text(), text("--temperature", "1.5", "--seed", "1")
    assert warm["seed"] == 1
    assert greedy["seed"] is None
    assert warm["text"] != greedy["text"]
    assert warm["text"] == text("--temperature", "1.5", "--seed", "1")["text"]
    assert warm["text"] != text("--temperature", "1.5", "--seed", "2")["text"]
    for narrow in (["--top-k", "1"], ["--top-p", "1e-9"], ["--min-p", "1"]):
        assert text("--temperature", "1.5", "--seed", "1", *narrow)["text"] == greedy["text"]
    assert text("--repetition-penalty", "5")["text"] != greedy["text"]
    stop = greedy["text"][3:5]
    assert text("--stop", stop)["text"] == greedy["text"][: greedy["text"].index(stop)]


def test_top_logprobs_are_a_table_beside_the_text(clearformer: Any) -> None:
    arguments = ("generate", "toy", "hello", "--max-new-tokens", "3", "--top-logprobs", "2")
    told = clearformer(*arguments, "--json").json["top_logprobs"]
    assert len(told) == 3
    assert all(step["top"][0]["id"] == step["id"] and len(step["top"]) == 2 for step in told)
    assert all(step["logprob"] == step["top"][0]["logprob"] <= 0 for step in told)
    lines = clearformer(*arguments).err.splitlines()[:3]
    assert [f"{step['logprob']:.3f}" in line for step, line in zip(told, lines, strict=True)] == [True] * 3


def test_chat_wraps_the_prompt_in_the_template(clearformer: Any) -> None:
    told = clearformer("generate", "toy", "hi", "--chat", "--json").json
    assert told["prompt_tokens"] == len("user: hi\nassistant: ")


@pytest.mark.parametrize(
    ("flags", "names"),
    [
        (["--temperature", "-1"], "temperature"),
        (["--temperature", "nan"], "temperature"),
        (["--top-p", "0"], "top_p"),
        (["--top-k", "-3"], "top_k"),
        (["--max-new-tokens", "0"], "max_new_tokens"),
        (["--threads", "0"], "thread"),
    ],
)
def test_bad_flags_end_with_two_lines(clearformer: Any, flags: list[str], names: str) -> None:
    for language, cause, remedy in (("en", "Error: ", "What to do: "), ("zh", "错误：", "怎么办：")):
        ended = clearformer("generate", "toy", "hello", *flags, "--lang", language)
        lines = ended.err.splitlines()
        assert ended.code == (1 if names == "thread" else 2)
        assert ended.out == ""
        assert lines[0].startswith(cause)
        assert lines[1].startswith(remedy)
        assert names in lines[0] or language == "zh"
        assert len(lines) == 2


def test_bad_prompts_end_by_name(clearformer: Any, stdin: Any) -> None:
    assert "prompt is empty" in clearformer("generate", "toy", "").err
    assert "128 in all" in clearformer("generate", "toy", "x" * 128).err
    told = clearformer("generate", "toy", "x" * 128, "--json")
    assert (told.code, told.json["error"]["kind"]) == (1, "generation")
    stdin(b"caf\xe9")
    ended = clearformer("generate", "toy")
    assert (ended.code, "0xe9" in ended.err) == (2, True)


def test_no_memory_is_said(clearformer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clearformer.machine.devices._available", lambda device: 100)
    ended = clearformer("generate", "toy", "hello", "--json")
    assert (ended.code, ended.json["error"]["kind"]) == (1, "machine")


def test_ctrl_c_keeps_what_was_written(clearformer: Any, interrupt_at: Any) -> None:
    whole = clearformer("generate", "toy", "hello").out
    interrupt_at((1, 4), (2, 4))
    ended = clearformer("generate", "toy", "hello")
    assert (ended.code, ended.out) == (130, whole[:4] + "\n")
    told = clearformer("generate", "toy", "hello", "--json")
    assert (told.code, told.json["stop_reason"], told.json["text"]) == (130, "interrupted", whole[:4])


def test_a_chat_through_a_pipe(clearformer: Any, stdin: Any) -> None:
    script = b"hello\nand\\\nmore\n\n/reset\nhello\n/exit\nnever\n"
    stdin(script)
    ended = clearformer("chat", "toy", "--max-new-tokens", "4", "--system", "be kind")
    assert ended.code == 0
    stdin(script)
    told = clearformer("chat", "toy", "--max-new-tokens", "4", "--system", "be kind", "--json").json
    assert [message["content"] for message in told["messages"][:2]] == ["be kind", "hello"]
    assert len(told["turns"]) == 1
    stdin(b"hello\nand\\\nmore\n")
    before = clearformer("chat", "toy", "--max-new-tokens", "4", "--system", "be kind", "--json").json
    assert before["messages"][3] == {"role": "user", "content": "and\nmore"}
    answers = [each["text"] for each in (*before["turns"], *told["turns"])]
    assert ended.out == "".join(f"{answer}\n" for answer in answers)


def test_ctrl_c_stops_an_answer_and_a_second_leaves(clearformer: Any, stdin: Any, interrupt_at: Any) -> None:
    interrupt_at((1, 3), (3, 2), (4, 2))
    stdin(b"one\ntwo\nthree\nfour\nfive\n")
    ended = clearformer("chat", "toy", "--max-new-tokens", "4", "--json")
    told = json.loads(ended.out)
    assert ended.code == 130
    assert [turn["stop_reason"] for turn in told["turns"]] == ["interrupted", "length", "interrupted", "interrupted"]
    assert [len(turn["text"]) for turn in told["turns"]] == [3, 4, 2, 2]


def test_chat_reads_only_utf8_and_needs_a_template(clearformer: Any, stdin: Any, toy: Toy, monkeypatch: Any) -> None:
    stdin(b"ok\n\xff\n")
    ended = clearformer("chat", "toy", "--max-new-tokens", "2")
    assert (ended.code, "0xff" in ended.err, len(ended.out)) == (2, True, 3)
    answer_with(replace(toy, template=None), monkeypatch)
    assert clearformer("chat", "toy").code == 2


def test_embed_prints_vectors_and_cosines(clearformer: Any, stdin: Any, toy: Toy, monkeypatch: Any) -> None:
    spec = replace(toy.model.spec, head=specs.Vector(specs.Pooling(specs.Last())))
    encoder = replace(toy, model=build(spec, generator=torch.Generator().manual_seed(1)).eval())
    answer_with(encoder, monkeypatch)
    told = clearformer("embed", "toy", "a cat", "a dog", "--json").json
    assert set(told) == {"vectors", "dim"}
    assert (told["dim"], [len(vector) for vector in told["vectors"]]) == (16, [16, 16])
    stdin(b"a cat\na dog\n")
    assert clearformer("embed", "toy", "--json").json == told
    compared = clearformer("embed", "toy", "a cat", "a dog", "--similarity", "--json").json
    left, right = (torch.tensor(vector, dtype=torch.float64) for vector in told["vectors"])
    cosine = float(left @ right / left.norm() / right.norm())
    assert compared["similarity"][0][1] == pytest.approx(cosine, abs=1e-12)
    assert f"{cosine:.4f}" in clearformer("embed", "toy", "a cat", "a dog", "--similarity").out
    assert f"{told['vectors'][0][0]:.4f}" in clearformer("embed", "toy", "a cat").out
    assert clearformer("embed", "toy", "one", "--similarity").code == 2
    assert "Text 1 is empty" in clearformer("embed", "toy", "").err


def test_beams_write_the_likeliest_text_and_refuse_what_does_not_go_with_them(clearformer: Any, stdin: Any) -> None:
    arguments = ("generate", "toy", "hello", "--max-new-tokens", "8", "--json")
    greedy, one = clearformer(*arguments).json, clearformer(*arguments, "--num-beams", "1").json
    best = clearformer(*arguments, "--num-beams", "20", "--length-penalty", "0").json
    assert one["token_ids"] == greedy["token_ids"] != best["token_ids"]
    assert clearformer(*arguments[:-1], "--num-beams", "20", "--length-penalty", "0").out == best["text"] + "\n"
    for flags, named in (
        (["--temperature", "0.5"], "temperature"),
        (["--repetition-penalty", "2"], "repetition_penalty"),
        (["--top-logprobs", "1"], "top_logprobs"),
    ):
        ended = clearformer(*arguments[:-1], "--num-beams", "4", *flags)
        assert (ended.code, ended.out, named in ended.err.splitlines()[0]) == (2, "", True)
    assert clearformer(*arguments[:-1], "--length-penalty", "1").code == 2
    flags = ["--max-new-tokens", "10", "--num-beams", "20", "--json"]
    stdin(b"why\nmore\n")
    first, second = clearformer("chat", "toy", *flags).json["turns"]
    assert first["text"] == clearformer("generate", "toy", "why", "--chat", *flags).json["text"]
    assert first["text"] != clearformer("generate", "toy", "why", "--chat", *flags[:2], "--json").json["text"]
    assert (second["cached_tokens"], second["new_tokens"]) == (0, 10)
