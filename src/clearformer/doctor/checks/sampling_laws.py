"""Laws of a sampling function (a part of K27)."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from clearformer.doctor.check import NotApplicable
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Said, Severity
from clearformer.doctor.forms.samplers import SamplerForm, sampler_form
from clearformer.doctor.forms.tokenizers import words_of
from clearformer.messages import doctor_decoding as say

Found = tuple[Severity, Said, tuple[str, ...]]
_CHANCES = torch.tensor([0.30, 0.22, 0.16, 0.11, 0.08, 0.06, 0.04, 0.03], dtype=torch.float64)
_PLACES = torch.tensor([[3, 0, 6, 1, 7, 2, 5, 4], [1, 5, 0, 4, 2, 7, 3, 6], [0, 1, 2, 3, 4, 5, 6, 7]])
_MASSES = (0.1, 0.35, 0.6, 0.75, 0.9)


def laws(examination: Examination) -> Iterator[Found]:
    """Rows by themselves, the nucleus, the temperature, top-k, and the vocabulary's end."""
    assert examination.parts.sample is not None
    logits = torch.zeros(3, 8).double().scatter(-1, _PLACES, _CHANCES.log().expand(3, 8)).float()
    logits = logits + torch.tensor([[2.0], [0.0], [-1.0]])
    form = sampler_form(examination.parts.sample, logits)
    slack = 0.05 if form.drawn else 1e-4
    mixed = _mixed(form, logits, slack)
    if mixed is not None:
        yield mixed
        return
    cuts = list(_nucleus(form, logits)) if "top_p" in form.knobs else []
    cuts += _top_k(form, logits) if "top_k" in form.knobs else []
    # A cut that is wrong is wrong where it is asked to keep everything, too.
    wrong = [found for found in cuts if found[0] == "ERROR"]
    yield from wrong or _temperature(form, logits, slack)
    yield from (found for found in cuts if found not in wrong)
    yield from _vocabulary(examination, form)


def _mixed(form: SamplerForm, logits: Tensor, slack: float) -> Found | None:
    values = {"top_p": 0.6} if "top_p" in form.knobs else {"top_k": 3} if "top_k" in form.knobs else {}
    together = form.ask(logits, **values)
    alone = torch.cat([form.ask(logits[row : row + 1], **values) for row in range(len(logits))])
    apart = float((together - alone).nan_to_num(1.0).abs().max())
    if apart <= 2 * slack or alone.isnan().any():
        return None
    return "ERROR", Said(say.ROWS_MIXED, {"apart": apart}), ("rows mixed in sampling",)


def _nucleus(form: SamplerForm, logits: Tensor) -> Iterator[Found]:
    """The fewest tokens, taken from the most probable on, whose mass reaches p."""
    chances = logits.double().softmax(-1)
    for mass in (*_MASSES, 1e-6, 0.0):
        try:
            asked = form.ask(logits, top_p=mass)
        except (ValueError, AssertionError):
            continue  # refusing it is an answer
        except (RuntimeError, IndexError) as error:
            yield "ERROR", Said(say.NUCLEUS_RAISES, {"mass": mass, "detail": str(error)}), ("nucleus empty",)
            return
        if asked.isnan().any() or not (asked > 0).any(-1).all():
            yield "ERROR", Said(say.NUCLEUS_EMPTY, {"mass": mass}), ("nucleus empty",)
            return
        found = [fault for row in zip(chances, asked > 0, strict=True) if (fault := _of_row(*row, mass)) is not None]
        if found and mass > 1e-3:
            severity, said, causes = found[0]
            yield ("WARN" if _unused(form, logits, chances, top_p=0.1) else severity), said, causes
            return


def _unused(form: SamplerForm, logits: Tensor, plain: Tensor, **knob: float) -> bool:
    """Whether a knob changes no chance at all."""
    return float((form.ask(logits, **knob) - plain).abs().max()) < (0.05 if form.drawn else 1e-4)


def _of_row(chances: Tensor, kept: Tensor, mass: float) -> Found | None:
    order = chances.argsort(descending=True)
    needed = int((chances[order].cumsum(-1) < mass).sum()) + 1
    count, inside = int(kept.sum()), float(chances[kept].sum())
    values = {"mass": mass, "count": count, "needed": needed, "inside": inside}
    if set(order[:count].tolist()) != set(kept.nonzero().flatten().tolist()):
        return "ERROR", Said(say.NOT_MOST_PROBABLE, values), ("kept tokens are not the most probable",)
    if count < needed:
        return "ERROR", Said(say.NUCLEUS_SHORT, values), ("nucleus drops the crossing token",)
    if count > needed:
        return "ERROR", Said(say.NUCLEUS_LARGE, values), ("nucleus keeps too much",)
    return None


def _temperature(form: SamplerForm, logits: Tensor, slack: float) -> Iterator[Found]:
    plain = logits.double().softmax(-1)
    apart = float((form.ask(logits) - plain).abs().max())
    if apart > slack:
        yield "ERROR", Said(say.OTHER_CHANCES, {"apart": apart}), ("sampled distribution differs",)
        return
    if "temperature" not in form.knobs:
        return
    for heat in (0.5, 2.0):
        asked = form.ask(logits, temperature=heat)
        right, inverse = ((logits.double() / t).softmax(-1) for t in (heat, 1 / heat))
        if float((asked - right).abs().max()) <= slack:
            continue
        values = {"heat": heat, "top": float(asked[0].max()), "right": float(right[0].max())}
        cause = "sampled distribution differs"
        if float((asked - inverse).abs().max()) <= slack:
            cause = "temperature inverted"
        elif float((asked - plain).abs().max()) <= slack:
            cause = "temperature without effect"
        yield "ERROR", Said(say.OTHER_HEAT, values), (cause,)
        return
    yield from _cold(form, logits)


def _cold(form: SamplerForm, logits: Tensor) -> Iterator[Found]:
    try:
        asked = form.ask(logits, temperature=0.0)
    except (RuntimeError, ZeroDivisionError) as error:
        # It refuses, if not in good words: whoever asks for it does not get a wrong answer.
        yield "INFO", Said(say.COLD_RAISES, {"detail": str(error)}), ("temperature zero not greedy",)
        return
    except Exception:
        return  # refusing it is an answer
    if (
        asked.isnan().any()
        or not torch.equal(asked.argmax(-1), logits.argmax(-1))
        or float(asked.max(-1).values.min()) < 0.99
    ):
        yield "WARN", Said(say.COLD_DRAWS, {"top": float(asked[0].max())}), ("temperature zero not greedy",)


def _top_k(form: SamplerForm, logits: Tensor) -> Iterator[Found]:
    for k in (1, 3, 5):
        kept = form.ask(logits, top_k=k) > 0
        best = torch.zeros_like(kept).scatter(-1, logits.topk(k).indices, value=True)
        if torch.equal(kept, best):
            continue
        counts = sorted(set(kept.sum(-1).tolist()))
        cause = "kept tokens are not the most probable" if counts == [k] else "top-k keeps the wrong number"
        unused = _unused(form, logits, form.ask(logits), top_k=1)
        yield "WARN" if unused else "ERROR", Said(say.TOP_K, {"k": k, "count": counts[-1]}), (cause,)
        return


def _vocabulary(examination: Examination, form: SamplerForm) -> Iterator[Found]:
    """Rows of the head that the tokenizer has no word for were never trained, and can be drawn."""
    subject, tokenizer = examination.subject, examination.parts.tokenizer
    words = None if tokenizer is None else words_of(tokenizer)
    if subject is None or words is None or subject.vocab_size <= words:
        return
    assert examination.parts.sample is not None
    even = torch.linspace(-0.01, 0.01, subject.vocab_size).expand(2, -1)
    try:
        whole = sampler_form(examination.parts.sample, even)
    except NotApplicable:
        return
    beyond = float(whole.ask(even)[:, words:].sum(-1).max())
    if beyond > 0:
        values = {"rows": subject.vocab_size, "words": words, "share": beyond}
        yield "WARN", Said(say.BEYOND_WORDS, values), ("padded vocabulary sampled",)
