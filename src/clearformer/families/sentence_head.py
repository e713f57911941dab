"""The sentence vectors of sentence-transformers: files beside the model say how its hidden states become one vector."""

from __future__ import annotations

import json
from pathlib import Path

from clearformer.checkpoint.reading import given, inside, json_object, read_bounded, read_json
from clearformer.errors import CheckpointError
from clearformer.families.config_reader import ConfigReader
from clearformer.messages import families as say
from clearformer.spec import First, Head, Last, Mean, Pooling, SingleStack, Take, Vector, main_stack

MODULES = "modules.json"
_MAX_BYTES = 1_000_000
_TAKES: dict[str, Take] = {
    "pooling_mode_cls_token": First(),
    "pooling_mode_mean_tokens": Mean(),
    "pooling_mode_lasttoken": Last(),
}
_OTHER_MODES = ("max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens")


def read_sentence_head(folder: Path) -> Head | None:
    """The head that a sentence-transformers folder puts behind its model; None for other folders. Raises
    CheckpointError for modules beyond pooling and normalisation."""
    path = folder / MODULES
    if not given(folder, MODULES):
        return None
    # The file holds a list; as a member of an object it passes the same checks as every other JSON.
    content = b'{"modules":' + read_bounded(inside(folder, MODULES), _MAX_BYTES) + b"}"
    modules = json_object(content, path)["modules"]
    kinds: list[str] = []
    places: list[str] = []
    for module in modules if isinstance(modules, list) else [modules]:
        kind, place = (module.get("type"), module.get("path")) if isinstance(module, dict) else (None, None)
        if not isinstance(kind, str) or not isinstance(place, str):
            raise CheckpointError(say.BAD_MODULES, path=path, found=module)
        kinds.append(kind.rpartition(".")[2])
        places.append(place)
    if kinds[:2] != ["Transformer", "Pooling"] or kinds[2:] not in ([], ["Normalize"]):
        wrong = next((k for k in kinds if k not in ("Transformer", "Pooling", "Normalize")), ", ".join(kinds))
        raise CheckpointError(say.UNKNOWN_MODULE, path=path, found=wrong)
    if places[0]:
        raise CheckpointError(say.BAD_MODULES, path=path, found=places[0])
    return Vector(Pooling(_read_take(folder, places[1])), normalise=len(kinds) == 3)


def write_sentence_head(spec: SingleStack) -> dict[str, bytes]:
    """The files by which a sentence-transformers folder says this head; none for a head that they cannot say."""
    head = spec.head
    if not isinstance(head, Vector) or head != Vector(Pooling(head.pooling.take), normalise=head.normalise):
        return {}
    if (mode := next((key for key, take in _TAKES.items() if take == head.pooling.take), None)) is None:
        return {}
    parts = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": "2_Normalize"}
    modules = [
        {"idx": index, "name": str(index), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for index, (kind, path) in enumerate(parts.items())
    ]
    pooling = {"word_embedding_dimension": main_stack(spec).width, mode: True}
    return {
        MODULES: json.dumps(modules if head.normalise else modules[:-1], indent=2).encode(),
        f"{parts['Pooling']}/config.json": json.dumps(pooling, indent=2).encode(),
    }


def _read_take(folder: Path, place: str) -> Take:
    path = inside(inside(folder, place), "config.json")
    config = ConfigReader(read_json(path, _MAX_BYTES), path)
    chosen = [take for key, take in _TAKES.items() if config.flag(key, False)]
    for mode in _OTHER_MODES:
        config.only(f"pooling_mode_{mode}", False)
    # `include_prompt` concerns how instructions are pooled; without instructions it changes nothing.
    config.harmless(("word_embedding_dimension", "include_prompt"))
    config.finish()
    if len(chosen) != 1:
        config.cannot_say("pooling_mode_*", "one of cls_token, mean_tokens, lasttoken", f"{len(chosen)} of them")
    return chosen[0]
