"""No residual stream at depth six: x = f(norm(x)) for x = x + f(norm(x)) (He et al. 2015, arXiv 1512.03385)."""

from __future__ import annotations

from dataclasses import replace

from clearformer.lab.experiment import Claim, Experiment
from clearformer.lab.faults import Fault, no_residual
from clearformer.lab.gradients import BY_BLOCK, FIRST_OVER_LAST, gradients_by_block
from clearformer.lab.ground import ACCURACY, LEARNING_CURVE, LOSS, characters
from clearformer.lab.training_arm import TrainingArm
from clearformer.messages import Message
from clearformer.messages import lab_attention as say
from clearformer.spec import DecoderOnly, Spec, Xavier
from clearformer.tasks.models import Gpt


def drawn_by_xavier(spec: Spec) -> Spec:
    """Weights that keep a signal's size through each sublayer, so that depth alone is what it must survive."""
    assert isinstance(spec, DecoderOnly)
    return replace(spec, initial=Xavier())


def arm(name: str, label: Message, fault: Fault | None) -> TrainingArm:
    recipe = characters(Gpt(width=64, heads=4, layers=6), context=32)
    return TrainingArm(
        name=name, label=label, recipe=recipe, rebuild=drawn_by_xavier, fault=fault, before=gradients_by_block
    )


EXPERIMENT = Experiment(
    name="no-residual",
    title=say.NO_RESIDUAL,
    about=say.NO_RESIDUAL_ABOUT,
    arms=(arm("residual", say.RESIDUAL, None), arm("no-residual", say.WITHOUT_RESIDUAL, no_residual)),
    figure=LOSS,
    further=(ACCURACY, FIRST_OVER_LAST),
    curves=(LEARNING_CURVE, BY_BLOCK),
    equal=("parameters",),
    claims=(
        Claim(say.NO_RESIDUAL_CLAIM, above="no-residual", below="residual", figure="loss"),
        Claim(say.NO_RESIDUAL_GRADIENT, above="residual", below="no-residual", figure=FIRST_OVER_LAST.name),
    ),
)
