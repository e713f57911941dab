"""Texts written through the compiled kernels are those that PyTorch writes: batches, beams, draws, chats."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from clearformer.errors import GenerationError, UsageError
from clearformer.generate.conversation import Conversation
from clearformer.generate.native_reader import NativeReader
from clearformer.generate.speak import complete
from clearformer.load import Loaded, load
from clearformer.native.library import found
from clearformer.speed.native import NativeDecoder, native_decoder
from drawing.folders import llama_folder

pytestmark = pytest.mark.skipif(found().handle is None, reason="the kernels are not built")

PROMPTS = ["the cat sat", "What is the capital of France?", "t"]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    folder = tmp_path_factory.mktemp("native") / "model"
    llama_folder(folder)
    return load(folder)


def native_of(speaker: Loaded, dtype: str = "float32") -> Loaded:
    return replace(speaker, model=native_decoder(speaker.model, dtype, threads=1))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def fast(plain: Loaded) -> Loaded:
    return native_of(plain)


@pytest.mark.parametrize(
    "options",
    [{}, {"num_beams": 3}, {"temperature": 0.8, "seed": 5}, {"repetition_penalty": 1.3}, {"prefill_chunk": 3}],
    ids=str,
)
def test_a_batch_of_unequal_prompts_is_pytorchs(plain: Loaded, fast: Loaded, options: dict[str, object]) -> None:
    options = {"max_new_tokens": 30, **options}
    expected = [each.token_ids for each in complete(plain, PROMPTS, **options)]
    written = complete(fast, PROMPTS, **options)
    assert [each.token_ids for each in written] == expected
    assert written[0].backend == f"native-{found().paths[0]}"
    assert written[0].dtype == "float32"


def test_more_texts_than_one_call_takes(plain: Loaded, fast: Loaded) -> None:
    texts = [f"{PROMPTS[0]} {number}" for number in range(19)]
    expected = [each.token_ids for each in complete(plain, texts, max_new_tokens=8)]
    assert [each.token_ids for each in complete(fast, texts, max_new_tokens=8)] == expected


@pytest.mark.parametrize("dtype", ["bfloat16", "int8", "int4"])
def test_other_types_write_alone_what_they_write_in_a_batch(plain: Loaded, dtype: str) -> None:
    speaker = native_of(plain, dtype)
    together = [each.token_ids for each in complete(speaker, PROMPTS, max_new_tokens=20)]
    assert together == [complete(speaker, prompt, max_new_tokens=20).token_ids for prompt in PROMPTS]


def test_a_chat_goes_on_from_what_its_cache_holds(plain: Loaded, fast: Loaded) -> None:
    conversations = [Conversation(speaker, options=None) for speaker in (plain, fast)]
    for question in ("the cat", "because it was"):
        answers = ["".join(conversation.answer(question)) for conversation in conversations]
        assert answers[0] == answers[1]
    assert [each.cached_tokens for each in conversations[1].results] == [
        each.cached_tokens for each in conversations[0].results
    ]


def test_a_cache_that_is_full_is_refused_and_keeps_what_it_held(fast: Loaded) -> None:
    model = fast.model
    assert isinstance(model, NativeDecoder)
    reader = NativeReader(model, capacity=20, length_bound=torch.tensor([20]))
    reader.read(torch.tensor([[1, 2, 3]]))
    with pytest.raises(GenerationError, match="20"):
        reader.read(torch.ones(1, 18, dtype=torch.long))
    after = reader.read(torch.tensor([[4]]))
    fresh = NativeReader(model, capacity=20, length_bound=torch.tensor([20]))
    torch.testing.assert_close(after, fresh.read(torch.tensor([[1, 2, 3, 4]])), rtol=0, atol=0)


def test_a_prompt_broken_off_leaves_its_sequence_as_it_was(fast: Loaded, monkeypatch: pytest.MonkeyPatch) -> None:
    model = fast.model
    assert isinstance(model, NativeDecoder)
    reader = NativeReader(model, capacity=64, length_bound=torch.tensor([64]), chunk=4)
    run, calls = model.engine.run, []

    def interrupted(*given: object) -> object:
        calls.append(given)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return run(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(model.engine, "run", interrupted)
    ids = torch.arange(20)[None]
    with pytest.raises(KeyboardInterrupt):
        reader.read(ids)
    assert reader.length == 0
    monkeypatch.undo()
    whole = NativeReader(model, capacity=64, length_bound=torch.tensor([64])).read(ids)
    torch.testing.assert_close(reader.read(ids), whole, rtol=0, atol=0)


def test_without_a_cache_it_is_refused_by_name(fast: Loaded) -> None:
    with pytest.raises(UsageError, match="no-cache"):
        complete(fast, PROMPTS[0], use_cache=False)


@pytest.mark.real
def test_the_built_in_model_within_a_ten_thousandth_over_200_tokens(smollm2_gguf: object) -> None:
    """The kernels write greedily; PyTorch, reading what they wrote, would have taken the same token each time."""
    plain = load(str(smollm2_gguf))
    model = native_of(plain).model
    assert isinstance(model, NativeDecoder)
    prompt = plain.tokenizer.encode("Once upon a time")  # type: ignore[union-attr]
    sequence, ids, native = model.sequence(256, 256), prompt, []
    for _ in range(200):
        native.append(torch.from_numpy(model.engine.run(ids, [sequence] * len(ids), [len(ids) - 1])[0].copy()))
        ids = [int(native[-1].argmax())]
    written = [int(logits.argmax()) for logits in native]
    with torch.inference_mode():
        exact = plain.model(torch.tensor([prompt + written[:-1]]))[0, len(prompt) - 1 :]
    assert exact.argmax(-1).tolist() == written
    assert (exact - torch.stack(native)).abs().max() <= 1e-4 * (exact.max() - exact.min())
