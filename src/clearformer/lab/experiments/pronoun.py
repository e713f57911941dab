"""Where a pronoun looks: the sentence about the cat and the mat by which attention is often explained, measured.

In half of the sentences the noun meant is the nearer one, so that nearness alone answers nothing. An encoder reads
them: what tells the nouns apart stands behind the pronoun, where a decoder has not read yet.
"""

from __future__ import annotations

from functools import partial
from typing import Literal

import torch

from clearformer.inspect.attention import attention
from clearformer.lab.experiment import Claim, Curve, Experiment, Figure, Outcome
from clearformer.lab.reading_arm import ReadingArm, place_of
from clearformer.load import Loaded
from clearformer.messages import Message
from clearformer.messages import lab_looking as say

MODEL = "minilm-l6"
Read = Literal["meant", "other", "first"]
# The noun that "it" stands for, the other noun, and the sentence.
SENTENCES = (
    ("cat", "mat", "The cat sat on the mat because it was tired."),
    ("mat", "cat", "The cat sat on the mat because it was soft."),
    ("dog", "rug", "The dog lay on the rug because it was sleepy."),
    ("rug", "dog", "The dog lay on the rug because it was warm."),
    ("horse", "stable", "The horse stood in the stable because it was hungry."),
    ("stable", "horse", "The horse stood in the stable because it was dry."),
    ("bird", "tree", "The bird sat in the tree because it was afraid."),
    ("tree", "bird", "The bird sat in the tree because it was tall."),
)


def attended(loaded: Loaded, given: tuple[str, ...], read: Read) -> Outcome:
    """How much of the attention of "it" goes to one token: the mean of all heads, the highest, and by layer."""
    meant, other, sentence = given
    assert loaded.tokenizer is not None
    found = attention(loaded, sentence)
    asking = place_of(loaded, found.ids, "it")
    key = 0 if read == "first" else place_of(loaded, found.ids, meant if read == "meant" else other)
    weights = torch.stack([found.maps[layer][:, asking, key] for layer in sorted(found.maps)]).double()
    layers = weights.mean(1).tolist()
    return Outcome(
        {"share": float(weights.mean()), "best": float(weights.max())},
        {"share": (list(map(float, range(len(layers)))), layers)},
    )


def arm(read: Read, label: Message) -> ReadingArm:
    look = partial(attended, read=read)
    return ReadingArm(name=read, label=label, model=MODEL, sentences=SENTENCES, look=look)


EXPERIMENT = Experiment(
    name="pronoun",
    title=say.PRONOUN,
    about=say.PRONOUN_ABOUT,
    arms=(arm("meant", say.MEANT), arm("other", say.OTHER_NOUN), arm("first", say.FIRST_TOKEN)),
    figure=Figure("share", say.SHARE, higher_is_better=True, form=".2%"),
    further=(Figure("best", say.BEST_HEAD, higher_is_better=True, form=".0%"),),
    curves=(Curve("share", say.LAYER, say.SHARE),),
    claims=(Claim(say.PRONOUN_CLAIM, above="meant", below="other", figure="share"),),
    seeds=len(SENTENCES),
    steps=1,
)
