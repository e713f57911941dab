"""Fewer key/value heads: what a smaller cache costs in loss (MQA: arXiv 1911.02150; GQA: arXiv 2305.13245)."""

from __future__ import annotations

from functools import partial

from clearformer.lab.edits import with_attention
from clearformer.lab.experiment import Claim, Experiment
from clearformer.lab.ground import ACCURACY, LEARNING_CURVE, LOSS, characters
from clearformer.lab.training_arm import TrainingArm
from clearformer.messages import Message
from clearformer.messages import lab_choices as say
from clearformer.spec import Spec
from clearformer.tasks.models import Gpt

RECIPE = characters(Gpt(width=128, heads=8, layers=2))


def shared(spec: Spec, kv_heads: int) -> Spec:
    return with_attention(spec, kv_heads=kv_heads)


def arm(name: str, label: Message, kv_heads: int) -> TrainingArm:
    return TrainingArm(name=name, label=label, recipe=RECIPE, rebuild=partial(shared, kv_heads=kv_heads))


EXPERIMENT = Experiment(
    name="kv-heads",
    title=say.KV_HEADS,
    about=say.KV_HEADS_ABOUT,
    arms=(arm("mha", say.MHA, 8), arm("gqa", say.GQA, 2), arm("mqa", say.MQA, 1)),
    figure=LOSS,
    further=(ACCURACY,),
    curves=(LEARNING_CURVE,),
    claims=(Claim(say.MQA_CLAIM, above="mqa", below="mha", figure="loss"),),
)
