"""Fewer key/value heads: what a smaller cache costs in loss (MQA: arXiv 1911.02150; GQA: arXiv 2305.13245).

What the key/value projections save goes to the feed-forward networks, as in the MQA paper (§4.1), so that the arms have
equally many parameters and differ in their caches alone.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from clearformer.lab.edits import with_attention, with_blocks
from clearformer.lab.experiment import Claim, Experiment
from clearformer.lab.ground import ACCURACY, LEARNING_CURVE, LOSS, characters
from clearformer.lab.training_arm import TrainingArm
from clearformer.messages import Message
from clearformer.messages import lab_choices as say
from clearformer.spec import Biases, Dense, Spec
from clearformer.tasks.models import Gpt

WIDTH, HEADS, HIDDEN = 128, 8, 512
RECIPE = characters(Gpt(width=WIDTH, heads=HEADS, layers=2))


def shared(spec: Spec, kv_heads: int) -> Spec:
    """A head fewer saves two matrices of D × D/H; D/H more feed-forward units are two as well. Biases would not match,
    and are left out."""
    wider = HIDDEN + (HEADS - kv_heads) * WIDTH // HEADS
    feedforward = Dense(wider, "gelu_tanh", bias=False)
    spec = with_attention(spec, kv_heads=kv_heads, bias=Biases())
    return with_blocks(spec, lambda block: replace(block, feedforward=feedforward))


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
    equal=("parameters",),
    claims=(Claim(say.MQA_CLAIM, above="mqa", below="mha", figure="loss"),),
)
