"""K16: greedy generation takes the tokens that the module itself puts first, alone and in a padded batch."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.doctor.generating import Generating, generating
from clearformer.messages import doctor_cache as say

PROMPT, NEW = 5, 5


def _probe(examination: Examination) -> Iterator[Breach]:
    subject, generation = examination.asked, generating(examination)
    if generation is None:
        raise NotApplicable(say.NO_GENERATE)
    if subject.call.takes != "ids" or not subject.call.batch_first:
        raise NotApplicable(say.NO_IDS)
    ids = subject.inputs(2, PROMPT, examination.generator())
    new = generation.new(ids, NEW)
    if subject.call.source is None:
        at = _first_other(examination, torch.cat([ids, new], 1))
        if at is not None:
            position, chosen, best = at
            said = Said(say.OTHER_TOKEN, {"at": position, "chosen": chosen, "best": best})
            yield Breach(
                "K16", "ERROR", (said,), _suspects(examination, position), signs={"at": position}, law="greedy"
            )  # fmt: skip
            return
    yield from _padded(examination, generation, ids[:1], new[:1])


def _suspects(examination: Examination, position: int) -> tuple[str, ...]:
    """Right at first and wrong afterwards: what carries on from step to step is at fault."""
    carried = (
        "offset after prefill",
        "cache loses the past",
        "cache top-left aligned",
        "generation differs from forward",
    )
    return carried if position > PROMPT and examination.asked.call.cache is not None else carried[::-1]


def _first_other(examination: Examination, ids: Tensor) -> tuple[int, int, int] | None:
    """The first written token that is not the module's best, by a margin that is no tie."""
    subject = examination.asked
    for at in range(PROMPT, ids.shape[1]):
        logits = subject.answer(ids[:, :at])[:, -1]
        best = logits.argmax(-1)
        for row in range(len(ids)):
            chosen = int(ids[row, at])
            margin = float(logits[row, best[row]] - logits[row, chosen])
            if examination.noise.broken(margin / examination.noise.floor):
                return at, chosen, int(best[row])
    return None


def _padded(examination: Examination, generation: Generating, ids: Tensor, new: Tensor) -> Iterator[Breach]:
    """The same prompt beside a longer one, padded at the left."""
    subject = examination.asked
    if subject.kind != "decoder" or generation.mask_name is None or not subject.takes_mask:
        return
    generator = examination.generator()
    longer = subject.inputs(1, PROMPT + 3, generator)
    pads = subject.inputs(1, 3, generator)
    batch = torch.cat([torch.cat([pads, ids], 1), longer])
    mask = torch.ones(batch.shape, dtype=torch.bool, device=batch.device)
    mask[0, :3] = False
    together = generation.new(batch, NEW, mask)[:1]
    count = min(together.shape[1], new.shape[1])
    apart = [at for at in range(count) if int(together[0, at]) != int(new[0, at])]
    if not apart or _is_tie(examination, torch.cat([ids, new[:, : apart[0]]], 1), int(together[0, apart[0]])):
        return
    said = Said(say.PADDED_GENERATES_OTHERWISE, {"at": apart[0] + 1})
    suspects = ("positions not from mask", "padded prompts generate otherwise", "padding mask without effect")
    yield Breach("K16", "ERROR", (said,), suspects, law="padded")


def _is_tie(examination: Examination, ids: Tensor, other: int) -> bool:
    logits = examination.asked.answer(ids)[0, -1]
    margin = float(logits.max() - logits[other]) / examination.noise.floor
    return not examination.noise.broken(margin)


GENERATION = Check(
    "K16", "generation parity", say.GENERATION, say.GENERATION_RISK, _probe,
    kinds=("decoder", "encoder-decoder"), quick=False,
)  # fmt: skip
