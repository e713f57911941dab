"""Sampling, penalties and beams that break their laws, and generation that is not the forward pass."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from doctor.corpus.case import Parts, faulty
from doctor.corpus.decoding import Step, beam_search, nucleus, penalise, sample
from doctor.corpus.hand_written import VOCAB, Decoder
from doctor.corpus.sight_faults import decoder


def sampling(function: Any) -> Parts:
    return {"sample": function, "vocab_size": VOCAB}


@faulty("nucleus drops the crossing token", report="G4")
def top_p_keeps_less_than_p() -> Parts:
    def shorter(logits: Tensor, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> Tensor:
        kept = nucleus(logits / temperature, top_p, crossing=False)
        best = logits.argmax(-1, keepdim=True)
        return kept.scatter(-1, best, logits.gather(-1, best) / temperature)

    return sampling(shorter)


@faulty("nucleus empty", "nucleus drops the crossing token", report="G4")
def top_p_of_nothing_keeps_nothing() -> Parts:
    def emptied(logits: Tensor, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> Tensor:
        return nucleus(logits / temperature, top_p, crossing=False).softmax(-1)

    return sampling(emptied)


@faulty("kept tokens are not the most probable", "nucleus drops the crossing token", report="G4")
def top_p_not_scattered_back() -> Parts:
    def unsorted(logits: Tensor, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> Tensor:
        chances = (logits / temperature).sort(-1, descending=True).values.softmax(-1)
        return logits.masked_fill(chances.cumsum(-1) - chances >= top_p, float("-inf"))

    return sampling(unsorted)


@faulty("top-k keeps the wrong number", report="G4")
def top_k_keeps_one_more() -> Parts:
    def more(logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None) -> Tensor:
        return sample(logits, temperature, None if top_k is None else top_k + 1, top_p)

    return sampling(more)


@faulty("temperature inverted", report="G4")
def multiplied_by_the_temperature() -> Parts:
    def hotter(logits: Tensor, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> Tensor:
        return sample(logits * temperature, 1.0, top_k or None, top_p)

    return sampling(hotter)


@faulty("temperature without effect", report="G4")
def temperature_forgotten() -> Parts:
    def lukewarm(logits: Tensor, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> Tensor:
        return sample(logits, 1.0, top_k or None, top_p)

    return sampling(lukewarm)


@faulty("temperature zero not greedy", report="G4")
def division_by_a_temperature_of_zero() -> Parts:
    def divided(logits: Tensor, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> Tensor:
        return nucleus(logits / temperature, top_p).softmax(-1)

    return sampling(divided)


@faulty("rows mixed in sampling", report="G4")
def top_p_over_the_whole_batch() -> Parts:
    def mixed(logits: Tensor, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> Tensor:
        return nucleus((logits / max(temperature, 1e-6)).reshape(1, -1), top_p).view_as(logits)

    return sampling(mixed)


@faulty("penalty raises seen tokens", report="G5")
def negative_logits_divided() -> Parts:
    def divided(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
        return logits.scatter(-1, ids, logits.gather(-1, ids) / penalty)

    return {"penalise": divided, "vocab_size": VOCAB}


@faulty("penalty touches unseen tokens", report="G5")
def the_whole_row_is_punished() -> Parts:
    def all_of_it(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
        return torch.where(logits > 0, logits / penalty, logits * penalty)

    return {"penalise": all_of_it, "vocab_size": VOCAB}


@faulty("penalty without effect", report="G5")
def penalty_on_a_copy() -> Parts:
    def copied(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
        penalise(logits.clone(), ids, penalty)
        return logits

    return {"penalise": copied, "vocab_size": VOCAB}


@faulty("prompt length in the beam score", report="G1")
def divided_by_prompt_and_answer() -> Parts:
    def beam(step: Step, ids: Tensor, beams: int, max_new_tokens: int, eos_id: int) -> list[tuple[Tensor, float]]:
        found = beam_search(step, ids, beams, max_new_tokens, eos_id)
        return sorted(((each, score / len(each)) for each, score in found), key=lambda pair: -pair[1])

    return {"beam": beam, "vocab_size": 6}


@faulty("finished beams go on", report="G3")
def beams_expand_after_the_end() -> Parts:
    def beam(step: Step, ids: Tensor, beams: int, max_new_tokens: int, eos_id: int) -> list[tuple[Tensor, float]]:
        return beam_search(step, ids, beams, max_new_tokens, -1)

    return {"beam": beam, "vocab_size": 6}


@faulty("beam stops at the first end", "beam misses the best", report="G3")
def first_finished_beam_wins() -> Parts:
    def beam(step: Step, ids: Tensor, beams: int, max_new_tokens: int, eos_id: int) -> list[tuple[Tensor, float]]:
        for length in range(1, max_new_tokens + 1):
            found = beam_search(step, ids, beams, length, eos_id)
            ended = [pair for pair in found if pair[0][-1] == eos_id]
            if ended:
                return ended
        return found

    return {"beam": beam, "vocab_size": 6}


@faulty("beam misses the best", report="G3")
def beams_are_greedy() -> Parts:
    def beam(step: Step, ids: Tensor, beams: int, max_new_tokens: int, eos_id: int) -> list[tuple[Tensor, float]]:
        return beam_search(step, ids, 1, max_new_tokens, eos_id)

    return {"beam": beam, "vocab_size": 6}


@faulty("padded vocabulary sampled", "ids beyond the tokenizer", report="C6")
def rows_beyond_the_tokenizer_are_sampled() -> Parts:
    class Letters:
        """Fifty characters and no other; the model has sixty rows."""

        def __len__(self) -> int:
            return 50

        def encode(self, text: str) -> list[int]:
            return [range(48, 98).index(ord(letter)) for letter in text]

        def decode(self, ids: list[int]) -> str:
            return "".join(chr(48 + i) for i in ids if i < 50)

    return decoder(Decoder(), tokenizer=Letters(), sample=sample)


@faulty("generation differs from forward", report="B1")
def generation_reads_the_last_four_tokens() -> Parts:
    def generate(model: nn.Module, ids: Tensor, max_new_tokens: int) -> Tensor:
        for _ in range(max_new_tokens):
            ids = torch.cat([ids, model(ids[:, -4:])[:, -1:].argmax(-1)], 1)
        return ids

    model = Decoder()
    nn.init.normal_(model.places.weight, std=0.5)
    return decoder(model, generate=generate)


@faulty("generation differs from forward", "generation reads the wrong position", report="B1")
def generation_reads_the_last_but_one() -> Parts:
    def generate(model: nn.Module, ids: Tensor, max_new_tokens: int) -> Tensor:
        for _ in range(max_new_tokens):
            ids = torch.cat([ids, model(ids)[:, -2].argmax(-1, keepdim=True)], 1)
        return ids

    return decoder(Decoder(), generate=generate)
