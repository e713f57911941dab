"""ReLU, GELU or SwiGLU at equal parameters: a gate costs a third matrix, so its network is two thirds as wide
(Shazeer 2020, arXiv 2002.05202)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from clearformer.lab.edits import with_blocks
from clearformer.lab.experiment import Claim, Experiment
from clearformer.lab.ground import ACCURACY, LEARNING_CURVE, LOSS, characters
from clearformer.lab.training_arm import TrainingArm
from clearformer.messages import Message
from clearformer.messages import lab_choices as say
from clearformer.spec import Dense, Gated, Spec
from clearformer.spec import FeedForward as FeedForwardSpec

# 2 · 384 = 3 · 256; biases would be 1 · 384 + 128 against 2 · 256 + 128, and are left out.
WIDE, GATED = 384, 256


def fed(spec: Spec, feedforward: FeedForwardSpec) -> Spec:
    return with_blocks(spec, lambda block: replace(block, feedforward=feedforward))


def arm(name: str, label: Message, feedforward: FeedForwardSpec) -> TrainingArm:
    return TrainingArm(name=name, label=label, recipe=characters(), rebuild=partial(fed, feedforward=feedforward))


EXPERIMENT = Experiment(
    name="feedforward",
    title=say.FEEDFORWARD,
    about=say.FEEDFORWARD_ABOUT,
    arms=(
        arm("relu", say.RELU, Dense(WIDE, "relu", bias=False)),
        arm("gelu", say.GELU, Dense(WIDE, "gelu_tanh", bias=False)),
        arm("swiglu", say.SWIGLU, Gated(GATED, "silu")),
    ),
    figure=LOSS,
    further=(ACCURACY,),
    curves=(LEARNING_CURVE,),
    equal=("parameters",),
    claims=(
        Claim(say.GELU_CLAIM, above="relu", below="gelu", figure="loss"),
        Claim(say.SWIGLU_CLAIM, above="relu", below="swiglu", figure="loss"),
    ),
)
