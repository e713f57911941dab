"""More heads at equal parameters: H heads of D/H numbers each, whatever H (Vaswani et al. 2017 §3.2.2, Table 3 A)."""

from __future__ import annotations

from clearformer.lab.experiment import Experiment
from clearformer.lab.ground import ACCURACY, LEARNING_CURVE, LOSS, characters
from clearformer.lab.training_arm import TrainingArm
from clearformer.messages import Message
from clearformer.messages import lab_attention as say
from clearformer.tasks.models import Gpt

WIDTH = 128


def arm(heads: int) -> TrainingArm:
    label = Message(*(say.HEADS_OF.text(language, heads=heads, width=WIDTH // heads) for language in ("en", "zh")))
    recipe = characters(Gpt(width=WIDTH, heads=heads, layers=2), context=32)
    return TrainingArm(name=f"{heads}-heads", label=label, recipe=recipe)


EXPERIMENT = Experiment(
    name="heads",
    title=say.HEADS,
    about=say.HEADS_ABOUT,
    arms=tuple(arm(heads) for heads in (1, 4, 8, 32)),
    figure=LOSS,
    further=(ACCURACY,),
    curves=(LEARNING_CURVE,),
    equal=("parameters", "cache_bytes"),
)
