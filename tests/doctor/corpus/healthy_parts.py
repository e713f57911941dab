"""Losses, collators, loops, loaders, samplers, beams, forecasts, tokenizers and files in which nothing is wrong."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from doctor.corpus.cache_faults import CachedDecoder
from doctor.corpus.case import Parts, healthy
from doctor.corpus.decoding import beam_search, greedy, penalise, sample
from doctor.corpus.file_faults import turns_end_with_a_token_that_stops_nothing
from doctor.corpus.files import Template, Words, checkpoint, run
from doctor.corpus.forecast_faults import pipeline
from doctor.corpus.hand_written import VOCAB, Decoder
from doctor.corpus.loop_faults import looped
from doctor.corpus.loops import accumulating, plainly, scaled
from doctor.corpus.loss_faults import training
from doctor.corpus.losses import IGNORED, aligned, next_tokens, of_model, shifting, unshifted
from doctor.corpus.resuming import resumable, shuffled
from doctor.corpus.sight_faults import decoder


@healthy
def loss_shifts_and_collator_does_not() -> Parts:
    return training(loss=shifting, collate=unshifted)


@healthy
def collator_shifts_and_loss_does_not() -> Parts:
    return training(loss=aligned, collate=next_tokens)


@healthy
def loss_of_model_and_batch() -> Parts:
    return training(loss=of_model, collate=unshifted)


@healthy
def loss_with_smoothing() -> Parts:
    def loss(logits: Tensor, labels: Tensor) -> Tensor:
        told = F.log_softmax(logits[:, :-1], -1)
        wanted = labels[:, 1:]
        real = wanted != IGNORED
        exact = -told.gather(-1, wanted.clamp(min=0)[..., None]).squeeze(-1)
        return (0.9 * exact - 0.1 * told.mean(-1))[real].mean()

    return training(loss=loss, collate=unshifted)


@healthy
def plain_loop() -> Parts:
    return looped(plainly)


@healthy
def accumulating_loop() -> Parts:
    return looped(accumulating)


@healthy
def scaled_loop() -> Parts:
    return looped(scaled)


@healthy
def resumed_training() -> Parts:
    return {"resume": resumable()}


@healthy
def shuffled_loader() -> Parts:
    return {"loader": shuffled}


@healthy
def sampler_of_everything() -> Parts:
    return {"sample": sample, "vocab_size": VOCAB}


@healthy
def penalty_by_sign() -> Parts:
    return {"penalise": penalise, "vocab_size": VOCAB}


@healthy
def beams() -> Parts:
    return {"beam": beam_search, "vocab_size": 6}


@healthy
def greedy_generation() -> Parts:
    return decoder(Decoder(), generate=greedy)


@healthy
def greedy_generation_with_a_cache() -> Parts:
    def generate(model: nn.Module, ids: Tensor, max_new_tokens: int) -> Tensor:
        new, past = ids, None
        for _ in range(max_new_tokens):
            logits, past = model(new, past_key_values=past, use_cache=True)
            new = logits[:, -1:].argmax(-1)
            ids = torch.cat([ids, new], 1)
        return ids

    return decoder(CachedDecoder(), generate=generate)


@healthy
def forecast_from_the_past() -> Parts:
    return {"forecast": pipeline()}


@healthy
def tokenizer_of_bytes() -> Parts:
    return {"tokenizer": Words(), "bos_id": 1, "eos_id": 2}


@healthy
def template_begins_once() -> Parts:
    class Once(Template):
        begins = False

    return {"tokenizer": Once(), "bos_id": 1, "eos_id": 2}


@healthy
def checkpoint_whole(folder: Path) -> Parts:
    checkpoint(folder)
    return {"folder": folder}


@healthy
def checkpoint_in_shards(folder: Path) -> Parts:
    checkpoint(folder, max_shard_size="20KB", tie_word_embeddings=False)
    return {"folder": folder}


@healthy
def checkpoint_that_stops_at_its_turns(folder: Path) -> Parts:
    parts = turns_end_with_a_token_that_stops_nothing(folder)
    (folder / "generation_config.json").write_text('{"eos_token_id": [2, 4]}')
    return parts


@healthy
def run_that_learns(folder: Path) -> Parts:
    falling = [1.0 + 3.0 * 0.98**step for step in range(200)]
    run(folder, falling, validation=[loss + 0.1 for loss in falling])
    return {"folder": folder}
