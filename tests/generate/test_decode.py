"""Token streams: cached against uncached against whole forward passes, together against alone, and how they end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from clearformer.errors import GenerationError, MachineError
from clearformer.families import GenerationDefaults
from clearformer.generate import reader as readers
from clearformer.generate.settings import Options
from clearformer.generate.speak import Generation

SAMPLED: dict[str, Any] = {"temperature": 1.1, "top_k": 30, "top_p": 0.95, "min_p": 0.01, "repetition_penalty": 1.2}


def test_greedy_equals_whole_forward_passes(decoder: Any, toys: Any) -> None:
    """Lengths cross the tables' original 16 positions and the window of 5."""
    (prompt,) = toys.random_prompts(13)
    expected = toys.by_hand(decoder.model, prompt, 12)
    assert len(set(expected)) > 2
    for options in ({}, {"use_cache": False}, {"prefill_chunk": 1}, {"prefill_chunk": 5}):
        (result,) = toys.run(decoder, [prompt], max_new_tokens=12, **options)
        assert result.token_ids == expected, options
        assert (result.stop_reason, result.new_tokens, result.prompt_tokens) == ("length", 12, 13)


@pytest.mark.parametrize("sampled", [False, True])
def test_each_prompt_of_a_batch_gets_what_it_gets_alone(decoder: Any, toys: Any, sampled: bool) -> None:
    """Texts end at different steps, so rows leave the batch while others go on."""
    prompts = toys.random_prompts(3, 15, 1)
    settings = {"max_new_tokens": 12, **(SAMPLED if sampled else {})}
    free = [toys.run(decoder, [prompt], seed=7 + row, **settings)[0].token_ids for row, prompt in enumerate(prompts)]
    speaker = replace(decoder, generation=GenerationDefaults(end_ids=(free[0][2], free[1][6])))
    alone = [toys.run(speaker, [prompt], seed=7 + row, **settings)[0] for row, prompt in enumerate(prompts)]
    assert len({each.new_tokens for each in alone}) > 1
    for way in ({}, {"use_cache": False}, {"prefill_chunk": 4}):
        together = toys.run(speaker, prompts, seed=7, **way, **settings)
        assert [each.token_ids for each in together] == [each.token_ids for each in alone], way
        assert [each.stop_reason for each in together] == [each.stop_reason for each in alone]


def test_the_seed_is_the_text(speaker: Any, toys: Any) -> None:
    prompts = toys.random_prompts(4, 4)
    first, again, other = (toys.run(speaker, prompts, seed=s, max_new_tokens=12, temperature=1.0) for s in (1, 1, 5))
    assert [each.token_ids for each in first] == [each.token_ids for each in again]
    assert first[0].token_ids != other[0].token_ids
    drawn = toys.run(speaker, prompts, max_new_tokens=12, temperature=1.0)
    repeated = toys.run(speaker, prompts, max_new_tokens=12, temperature=1.0, seed=drawn[0].seed)
    assert [each.token_ids for each in drawn] == [each.token_ids for each in repeated]
    same = toys.run(speaker, [prompts[0]] * 2, seed=1, max_new_tokens=12, temperature=1.0)
    assert same[0].token_ids != same[1].token_ids


@pytest.mark.parametrize("sampled", [False, True])
def test_an_encoder_decoder_writes_alike_in_every_way(translator: Any, toys: Any, sampled: bool) -> None:
    sources = toys.random_prompts(5, 11, 2)
    settings = {"max_new_tokens": 8, **(SAMPLED if sampled else {})}
    free = [toys.run(translator, [source], seed=3 + row, **settings)[0] for row, source in enumerate(sources)]
    assert [each.prompt_tokens for each in free] == [5, 11, 2]
    if not sampled:
        assert [each.token_ids for each in free] == [toys.by_hand(translator.model, each, 8) for each in sources]
    # The first text ends early and leaves the others, with their memories, behind.
    ends = GenerationDefaults(begin_id=toys.BEGIN, end_ids=(free[0].token_ids[2], free[2].token_ids[5]))
    speaker = replace(translator, generation=ends)
    alone = [toys.run(speaker, [source], seed=3 + row, **settings)[0] for row, source in enumerate(sources)]
    assert len({each.new_tokens for each in alone}) > 1
    for way in ({}, {"use_cache": False}):
        together = toys.run(speaker, sources, seed=3, **way, **settings)
        assert [each.token_ids for each in together] == [each.token_ids for each in alone], way


def test_greedy_equals_transformers_with_a_penalty(toys: Any) -> None:
    """The penalty reaches the prompt and everything written, each token once."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=259, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=96, rms_norm_eps=1e-5, tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": 100.0}, eos_token_id=None, pad_token_id=0,
    )  # fmt: skip
    model = toys.small(toys.rotary())
    theirs = LlamaForCausalLM(config).double().eval()
    names = {
        "embed.token": "embed_tokens", "final_norm": "norm", "blocks": "layers", "attention.": "self_attn.",
        "attention_norm": "input_layernorm", "feedforward_norm": "post_attention_layernorm", "feedforward.": "mlp.",
        ".query.": ".q_proj.", ".key.": ".k_proj.", ".value.": ".v_proj.", ".output.": ".o_proj.",
        ".gate.": ".gate_proj.", ".up.": ".up_proj.", ".down.": ".down_proj.",
    }  # fmt: skip
    weights = {}
    for name, value in model.state_dict().items():
        for mine, foreign in names.items():
            name = name.replace(mine, foreign)
        weights["model." + name.removeprefix("decoder.")] = value
    theirs.load_state_dict({**weights, "lm_head.weight": weights["model.embed_tokens.weight"]})
    (prompt,) = toys.random_prompts(9)
    ids = torch.tensor([prompt])
    written = theirs.generate(
        ids, attention_mask=torch.ones_like(ids), max_new_tokens=40, do_sample=False, repetition_penalty=1.3
    )
    (result,) = toys.run(toys.Toy(model), [prompt], max_new_tokens=40, repetition_penalty=1.3)
    assert result.token_ids == written[0, 9:].tolist()


def test_a_text_ends_at_any_of_the_end_tokens_and_keeps_it(decoder: Any, toys: Any) -> None:
    (prompt,) = toys.random_prompts(6)
    free = toys.by_hand(decoder.model, prompt, 9)
    end = free[6]
    stopped = replace(decoder, generation=GenerationDefaults(end_ids=(250, end)))
    (result,) = toys.run(stopped, [prompt], max_new_tokens=9)
    cut = free[: free.index(end) + 1]
    assert (result.token_ids, result.stop_reason, result.new_tokens) == (cut, "stop", len(cut))


def test_the_context_ends_a_text(toys: Any) -> None:
    speaker = toys.Toy(toys.small(toys.rotary()))
    results = toys.run(speaker, toys.random_prompts(90, 20, 95), max_new_tokens=10)
    assert [each.new_tokens for each in results] == [6, 10, 1]
    assert [each.stop_reason for each in results] == ["context", "length", "context"]
    with pytest.raises(GenerationError) as caught:
        toys.run(speaker, toys.random_prompts(4, 96))
    assert "96 tokens" in caught.value.cause()
    assert "at most 95" in caught.value.remedy()
    assert caught.value.exit_code == 1


def test_a_source_past_the_context_is_refused(translator: Any, toys: Any) -> None:
    assert toys.run(translator, toys.random_prompts(96), max_new_tokens=1)[0].new_tokens == 1
    with pytest.raises(GenerationError, match="97 tokens"):
        toys.run(translator, toys.random_prompts(97))
    with pytest.raises(GenerationError, match="starts its target"):
        toys.run(replace(translator, generation=GenerationDefaults()), toys.random_prompts(3))


def test_log_probabilities_are_those_before_any_filter(speaker: Any, toys: Any) -> None:
    (prompt,) = toys.random_prompts(7)
    (result,) = toys.run(speaker, [prompt], max_new_tokens=6, seed=2, top_logprobs=4, **SAMPLED)
    ids = list(prompt)
    for token in result.tokens:
        expected = speaker.model(torch.tensor([ids]))[0, -1].log_softmax(-1)
        top = expected.topk(4)
        assert [likely.id for likely in token.top] == top.indices.tolist()
        assert [likely.logprob for likely in token.top] == pytest.approx(top.values.tolist(), abs=1e-9)
        assert token.logprob == pytest.approx(expected[token.id].item(), abs=1e-9)
        ids.append(token.id)
    assert ids[7:] == result.token_ids
    assert toys.run(speaker, [prompt], max_new_tokens=2)[0].tokens == ()


def test_breaking_off_between_steps_keeps_what_was_written(speaker: Any, toys: Any) -> None:
    prompts = toys.random_prompts(5, 8, seed=6)
    whole = toys.run(speaker, prompts, max_new_tokens=9)
    assert min(each.new_tokens for each in whole) > 4
    generation = Generation(speaker, prompts, Options(max_new_tokens=9))
    for number, _ in enumerate(generation.steps(), start=1):
        if number == 4:
            break
    for part, all_of_it in zip(generation.results(), whole, strict=True):
        assert part.token_ids == all_of_it.token_ids[:4]
        assert part.stop_reason == "interrupted"
        assert all_of_it.text.startswith(part.text.rstrip("\ufffd"))


def test_logits_that_are_no_numbers_are_told(toys: Any) -> None:
    model = toys.small(toys.rotary())
    with torch.no_grad():
        model.stack.final_norm.weight.fill_(torch.nan)
    with pytest.raises(GenerationError, match="NaN"):
        toys.run(toys.Toy(model), toys.random_prompts(3))


def test_a_cache_past_the_memory_is_refused_before_it_is_made(
    speaker: Any, toys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two layers, keys and values, two heads of eight float64 numbers: 512 bytes a slot, 13 + 8 slots.
    asked: list[int] = []
    monkeypatch.setattr(readers, "check_memory", lambda needed, *rest: asked.append(needed))
    toys.run(speaker, toys.random_prompts(13), max_new_tokens=8)
    assert asked == [512 * 21]
    monkeypatch.undo()
    monkeypatch.setattr("clearformer.machine.devices._available", lambda device: 512 * 21 - 1)
    with pytest.raises(MachineError, match="cache"):
        toys.run(speaker, toys.random_prompts(13), max_new_tokens=8)
