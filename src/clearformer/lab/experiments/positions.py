"""Where a token stands, five ways, and what becomes of each past the trained length (Press 2021, arXiv 2108.12409).

Read by place: the loss at position p of long windows, of which training saw the first 64 places alone. A table of 64
learnt rows has no row for the 65th, so its curve ends there.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from clearformer.lab.by_place import BEYOND, BY_PLACE, loss_by_place
from clearformer.lab.edits import with_attention, with_stacks
from clearformer.lab.experiment import Claim, Experiment
from clearformer.lab.ground import LEARNING_CURVE, LOSS, characters
from clearformer.lab.training_arm import TrainingArm
from clearformer.messages import Message
from clearformer.messages import lab_choices as say
from clearformer.spec import ALiBi, AttentionPosition, InputPosition, Learned, Rotary, Sinusoidal, Spec

TRAINED, READ = 64, 256


def placed(spec: Spec, added: InputPosition | None, inside: AttentionPosition | None) -> Spec:
    spec = with_attention(spec, position=inside)
    return with_stacks(spec, lambda stack: replace(stack, input=replace(stack.input, position=added)))


def arm(
    name: str, label: Message, added: InputPosition | None = None, inside: AttentionPosition | None = None
) -> TrainingArm:
    return TrainingArm(
        name=name,
        label=label,
        recipe=characters(context=TRAINED),
        rebuild=partial(placed, added=added, inside=inside),
        look=partial(loss_by_place, trained=TRAINED, read=READ),
    )


EXPERIMENT = Experiment(
    name="positions",
    title=say.POSITIONS,
    about=say.POSITIONS_ABOUT,
    arms=(
        arm("sinusoidal", say.SINUSOIDAL, added=Sinusoidal()),
        arm("learned", say.LEARNED, added=Learned(TRAINED)),
        arm("rope", say.ROPE, inside=Rotary()),
        arm("alibi", say.ALIBI, inside=ALiBi()),
        arm("none", say.NO_POSITION),
    ),
    figure=LOSS,
    further=(BEYOND,),
    curves=(BY_PLACE, LEARNING_CURVE),
    claims=(
        Claim(say.NO_POSITION_CLAIM, above="none", below="sinusoidal", figure="loss"),
        Claim(say.ROPE_CLAIM, above="sinusoidal", below="rope", figure="loss"),
        Claim(say.ALIBI_CLAIM, above="rope", below="alibi", figure=BEYOND.name),
    ),
)
