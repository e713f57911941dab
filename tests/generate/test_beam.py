"""Beam search against the NumPy twin, every text there is, greedy choice, transformers, and itself in other batches."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from clearformer.errors import GenerationError, UsageError
from clearformer.families import GenerationDefaults
from clearformer.generate.beam import Hypothesis, beam_search, length_penalty
from clearformer.generate.decode import pad_left
from clearformer.generate.reader import CachedReader, UncachedReader
from clearformer.generate.speak import complete, generate, stream
from clearformer.model import EncoderDecoder
from clearformer.reference import beam as reference
from clearformer.runs.folder import RunFolder
from clearformer.spec.presets import modern_decoder, paper

WORDS, END, LONGEST = 5, 0, 4


@pytest.fixture(scope="module", params=["decoder", "translator"])
def tiny(request: pytest.FixtureRequest, toys: Any) -> Any:
    """A model over five words, so that every text can be looked at."""
    if request.param == "translator":
        return toys.small(paper(width=16, heads=2, hidden=24, layers=1, vocabulary=WORDS, context=32), seed=3)
    spec = modern_decoder(width=16, heads=2, kv_heads=1, hidden=24, layers=2, vocabulary=WORDS, context=32)
    return toys.small(spec, seed=3)


def search(model: Any, prompts: Sequence[Sequence[int]], *, cached: bool = True, **settings: Any) -> Any:
    """Sources begin with word 1; prompts are continued."""
    settings = {"ends": {END}, "width": 3, "alpha": 0.6, "limits": [LONGEST] * len(prompts), **settings}
    starts, real = pad_left(prompts, torch.device("cpu"))
    memory = None
    if isinstance(model, EncoderDecoder):
        memory = model.encode(starts, real=real)
        starts, real = torch.full((len(prompts), 1), 1), None
    length = starts.shape[1] + max(settings["limits"])
    bound = torch.full((len(prompts),), length)
    reader: Any = UncachedReader(model, length_bound=bound, memory=memory)
    if cached:
        reader = CachedReader(model, capacity=length, length_bound=bound, memory=memory)
    return beam_search(reader, starts, real=real, **settings)


def every_text(model: Any, prompt: Sequence[int], alpha: float) -> list[Hypothesis]:
    """All texts of up to LONGEST words that end, or are as long as may be; the best first."""
    found = []
    for length in range(1, LONGEST + 1):
        for words in itertools.product(range(WORDS), repeat=length):
            if END in words[:-1] or (words[-1] != END and length < LONGEST):
                continue
            if isinstance(model, EncoderDecoder):
                logits = model(torch.tensor([prompt]), torch.tensor([[1, *words]]))[0, :-1]
            else:
                logits = model(torch.tensor([[*prompt, *words]]))[0, len(prompt) - 1 : -1]
            total = float(logits.log_softmax(-1)[range(length), list(words)].sum())
            found.append(Hypothesis(words, total, total / ((5 + length) / 6) ** alpha))
    return sorted(found, key=lambda hypothesis: -hypothesis.score)


def same(ours: Any, theirs: Any, atol: float = 1e-10) -> None:
    assert [each.tokens for each in ours] == [each.tokens for each in theirs]
    for name in ("score", "log_probability"):
        found, expected = ([getattr(each, name) for each in side] for side in (ours, theirs))
        np.testing.assert_allclose(found, expected, atol=atol)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
@torch.no_grad()
def test_a_beam_wide_enough_is_exhaustive(tiny: Any, alpha: float) -> None:
    (found,) = search(tiny, [(2, 1, 3)], width=WORDS**LONGEST, alpha=alpha)
    same(found, every_text(tiny, (2, 1, 3), alpha))


@pytest.mark.parametrize(("width", "alpha"), [(1, 0.0), (2, 0.6), (3, 0.0), (4, 2.0), (5, 1.0)])
@torch.no_grad()
def test_it_is_the_twin(tiny: Any, width: int, alpha: float) -> None:
    weights = {name: value.detach().numpy() for name, value in tiny.named_parameters()}
    translator, lengths = isinstance(tiny, EncoderDecoder), set()
    for prompt in itertools.islice(itertools.product(range(1, WORDS), repeat=2), 0, None, 2):
        (found,) = search(tiny, [prompt], width=width, alpha=alpha, limits=[7])
        given: dict[str, Any] = {"source": np.array([prompt])} if translator else {}
        start = np.array([1] if translator else prompt)
        same(found, reference.beam_search(tiny.spec, weights, start, 7, end=END, width=width, alpha=alpha, **given))
        lengths |= {len(each.tokens) for each in found}
    assert len(lengths) > 1


@pytest.mark.parametrize("cached", [True, False])
@torch.no_grad()
def test_a_batch_gets_what_each_gets_alone(tiny: Any, cached: bool) -> None:
    """Prompts of unequal length, unequal limits: rows end at different steps, and leave others behind."""
    prompts, limits = [(2, 1, 3), (4,), (1, 1, 2, 3, 4), (3, 3)], [6, 2, 9, 4]
    alone = [search(tiny, [p], limits=[most])[0] for p, most in zip(prompts, limits, strict=True)]
    together = search(tiny, prompts, limits=limits, cached=cached)
    for found, expected in zip(together, alone, strict=True):
        same(found, expected)
    assert len({max(len(each.tokens) for each in found) for found in alone}) > 1


@torch.no_grad()
def test_it_stops_as_soon_as_nothing_can_win_and_no_sooner(tiny: Any) -> None:
    """What is found does not change with a limit that is far off, though far fewer steps are read."""
    steps = []

    class Counting(CachedReader):
        def read(self, *given: Any) -> Any:
            steps.append(given)
            return super().read(*given)

    (free,) = search(tiny, [(2, 3)], width=1, ends=set(), limits=[4])
    settings: dict[str, Any] = {"width": 2, "alpha": 0.0, "ends": {free[0].tokens[-1], free[0].tokens[1]}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "CachedReader", Counting)
        (found,) = search(tiny, [(2, 3)], limits=[25], **settings)
    assert len(steps) < 12
    (patient,) = search(tiny, [(2, 3)], limits=[12], width=2**9, alpha=0.0, ends=settings["ends"])
    same(found, patient[:2])


@torch.no_grad()
def test_one_beam_is_greedy(tiny: Any) -> None:
    for prompt in ((1, 2), (3, 4), (2, 2), (4, 1, 3)):
        (found,) = search(tiny, [prompt], width=1, alpha=0.6, limits=[8])
        words: list[int] = []
        while len(words) < 8 and END not in words:
            if isinstance(tiny, EncoderDecoder):
                logits = tiny(torch.tensor([prompt]), torch.tensor([[1, *words]]))
            else:
                logits = tiny(torch.tensor([[*prompt, *words]]))
            words.append(int(logits[0, -1].argmax()))
        assert list(found[0].tokens) == words


def test_the_penalty_is_the_papers() -> None:
    assert length_penalty(1, 0.6) == 1.0
    assert length_penalty(7, 0.6) == pytest.approx(2**0.6)


def test_options_lead_to_it_for_every_model(speaker: Any, translator: Any, toys: Any) -> None:
    """`complete` gives the best hypothesis, in a batch and alone, with a cache and without."""
    for each in (speaker, replace(translator, tokenizer=speaker.tokenizer)):
        free = complete(each, "to be", max_new_tokens=6).token_ids
        toy = replace(each, generation=GenerationDefaults(begin_id=toys.BEGIN, end_ids=(free[3],)))
        texts, settings = ["to be", "or not"], {"num_beams": 4, "length_penalty": 1.5, "max_new_tokens": 9}
        results = complete(toy, texts, **settings)
        for text, result in zip(texts, results, strict=True):
            prompt = toy.tokenizer.encode(text)
            starts = [toys.BEGIN] if isinstance(toy.model, EncoderDecoder) else prompt
            memory = None
            if isinstance(toy.model, EncoderDecoder):
                with torch.no_grad():
                    memory = toy.model.encode(torch.tensor([prompt]))
            reader = UncachedReader(toy.model, length_bound=torch.tensor([len(starts) + 9]), memory=memory)
            ends = {free[3], *toy.tokenizer.stop_ids, *({toys.TURN} if toy.template else ())}
            (found,) = beam_search(reader, torch.tensor([starts]), ends=ends, width=4, alpha=1.5, limits=[9])
            assert tuple(result.token_ids) == found[0].tokens
            assert result.stop_reason == ("stop" if result.token_ids[-1] in ends else "length")
            alone = complete(toy, text, use_cache=False, **settings)
            assert (alone.token_ids, alone.text) == (result.token_ids, result.text)
            assert "".join(stream(toy, text, **settings)) == result.text
        assert generate(toy, texts, num_beams=1, max_new_tokens=9) == generate(toy, texts, max_new_tokens=9)


def test_speeds_are_measured(speaker: Any) -> None:
    result = complete(speaker, "to be", num_beams=2, max_new_tokens=5)
    assert (result.new_tokens, result.stop_reason) == (5, "length")
    assert result.prefill_tok_s
    assert result.decode_tok_s


@torch.no_grad()
def test_transformers_finds_the_same(toys: Any, tmp_path: Path) -> None:
    """Without a length penalty, and stopping only when nothing can win, theirs and ours rank alike."""
    from transformers import AutoModelForCausalLM

    model = toys.small(toys.rotary())
    run = RunFolder.create(tmp_path / "run", "type: none")
    run.publish(model.spec, dict(model.named_parameters()), {}, GenerationDefaults())
    theirs = AutoModelForCausalLM.from_pretrained(run.path, dtype=torch.float64).eval()
    (prompt,) = toys.random_prompts(9)
    (free,) = toys.run(toys.Toy(model), [prompt], max_new_tokens=6, num_beams=4)
    ids, end = torch.tensor([prompt]), free.token_ids[2]
    settings = {"max_new_tokens": 12, "do_sample": False, "eos_token_id": end, "pad_token_id": 0}
    for width in (2, 4):
        written = theirs.generate(
            ids, attention_mask=torch.ones_like(ids), num_beams=width, num_return_sequences=width,
            length_penalty=0.0, early_stopping="never", output_scores=True, return_dict_in_generate=True, **settings,
        )  # fmt: skip
        (found,) = search(model, [prompt], ends={end}, width=width, alpha=0.0, limits=[12])
        np.testing.assert_allclose([each.score for each in found], written.sequences_scores.numpy(), atol=1e-8)
        for ours, row in zip(found, written.sequences[:, 9:].tolist(), strict=True):
            assert list(ours.tokens) == row[: len(ours.tokens)]


BESIDE = {"temperature": 0.5, "top_k": 3, "top_p": 0.5, "min_p": 0.1, "repetition_penalty": 1.2, "stop": "x"}


@pytest.mark.parametrize(("name", "value"), [*BESIDE.items(), ("top_logprobs", 2)])
def test_what_does_not_go_together_is_refused_by_name(speaker: Any, name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=name):
        complete(speaker, "a", num_beams=2, **{name: value})


@pytest.mark.parametrize("value", [0, -1, 1.5, True, 10**6])
def test_bad_numbers_of_beams_are_refused(speaker: Any, value: Any) -> None:
    with pytest.raises(UsageError, match="num_beams: expected a whole number"):
        complete(speaker, "a", num_beams=value)


@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf"), "1"])
def test_bad_length_penalties_are_refused(speaker: Any, value: Any) -> None:
    with pytest.raises(UsageError, match="length_penalty: expected"):
        complete(speaker, "a", num_beams=2, length_penalty=value)
    with pytest.raises(UsageError, match="num_beams is 1"):
        complete(speaker, "a", length_penalty=0.6)


def test_the_makers_sampling_gives_way_and_their_penalty_is_named(speaker: Any) -> None:
    plain = complete(speaker, "a", num_beams=3, max_new_tokens=5)
    sampling = replace(speaker, generation=GenerationDefaults(sample=True, temperature=0.7, top_k=5))
    again = complete(sampling, "a", num_beams=3, max_new_tokens=5)
    assert (again.token_ids, again.seed) == (plain.token_ids, None)
    penal = replace(speaker, generation=GenerationDefaults(repetition_penalty=1.3))
    with pytest.raises(GenerationError, match=r"repetition_penalty 1\.3"):
        complete(penal, "a", num_beams=3)
    assert complete(penal, "a", num_beams=3, repetition_penalty=1, max_new_tokens=5).token_ids == plain.token_ids


def test_numbers_that_are_none_are_named(speaker: Any) -> None:
    broken = deepcopy(speaker.model)
    with torch.no_grad():
        broken.stack.embed.token.weight[ord("a")] = float("nan")
    with pytest.raises(GenerationError, match="NaN or infinity"):
        complete(replace(speaker, model=broken), "a", num_beams=2)
