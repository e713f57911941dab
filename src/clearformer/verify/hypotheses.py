"""What may be wrong with a model that differs, each as changes to it that would mend it; tried in this order.

A change belongs to our side alone. The one under which the difference falls to the noise names the fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from clearformer.messages import Message
from clearformer.messages import verify as messages
from clearformer.verify import spec_changes, weight_changes
from clearformer.verify.change import Change, Known
from clearformer.verify.ours import Suspect

Changes = Callable[[Suspect, Known], Iterator[Change]]


@dataclass(frozen=True)
class Hypothesis:
    """`name` is the stable word that `--json` prints; `meaning` says it to the user."""

    name: str
    meaning: Message
    changes: Changes


def _both(*sources: Changes) -> Changes:
    def changes(suspect: Suspect, known: Known) -> Iterator[Change]:
        for each in sources:
            yield from each(suspect, known)

    return changes


HYPOTHESES: tuple[Hypothesis, ...] = tuple(
    Hypothesis(name, messages.HYPOTHESES[name], changes)
    for name, changes in {
        "rotary_layout": _both(weight_changes.rotary_layout, spec_changes.rotary_layout),
        "key_permutation": weight_changes.key_permutation,
        "gqa_order": weight_changes.gqa_order,
        "transposed_linear": weight_changes.transposed_linear,
        "untied_head": spec_changes.untied_head,
        "norm_offset": _both(weight_changes.norm_offset, spec_changes.norm_offset),
        "norm_eps": spec_changes.norm_eps,
        "rope_base": spec_changes.rope,
        "gate_up_swapped": weight_changes.gate_up_swapped,
    }.items()
)
