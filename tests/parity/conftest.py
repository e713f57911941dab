"""The oracle: a Hugging Face model with weights as large as trained ones, and the distance to ours.

At default initialisation a wrong activation or a missing norm stays within any tolerance; at this size it does not.
"""

from __future__ import annotations

import copy
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest
import torch
from transformers import CLIPVisionModel, PreTrainedConfig, PreTrainedModel

from clearformer.generate.settings import Options
from clearformer.generate.speak import Generation
from clearformer.load import Loaded, load
from clearformer.model import EncoderDecoder
from clearformer.spec import Patches, Tokens, TwoTowers, main_stack
from parity.frame import BUFFERED, of_choice

LENGTH, ROWS = 40, 3


@dataclass(frozen=True)
class Batch:
    """Ids of unequal rows, padded on the right; `segments` for encoders, `pixels` for models that see, `target` for
    encoder-decoders."""

    ids: torch.Tensor
    real: torch.Tensor
    segments: torch.Tensor
    pixels: torch.Tensor | None = None
    target: torch.Tensor | None = None
    target_real: torch.Tensor | None = None

    def foreign(self, model: PreTrainedModel) -> dict[str, torch.Tensor]:
        """What transformers' model reads, under its names."""
        named: dict[str, torch.Tensor] = {}
        if model.main_input_name == "input_ids":
            named |= {"input_ids": self.ids, "attention_mask": self.real.long()}
        if self.pixels is not None:
            named["pixel_values"] = self.pixels
        if getattr(model.config, "type_vocab_size", 0):
            named["token_type_ids"] = self.segments
        if self.target is not None and self.target_real is not None:
            named |= {"decoder_input_ids": self.target, "decoder_attention_mask": self.target_real.long()}
        return named

    def at_real(self, values: torch.Tensor) -> torch.Tensor:
        """A head that answers at every position answers nothing of worth at padding; images have none."""
        real = self.real if self.target_real is None else self.target_real
        return values[real] if values.dim() == 3 and self.pixels is None else values

    def padded_left(self) -> Batch:
        """The same rows, their ends aligned; what an answer says of each place moves with it."""

        def moved(values: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
            shifts = (real.shape[1] - real.sum(1)).tolist()
            return torch.stack([row.roll(shift, 0) for row, shift in zip(values, shifts, strict=True)])

        source = (moved(part, self.real) for part in (self.ids, self.real, self.segments))
        if self.target is None or self.target_real is None:
            return Batch(*source, self.pixels)
        return Batch(*source, self.pixels, *(moved(part, self.target_real) for part in (self.target, self.target_real)))


@dataclass(frozen=True)
class Original:
    """A foreign model, the folder it was saved to, and its answers in float32 with their noise floor."""

    model: PreTrainedModel
    folder: Path
    batch: Batch
    answer: torch.Tensor
    tolerance: float

    def distance(self, loaded: Loaded, *, left: bool = False) -> float:
        """The largest difference of our answer from the original's, over real positions; with `left` our rows are
        padded on the other side, which no answer depends on."""
        batch = self.batch.padded_left() if left else self.batch
        return self._apart(batch.at_real(answer_of(loaded, batch)))

    def distance_of(self, model: PreTrainedModel) -> float:
        """The same of another foreign model."""
        return self._apart(self.batch.at_real(foreign_answer(model, self.batch)))

    def _apart(self, answer: torch.Tensor) -> float:
        expected = self.batch.at_real(self.answer)
        return float((answer - expected).abs().max()) if answer.shape == expected.shape else math.inf

    def greedy(self, lengths: Sequence[int], count: int) -> list[list[int]]:
        """What transformers writes, its cache on, after beginnings of the first row, padded in front."""
        longest = max(lengths)
        real = torch.arange(longest) >= longest - torch.tensor(lengths)[:, None]
        ids = torch.zeros_like(real, dtype=torch.long)
        for row, length in enumerate(lengths):
            ids[row, longest - length :] = self.batch.ids[0, :length]
        settings = {"max_new_tokens": count, "do_sample": False}
        return self.model.generate(ids, attention_mask=real.long(), **settings)[:, longest:].tolist()

    def greedy_by(self, loaded: Loaded, lengths: Sequence[int], count: int) -> list[list[int]]:
        """What we write after the same."""
        prompts = [self.batch.ids[0, :length].tolist() for length in lengths]
        generation = Generation(loaded, prompts, Options(max_new_tokens=count, temperature=0.0))
        for _ in generation.steps():
            pass
        return [result.token_ids for result in generation.results()]

    def agrees(self, loaded: Loaded) -> bool:
        return self.distance(loaded) <= self.tolerance


def answer_of(loaded: Loaded, batch: Batch) -> torch.Tensor:
    with torch.no_grad():
        if isinstance(loaded.model, EncoderDecoder):
            return loaded.model(batch.ids, batch.target, source_real=batch.real, target_real=batch.target_real)
        if isinstance(loaded.spec, TwoTowers):
            return loaded.model(batch.ids, batch.pixels, real=batch.real)
        source = main_stack(loaded.spec).input
        if isinstance(source, Patches):
            return loaded.model(batch.pixels)
        bound = torch.full((ROWS,), batch.ids.shape[1])
        extra = {"segments": batch.segments} if isinstance(source, Tokens) and source.segments else {}
        return loaded.model(batch.ids, real=batch.real, length_bound=bound, **extra)


ANSWERS = ("logits", "logits_per_text", "text_embeds", "image_embeds", "prediction_logits", "last_hidden_state")


def foreign_answer(model: PreTrainedModel, batch: Batch) -> torch.Tensor:
    with torch.no_grad():
        output = model(**batch.foreign(model))
    if isinstance(model, CLIPVisionModel):
        # Its hidden states lack the last norm, which the pooled token has.
        return output.pooler_output
    return next(output[key] for key in ANSWERS if key in output)


@pytest.fixture(scope="session")
def make_batch() -> Callable[[PreTrainedConfig, int], Batch]:
    def make(config: PreTrainedConfig, length: int) -> Batch:
        generator = torch.Generator().manual_seed(7)
        text, image = getattr(config, "text_config", config), getattr(config, "vision_config", config)
        # transformers finds a sequence's last token, and RoBERTa its positions, by the padding's id: no token has it.
        vocabulary, pad = getattr(text, "vocab_size", 2), getattr(text, "pad_token_id", None) or 0
        ids = (pad + torch.randint(1, vocabulary, (ROWS, length), generator=generator)) % vocabulary
        lengths = torch.tensor([length, length - 9, length // 3])
        real = torch.arange(length) < lengths[:, None]
        kinds = torch.randint(0, getattr(text, "type_vocab_size", 1), (ROWS, length), generator=generator)
        if text.model_type == "clip_text_model":
            ids[torch.arange(ROWS), lengths - 1] = vocabulary - 1 if text.eos_token_id == 2 else text.eos_token_id
        pixels = None
        if (sides := getattr(image, "image_size", None)) is not None:
            sides = (sides, sides) if isinstance(sides, int) else sides
            pixels = torch.randn(ROWS + 1, image.num_channels, *sides, generator=generator)
        batch = Batch(ids.masked_fill(~real, pad), real, kinds, pixels)
        return _with_target(batch, config, generator) if config.is_encoder_decoder else batch

    return make


def _with_target(batch: Batch, config: PreTrainedConfig, generator: torch.Generator) -> Batch:
    """Shorter than the source, and its rows of other lengths."""
    width = batch.ids.shape[1] // 2 + 3
    real = torch.arange(width) < torch.tensor([width - 7, width, width // 2])[:, None]
    vocabulary = getattr(config, "decoder_vocab_size", None) or config.vocab_size
    target = torch.randint(1, vocabulary, (ROWS, width), generator=generator).masked_fill(~real, 0)
    return replace(batch, target=target, target_real=real)


def draw(model: PreTrainedModel, seed: int) -> None:
    """Matrices, tables and kernels N(0, (1.5/√fan_in)²), norm weights 1 ± 0.3, biases ± 0.3."""
    generator = torch.Generator().manual_seed(seed)
    # GPT-2's Conv1D keeps its matrices inputs first.
    inputs_first = model.config.model_type == "gpt2"
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            # Marian's sines.
            continue
        if parameter.dim() in (2, 3):
            table = "wte" in name or "wpe" in name or "score" in name or "lm_head" in name
            fan_in = parameter.shape[0 if inputs_first and not table else -1]
            parameter.data.normal_(0, 1.5 / math.sqrt(fan_in), generator=generator)
        elif parameter.dim() == 4:
            # A convolution's kernel.
            parameter.data.normal_(0, 1.5 / math.sqrt(parameter[0].numel()), generator=generator)
        else:
            centre = 0.0 if name.endswith("bias") else 1.0
            parameter.data.uniform_(centre - 0.3, centre + 0.3, generator=generator)
    for name, buffer in model.named_buffers():
        if name.endswith(BUFFERED):
            buffer.data.uniform_(-0.3, 0.3, generator=generator)


def in_double(model: PreTrainedModel) -> PreTrainedModel:
    double = copy.deepcopy(model).double()
    # torch's product of grouped experts has no float64.
    double.config._experts_implementation = "eager"
    for module in double.modules():
        # GPT-2's own upcast to float32 refuses to run in float64.
        if hasattr(module, "reorder_and_upcast_attn"):
            module.reorder_and_upcast_attn = False
    return double


@pytest.fixture(scope="session")
def save_original(
    tmp_path_factory: pytest.TempPathFactory, make_batch: Callable[[PreTrainedConfig, int], Batch]
) -> Callable[..., Original]:
    """Draw a model's weights, save it as transformers does, and measure its answers' noise floor."""

    def save(model: PreTrainedModel, length: int = LENGTH, *, own_head: bool = False) -> Original:
        """`own_head`: transformers 5 parts T5's head from its table only where a file has both."""
        if own_head:
            model.lm_head.weight = torch.nn.Parameter(torch.empty_like(model.lm_head.weight))
        draw(model, seed=3)
        model.eval()
        folder = tmp_path_factory.mktemp("original") / "model"
        model.save_pretrained(folder)
        batch = make_batch(model.config, length)
        answer = foreign_answer(model, batch)
        exact = foreign_answer(in_double(model), batch)
        floor = float(batch.at_real((answer - exact).abs()).max())
        spread = float(batch.at_real(answer).max() - batch.at_real(answer).min())
        return Original(model, folder, batch, answer, max(1e-5 * spread, 4 * floor))

    return save


@pytest.fixture(scope="module")
def original(request: pytest.FixtureRequest, save_original: Callable[..., Original]) -> Callable[..., Original]:
    """By the name of a choice, the model that the module's tables make of it; made once."""

    @cache
    def make(choice: str, length: int = LENGTH) -> Original:
        kind, changes = of_choice(request.module, choice)
        return save_original(kind(kind.config_class(**request.module.SMALL | changes)), length)

    return make


@pytest.fixture(scope="session")
def with_config(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path, Mapping[str, object]], Path]:
    """A copy of a folder with config keys changed (None removes a key); the weights are the same file."""

    def write(folder: Path, changes: Mapping[str, object]) -> Path:
        config = json.loads((folder / "config.json").read_text())
        config = {key: value for key, value in {**config, **changes}.items() if value is not None}
        changed = tmp_path_factory.mktemp("changed") / "model"
        changed.mkdir()
        (changed / "config.json").write_text(json.dumps(config))
        os.link(folder / "model.safetensors", changed / "model.safetensors")
        return changed

    return write


@pytest.fixture(scope="session")
def load_folder() -> Callable[[Path], Loaded]:
    return lambda folder: load(folder)


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Models this small lose more by waiting for a second thread than they gain."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
