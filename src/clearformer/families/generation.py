"""How a model's makers want it sampled: generation_config.json, the config's older keys, or GGUF metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from clearformer.families.config_reader import ConfigReader
from clearformer.families.gguf.values import decimal

# Bookkeeping, and switches that change no token: a text cut short needs no end mark, and a beam's scores are always
# those of a distribution.
_SILENT = frozenset(
    {
        "_from_model_config",
        "transformers_version",
        "use_cache",
        "return_dict_in_generate",
        "output_attentions",
        "output_hidden_states",
        "max_length",
        "forced_eos_token_id",
        "renormalize_logits",
    }
)


@dataclass(frozen=True)
class GenerationDefaults:
    """None means that the makers did not say. `sample` False is greedy, whatever the temperature.

    `end_ids` end a text. What an encoder-decoder writes begins with `start_id`, or with `begin_id` where there is none,
    and then with `first_id`; `never_ids` are never written. `left_out` names the keys that ask for something not
    honoured here.
    """

    sample: bool = False
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None
    max_new_tokens: int | None = None
    begin_id: int | None = None
    end_ids: tuple[int, ...] = ()
    pad_id: int | None = None
    start_id: int | None = None
    first_id: int | None = None
    never_ids: tuple[int, ...] = ()
    left_out: tuple[str, ...] = ()


def read_generation(
    generation: Mapping[str, object], config: Mapping[str, object], path: Path | str = "generation_config.json"
) -> GenerationDefaults:
    """From generation_config.json, completed by config.json for the special tokens. Raises CheckpointError for a value
    that is no setting at all."""
    given = {**{key: config.get(key) for key in _TOKENS}, **generation}
    reader = ConfigReader(given, path)
    number = _optional_number
    words = _bad_words(reader)
    left_out = {key for key in generation if key not in _READ | _SILENT and generation[key] is not None}
    if any(len(each) > 1 for each in words):
        left_out.add("bad_words_ids")
    return GenerationDefaults(
        sample=reader.flag("do_sample", False),
        temperature=number(reader, "temperature"),
        top_k=_optional_whole(reader, "top_k"),
        top_p=number(reader, "top_p"),
        min_p=number(reader, "min_p"),
        repetition_penalty=number(reader, "repetition_penalty"),
        max_new_tokens=_optional_whole(reader, "max_new_tokens"),
        begin_id=_optional_whole(reader, "bos_token_id"),
        end_ids=_end_ids(reader),
        pad_id=_optional_whole(reader, "pad_token_id"),
        start_id=_optional_whole(reader, "decoder_start_token_id"),
        first_id=_optional_whole(reader, "forced_bos_token_id"),
        never_ids=tuple(each[0] for each in words if len(each) == 1),
        left_out=tuple(sorted(left_out)),
    )


_SAMPLING = {
    "temp": "temperature",
    "top_k": "top_k",
    "top_p": "top_p",
    "min_p": "min_p",
    "penalty_repeat": "repetition_penalty",
}
"""llama.cpp's names of settings, after `general.sampling.`, and ours."""


def read_gguf_generation(metadata: Mapping[str, object], path: Path | str) -> GenerationDefaults:
    """The special tokens of a GGUF file, whose texts end at the end, end-of-turn and end-of-message tokens; and how its
    makers want it sampled, where it says so: at the temperature 0 greedily."""
    reader = ConfigReader(metadata, path, "")
    ends = (_optional_whole(reader, f"tokenizer.ggml.{name}_token_id") for name in ("eos", "eot", "eom"))
    stem = "general.sampling."
    temperature = _optional_number(reader, f"{stem}temp")
    number = {key: _decimal(_optional_number(reader, stem + key)) for key in ("top_p", "min_p", "penalty_repeat")}
    known = {stem + key for key in _SAMPLING}
    return GenerationDefaults(
        sample=bool(temperature),
        temperature=_decimal(temperature) or None,
        top_k=_optional_whole(reader, f"{stem}top_k"),
        top_p=number["top_p"],
        min_p=number["min_p"],
        repetition_penalty=number["penalty_repeat"],
        begin_id=_optional_whole(reader, "tokenizer.ggml.bos_token_id"),
        end_ids=tuple(dict.fromkeys(end for end in ends if end is not None)),
        pad_id=_optional_whole(reader, "tokenizer.ggml.padding_token_id"),
        left_out=tuple(sorted(key for key in metadata if key.startswith(stem) and key not in known)),
    )


def write_gguf_sampling(defaults: GenerationDefaults) -> dict[str, object]:
    """The inverse, without the special tokens, which the tokenizer writes."""
    said = {f"general.sampling.{key}": getattr(defaults, name) for key, name in _SAMPLING.items()}
    said["general.sampling.temp"] = (defaults.temperature or 1.0) if defaults.sample else None
    return {key: value for key, value in said.items() if value is not None}


def _decimal(number: float | None) -> float | None:
    return None if number is None else decimal(number)


def token_keys(defaults: GenerationDefaults) -> dict[str, object]:
    """The special tokens as config.json has them, to stand beside what a family writes."""
    ends: object = list(defaults.end_ids) if len(defaults.end_ids) > 1 else next(iter(defaults.end_ids), None)
    keys: dict[str, object] = {
        "bos_token_id": defaults.begin_id,
        "eos_token_id": ends,
        "pad_token_id": defaults.pad_id,
    }
    # A decoder has none, and its config no such key.
    return keys if defaults.start_id is None else {**keys, "decoder_start_token_id": defaults.start_id}


def write_generation(defaults: GenerationDefaults) -> dict[str, object]:
    """generation_config.json, without what the makers did not say."""
    written = {
        **token_keys(defaults),
        "do_sample": defaults.sample,
        "temperature": defaults.temperature,
        "top_k": defaults.top_k,
        "top_p": defaults.top_p,
        "min_p": defaults.min_p,
        "repetition_penalty": defaults.repetition_penalty,
        "max_new_tokens": defaults.max_new_tokens,
        "forced_bos_token_id": defaults.first_id,
        "bad_words_ids": [[each] for each in defaults.never_ids] or None,
    }
    return {key: value for key, value in written.items() if value is not None}


_TOKENS = (
    "bos_token_id",
    "eos_token_id",
    "pad_token_id",
    "decoder_start_token_id",
    "forced_bos_token_id",
    "bad_words_ids",
)
_READ = frozenset(_TOKENS) | {
    "do_sample",
    "temperature",
    "top_k",
    "top_p",
    "min_p",
    "repetition_penalty",
    "max_new_tokens",
}


def _optional_number(reader: ConfigReader, key: str) -> float | None:
    return reader.number(key) if reader.has(key) else None


def _optional_whole(reader: ConfigReader, key: str) -> int | None:
    # Some configs write -1 for a token that there is none of.
    value = reader.whole(key, at_least=-1) if reader.has(key) else -1
    return None if value < 0 else value


def _end_ids(reader: ConfigReader) -> tuple[int, ...]:
    if isinstance(listed := reader.raw("eos_token_id"), list):
        return tuple(dict.fromkeys(_ids(reader, "eos_token_id", listed)))
    single = _optional_whole(reader, "eos_token_id")
    return () if single is None else (single,)


def _bad_words(reader: ConfigReader) -> list[list[int]]:
    """Runs of tokens that are not to be written; those of one token are honoured."""
    key = "bad_words_ids"
    runs = reader.raw(key) or []
    if not isinstance(runs, list) or not all(isinstance(run, list) for run in runs):
        reader.cannot_say(key, "[[0], …]", runs)
    return [_ids(reader, f"{key}[{i}]", run) for i, run in enumerate(runs)]


def _ids(reader: ConfigReader, key: str, listed: list[object]) -> list[int]:
    members = ConfigReader({f"{key}[{i}]": value for i, value in enumerate(listed)}, reader.path)
    return [members.whole(f"{key}[{i}]", at_least=0) for i in range(len(listed))]
