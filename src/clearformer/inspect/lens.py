"""The logit lens: the residual stream after each layer read by the model's own head, as if it were the last.

nostalgebraist 2020, "interpreting GPT: the logit lens". A tuned lens puts a learnt map in between (`tuned_lens`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from clearformer.errors import UsageError
from clearformer.inspect.subject import Input, Subject, subject_of, undisturbed
from clearformer.layers.stack import Stack
from clearformer.load import Loaded
from clearformer.messages import lens as messages
from clearformer.model import DecoderOnly, EncoderDecoder, EncoderOnly, Model
from clearformer.spec import Language
from clearformer.taps import Listening
from clearformer.text.display import display_tokens

Map = Callable[[int, Tensor], Tensor]
"""From a row's number and its states B T D to states that the head can read."""

_TOP = 5


@dataclass(frozen=True)
class Guess:
    """A token that a layer would say, and how sure it is of it."""

    id: int
    token: str
    probability: float


@dataclass(frozen=True)
class LensReading:
    """What each layer would say at each position. A row is the embedding (`layers` None) or a block's output.

    `truth` is the token that came next (the token itself for an encoder, which fills gaps; for the last position
    None). `probability` and `rank` are the true token's, NaN and 0 where there is none; rank 1 is the likeliest.
    """

    tokens: tuple[str, ...]
    layers: tuple[int | None, ...]
    truth: tuple[str | None, ...]
    probability: Float[Tensor, "rows T"]
    rank: Int[Tensor, "rows T"]
    top: tuple[tuple[tuple[Guess, ...], ...], ...]
    tuned: bool = False

    def settled(self, position: int) -> int | None:
        """The first row's layer from which on the likeliest token is the last layer's."""
        final = self.top[-1][position][0].id
        row = len(self.top) - 1
        while row and self.top[row - 1][position][0].id == final:
            row -= 1
        return self.layers[row]


def lens(
    looked_at: Loaded | Model, given: Input, *, target: Sequence[int] | None = None, through: Map | None = None
) -> LensReading:
    """Read `given` once and ask every layer, through the final norm and the head, what it would say.

    Of a batch the first row is kept; of an encoder-decoder the decoder is asked while it reads `target` (the start
    token if none is given). `through` maps each layer's states first (`TunedLens`). The last layer's answer is the
    model's, bit for bit. Raises UsageError for a head without words, else as `subject_of` does.
    """
    subject = subject_of(looked_at, given, target)
    truth = truth_of(subject)
    found: list[tuple[Tensor, Tensor, Tensor, Tensor]] = []

    def ask(row: int, states: Tensor) -> None:
        mapped = states if through is None else through(row, states)
        found.append(_judge(answer(subject, mapped)[0], truth))

    with undisturbed(subject.model):
        listen_to_stream(subject, ask)
    return _reading(looked_at, subject, found, through is not None)


def listen_to_stream(subject: Subject, hear: Callable[[int, Tensor], None]) -> Tensor:
    """One pass; `hear(row, states)` gets the embedding (row 0) and every block's output B T D. The model's answer."""
    role = "decoder" if isinstance(subject.model, EncoderDecoder) else subject.model.role
    row = -1

    def listen(name: str, value: Tensor) -> None:
        nonlocal row
        row += 1
        hear(row, value)

    tap = Listening(listen, patterns=(f"{role}.embed", f"{role}.blocks.*.output"))
    inputs = [subject.data] if subject.target is None else [subject.data, subject.target]
    logits: Tensor = subject.model(*inputs, tap=tap)
    return logits


def answer(subject: Subject, states: Float[Tensor, "B T D"]) -> Float[Tensor, "B T V"]:
    """What the head says to states, taken for those of the last layer."""
    logits: Tensor = subject.model.logits(asked_stack(subject.model).final_norm(states))
    return logits


def asked_stack(model: DecoderOnly | EncoderOnly | EncoderDecoder) -> Stack:
    """The stack that the head reads. Raises UsageError for a head without words."""
    if not isinstance(model.spec.head, Language):
        raise UsageError(messages.NO_WORDS, found=type(model.spec.head).__name__)
    return model.decoder if isinstance(model, EncoderDecoder) else model.stack


def truth_of(subject: Subject) -> list[int | None]:
    """The token that each position should give, row 0 of the batch."""
    asked_stack(subject.model)
    data = subject.data if subject.target is None else subject.target
    ids: list[int] = data[0].tolist()
    return [*ids] if isinstance(subject.model, EncoderOnly) else [*ids[1:], None]


def _judge(
    logits: Float[Tensor, "T V"], truth: Sequence[int | None]
) -> tuple[Float[Tensor, " T"], Int[Tensor, " T"], Float[Tensor, "T k"], Int[Tensor, "T k"]]:
    """Probability and rank of the true tokens, and the likeliest tokens with theirs."""
    probabilities = logits.float().softmax(-1)
    known = torch.tensor([token is not None for token in truth], device=logits.device)
    wanted = torch.tensor([token or 0 for token in truth], device=logits.device)[:, None]
    own = logits.gather(-1, wanted)
    rank = ((logits > own).sum(-1) + 1) * known
    probability = probabilities.gather(-1, wanted)[:, 0].masked_fill(~known, torch.nan)
    best = probabilities.topk(min(_TOP, logits.shape[-1]), -1)
    return probability.cpu(), rank.cpu(), best.values.cpu(), best.indices.cpu()


def _reading(
    looked_at: Loaded | Model,
    subject: Subject,
    found: Sequence[tuple[Tensor, Tensor, Tensor, Tensor]],
    tuned: bool,
) -> LensReading:
    tokens = subject.tokens if subject.target is None else subject.target_tokens
    tokenizer = looked_at.tokenizer if isinstance(looked_at, Loaded) else None

    def word(token: int) -> str:
        return str(token) if tokenizer is None else display_tokens(tokenizer, [token])[0]

    top = tuple(
        tuple(
            tuple(Guess(token, word(token), share) for share, token in zip(shares, ids, strict=True))
            for shares, ids in zip(values.tolist(), indices.tolist(), strict=True)
        )
        for _, _, values, indices in found
    )
    return LensReading(
        tokens=tokens,
        layers=(None, *range(len(found) - 1)),
        # The labels of what was read, for there a character cut over several tokens is whole.
        truth=tokens if isinstance(subject.model, EncoderOnly) else (*tokens[1:], None),
        probability=torch.stack([probability for probability, *_ in found]),
        rank=torch.stack([rank for _, rank, *_ in found]),
        top=top,
        tuned=tuned,
    )
