"""From what a user names to a spec, without a weight and, but for GGUF files, without torch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from clearformer.cli.screen import Screen
from clearformer.messages import cli as say
from clearformer.messages import store as store_say
from clearformer.spec import Hidden, Spec
from clearformer.spec.codec import from_json
from clearformer.store.resolve import Located

MAX_BYTES = 10_000_000


def spec_of(name: str, screen: Screen) -> Spec:
    """A JSON file that holds a config or a spec; a preset's name, if no model here has it; else a model as `load` finds
    it, fetched if it must be. Raises UsageError, StoreError or CheckpointError."""
    if name.endswith(".json"):
        return spec_of_file(Path(name))
    from clearformer.store.presets import hides_preset, spec_or_model

    with screen.progress(say.LOADING, in_bytes=True, name=name) as advance:
        located = spec_or_model(name, progress=advance)
    if not isinstance(located, Located):
        return located
    if hides_preset(name):
        screen.note(store_say.NOT_THE_PRESET, name=name)
    return spec_of_gguf(located.path) if located.kind == "gguf" else spec_of_folder(located.path)


def spec_of_file(path: Path) -> Spec:
    """A published config.json, or what `spec.codec` wrote."""
    from clearformer.checkpoint.reading import read_json
    from clearformer.families import family_of

    data = read_json(path, MAX_BYTES)
    if "type" in data and "model_type" not in data:
        return from_json(data)
    return family_of(data, path).read(data, path)


def spec_of_folder(folder: Path) -> Spec:
    """Its config.json alone, and what sentence-transformers put behind it."""
    from clearformer.checkpoint.reading import inside
    from clearformer.families.sentence_head import read_sentence_head
    from clearformer.spec import DecoderOnly, EncoderOnly

    spec = spec_of_file(inside(folder, "config.json"))
    if isinstance(spec, EncoderOnly | DecoderOnly) and isinstance(spec.head, Hidden):
        return replace(spec, head=read_sentence_head(folder) or spec.head)
    return spec


def spec_of_gguf(path: Path) -> Spec:
    """The header's metadata; its reader needs torch for its number types."""
    from clearformer.checkpoint.gguf_file import open_gguf
    from clearformer.families import gguf_form_of

    file = open_gguf(path)
    return gguf_form_of(file.metadata, path).read(file)
