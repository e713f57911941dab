"""Norms before or behind the sublayers, with and without warm-up (Xiong et al. 2020, arXiv 2002.04745).

The paper's layers stand six deep, at a rate that is high for them: where the norm is behind, gradients near the output
are large at the start, and the warm-up is what holds them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from clearformer.lab.edits import with_blocks, with_stacks
from clearformer.lab.experiment import Claim, Experiment
from clearformer.lab.gradients import BY_BLOCK, gradients_by_block
from clearformer.lab.ground import ACCURACY, LEARNING_CURVE, LOSS, characters
from clearformer.lab.training_arm import TrainingArm
from clearformer.messages import Message
from clearformer.messages import lab_choices as say
from clearformer.spec import DecoderOnly, LayerNorm, Placement, Sequential, Spec, Xavier
from clearformer.tasks.models import Gpt

RECIPE = characters(Gpt(width=96, heads=4, layers=6), lr=4e-3)


def placed(spec: Spec, placement: Placement) -> Spec:
    assert isinstance(spec, DecoderOnly)
    final = None if placement == "post" else LayerNorm()
    spec = with_blocks(spec, lambda block: replace(block, arrangement=Sequential(placement)))
    return replace(with_stacks(spec, lambda stack: replace(stack, final_norm=final)), initial=Xavier())


def arm(name: str, label: Message, placement: Placement, warmup: float) -> TrainingArm:
    return TrainingArm(
        name=name,
        label=label,
        recipe=RECIPE,
        rebuild=partial(placed, placement=placement),
        warmup=warmup,
        before=gradients_by_block,
    )


EXPERIMENT = Experiment(
    name="norm-placement",
    title=say.PLACEMENT,
    about=say.PLACEMENT_ABOUT,
    arms=(
        arm("pre-warm", say.PRE_WARM, "pre", 0.2),
        arm("pre-cold", say.PRE_COLD, "pre", 0.0),
        arm("post-warm", say.POST_WARM, "post", 0.2),
        arm("post-cold", say.POST_COLD, "post", 0.0),
    ),
    figure=LOSS,
    further=(ACCURACY,),
    curves=(LEARNING_CURVE, BY_BLOCK),
    claims=(
        Claim(say.PLACEMENT_CLAIM, above="post-warm", below="pre-warm", figure="loss"),
        Claim(say.WARMUP_CLAIM, above="post-cold", below="post-warm", figure="loss"),
    ),
)
