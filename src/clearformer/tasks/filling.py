"""A trained masked model at work: words for the gaps of a text."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from clearformer.errors import GenerationError, UsageError
from clearformer.generate.speaker import tokenizer_of
from clearformer.load import Loaded
from clearformer.messages import generate as generate_say
from clearformer.messages import tasks as say
from clearformer.model import EncoderOnly
from clearformer.spec import Language
from clearformer.tasks.tokenizing import Frame
from clearformer.text.tokenizer import Tokenizer

MASK = "[MASK]"


@dataclass(frozen=True)
class Filled:
    """One candidate for one gap, counted from 0: the word, its probability, and the text with it there; other gaps hold
    their own likeliest words."""

    gap: int
    word: str
    score: float
    text: str


@torch.inference_mode()
def fill(loaded: Loaded, text: str, top: int = 5) -> list[Filled]:
    """The `top` likeliest tokens for each gap, gap by gap. A gap is written [MASK], or as the model's own mask token.

    All gaps are read at once, each without the others' answers. Raises UsageError for a model that fills nothing and a
    text without a gap, GenerationError for one longer than the context.
    """
    model = loaded.model
    if not isinstance(model, EncoderOnly) or not isinstance(model.spec.head, Language):
        raise UsageError(say.FILLS_NOTHING, name=loaded.name, found=type(model).__name__)
    if not isinstance(top, int) or isinstance(top, bool) or top < 1:
        raise UsageError(say.BAD_TOP, found=top)
    tokenizer = tokenizer_of(loaded)
    mask = tokenizer.special_names.get("mask_token")
    if mask is None:
        raise UsageError(say.NO_MASK_TOKEN, name=loaded.name)
    parts = text.replace(MASK, mask).split(mask)
    if len(parts) == 1:
        raise UsageError(say.NO_GAP, found=text, expected=MASK)
    ids, gaps = _ids(tokenizer, parts, tokenizer.added_tokens[mask])
    if len(ids) > model.spec.context:
        values = {"name": loaded.name, "found": len(ids), "context": model.spec.context}
        raise GenerationError(generate_say.SOURCE_TOO_LONG, **values)
    inputs = torch.tensor(ids, device=next(model.parameters()).device)[None]
    shares = model.logits(model.hidden(inputs)[0, gaps]).float().softmax(-1)
    # A mark is no answer.
    shares[:, list(tokenizer.special_ids)] = -1
    likely = shares.topk(min(top, shares.shape[-1] - len(tokenizer.special_ids)))
    return _filled(tokenizer, ids, gaps, likely.indices.tolist(), likely.values.tolist())


def _filled(
    tokenizer: Tokenizer, ids: list[int], gaps: list[int], words: list[list[int]], shares: list[list[float]]
) -> list[Filled]:
    best = list(ids)
    for gap, candidates in zip(gaps, words, strict=True):
        best[gap] = candidates[0]
    found = []
    for number, gap in enumerate(gaps):
        for word, share in zip(words[number], shares[number], strict=True):
            whole = [*best[:gap], word, *best[gap + 1 :]]
            shown = tokenizer.decode([word]).strip() or tokenizer.token(word)
            found.append(Filled(number, shown, share, tokenizer.decode(whole).strip()))
    return found


def _ids(tokenizer: Tokenizer, parts: list[str], mask_id: int) -> tuple[list[int], list[int]]:
    """The text's ids within the tokenizer's own frame, and where the gaps are."""
    frame = Frame.of(tokenizer)
    ids, gaps = list(frame.before), []
    for number, part in enumerate(parts):
        # Byte-level words carry the space before them, and so does a word that is hidden.
        spaced = number + 1 < len(parts) and tokenizer.spelling != "words" and part.endswith(" ")
        ids += tokenizer.encode(part[:-1] if spaced else part, special=False)
        if number + 1 < len(parts):
            gaps.append(len(ids))
            ids.append(mask_id)
    return [*ids, *frame.after], gaps
