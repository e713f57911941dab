"""Text in, text out: `generate` for whole texts, `stream` piece by piece, `complete` for all there is to know."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, overload

import torch

from clearformer.errors import GenerationError, UsageError
from clearformer.generate.beam_decoding import BeamDecoding
from clearformer.generate.decode import Decoding, Step, Token, pad_left
from clearformer.generate.draft import Draft, StopReason, Writer
from clearformer.generate.native_reader import NativeReader
from clearformer.generate.reader import CachedReader, MutedReader, Reader, UncachedReader, device_of, reads_prefix
from clearformer.generate.sampling import Sampler
from clearformer.generate.settings import Options
from clearformer.generate.speaker import Speaker, end_ids, never_ids, prompt_ids, speaking_model, start_ids
from clearformer.layers.frame import Memory
from clearformer.messages import generate as messages
from clearformer.messages import native as say_of_native
from clearformer.model import EncoderDecoder
from clearformer.speed.backend import backend_of, dtype_of
from clearformer.speed.native import NativeDecoder


@dataclass(frozen=True)
class Result:
    """One text and how it came about.

    `token_ids` are the new ones, the ending one included; `cached_tokens` of the prompt were in the cache already.
    Speeds are those of the whole batch, None where nothing was measured. `seed` is None for greedy choice.
    """

    text: str
    token_ids: list[int]
    prompt_tokens: int
    new_tokens: int
    stop_reason: StopReason | Literal["interrupted"]
    prefill_tok_s: float | None
    decode_tok_s: float | None
    backend: str
    dtype: str
    seed: int | None
    cached_tokens: int
    tokens: tuple[Token, ...]
    """Each new token with its log-probabilities; empty unless they were asked for."""


class Generation:
    """A batch being written. Iterate `steps`; `results` holds at any moment what has been written so far.

    Row r draws its random numbers from a generator of its own, seeded with seed + r: in a batch it gets what its prompt
    gets alone with that seed. Raises GenerationError for a prompt that does not fit the context.
    """

    def __init__(
        self, speaker: Speaker, prompts: Sequence[Sequence[int]], options: Options, reader: Reader | None = None
    ) -> None:
        self._model = speaking_model(speaker)
        self._options = options
        self._prompt_lengths = [len(prompt) for prompt in prompts]
        if not prompts:
            raise UsageError(messages.NO_PROMPTS)
        if 0 in self._prompt_lengths:
            raise GenerationError(messages.NOTHING_TO_READ, number=self._prompt_lengths.index(0) + 1)
        device = device_of(self._model)
        sampling = options.sampling(speaker.generation)
        started = prompts
        if isinstance(self._model, EncoderDecoder):
            started = [start_ids(speaker)] * len(prompts)
        self.drafts = _drafts(speaker, started, options, self._model.spec.context)
        self.seed = None if sampling.greedy else secrets.randbelow(2**31) if options.seed is None else options.seed
        seeds = [row + (self.seed or 0) for row in range(len(prompts))]
        generators = [torch.Generator().manual_seed(seed % 2**63) for seed in seeds]
        self._cached = reader.length if reader else 0
        reader = reader or self._reader(speaker, prompts, device)
        if never := never_ids(speaker):
            reader = MutedReader(reader, never)
        self._decoding: Decoding | BeamDecoding
        if options.num_beams > 1:
            beams: dict[str, Any] = {"width": options.num_beams, "alpha": options.alpha, "ends": end_ids(speaker)}
            self._decoding = BeamDecoding(reader, self.drafts, **beams, device=device)
        else:
            sampler = Sampler(sampling, generators)
            self._decoding = Decoding(reader, self.drafts, sampler, device=device, top_logprobs=options.top_logprobs)
        self._tokens: list[list[Token]] = [[] for _ in prompts]

    def steps(self) -> Iterator[Step]:
        """One token a text at each step, until every text has ended; with beams, after the whole search."""
        for step in self._decoding.steps():
            if self._options.top_logprobs:
                for token in step:
                    self._tokens[token.row].append(token)
            yield step

    def results(self) -> list[Result]:
        """What has been written; a text that has not ended is "interrupted"."""
        return [self._result(row) for row in range(len(self.drafts))]

    def _result(self, row: int) -> Result:
        draft, clock = self.drafts[row], self._decoding.clock
        if draft.stop_reason is None:
            draft.close()
        read = sum(self._prompt_lengths) - self._cached
        later = sum(max(len(each.new) - 1, 0) for each in self.drafts)
        return Result(
            text=draft.text,
            token_ids=list(draft.new),
            prompt_tokens=self._prompt_lengths[row],
            new_tokens=len(draft.new),
            stop_reason=draft.stop_reason or "interrupted",
            prefill_tok_s=read / clock.prefill if clock.prefill else None,
            decode_tok_s=later / clock.decode if clock.decode else None,
            backend=backend_of(self._model),
            dtype=dtype_of(self._model),
            seed=self.seed,
            cached_tokens=self._cached,
            tokens=tuple(self._tokens[row]),
        )

    def _reader(self, speaker: Speaker, prompts: Sequence[Sequence[int]], device: torch.device) -> Reader:
        lengths = [len(draft.prompt) for draft in self.drafts]
        rooms = [draft.room for draft in self.drafts]
        # Rotary tables chosen by length are chosen by what a row may come to hold, so one table serves it to the end.
        bound = torch.tensor([length + room for length, room in zip(lengths, rooms, strict=True)], device=device)
        # The prompt of a prefix language model is its prefix.
        prefix = torch.tensor(lengths, device=device) if reads_prefix(self._model) else None
        capacity, chunk = max(lengths) + max(rooms), self._options.prefill_chunk
        if isinstance(self._model, NativeDecoder):
            if not self._options.use_cache:
                raise UsageError(say_of_native.UNSUPPORTED, why=say_of_native.NO_CACHE)
            return NativeReader(self._model, capacity=capacity, length_bound=bound, chunk=chunk)
        memory = self._encode(speaker, prompts, device)
        if not self._options.use_cache:
            return UncachedReader(self._model, length_bound=bound, prefix=prefix, memory=memory)
        return CachedReader(
            self._model,
            capacity=capacity,
            length_bound=bound,
            prefix=prefix,
            memory=memory,
            chunk=chunk,
        )

    @torch.inference_mode()
    def _encode(self, speaker: Speaker, prompts: Sequence[Sequence[int]], device: torch.device) -> Memory | None:
        """The source of an encoder-decoder, read once."""
        if not isinstance(self._model, EncoderDecoder):
            return None
        context = self._model.spec.context
        if max(self._prompt_lengths) > context:
            found = max(self._prompt_lengths)
            raise GenerationError(messages.SOURCE_TOO_LONG, name=speaker.name, found=found, context=context)
        ids, real = pad_left(prompts, device)
        return self._model.encode(ids, real=real)


def _drafts(speaker: Speaker, prompts: Sequence[Sequence[int]], options: Options, context: int) -> list[Draft]:
    ends, tokenizer = end_ids(speaker), speaker.tokenizer
    longest = max(map(len, prompts))
    if longest >= context:
        values = {"name": speaker.name, "found": longest, "context": context, "most": context - 1}
        raise GenerationError(messages.PROMPT_TOO_LONG, **values)
    return [
        Draft(
            prompt,
            limit=options.length(speaker.generation),
            context=context,
            stop_ids=ends,
            writer=Writer(tokenizer, options.stop) if tokenizer else None,
        )
        for prompt in prompts
    ]


@overload
def complete(speaker: Speaker, prompt: str, **options: Any) -> Result: ...
@overload
def complete(speaker: Speaker, prompt: Sequence[str], **options: Any) -> list[Result]: ...
def complete(speaker: Speaker, prompt: str | Sequence[str], **options: Any) -> Result | list[Result]:
    """Continue one text, or several as one batch; `speaker` is what `load` returns.

    `options` are the fields of `clearformer.generate.settings.Options`: max_new_tokens, temperature, top_k, top_p,
    min_p, repetition_penalty, seed, stop, top_logprobs, use_cache, prefill_chunk, num_beams, length_penalty.
    Raises UsageError for a model that cannot write or a setting out of range, GenerationError for a prompt that is
    empty or longer than the context, MachineError if the cache does not fit into memory.
    """
    # What is neither text nor a sequence of texts is refused, by its type, where it is encoded.
    prompts = list(prompt) if isinstance(prompt, list | tuple) else [cast("str", prompt)]
    generation = Generation(speaker, [prompt_ids(speaker, text) for text in prompts], Options(**options))
    for _ in generation.steps():
        pass
    results = generation.results()
    return results if isinstance(prompt, list | tuple) else results[0]


@overload
def generate(speaker: Speaker, prompt: str, **options: Any) -> str: ...
@overload
def generate(speaker: Speaker, prompt: Sequence[str], **options: Any) -> list[str]: ...
def generate(speaker: Speaker, prompt: str | Sequence[str], **options: Any) -> str | list[str]:
    """What follows one text, or each of several; as `complete`, the text alone."""
    if isinstance(prompt, str):
        return complete(speaker, prompt, **options).text
    return [result.text for result in complete(speaker, prompt, **options)]


def stream(speaker: Speaker, prompt: str, **options: Any) -> Iterator[str]:
    """What follows a text, piece by piece; joined, the pieces are what `generate` gives. Raises as `complete` does."""
    steps = Generation(speaker, [prompt_ids(speaker, prompt)], Options(**options)).steps()
    return (token.piece for step in steps for token in step if token.piece)
