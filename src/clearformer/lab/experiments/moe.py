"""Dense against a mixture at equal active parameters: a token passes two small experts of eight (Shazeer et al. 2017,
arXiv 1701.06538).

The router's weights count among the active ones, so that the dense network is as much wider as the router is large.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from clearformer.lab.edits import with_blocks
from clearformer.lab.experiment import Claim, Experiment
from clearformer.lab.ground import ACCURACY, LEARNING_CURVE, LOSS, characters
from clearformer.lab.training_arm import TrainingArm
from clearformer.messages import Message
from clearformer.messages import lab_sublayers as say
from clearformer.spec import Dense, Experts, SoftmaxRouter, Spec

EXPERTS, ACTIVE, WIDTH = 8, 2, 96
MIXTURE = Experts(
    count=EXPERTS,
    active=ACTIVE,
    expert=Dense(WIDTH, "gelu", bias=False),
    router=SoftmaxRouter("before", normalise=True),
    balance_loss=0.01,
)
# Two matrices of D × width a token, and a router of D × EXPERTS: the same as D × (width + EXPERTS / 2), twice.
DENSE = Dense(ACTIVE * WIDTH + EXPERTS // 2, "gelu", bias=False)


def rebuilt(spec: Spec, feedforward: Dense | Experts) -> Spec:
    return with_blocks(spec, lambda block: replace(block, feedforward=feedforward))


def arm(name: str, label: Message, feedforward: Dense | Experts) -> TrainingArm:
    return TrainingArm(name=name, label=label, recipe=characters(), rebuild=partial(rebuilt, feedforward=feedforward))


EXPERIMENT = Experiment(
    name="moe",
    title=say.MOE,
    about=say.MOE_ABOUT,
    arms=(arm("dense", say.DENSE, DENSE), arm("experts", say.EXPERTS, MIXTURE)),
    figure=LOSS,
    further=(ACCURACY,),
    curves=(LEARNING_CURVE,),
    equal=("active_parameters",),
    claims=(Claim(say.MOE_CLAIM, above="dense", below="experts", figure="loss"),),
)
