"""The options of `clearformer doctor`: what is handed in beside the module, and how the diagnosis is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Parameter

from clearformer.cli.flags import Progressing, Whole


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Examining(Progressing):
    """What is known of the model, what else is looked at, and what comes out."""

    kind: Literal["decoder", "encoder", "encoder-decoder", "forecaster"] | None = None
    """What the model is meant to be; some laws are those of decoders alone."""
    vocab: Whole | None = None
    """Tokens in the vocabulary: the model is given ids below this."""
    context: Whole | None = None
    """The longest input that the model takes, in tokens."""
    window: Whole | None = None
    """Positions that a token sees, itself included, where that is meant to be limited."""
    heads: Whole | None = None
    """Attention heads, where the model does not say."""
    tied: Annotated[bool | None, Parameter(negative="--untied")] = None
    """Embedding and output are meant to be one matrix; --untied: two."""
    pad: Whole | None = None
    """The id that pads."""
    bos: Whole | None = None
    """The id that begins a text."""
    eos: Whole | None = None
    """The id that ends a text."""
    call: str | None = None
    """How the model is called, such as 'ids=input_ids mask=attention_mask:keep', where it cannot be found out."""
    loss: str | None = None
    """The loss, as FILE.py:NAME."""
    collate: str | None = None
    """What makes a batch of examples, as FILE.py:NAME."""
    tokenizer: str | None = None
    """A tokenizer's file or folder, or FILE.py:NAME."""
    generate: str | None = None
    """What continues ids, as FILE.py:NAME."""
    sample: str | None = None
    """What turns logits into those sampled from, as FILE.py:NAME."""
    penalise: str | None = None
    """A repetition penalty, as FILE.py:NAME."""
    beam: str | None = None
    """A beam search, as FILE.py:NAME."""
    train: str | None = None
    """The training loop, as FILE.py:NAME."""
    resume: str | None = None
    """Training that goes on from a folder, as FILE.py:NAME."""
    loader: str | None = None
    """What gives an epoch's batches, as FILE.py:NAME."""
    forecast: str | None = None
    """A forecasting pipeline, scaling included, as FILE.py:NAME."""
    reference: str | None = None
    """A module that is known to be right and takes the same weights, as FILE.py:NAME."""
    symptom: str | None = None
    """What you see, in your own words or by its number in docs/doctor.md: its checks come first."""
    only: Annotated[tuple[str, ...], Parameter(consume_multiple=1)] = ()
    """Only these checks, such as K01 K05."""
    quick: bool = False
    """Only the checks that take little, in under ten seconds."""
    watch: bool = False
    """Follow a run's metrics while it trains, and speak up when one of its laws breaks."""
    html: str | None = None
    """Write the diagnosis into this file as a page that opens offline."""
    sarif: str | None = None
    """Write the diagnosis into this file as SARIF 2.1.0, for code hosts."""
    time_limit: float = 180.0
    """Seconds after which your code is ended."""
    memory_limit: str | None = None
    """Memory that your code may take, such as 8GB; most of what is free if left out."""
    network: bool = False
    """Let your code reach the network."""
    env: Annotated[tuple[str, ...], Parameter(consume_multiple=1)] = ()
    """Variables of the environment that your code may see beside the harmless ones."""


EXAMINING = Examining()
