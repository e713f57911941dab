"""What encoder-decoders write, beside transformers' generate: by greedy choice and by beams.

With length_penalty 0 and early_stopping "never" their beams obey our rules. Otherwise they do not: their penalty is
n^α where ours is the paper's ((5 + n) / 6)^α, and "never" is not their default, which stops before it is sure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    GenerationConfig,
    MarianConfig,
    MarianMTModel,
    T5Config,
    T5ForConditionalGeneration,
)

from clearformer.families import GenerationDefaults
from clearformer.generate.settings import Options
from clearformer.generate.speak import Generation

START, NEW = 3, 14
T5 = {"vocab_size": 61, "d_model": 48, "d_kv": 10, "d_ff": 72, "num_layers": 2, "num_heads": 4}
NEAR = {"relative_attention_num_buckets": 8, "relative_attention_max_distance": 12}
PAPER = {
    "vocab_size": 61,
    "d_model": 48,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 72,
    "decoder_ffn_dim": 72,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "eos_token_id": 1,
    "decoder_start_token_id": START,
}
APART = {"share_encoder_decoder_embeddings": False, "decoder_vocab_size": 47, "tie_word_embeddings": False}
FAMILIES: dict[str, tuple[Any, Any]] = {
    "t5": (T5ForConditionalGeneration, T5Config(**T5, **NEAR)),
    "flan": (T5ForConditionalGeneration, T5Config(**T5, feed_forward_proj="gated-gelu", tie_word_embeddings=False)),
    "marian": (MarianMTModel, MarianConfig(**PAPER, scale_embedding=True, activation_function="swish")),
    "marian_apart": (MarianMTModel, MarianConfig(**PAPER, **APART, scale_embedding=True)),
    "bart": (BartForConditionalGeneration, BartConfig(**PAPER)),
}
BEAMS = pytest.mark.parametrize("beams", [1, 3])


@pytest.fixture(scope="module")
def original(save_original):
    @cache
    def make(family: str):
        kind, config = FAMILIES[family]
        found = save_original(kind(config), own_head=family == "flan")
        if family == "marian_apart":
            # Small random models repeat one word; where words count for more than layers, each calls for another.
            for name, parameter in found.model.named_parameters():
                if "decoder" in name and name.endswith(("out_proj.weight", "fc2.weight")):
                    parameter.data *= 0.3
            table = found.model.model.decoder.embed_tokens.weight.data
            found.model.lm_head.weight.data.copy_(table.roll(7, 0))
            found.model.save_pretrained(found.folder)
        return found

    return make


def theirs(found, beams: int, new: int = NEW, **settings: Any) -> list[list[int]]:
    """Each row behind its start, padding of ended rows included."""
    model, batch = found.model, found.batch
    model.generation_config = GenerationConfig()
    search = {"num_beams": beams, "length_penalty": 0.0, "early_stopping": "never"} if beams > 1 else {}
    tokens = {"decoder_start_token_id": START, "pad_token_id": 0, "max_new_tokens": new, "do_sample": False}
    with torch.no_grad():
        written = model.generate(batch.ids, attention_mask=batch.real.long(), **tokens, **search, **settings)
    return written[:, 1:].tolist()


def ours(loaded, batch, beams: int, *, use_cache: bool = True, **defaults: Any) -> list[list[int]]:
    speaker = replace(loaded, generation=GenerationDefaults(start_id=START, **defaults))
    rows = [ids[real].tolist() for ids, real in zip(batch.ids, batch.real, strict=True)]
    penalty = {"length_penalty": 0.0} if beams > 1 else {}
    options = Options(max_new_tokens=NEW, num_beams=beams, use_cache=use_cache, **penalty)
    generation = Generation(speaker, rows, options)
    for _ in generation.steps():
        pass
    return [result.token_ids for result in generation.results()]


def unpadded(rows: list[list[int]], ends: Sequence[int]) -> list[list[int]]:
    """Each row up to its first end mark."""
    lengths = [next((at + 1 for at, token in enumerate(row) if token in ends), len(row)) for row in rows]
    return [row[:length] for row, length in zip(rows, lengths, strict=True)]


@BEAMS
@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_tokens(original, load_folder, family, beams):
    found = original(family)
    loaded = load_folder(found.folder)
    free = ours(loaded, found.batch, beams)
    assert free == theirs(found, beams)
    if family != "marian":
        assert max(len(set(row)) for row in free) > 2
        assert len({tuple(row) for row in free}) > 1
    ends = [free[0][2], free[1][6]]
    ended = ours(loaded, found.batch, beams, end_ids=tuple(ends))
    assert min(map(len, ended)) < NEW
    assert ended == unpadded(theirs(found, beams, eos_token_id=ends), ends)
    assert ended == ours(loaded, found.batch, beams, use_cache=False, end_ids=tuple(ends))


@BEAMS
def test_forbidden_and_forced_tokens(original, load_folder, beams):
    """A forced first word stands before ours, and is the first of theirs; what is forbidden has no probability."""
    found = original("marian_apart")
    loaded = load_folder(found.folder)
    free = ours(loaded, found.batch, beams)
    never = sorted({free[0][0], free[1][3], 46})
    muted = ours(loaded, found.batch, beams, never_ids=(*never, 999))
    assert not {token for row in muted for token in row} & set(never)
    words = {"bad_words_ids": [[token] for token in never], "renormalize_logits": True}
    assert muted == theirs(found, beams, **words)
    forced = ours(loaded, found.batch, beams, first_id=17)
    assert forced != free
    assert [[17, *row] for row in forced] == theirs(found, beams, NEW + 1, forced_bos_token_id=17)
