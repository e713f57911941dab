"""How a module is called, in words: what was concluded, and what was tried in vain."""

from __future__ import annotations

from collections.abc import Iterator

from clearformer.doctor.calling.call import Call, Mask
from clearformer.doctor.calling.lengths import lengths_in_words
from clearformer.doctor.calling.subject import Subject
from clearformer.doctor.calling.trying import Trials
from clearformer.doctor.finding import Said
from clearformer.messages import doctor_calling as say


def in_words(subject: Subject) -> Said:
    """`model(input_ids=ids, attention_mask=1 keeps) → .logits; a decoder; cache: past_key_values`."""
    told = {"how": written(subject), "kind": say.KINDS[subject.kind], "answers": say.ANSWERS[subject.call.answers]}
    if subject.lengths:
        return Said(say.CALLED_AT, told | {"lengths": lengths_in_words(subject.lengths)})
    return Said(say.CALLED, told)


def written(subject: Subject) -> str:
    """The call as one would write it in Python, with what each argument takes."""
    call = subject.call
    output = "" if call.output is None else f"[{call.output}]" if isinstance(call.output, int) else f".{call.output}"
    arguments = ", ".join(_arguments(call))
    if call.packed is not None:
        places = (call.main or "").isdigit()
        arguments = f"({arguments})" if places else f"{{{arguments}}}"
    return f"model({arguments}){output}"


def _arguments(call: Call) -> Iterator[str]:
    order = "B, T" if call.batch_first else "T, B"
    wide = "" if call.takes == "ids" else ", D"
    if call.source is not None:
        yield f"{call.source}=source"
    yield f"{f'{call.main}=' if call.main else ''}{call.takes} [{order}{wide}]"
    for mask in (call.padding, *call.source_masks, call.seeing):
        if mask is not None:
            yield _mask(mask)
    for name, meaning in ((call.positions, "positions"), (call.documents, "documents"), (call.labels, "targets")):
        if name is not None:
            yield f"{name}={meaning}"
    if call.cache is not None:
        yield f"{call.cache.argument or call.cache.switch or call.cache.offset}=cache"
    for name, value in call.fixed:
        yield f"{name}={value}"


def _mask(mask: Mask) -> str:
    meaning = {"keep": "1 keeps", "hide": "1 hides", "add": "added", "count": "counts"}[mask.marking]
    return f"{mask.name}=mask [{mask.shape.replace(' ', ', ')}; {mask.number}, {meaning}]"


def tried_in_words(trials: Trials) -> str:
    """The first few calls with what came of each; the same answer is told once."""
    told: dict[str, str] = {}
    for subject, error in trials.failures:
        told.setdefault(f"{type(error).__name__}: {str(error).splitlines()[0][:100] if str(error) else ''}",
                        written(subject))  # fmt: skip
    return "; ".join(f"{call} → {what}" for what, call in list(told.items())[:3])
