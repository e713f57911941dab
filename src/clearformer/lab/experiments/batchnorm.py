"""LayerNorm against BatchNorm, whose statistics are the batch's (Ba et al. 2016 §1, arXiv 1607.06450)."""

from __future__ import annotations

from clearformer.lab.batch_statistics import DEPENDENCE, GAP, batch_norms, training_against_use
from clearformer.lab.experiment import Claim, Experiment
from clearformer.lab.ground import LEARNING_CURVE, LOSS, characters
from clearformer.lab.training_arm import TrainingArm
from clearformer.messages import lab_sublayers as say

RECIPE = characters()

EXPERIMENT = Experiment(
    name="batchnorm",
    title=say.BATCH_NORM,
    about=say.BATCH_NORM_ABOUT,
    arms=(
        TrainingArm(name="layernorm", label=say.LAYER_NORM_ARM, recipe=RECIPE, look=training_against_use),
        TrainingArm(
            name="batchnorm", label=say.BATCH_NORM_ARM, recipe=RECIPE, fault=batch_norms, look=training_against_use
        ),
    ),
    figure=LOSS,
    further=(GAP, DEPENDENCE),
    curves=(LEARNING_CURVE,),
    equal=("parameters",),
    claims=(
        Claim(say.BATCH_NORM_CLAIM, above="batchnorm", below="layernorm", figure="loss"),
        Claim(say.BATCH_NORM_DEPENDS, above="batchnorm", below="layernorm", figure=DEPENDENCE.name),
        Claim(say.BATCH_NORM_GAP, above="batchnorm", below="layernorm", figure=GAP.name),
    ),
)
