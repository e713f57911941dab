"""LayerNorm or RMSNorm: is the mean worth subtracting? (Zhang and Sennrich 2019, arXiv 1910.07467)

LayerNorm stands without its bias, so that the subtracted mean is all that the arms differ in, and no parameter.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from clearformer.lab.edits import with_blocks, with_stacks
from clearformer.lab.experiment import Experiment
from clearformer.lab.ground import ACCURACY, LEARNING_CURVE, LOSS, characters
from clearformer.lab.training_arm import TrainingArm
from clearformer.messages import Message
from clearformer.messages import lab_choices as say
from clearformer.spec import LayerNorm, Norm, RMSNorm, Spec


def normed(spec: Spec, norm: Norm) -> Spec:
    spec = with_blocks(spec, lambda block: replace(block, attention_norm=norm, feedforward_norm=norm))
    return with_stacks(spec, lambda stack: replace(stack, final_norm=norm))


def arm(name: str, label: Message, norm: Norm) -> TrainingArm:
    return TrainingArm(name=name, label=label, recipe=characters(), rebuild=partial(normed, norm=norm))


EXPERIMENT = Experiment(
    name="norms",
    title=say.NORMS,
    about=say.NORMS_ABOUT,
    arms=(arm("layernorm", say.LAYERNORM, LayerNorm(bias=False)), arm("rmsnorm", say.RMSNORM, RMSNorm(1e-5))),
    figure=LOSS,
    further=(ACCURACY,),
    curves=(LEARNING_CURVE,),
    equal=("parameters",),
)
