"""The built-in model speaks: with and without its cache the same, streamed and whole the same."""

from __future__ import annotations

import pytest
import torch

from clearformer.errors import StoreError
from clearformer.generate.speak import complete, stream
from clearformer.load import Loaded, load

PROMPT = "The capital of France is"

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def smollm2() -> Loaded:
    try:
        return load("smollm2-135m")
    except StoreError as error:
        pytest.skip(str(error))


def test_it_knows_paris_and_streams_what_it_writes(smollm2: Loaded) -> None:
    result = complete(smollm2, PROMPT, max_new_tokens=16, top_logprobs=3)
    assert "Paris" in result.text
    assert "".join(stream(smollm2, PROMPT, max_new_tokens=16)) == result.text
    assert "Paris" in smollm2.tokenizer.token(result.tokens[0].top[0].id)  # type: ignore[union-attr]


def test_128_greedy_tokens_are_the_same_without_the_cache(smollm2: Loaded) -> None:
    """One whole pass gives what 128 steps without a cache give: each token is the likeliest after those before it."""
    written = complete(smollm2, "Once upon a time", max_new_tokens=128).token_ids
    assert len(written) == 128
    prompt = smollm2.tokenizer.encode("Once upon a time")  # type: ignore[union-attr]
    with torch.inference_mode():
        logits = smollm2.model(torch.tensor([prompt + written[:-1]]))[0, len(prompt) - 1 :]
    assert logits.argmax(-1).tolist() == written
    short = complete(smollm2, "Once upon a time", max_new_tokens=12, use_cache=False).token_ids
    assert short == written[:12]
