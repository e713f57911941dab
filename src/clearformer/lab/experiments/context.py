"""One word in two sentences: its vectors differ, and by sense (Ethayarajh 2019, arXiv 1909.00512)."""

from __future__ import annotations

from torch.nn.functional import cosine_similarity

from clearformer.inspect.capture import capture
from clearformer.lab.experiment import Claim, Curve, Experiment, Figure, Outcome
from clearformer.lab.reading_arm import ReadingArm, place_of
from clearformer.load import Loaded
from clearformer.messages import Message
from clearformer.messages import lab_looking as say

MODEL = "minilm-l6"
# A word; two sentences in one sense, and one in another.
WORDS = (
    ("bank", "she put her money in the bank .", "the bank lent him the money .", "they sat on the bank of the river ."),
    (
        "match",
        "he lit the candle with a match .",
        "the match burned his fingers .",
        "they won the match by two goals .",
    ),
    ("bat", "a bat flew out of the dark cave .", "the bat hung from the roof .", "he hit the ball with his bat ."),
    ("seal", "the seal swam under the ice .", "a seal caught a fish .", "the letter bore the seal of the king ."),
    ("spring", "flowers come up in spring .", "in spring the days grow longer .", "a spring in the mattress broke ."),
    ("plant", "water the plant every day .", "the plant grew new leaves .", "the plant employs many workers ."),
    ("light", "turn on the light , it is dark .", "the light of the lamp was weak .", "the bag was light to carry ."),
    ("ring", "he gave her a gold ring .", "the ring on her finger shone .", "i heard the phone ring twice ."),
)


def cosines(loaded: Loaded, given: tuple[str, ...]) -> Outcome:
    """The cosine of the word's two vectors: of the input embedding, and after each layer."""
    word, *sentences = given
    assert loaded.tokenizer is not None
    vectors = []
    for sentence in sentences:
        seen = capture(loaded, sentence, "**.embed", "**.blocks.*.output")
        at = place_of(loaded, loaded.tokenizer.encode(sentence), word)
        vectors.append([value[0, at].double() for value in seen.values()])
    found = [float(cosine_similarity(one, other, 0)) for one, other in zip(*vectors, strict=True)]
    figures = {"cosine": found[-1], "first": found[0]}
    return Outcome(figures, {"cosine": (list(map(float, range(len(found)))), found)})


def arm(name: str, label: Message, other: int) -> ReadingArm:
    pairs = tuple((word, first, others[other]) for word, first, *others in WORDS)
    return ReadingArm(name=name, label=label, model=MODEL, sentences=pairs, look=cosines)


EXPERIMENT = Experiment(
    name="context",
    title=say.CONTEXT,
    about=say.CONTEXT_ABOUT,
    arms=(arm("same-sense", say.SAME_SENSE, 0), arm("other-sense", say.OTHER_SENSE, 1)),
    figure=Figure("cosine", say.COSINE, higher_is_better=True),
    further=(Figure("first", say.FIRST_COSINE, higher_is_better=True),),
    curves=(Curve("cosine", say.LAYER, say.COSINE_Y),),
    claims=(Claim(say.CONTEXT_CLAIM, above="same-sense", below="other-sense", figure="cosine"),),
    seeds=len(WORDS),
    steps=1,
)
