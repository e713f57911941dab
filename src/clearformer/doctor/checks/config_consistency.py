"""K30: what the config says is possible in itself and agrees with the weights and the tokenizer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from clearformer.checkpoint.reading import given
from clearformer.checkpoint.tensor_file import TensorFile
from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.checkpoint_files import config_of, fault, understood, weights_of
from clearformer.doctor.checkpoint_scales import unsaid, without_scales
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.errors import CheckpointError, SpecError, TokenizerError
from clearformer.messages import checkpoint as failures
from clearformer.messages import doctor_files as say
from clearformer.messages import verbatim
from clearformer.text.load import TOKENIZER, tokenizer_from_folder

_EMBEDDINGS = ("embed_tokens.weight", "wte.weight", "word_embeddings.weight", "embed_in.weight", "shared.weight")
_COUNTED = ("num_hidden_layers", "n_layer", "num_layers", "n_layers")
_WIDTH = ("hidden_size", "n_embd", "d_model", "dim")
_SPECIAL = ("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id")


def _probe(examination: Examination) -> Iterator[Breach]:
    folder = examination.parts.folder
    assert folder is not None
    config = config_of(folder)
    yield from _ids(config)
    if missing := unsaid(config):
        said = Said(say.SCALES_UNSAID, {"kind": config.get("model_type"), "names": ", ".join(missing)})
        yield Breach("K30", "WARN", (said,), ("scale left to its default",))
    try:
        tensors = weights_of(folder)
    except (CheckpointError, NotApplicable):
        tensors = None
    if tensors is not None and (bare := without_scales(tensors)):
        said = Said(say.WITHOUT_SCALES, {"count": len(bare), "name": bare[0]})
        yield _breach("quantised without scales", said)
    told = list(_beside_weights(config, tensors)) if tensors is not None else []
    try:
        known = understood(folder)
    except (CheckpointError, SpecError) as error:
        yield _breach(
            "config impossible", Said(verbatim(error.cause("en").rstrip("."), error.cause("zh").rstrip("。")))
        )
        return
    except NotApplicable:
        known = None
    if known is not None and tensors is not None and not told:
        found = fault(known, tensors)
        if found is not None and found.failure is failures.SHAPE_DIFFERS:
            said = Said(verbatim(found.cause("en").rstrip("."), found.cause("zh").rstrip("。")))
            told.append(_breach("config contradicts weights", said))
    yield from told
    yield from _beside_tokenizer(folder, config)


def _ids(config: Mapping[str, object]) -> Iterator[Breach]:
    """Special ids lie within the vocabulary."""
    rows = _whole(config.get("vocab_size"))
    for name in _SPECIAL:
        given_ids = config.get(name)
        for each in given_ids if isinstance(given_ids, list) else [given_ids]:
            found = _whole(each)
            if rows is not None and found is not None and not -1 <= found < rows:
                said = Said(say.ID_BEYOND, {"name": name, "found": found, "rows": rows})
                # A config's own default often stands there, and does harm only where it ends a text.
                yield Breach("K30", "WARN", (said,), ("vocabulary differs",))


def _beside_weights(config: Mapping[str, object], tensors: TensorFile) -> Iterator[Breach]:
    """The few sizes that every family has, by the names that they go by."""
    table = next((name for end in _EMBEDDINGS for name in tensors.names() if name.endswith(end)), None)
    if table is not None and len(shape := tensors.shape(table)) == 2:
        rows = _whole(config.get("vocab_size"))
        if rows is not None and rows != shape[0]:
            said = Said(say.ROWS, {"name": table, "found": shape[0], "rows": rows})
            yield _breach("config contradicts weights", said)
        width = next((found for name in _WIDTH if (found := _whole(config.get(name))) is not None), None)
        if (
            width is not None
            and shape[1] != width
            and "embedding_size" not in config
            and "word_embed_proj_dim" not in config
        ):
            said = Said(say.WIDTH, {"name": table, "found": shape[1], "width": width})
            yield _breach("config contradicts weights", said)
    layers = next((found for name in _COUNTED if (found := _whole(config.get(name))) is not None), None)
    seen = {int(part) for name in tensors.names() for part in name.split(".") if part.isdecimal() and len(part) < 6}
    if layers is not None and seen and len(seen) < layers and "num_experts" not in config:
        said = Said(say.LAYERS, {"found": len(seen), "layers": layers})
        yield _breach("config contradicts weights", said)


def _beside_tokenizer(folder: Path, config: Mapping[str, object]) -> Iterator[Breach]:
    """No id that the tokenizer gives lies beyond the table."""
    rows = _whole(config.get("vocab_size"))
    if rows is None or not given(folder, TOKENIZER):
        return
    try:
        found = tokenizer_from_folder(folder).vocabulary_size
    except (TokenizerError, CheckpointError):
        return
    if found > rows:
        yield _breach("vocabulary differs", Said(say.TOKENIZER_LARGER, {"found": found, "rows": rows}))


def _whole(found: object) -> int | None:
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _breach(cause: str, said: Said) -> Breach:
    return Breach("K30", "ERROR", (said,), (cause,))


CONFIG_CONSISTENCY = Check(
    "K30", "config consistency", say.CONSISTENT, say.CONSISTENT_RISK, _probe, needs=("folder",)
)  # fmt: skip
