"""Models that no published family can say: the whole spec in config.json, the weights under their own names."""

from __future__ import annotations

from clearformer.checkpoint.renames import Table, Unchanged
from clearformer.families.config_reader import ConfigReader
from clearformer.families.family import Family
from clearformer.spec import Spec
from clearformer.spec.codec import from_json, to_json

MODEL_TYPE = "clearformer"


def _translate(config: ConfigReader, architecture: str) -> Spec:
    return from_json(config.raw("spec"))


def _to_config(spec: Spec) -> dict[str, object]:
    return {"model_type": MODEL_TYPE, "architectures": ["Clearformer"], "spec": to_json(spec)}


def _table(spec: Spec) -> Table:
    return (Unchanged(),)


OWN = Family(MODEL_TYPE, ("Clearformer",), _translate, _to_config, _table)
