"""A checkpoint's folder as the doctor reads it: its config, the headers of its weights, what belongs together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from clearformer.build import empty
from clearformer.checkpoint.folder import CONFIG, INDEX, MAX_CONFIG, WEIGHTS, open_weights
from clearformer.checkpoint.reading import given, read_json
from clearformer.checkpoint.renames import Table
from clearformer.checkpoint.tensor_file import TensorFile
from clearformer.checkpoint.weight_table import Reading, claims_of
from clearformer.doctor.check import NotApplicable
from clearformer.errors import CheckpointError
from clearformer.families import family_of
from clearformer.messages import doctor_files as say
from clearformer.messages import verbatim
from clearformer.spec import Spec


@dataclass(frozen=True)
class Understood:
    """A config whose family we know: what it describes, and how the file's names become ours."""

    spec: Spec
    table: Table
    shapes: Mapping[str, tuple[int, ...]]

    def expected(self) -> set[str]:
        """The file's own names of all that the config calls for."""
        return {name for claim in claims_of(self.table, tuple(self.shapes)) for name in claim.theirs}


def config_of(folder: Path) -> Mapping[str, object]:
    """Raises NotApplicable for a folder without a config, CheckpointError for one that cannot be read."""
    if not given(folder, CONFIG):
        raise NotApplicable(say.NO_CONFIG)
    return read_json(folder / CONFIG, MAX_CONFIG)


def weights_of(folder: Path) -> TensorFile:
    """The headers of the weights. Raises NotApplicable where there are none, CheckpointError for damaged ones."""
    if not given(folder, WEIGHTS) and not given(folder, INDEX):
        raise NotApplicable(say.NO_WEIGHTS)
    return open_weights(folder)


def understood(folder: Path) -> Understood:
    """Raises NotApplicable for a family that we do not know, CheckpointError and SpecError for an impossible config."""
    config = config_of(folder)
    try:
        family = family_of(config, folder / CONFIG)
    except CheckpointError as error:
        raise NotApplicable(say.OTHER_FAMILY, why=verbatim(error.cause("en"), error.cause("zh"))) from error
    spec = family.read(config, folder / CONFIG)
    shapes = {name: tuple(parameter.shape) for name, parameter in empty(spec).named_parameters()}
    return Understood(spec, family.table(spec), shapes)


def fault(known: Understood, tensors: TensorFile) -> CheckpointError | None:
    """Why the weights are not those that the config calls for; None where they are."""
    try:
        Reading(known.table, tensors, known.shapes)
    except CheckpointError as error:
        return error
    return None
