"""One table for embedding and head, or two (Press and Wolf 2016, arXiv 1608.05859)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from clearformer.lab.experiment import Claim, Experiment
from clearformer.lab.ground import ACCURACY, LEARNING_CURVE, LOSS, characters
from clearformer.lab.training_arm import TrainingArm
from clearformer.messages import Message
from clearformer.messages import lab_choices as say
from clearformer.spec import DecoderOnly, Language, Spec
from clearformer.tasks.tokenizing import BytePair

RECIPE = replace(characters(), tokenizer=BytePair(1024))


def headed(spec: Spec, tied: bool) -> Spec:
    assert isinstance(spec, DecoderOnly)
    return replace(spec, head=Language(tied=tied))


def arm(name: str, label: Message, tied: bool) -> TrainingArm:
    return TrainingArm(name=name, label=label, recipe=RECIPE, rebuild=partial(headed, tied=tied))


EXPERIMENT = Experiment(
    name="tied",
    title=say.TIED,
    about=say.TIED_ABOUT,
    arms=(arm("tied", say.ONE_TABLE, True), arm("untied", say.TWO_TABLES, False)),
    figure=LOSS,
    further=(ACCURACY,),
    curves=(LEARNING_CURVE,),
    claims=(Claim(say.TIED_CLAIM, above="untied", below="tied", figure="loss"),),
)
