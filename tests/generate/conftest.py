"""Small random models that speak bytes, and the slow path that they are compared with."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
import torch

from clearformer import spec as specs
from clearformer.build import build
from clearformer.families import GenerationDefaults
from clearformer.generate.reader import reads_prefix
from clearformer.generate.settings import Options
from clearformer.generate.speak import Generation, Result
from clearformer.model import DecoderOnly, EncoderDecoder, Model
from clearformer.spec.presets import modern_decoder, paper, tiny_gpt
from clearformer.text.byte_alphabet import spell
from clearformer.text.fast import FastTokenizer
from clearformer.text.tokenizer import Tokenizer

MARKS = ("<|begin|>", "<|end|>", "<|turn|>")
BEGIN, END, TURN = 256, 257, 258
VOCABULARY = 259
TEMPLATE = (
    "{% for m in messages %}{{ m.role }}: {{ m.content }}<|turn|>{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


@dataclass(frozen=True)
class Toy:
    """What `load` returns, made by hand."""

    model: Model
    name: str = "toy"
    tokenizer: Tokenizer | None = None
    generation: GenerationDefaults = field(default_factory=GenerationDefaults)
    template: str | None = None
    source_tokenizer: Tokenizer | None = None
    path: Path | None = None

    @property
    def spec(self) -> specs.Spec:
        return self.model.spec


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Matrices this small only wait for a second thread."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def bytes_tokenizer(*, begin: bool = True) -> FastTokenizer:
    """One token a byte, then the three marks."""
    import tokenizers

    words = {spell(bytes([byte])): byte for byte in range(256)}
    backend = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=words, merges=[]))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.decoder = tokenizers.decoders.ByteLevel()
    backend.add_special_tokens(list(MARKS))
    names = {"eos_token": MARKS[1], **({"bos_token": MARKS[0]} if begin else {})}
    return FastTokenizer(backend, names)


def large_weights(model: Model, seed: int = 0) -> Model:
    """Weights of trained size: at default initialisation every text is one token repeated."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 1.5 / math.sqrt(parameter.shape[-1]), generator=generator)
    return model.eval()


def small(spec: specs.Spec, seed: int = 0) -> Model:
    return large_weights(build(spec, dtype=torch.float64), seed)


def rotary(scaling: specs.RopeScaling | None = None, *, visibility: specs.Causal | None = None) -> specs.DecoderOnly:
    spec = modern_decoder(
        width=32, heads=4, kv_heads=2, hidden=48, layers=2, vocabulary=VOCABULARY, context=96, rope_base=100.0
    )
    attention = replace(
        spec.decoder.blocks[0].attention,
        position=specs.Rotary(100.0, scaling=scaling),
        visibility=visibility or specs.Causal(),
    )
    blocks = tuple(replace(block, attention=attention) for block in spec.decoder.blocks)
    return replace(spec, decoder=replace(spec.decoder, blocks=blocks))


SPECS: dict[str, Callable[[], specs.DecoderOnly]] = {
    "learned positions": lambda: tiny_gpt(width=32, heads=4, layers=2, vocabulary=VOCABULARY, context=96),
    "rotary, grouped": rotary,
    "window": lambda: rotary(visibility=specs.Causal(window=5)),
    "prefix": lambda: rotary(visibility=specs.Causal(prefix=True)),
    "dynamic NTK": lambda: rotary(specs.DynamicNTK(2.0, 16)),
    "LongRoPE": lambda: rotary(specs.LongRoPE((1.0, 1.5, 2.0, 2.5), (1.0, 2.0, 4.0, 8.0), 16, 1.1)),
}


@pytest.fixture(params=SPECS)
def decoder(request: pytest.FixtureRequest) -> Toy:
    """A decoder of each kind that decoding treats differently."""
    return Toy(small(SPECS[request.param]()))


@pytest.fixture(scope="session")
def translator() -> Toy:
    model = small(paper(width=32, heads=4, hidden=48, layers=2, vocabulary=VOCABULARY, context=96))
    return Toy(model, generation=GenerationDefaults(begin_id=BEGIN))


@pytest.fixture(scope="session")
def speaker() -> Toy:
    return Toy(small(rotary()), tokenizer=bytes_tokenizer(), template=TEMPLATE)


def by_hand(model: Model, prompt: Sequence[int], count: int) -> list[int]:
    """Greedy tokens from whole forward passes of the public model, the declared length given."""
    bound = torch.tensor([len(prompt) + count])
    if isinstance(model, EncoderDecoder):
        target = [BEGIN]
        for _ in range(count):
            target.append(int(model(torch.tensor([prompt]), torch.tensor([target]))[0, -1].argmax()))
        return target[1:]
    assert isinstance(model, DecoderOnly)
    ids = list(prompt)
    for _ in range(count):
        prefix = torch.tensor([len(prompt)]) if reads_prefix(model) else None
        logits = model(torch.tensor([ids]), prefix=prefix, length_bound=bound)
        ids.append(int(logits[0, -1].argmax()))
    return ids[len(prompt) :]


def run(speaker: Toy, prompts: Sequence[Sequence[int]], **options: object) -> list[Result]:
    generation = Generation(speaker, prompts, Options(**options))  # type: ignore[arg-type]
    for _ in generation.steps():
        pass
    return generation.results()


def random_prompts(*lengths: int, seed: int = 1) -> list[list[int]]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randint(0, 256, (length,), generator=generator).tolist() for length in lengths]


@pytest.fixture(scope="session")
def toys() -> object:
    """The functions above, for tests: a conftest cannot be imported."""
    import types

    return types.SimpleNamespace(**{name: globals()[name] for name in _SHARED})


_SHARED = ("Toy", "bytes_tokenizer", "small", "rotary", "by_hand", "run", "random_prompts", "BEGIN", "END", "TURN")
