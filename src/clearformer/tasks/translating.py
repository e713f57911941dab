"""Translations of many sentences at once: read in groups of like length, written by beam search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from clearformer.data.padding import padded
from clearformer.generate.beam import beam_search
from clearformer.generate.reader import CachedReader, MutedReader, Reader
from clearformer.generate.settings import Options
from clearformer.model import EncoderDecoder
from clearformer.train.task import Progress

# A translation may be this much longer than its sentence; the published system adds 50 (arXiv 1706.03762 §6.1).
_LONGER = 50
_ROWS = 320


@dataclass(frozen=True)
class Beams:
    """How translations are sought: by beam search with the paper's length penalty."""

    width: int = 5
    """Beginnings to keep at each step; 1 takes the likeliest word each time."""
    alpha: float = 0.6
    """The exponent of the length penalty ((5 + n) / 6)^alpha; a larger one favours longer texts."""

    def __post_init__(self) -> None:
        # The same bounds as those of `generate`.
        Options(num_beams=self.width)
        Options(num_beams=2, length_penalty=self.alpha)


@dataclass(frozen=True)
class Marks:
    """The id that a translation begins with, and those that end it; `forced` ids follow the first, `never` ids none."""

    begin: int
    ends: frozenset[int]
    forced: tuple[int, ...] = ()
    never: frozenset[int] = frozenset()


def translate_ids(
    model: EncoderDecoder,
    sources: Sequence[Sequence[int]],
    marks: Marks,
    beams: Beams,
    *,
    progress: Progress | None = None,
) -> list[tuple[list[int], float]]:
    """Each source's translation without its marks, and its log-probability over the length penalty.

    Raises MachineError where memory for the cache is lacking, GenerationError for a model whose logits hold NaN.
    """
    order = sorted(range(len(sources)), key=lambda row: len(sources[row]))
    group = max(1, _ROWS // beams.width)
    found: dict[int, tuple[list[int], float]] = {}
    for first in range(0, len(order), group):
        rows = order[first : first + group]
        for row, answer in zip(rows, _group(model, [sources[row] for row in rows], marks, beams), strict=True):
            found[row] = answer
        if progress is not None:
            progress(len(found), len(order))
    return [found[row] for row in range(len(sources))]


@torch.inference_mode()
def _group(
    model: EncoderDecoder, sources: Sequence[Sequence[int]], marks: Marks, beams: Beams
) -> list[tuple[list[int], float]]:
    device = next(model.parameters()).device
    ids, real = (part.to(device) for part in padded(sources, 0))
    memory = model.encode(ids, real=real)
    starts = torch.tensor([[marks.begin, *marks.forced]], device=device).expand(len(sources), -1)
    begun = starts.shape[1]
    limits = [min(len(source) + _LONGER, model.spec.context - begun) for source in sources]
    bound = torch.tensor(limits, device=device) + begun
    reader: Reader = CachedReader(model, capacity=max(limits) + begun, length_bound=bound, memory=memory)
    if marks.never:
        reader = MutedReader(reader, marks.never)
    searches = beam_search(reader, starts, ends=marks.ends, width=beams.width, alpha=beams.alpha, limits=limits)
    best = (hypotheses[0] for hypotheses in searches)
    return [([token for token in each.tokens if token not in marks.ends], each.score) for each in best]
