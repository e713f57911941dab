"""No causal mask: every position sees the token that it is to predict, and nothing is learnt that could be used.

Letters drawn by chance cannot be foretold, so that whatever is right beyond one in sixteen was looked up. Each arm has
T5's biases of distance, two-sided: one number for the next place is all that the leak needs to be found.
"""

from __future__ import annotations

from dataclasses import replace

from clearformer.lab.edits import with_attention, with_stacks
from clearformer.lab.experiment import Claim, Experiment
from clearformer.lab.faults import no_mask
from clearformer.lab.ground import ACCURACY, FREE_RUNNING, LEARNING_CURVE, LOSS, characters
from clearformer.lab.training_arm import TrainingArm
from clearformer.messages import lab_attention as say
from clearformer.spec import RelativeBias, Spec
from clearformer.tasks.corpus import TextData
from clearformer.tasks.models import Gpt

MODEL = Gpt(width=64, heads=4, layers=1)
RECIPE = replace(characters(MODEL, lr=5e-3), data=TextData(path="chance", context=32, batch=16))


def with_biases(spec: Spec) -> Spec:
    spec = with_attention(spec, position=RelativeBias(buckets=16, max_distance=32, two_sided=True))
    return with_stacks(spec, lambda stack: replace(stack, input=replace(stack.input, position=None)))


EXPERIMENT = Experiment(
    name="no-mask",
    title=say.NO_MASK,
    about=say.NO_MASK_ABOUT,
    arms=(
        TrainingArm(name="masked", label=say.MASKED, recipe=RECIPE, rebuild=with_biases),
        TrainingArm(name="unmasked", label=say.UNMASKED, recipe=RECIPE, rebuild=with_biases, fault=no_mask),
    ),
    figure=ACCURACY,
    further=(FREE_RUNNING, LOSS),
    curves=(LEARNING_CURVE,),
    equal=("parameters",),
    claims=(Claim(say.NO_MASK_CLAIM, above="unmasked", below="masked", figure="accuracy"),),
)
