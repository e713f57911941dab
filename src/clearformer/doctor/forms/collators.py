"""How a collator is asked: examples in one of the usual forms go in, a batch comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import torch

from clearformer.doctor.examination import Examination
from clearformer.doctor.forms.arguments import called
from clearformer.doctor.forms.batches import Batch, read
from clearformer.doctor.forms.special_ids import SpecialIds, special_ids
from clearformer.doctor.forms.trial import UnfitError, first_that_works
from clearformer.doctor.parts import Parts

Example = tuple[list[int], list[int]]
"""(prompt, answer): one row of ids in two pieces, the second ending in EOS where there is one."""


@dataclass(frozen=True)
class CollatorForm:
    """`batch(examples)` collates; `prompts` says whether the collator is told where the answer begins."""

    how: str
    prompts: bool
    ragged: bool
    """Whether it takes examples of different lengths."""
    batch: Callable[[Sequence[Example]], Batch]


def collator_form(examination: Examination) -> CollatorForm:
    """Raises NotApplicable where none of the forms gives a batch of ids."""
    marks = special_ids(examination.parts)
    unequal, equal = _attempts(examination.parts, marks, ragged=True), _attempts(examination.parts, marks, ragged=False)
    return first_that_works("collate", chain(unequal, equal))


def _attempts(parts: Parts, marks: SpecialIds, *, ragged: bool) -> Iterator[tuple[str, Callable[[], CollatorForm]]]:
    target_side = parts.kind == "encoder-decoder"
    trial: list[Example] = [([5, 6], [7, 8, 9]), ([6, 8, 5], [9, 7, 6, 5]) if ragged else ([6, 8], [9, 7, 6])]
    for how, prompts, make in (*_TWO_SIDES, *_PAIRED) if target_side else (*_WHOLE, *_PAIRED):

        def form(how: str = how, prompts: bool = prompts, make: Callable[..., Any] = make) -> CollatorForm:
            def batch(examples: Sequence[Example]) -> Batch:
                values = {"examples": [make(*each) for each in examples], "tokenizer": parts.tokenizer, "device": "cpu"}
                values |= {"batch": values["examples"], "batches": values["examples"]}
                spare = {"pad_id": marks.pad or 0, "eos_id": marks.eos, "bos_id": marks.bos, "ignore": -100}
                spare |= {"longest": parts.context or 1024}
                order = ("examples",)
                result = read(
                    called(_collating(parts.collate), values, spare=spare, order=order), target_side=target_side
                )
                if len(result.ids) != len(examples):
                    raise UnfitError(f"{len(result.ids)} rows for {len(examples)} examples")
                return result

            batch(trial)
            return CollatorForm(how, prompts, ragged, batch)

        yield f"collate({how})", form


def _collating(collate: Any) -> Callable[..., Any]:
    """A collator class of Hugging Face takes (features, return_tensors); its `__call__` is what counts."""
    return partial(collate) if not hasattr(collate, "torch_call") else collate.torch_call


def _dictionary(prompt: list[int], answer: list[int], *more: str, tensors: bool = False) -> dict[str, Any]:
    ids = [*prompt, *answer]
    wrap = torch.tensor if tensors else list
    entries: dict[str, Any] = {"input_ids": wrap(ids)}
    if "mask" in more:
        entries["attention_mask"] = wrap([1] * len(ids))
    if "labels" in more:
        entries["labels"] = wrap([*[-100] * len(prompt), *answer])
    return entries


def _rich(prompt: list[int], answer: list[int], *, tensors: bool = False) -> dict[str, Any]:
    """Every usual name for a prompt and its answer."""
    wrap = torch.tensor if tensors else list
    names = {"prompt": prompt, "answer": answer, "input_ids": [*prompt, *answer]}
    entries: dict[str, Any] = {name: wrap(value) for name, value in names.items()}
    for name in ("prompt_ids", "question", "instruction", "source", "src", "source_ids", "src_ids", "prompt_tokens"):
        entries[name] = entries["prompt"]
    for name in ("answer_ids", "response", "response_ids", "completion", "completion_ids", "target", "tgt", 
                 "target_ids", "tgt_ids", "output", "completion_tokens"):  # fmt: skip
        entries[name] = entries["answer"]
    for name in ("ids", "tokens", "input", "x", "token_ids"):
        entries[name] = entries["input_ids"]
    entries |= {
        "prompt_len": len(prompt),
        "prompt_length": len(prompt),
        "prompt_size": len(prompt),
        "y": entries["answer"],
    }
    entries["attention_mask"] = wrap([1] * (len(prompt) + len(answer)))
    entries["labels"] = wrap([*[-100] * len(prompt), *answer])
    return entries


_WHOLE: tuple[tuple[str, bool, Callable[..., Any]], ...] = (
    ("lists of ids", False, lambda prompt, answer: [*prompt, *answer]),
    ("tensors of ids", False, lambda prompt, answer: torch.tensor([*prompt, *answer])),
    ("{input_ids}", False, _dictionary),
    ("{input_ids} of tensors", False, partial(_dictionary, tensors=True)),
    ("{input_ids, attention_mask}", False, lambda prompt, answer: _dictionary(prompt, answer, "mask")),
    ("{input_ids, labels}", True, lambda prompt, answer: _dictionary(prompt, answer, "labels")),
    ("{input_ids, attention_mask, labels}", True, lambda prompt, answer: _dictionary(prompt, answer, "mask", "labels")),
    (
        "{input_ids, labels} of tensors",
        True,
        lambda prompt, answer: _dictionary(prompt, answer, "labels", tensors=True),
    ),
)
_TWO_SIDES: tuple[tuple[str, bool, Callable[..., Any]], ...] = (
    ("{input_ids, labels}", False, lambda source, target: {"input_ids": list(source), "labels": list(target)}),
    (
        "{input_ids, labels} of tensors",
        False,
        lambda source, target: {"input_ids": torch.tensor(source), "labels": torch.tensor(target)},
    ),
)
_PAIRED: tuple[tuple[str, bool, Callable[..., Any]], ...] = (
    ("(prompt, answer)", True, lambda prompt, answer: (list(prompt), list(answer))),
    ("(prompt, answer) of tensors", True, lambda prompt, answer: (torch.tensor(prompt), torch.tensor(answer))),
    ("{prompt, answer, …}", True, _rich),
    ("{prompt, answer, …} of tensors", True, partial(_rich, tensors=True)),
)
