"""The oracle: a Hugging Face model with weights as large as trained ones, and the distance to ours.

At default initialisation a wrong activation or a missing norm stays within any tolerance; at this size it does not.
"""

from __future__ import annotations

import copy
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from transformers import PreTrainedModel

from clearformer.generate.settings import Options
from clearformer.generate.speak import Generation
from clearformer.load import Loaded, load

LENGTH, ROWS = 40, 3


@dataclass(frozen=True)
class Batch:
    """Ids of unequal rows, padded on the right; `segments` for encoders."""

    ids: torch.Tensor
    real: torch.Tensor
    segments: torch.Tensor

    def padded_left(self) -> Batch:
        """The same rows with their padding in front."""
        order = self.real.long().argsort(dim=1, stable=True)
        return Batch(self.ids.gather(1, order), self.real.gather(1, order), self.segments.gather(1, order))


@dataclass(frozen=True)
class Original:
    """A foreign model, the folder it was saved to, and its answers in float32 with their noise floor."""

    model: PreTrainedModel
    folder: Path
    batch: Batch
    answer: torch.Tensor
    tolerance: float

    def distance(self, loaded: Loaded) -> float:
        """The largest difference of our answer from the original's, over real positions."""
        ours = answer_of(loaded, self.batch)
        if ours.shape != self.answer.shape:
            return math.inf
        difference = (ours - self.answer).abs()
        return float(at_real(difference, self.batch).max())

    def distance_padded_left(self, loaded: Loaded) -> float:
        batch = self.batch.padded_left()
        difference = (answer_of(loaded, batch) - foreign_answer(self.model, batch)).abs()
        return float(at_real(difference, batch).max())

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
    bound = torch.full((ROWS,), batch.ids.shape[1])
    extra = {"segments": batch.segments} if loaded.model.role == "encoder" else {}
    with torch.no_grad():
        return loaded.model(batch.ids, real=batch.real, length_bound=bound, **extra)


def at_real(values: torch.Tensor, batch: Batch) -> torch.Tensor:
    """A head that answers at every position answers nothing of worth at padding."""
    return values[batch.real] if values.dim() == 3 else values


def foreign_answer(model: PreTrainedModel, batch: Batch) -> torch.Tensor:
    extra = {"token_type_ids": batch.segments} if model.config.model_type == "bert" else {}
    with torch.no_grad():
        output = model(input_ids=batch.ids, attention_mask=batch.real.long(), **extra)
    return output.logits if "logits" in output else output.last_hidden_state


@pytest.fixture(scope="session")
def make_batch() -> Callable[[int, int, int], Batch]:
    def make(vocabulary: int, segments: int, length: int) -> Batch:
        generator = torch.Generator().manual_seed(7)
        # Id 0 is the padding: transformers finds a sequence's last token by it.
        ids = torch.randint(1, vocabulary, (ROWS, length), generator=generator)
        real = torch.arange(length) < torch.tensor([length, length - 9, length // 3])[:, None]
        kinds = torch.randint(0, segments, (ROWS, length), generator=generator)
        return Batch(ids.masked_fill(~real, 0), real, kinds)

    return make


def draw(model: PreTrainedModel, seed: int) -> None:
    """Matrices, stacked ones too, N(0, (1.5/√fan_in)²), norm weights 1 ± 0.3, biases ± 0.3."""
    generator = torch.Generator().manual_seed(seed)
    # GPT-2's Conv1D keeps its matrices inputs first.
    inputs_first = model.config.model_type == "gpt2"
    for name, parameter in model.named_parameters():
        if parameter.dim() >= 2:
            table = "wte" in name or "wpe" in name or "score" in name or "lm_head" in name
            fan_in = parameter.shape[0 if inputs_first and not table else -1]
            parameter.data.normal_(0, 1.5 / math.sqrt(fan_in), generator=generator)
        else:
            centre = 0.0 if name.endswith("bias") else 1.0
            parameter.data.uniform_(centre - 0.3, centre + 0.3, generator=generator)
    for name, buffer in model.named_buffers():
        # A weight that DeepSeek-V3 keeps as a buffer.
        if name.endswith("e_score_correction_bias"):
            buffer.data.uniform_(-0.3, 0.3, generator=generator)


def in_double(model: PreTrainedModel) -> PreTrainedModel:
    double = copy.deepcopy(model).double()
    # The fused product over experts refuses float64.
    double.set_experts_implementation("eager")
    for module in double.modules():
        # GPT-2's own upcast to float32 refuses to run in float64.
        if hasattr(module, "reorder_and_upcast_attn"):
            module.reorder_and_upcast_attn = False
    return double


@pytest.fixture(scope="session")
def save_original(
    tmp_path_factory: pytest.TempPathFactory, make_batch: Callable[[int, int, int], Batch]
) -> Callable[..., Original]:
    """Draw a model's weights, save it as transformers does, and measure its answers' noise floor."""

    def save(model: PreTrainedModel, length: int = LENGTH) -> Original:
        draw(model, seed=3)
        model.eval()
        folder = tmp_path_factory.mktemp("original") / "model"
        model.save_pretrained(folder)
        config = model.config
        batch = make_batch(config.vocab_size, getattr(config, "type_vocab_size", 1), length)
        answer = foreign_answer(model, batch)
        exact = foreign_answer(in_double(model), batch)
        floor = float(at_real((answer - exact).abs(), batch).max())
        spread = float(at_real(answer, batch).max() - at_real(answer, batch).min())
        return Original(model, folder, batch, answer, max(1e-5 * spread, 4 * floor))

    return save


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
