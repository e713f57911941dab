"""How many heads are needed: removed from a trained model one after the other (Michel et al. 2019, arXiv 1905.10650).

The three arms train the same model from the same seed; they differ in which head goes first.
"""

from __future__ import annotations

from functools import partial

from clearformer.lab.experiment import Claim, Experiment
from clearformer.lab.ground import characters
from clearformer.lab.head_importance import HALF, PRUNED, WHOLE, Order, pruned
from clearformer.lab.training_arm import TrainingArm
from clearformer.messages import Message
from clearformer.messages import lab_looking as say
from clearformer.tasks.models import Gpt

RECIPE = characters(Gpt(width=128, heads=8, layers=2))


def arm(order: Order, label: Message) -> TrainingArm:
    return TrainingArm(name=order, label=label, recipe=RECIPE, look=partial(pruned, order=order))


EXPERIMENT = Experiment(
    name="pruning",
    title=say.PRUNING,
    about=say.PRUNING_ABOUT,
    arms=(arm("least", say.LEAST_FIRST), arm("chance", say.BY_CHANCE), arm("most", say.MOST_FIRST)),
    figure=HALF,
    further=(WHOLE,),
    curves=(PRUNED,),
    equal=("parameters",),
    claims=(Claim(say.PRUNING_CLAIM, above="chance", below="least", figure="half"),),
)
