"""RoPE past the trained length, its angles changed afterwards and nothing learnt anew: position interpolation (Chen et
al. 2023, arXiv 2306.15595), dynamic NTK, YaRN (Peng et al. 2023, arXiv 2309.00071).

Every arm trains the same model on windows of 64; it is then read at 256 with its own angles or with changed ones.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from clearformer.build import build
from clearformer.lab.by_place import BEYOND, BY_PLACE, loss_by_place
from clearformer.lab.edits import with_attention
from clearformer.lab.experiment import Claim, Experiment, Outcome
from clearformer.lab.experiments.positions import READ, TRAINED, placed
from clearformer.lab.ground import LOSS, characters
from clearformer.lab.training_arm import TrainingArm
from clearformer.messages import Message
from clearformer.messages import lab_choices as say
from clearformer.model import Model
from clearformer.spec import DynamicNTK, LinearScaling, RopeScaling, Rotary, YaRN
from clearformer.train.task import Task

FACTOR = READ / TRAINED


def read_on(task: Task[Any], model: Model, scaling: RopeScaling | None) -> Outcome:
    """The loss by place of the same weights with other angles."""
    turned = build(with_attention(model.spec, position=Rotary(scaling=scaling)))
    turned.load_state_dict(model.state_dict())
    return loss_by_place(task, turned.eval(), trained=TRAINED, read=READ)


def arm(name: str, label: Message, scaling: RopeScaling | None) -> TrainingArm:
    return TrainingArm(
        name=name,
        label=label,
        recipe=characters(context=TRAINED),
        rebuild=partial(placed, added=None, inside=Rotary()),
        look=partial(read_on, scaling=scaling),
    )


EXPERIMENT = Experiment(
    name="rope-scaling",
    title=say.ROPE_SCALING,
    about=say.ROPE_SCALING_ABOUT,
    arms=(
        arm("as-trained", say.AS_TRAINED, None),
        arm("linear", say.LINEAR, LinearScaling(FACTOR)),
        arm("ntk", say.NTK, DynamicNTK(FACTOR, TRAINED)),
        arm("yarn", say.YARN, YaRN(FACTOR, TRAINED)),
    ),
    figure=BEYOND,
    further=(LOSS,),
    curves=(BY_PLACE,),
    equal=("parameters",),
    claims=(
        Claim(say.NTK_CLAIM, above="linear", below="ntk", figure=BEYOND.name),
        Claim(say.YARN_CLAIM, above="ntk", below="yarn", figure=BEYOND.name),
    ),
)
