"""No √d_k: scores as wide as the dot products are (Vaswani et al. 2017 §3.2.1, footnote 4, arXiv 1706.03762).

How soon it is felt depends on how large queries and keys are. The paper's weights (Xavier) make them of variance one,
so that the scores of one head, 128 wide, deviate by √128 from the start; GPT-2's (0.02) begin small, and grow.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from clearformer.lab.edits import with_attention
from clearformer.lab.experiment import Claim, Experiment
from clearformer.lab.ground import ACCURACY, LEARNING_CURVE, LOSS, characters
from clearformer.lab.training_arm import TrainingArm
from clearformer.messages import Message
from clearformer.messages import lab_attention as say
from clearformer.spec import DecoderOnly, Initialisation, Normal, Spec, Xavier
from clearformer.tasks.models import Gpt

RECIPE = characters(Gpt(width=128, heads=1, layers=1), context=32)


def rebuilt(spec: Spec, scale: float | None, initial: Initialisation) -> Spec:
    assert isinstance(spec, DecoderOnly)
    return replace(with_attention(spec, scale=scale), initial=initial)


def arm(name: str, label: Message, scale: float | None, initial: Initialisation) -> TrainingArm:
    return TrainingArm(name=name, label=label, recipe=RECIPE, rebuild=partial(rebuilt, scale=scale, initial=initial))


EXPERIMENT = Experiment(
    name="no-scale",
    title=say.NO_SCALE,
    about=say.NO_SCALE_ABOUT,
    arms=(
        arm("scaled", say.SCALED, None, Xavier()),
        arm("unscaled", say.UNSCALED, 1.0, Xavier()),
        arm("scaled-small", say.SCALED_SMALL, None, Normal(0.02, residual_scaled=True)),
        arm("unscaled-small", say.UNSCALED_SMALL, 1.0, Normal(0.02, residual_scaled=True)),
    ),
    figure=LOSS,
    further=(ACCURACY,),
    curves=(LEARNING_CURVE,),
    equal=("parameters",),
    claims=(
        Claim(say.NO_SCALE_CLAIM, above="unscaled", below="scaled", figure="loss"),
        Claim(say.NO_SCALE_SMALL_CLAIM, above="unscaled-small", below="scaled-small", figure="loss"),
    ),
)
