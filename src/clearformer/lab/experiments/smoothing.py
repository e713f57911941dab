"""Label smoothing: a little of the target is given to every other token (Vaswani et al. 2017 §5.4, arXiv 1706.03762).

The loss below is measured without it, on validation text: it is what perplexity is the exponential of.
"""

from __future__ import annotations

from dataclasses import replace

from clearformer.lab.experiment import Claim, Experiment
from clearformer.lab.ground import ACCURACY, LEARNING_CURVE, LOSS, characters
from clearformer.lab.training_arm import TrainingArm
from clearformer.messages import lab_sublayers as say
from clearformer.messages import verbatim
from clearformer.train.recipe import LossSettings


def arm(name: str, share: float) -> TrainingArm:
    label = verbatim(f"{share:g}", f"{share:g}")
    return TrainingArm(name=name, label=label, recipe=replace(characters(), loss=LossSettings(smoothing=share)))


EXPERIMENT = Experiment(
    name="smoothing",
    title=say.SMOOTHING,
    about=say.SMOOTHING_ABOUT,
    arms=(arm("none", 0.0), arm("tenth", 0.1), arm("third", 0.3)),
    figure=LOSS,
    further=(ACCURACY,),
    curves=(LEARNING_CURVE,),
    equal=("parameters",),
    claims=(
        Claim(say.SMOOTHING_LOSS, above="tenth", below="none", figure="loss"),
        Claim(say.SMOOTHING_ACCURACY, above="tenth", below="none", figure="accuracy"),
    ),
)
