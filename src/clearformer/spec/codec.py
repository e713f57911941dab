"""A spec as plain JSON and back, in the form that `typed` describes."""

from __future__ import annotations

from typing import Any

from clearformer import spec as specs
from clearformer.errors import SpecError
from clearformer.spec.typed import Reader, types_within, write


def to_json(spec: specs.Spec) -> dict[str, Any]:
    """The spec as nested dictionaries of JSON values."""
    written = write(spec)
    assert isinstance(written, dict)
    return written


def from_json(data: object) -> specs.Spec:
    """The spec that `to_json` wrote, or that a person wrote by hand."""
    read: specs.Spec = Reader(types_within(specs.Spec), SpecError).read(data, specs.Spec, "spec", "spec")
    return read
