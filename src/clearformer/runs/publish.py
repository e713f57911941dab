"""A trained model as a folder that others read: config, weights, generation config, tokenizer, and a manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from torch import Tensor

from clearformer.checkpoint import weight_table
from clearformer.checkpoint.folder import RECIPE
from clearformer.checkpoint.reading import read_bounded
from clearformer.checkpoint.writing import save_into
from clearformer.families import GenerationDefaults, family_for
from clearformer.families.generation import token_keys, write_generation
from clearformer.families.heads import named_labels
from clearformer.spec import Spec

MAX_RECIPE = 1_000_000


def publish(
    folder: Path,
    spec: Spec,
    weights: Mapping[str, Tensor],
    files: Mapping[str, bytes],
    generation: GenerationDefaults | None = None,
    labels: Sequence[str] = (),
) -> None:
    """Write the model into a run folder, whose other files stay; the manifest lists what is published and the recipe.

    `weights` has the names of `model.named_parameters()`; the file has those of the first family that can say the spec.
    `files` are added under their plain names; `labels` name a classifier's classes. Raises CheckpointError; each file
    is then whole, the old or the new.
    """
    family, config = family_for(spec)
    if "id2label" in config:
        config |= named_labels(labels)
    save_into(
        folder,
        # Without them, transformers takes the ids of the family's first model for the special tokens.
        token_keys(generation or GenerationDefaults()) | config,
        weight_table.dump(family.table(spec), weights),
        write_generation(generation) if generation else None,
        {**files, RECIPE: read_bounded(folder / RECIPE, MAX_RECIPE)},
    )
