"""From what is named to what a card is about: a config, what it means, and where in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from clearformer.card import entries
from clearformer.card.entries import Entry
from clearformer.checkpoint.reading import inside, read_json
from clearformer.errors import CheckpointError, UsageError
from clearformer.families import Examined, Family, family_of, gguf_form_of
from clearformer.families.own import MODEL_TYPE
from clearformer.families.sentence_head import read_sentence_head
from clearformer.messages import card as say
from clearformer.spec import DecoderOnly, EncoderOnly, Hidden, Spec, TwoTowers
from clearformer.spec.codec import from_json
from clearformer.store.resolve import Located

MAX_BYTES = 10_000_000
Progress = Callable[[int, int], None]


def silent(done: int, total: int) -> None:
    """No progress shown."""


@dataclass(frozen=True)
class Subject:
    """`family` is what the config calls itself, None where it does not; `loaded` says whether that is a family of ours.

    `specs` are those that could be read: the whole model's under "", and each tower's under its section.
    """

    name: str
    family: str | None
    loaded: bool
    entries: tuple[Entry, ...]
    examined: Examined
    specs: Mapping[str, Spec] = field(default_factory=dict)


def subject_of(model: str | Path | Mapping[str, object] | Spec, progress: Progress = silent) -> Subject:
    """What `model` names: a preset, a config or spec as a file or as an object, a folder, a GGUF file, or a model that
    `resolve` finds. Raises UsageError, StoreError or CheckpointError."""
    if isinstance(model, Mapping):
        return of_object(dict(model), Path("config.json"))
    if isinstance(model, Path | str):
        return _named(model, progress)
    if isinstance(model, Spec):
        return of_spec(model, type(model).__name__)
    raise UsageError(say.NO_SUBJECT, found=type(model).__name__)


def _named(model: str | Path, progress: Progress) -> Subject:
    from clearformer.store import resolve
    from clearformer.store.presets import spec_or_model

    name = str(model)
    if name.endswith(".json"):
        return of_object(read_json(Path(name), MAX_BYTES), Path(name))
    located = resolve(name, progress=progress) if isinstance(model, Path) else spec_or_model(name, progress=progress)
    if not isinstance(located, Located):
        return of_spec(located, name)
    if located.kind == "gguf":
        return of_gguf(located.path, located.name)
    path = inside(located.path, "config.json")
    return replace(_with_sentence_head(of_object(read_json(path, MAX_BYTES), path), located.path), name=located.name)


def of_spec(spec: Spec, name: str) -> Subject:
    """A spec of our own."""
    found = Examined(spec)
    return Subject(name, MODEL_TYPE, True, tuple(entries.of_spec(spec)), found, _towers(spec))


def of_object(config: Mapping[str, object], path: Path) -> Subject:
    """A config's object, or a spec's as `spec.codec` wrote it. Raises SpecError for a spec that is none."""
    if "type" in config and "model_type" not in config:
        return of_spec(from_json(dict(config)), str(path))
    family = _family(config, path)
    found = Examined() if family is None else family.examine(config, path)
    named = config.get("model_type")
    listed = [each for each in entries.of_config(config) if each.key != "spec" or found.spec is None]
    specs = {} if found.spec is None else _towers(found.spec)
    if named == MODEL_TYPE and found.spec is not None:
        listed += entries.of_spec(found.spec, "spec.")
    elif found.spec is None:
        found, specs = _towers_alone(config, path, found)
    return Subject(
        str(path),
        named if isinstance(named, str) else None,
        family is not None,
        tuple(listed),
        found,
        specs,
    )


def of_gguf(path: Path, name: str) -> Subject:
    """A GGUF file's header; its reader needs torch for its number types."""
    from clearformer.checkpoint.gguf_file import open_gguf

    file = open_gguf(path)
    named = file.metadata.get("general.architecture")
    try:
        form = gguf_form_of(file.metadata, path)
    except CheckpointError:
        found, loaded = Examined(), False
    else:
        found, loaded = form.examine(file), True
    specs = {} if found.spec is None else _towers(found.spec)
    listed = tuple(entries.of_gguf(file.metadata))
    return Subject(name, named if isinstance(named, str) else None, loaded, listed, found, specs)


def _family(config: Mapping[str, object], path: Path) -> Family | None:
    try:
        return family_of(config, path)
    except CheckpointError:
        return None


def _towers(spec: Spec) -> dict[str, Spec]:
    if not isinstance(spec, TwoTowers):
        return {"": spec}
    towers: dict[str, Spec] = {"text_config": spec.text, "vision_config": spec.image}
    return {"": spec, **towers, **{f"{name}_dict": tower for name, tower in towers.items()}}


def _towers_alone(config: Mapping[str, object], path: Path, whole: Examined) -> tuple[Examined, dict[str, Spec]]:
    """Sections of a model that is not understood which name a family that is: each is read by itself."""
    specs: dict[str, Spec] = {}
    unread: set[str] = set()
    unused: set[str] = set()
    for name, section in config.items():
        if not isinstance(section, dict) or (family := _family(section, path)) is None:
            continue
        found = family.examine(section, path)
        if found.spec is not None:
            specs[name] = found.spec
            unread |= {f"{name}.{key}" for key in found.unread}
            unused |= {f"{name}.{key}" for key in found.unused}
    return replace(whole, unread=frozenset(unread), unused=frozenset(unused)), specs


def _with_sentence_head(subject: Subject, folder: Path) -> Subject:
    """What sentence-transformers put behind the model."""
    spec = subject.examined.spec
    if not isinstance(spec, EncoderOnly | DecoderOnly) or not isinstance(spec.head, Hidden):
        return subject
    try:
        whole = replace(spec, head=read_sentence_head(folder) or spec.head)
    except CheckpointError as error:
        return replace(subject, examined=Examined(refusal=error), specs={})
    return replace(subject, examined=replace(subject.examined, spec=whole), specs=_towers(whole))
