"""What the experiments on text stand on: one small recipe that needs no network, and the figures that they share."""

from __future__ import annotations

from clearformer.lab.experiment import Curve, Figure
from clearformer.lab.training_arm import LEARNING
from clearformer.messages import lab_machine as say
from clearformer.tasks.corpus import TextData
from clearformer.tasks.language import LanguageRecipe
from clearformer.tasks.models import DecoderChoice, Gpt
from clearformer.train.recipe import AdamW, Compute, Cosine

LOSS = Figure("loss", say.LOSS)
ACCURACY = Figure("accuracy", say.ACCURACY, higher_is_better=True)
FREE_RUNNING = Figure("free_running_accuracy", say.FREE_RUNNING, higher_is_better=True)
LEARNING_CURVE = Curve(LEARNING, say.LEARNING_X, say.LEARNING_Y)


def characters(model: DecoderChoice | None = None, *, context: int = 64, lr: float = 2e-3) -> LanguageRecipe:
    """The Python language reference letter by letter; two layers of GPT-2's design, 128 wide, if no model is given.

    Nothing is chosen by measuring, so that every arm and every machine computes alike.
    """
    return LanguageRecipe(
        optimizer=AdamW(lr=lr, weight_decay=0.0),
        schedule=Cosine(warmup=0, floor=0.1),
        data=TextData(path="pydoc", share=0.05, context=context, batch=16),
        model=model or Gpt(width=128, heads=4, layers=2),
        compute=Compute(compile="no", kernel="sdpa", switch="no"),
    )
