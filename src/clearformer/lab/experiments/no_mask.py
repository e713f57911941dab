"""No causal mask: every position sees the token that it is to predict, and nothing is learnt that could be used."""

from __future__ import annotations

from clearformer.lab.experiment import Claim, Experiment
from clearformer.lab.faults import no_mask
from clearformer.lab.ground import ACCURACY, FREE_RUNNING, LEARNING_CURVE, LOSS, characters
from clearformer.lab.training_arm import TrainingArm
from clearformer.messages import lab_attention as say

EXPERIMENT = Experiment(
    name="no-mask",
    title=say.NO_MASK,
    about=say.NO_MASK_ABOUT,
    arms=(
        TrainingArm(name="masked", label=say.MASKED, recipe=characters()),
        TrainingArm(name="unmasked", label=say.UNMASKED, recipe=characters(), fault=no_mask),
    ),
    figure=ACCURACY,
    further=(FREE_RUNNING, LOSS),
    curves=(LEARNING_CURVE,),
    equal=("parameters",),
    claims=(
        Claim(say.NO_MASK_CLAIM, above="unmasked", below="masked", figure="accuracy"),
        Claim(say.NO_MASK_USELESS, above="masked", below="unmasked", figure="free_running_accuracy"),
    ),
)
