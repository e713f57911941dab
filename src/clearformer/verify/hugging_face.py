"""transformers as the reference: its tensors in float32, and how much they move when it computes the same otherwise."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.checkpoint.tensor_file import TensorFile
from clearformer.errors import CheckpointError
from clearformer.families import family_of
from clearformer.spec import Language, Spec, Vector
from clearformer.store.resolve import Located
from clearformer.verify.pairs import Pair, Pairs, first_tensor, pairs_between, weights_among
from clearformer.verify.reading import Reading
from clearformer.verify.recording import Heard, Recording, keeper, silence
from clearformer.verify.transformers_model import open_with_transformers, silent

_ANSWERS = ("logits", "logits_per_text", "text_embeds", "image_embeds", "last_hidden_state")

EXACT = 4 * float(torch.finfo(torch.float32).eps)
"""Relative differences of this size are the last digits of its float32, even where no variation shows them."""


@dataclass
class Foreign:
    """An opened model. `spec` is what its config means, where that can be said; `head` its own output matrix."""

    model: Any
    spec: Spec | None
    head: Tensor | None
    pairs: Pairs
    drawn: tuple[str, ...] = ()
    """Weights that it did not find in the files, and drew."""
    left_out: list[str] = field(default_factory=list)
    """Variations that this model has no code for."""

    def record(self, reading: Reading, answer: str, heard: Heard = silence) -> Recording:
        """One pass. What it returns is kept as `answer`, the name that ours has."""
        seen, listen = keeper(reading.first, heard=heard)
        with self._heard(listen, reading.data.shape[1]), torch.inference_mode(), silent():
            output = self.model(**self._given(reading))
        for key in _ANSWERS:
            if key in output:
                seen.pop(answer, None)
                listen(answer, output[key])
                break
        return seen

    def variations(self, reading: Reading, answer: str, heard: Heard = silence) -> dict[str, Recording]:
        """The pass with another number of threads, as a row of a batch, with fused attention, and with float64 weights.

        The model is not what it was afterwards."""
        found: dict[str, Recording] = {}
        before = torch.get_num_threads()
        torch.set_num_threads(1 if before > 1 else 2)
        try:
            found["threads"] = self.record(reading, answer, heard)
        finally:
            torch.set_num_threads(before)
        try:
            found["batch"] = self.record(reading.twice(), answer, heard)
        except ValueError:
            # A classifier without a padding token reads no batch.
            self.left_out.append("batch")
        try:
            with silent():
                self.model.set_attn_implementation("sdpa")
            found["sdpa"] = self.record(reading, answer, heard)
        except (ValueError, ImportError):
            self.left_out.append("sdpa")
        try:
            self._widen()
            with silent():
                self.model.set_attn_implementation("eager")
            found["float64"] = self.record(reading, answer, heard)
        except RuntimeError:
            self.left_out.append("float64")
        return found

    def _widen(self) -> None:
        """Its weights as float64, for good; what it computes in float32 all the same stays so."""
        self.model.double()
        # torch's product of grouped experts has no float64, and GPT-2's own upcast to float32 refuses it.
        self.model.config._experts_implementation = "eager"
        for module in self.model.modules():
            if hasattr(module, "reorder_and_upcast_attn"):
                module.reorder_and_upcast_attn = False

    def _given(self, reading: Reading) -> dict[str, object]:
        """The reading under the names that transformers gives to it."""
        data = reading.data
        if data.is_floating_point():
            return {"pixel_values": data.to(self.model.dtype)}
        given: dict[str, object] = {"input_ids": data, "attention_mask": torch.ones_like(data)}
        if reading.beside is not None and reading.beside.is_floating_point():
            given["pixel_values"] = reading.beside.to(self.model.dtype)
        elif reading.beside is not None:
            given |= {"decoder_input_ids": reading.beside, "decoder_attention_mask": torch.ones_like(reading.beside)}
        if reading.segments is not None and getattr(self.model.config, "type_vocab_size", None):
            given["token_type_ids"] = reading.segments
        return given

    @contextlib.contextmanager
    def _heard(self, listen: Callable[[str, Tensor], None], positions: int) -> Iterator[None]:
        """Hooks on every paired module while the body runs."""
        handles = []

        def hear(name: str, names_of: Callable[[Any], Iterable[tuple[str, Tensor]]]) -> None:
            def hook(module: nn.Module, given: object, output: Any) -> None:
                for ours, value in names_of(output):
                    listen(ours, value)

            handles.append(self.model.get_submodule(name).register_forward_hook(hook))

        def hear_input(name: str, ours: str) -> None:
            def hook(module: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> None:
                if (value := first_tensor((*given, *named.values()))) is not None:
                    listen(ours, value)

            module = self.model.get_submodule(name)
            handles.append(module.register_forward_pre_hook(hook, with_kwargs=True))

        for pair in self.pairs.modules:
            hear(pair.theirs, partial(_parts, pair, positions))
        for theirs, ours in self.pairs.blocks.items():
            hear(theirs, partial(_found, f"{ours}.output", first_tensor))
            if ours.endswith(".blocks.0"):
                hear_input(theirs, ours.removesuffix("blocks.0") + "embed")
        for theirs, ours in self.pairs.attentions.items():
            hear(theirs, partial(_found, f"{ours}.weights", weights_among))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()


def _parts(pair: Pair, positions: int, output: Any) -> Iterator[tuple[str, Tensor]]:
    """What a paired module gives, cut as its weights are. Norms of heads stand before or behind the positions."""
    if isinstance(output, Tensor) and output.dim() >= 2:
        heads_first = output.dim() == 4 and output.shape[1] != positions
        yield from pair.parts(output.transpose(1, 2) if heads_first else output)


def _found(name: str, search: Callable[[Any], Tensor | None], output: Any) -> Iterator[tuple[str, Tensor]]:
    if (value := search(output)) is not None:
        yield name, value


def open_foreign(located: Located, file: TensorFile, spec: Spec, our_names: tuple[str, ...]) -> Foreign:
    """The model that transformers makes of the same files, its modules paired with ours by the weight table."""
    model, drawn = open_with_transformers(located)
    with silent():
        model.set_attn_implementation("eager")
    config = model.config.to_dict()
    config.setdefault("architectures", [type(model).__name__])
    family = family_of(config)
    try:
        its_spec: Spec | None = family.read(config | {"architectures": [type(model).__name__]})
    except CheckpointError:
        its_spec = None
    embeddings = model.get_output_embeddings() if hasattr(model, "get_output_embeddings") else None
    head = None if embeddings is None else embeddings.weight.detach().double()
    return Foreign(model, its_spec, head, pairs_between(family.table(spec), our_names, model, file), drawn)


def comparable_answer(spec: Spec, foreign: Foreign) -> bool:
    """A sentence vector is made by sentence-transformers from what transformers gives."""
    head = getattr(spec, "head", None)
    made_by_us = isinstance(head, Vector) and isinstance(foreign.spec, type(spec))
    return not (made_by_us and not isinstance(getattr(foreign.spec, "head", None), Vector | Language))
