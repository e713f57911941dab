"""Rotary positions in configs: `rope_theta` with `rope_scaling`, or `rope_parameters`, which replaced both."""

from __future__ import annotations

import math

from clearformer.families.config_reader import ConfigReader
from clearformer.messages import families as say
from clearformer.spec import DynamicNTK, LinearScaling, Llama3Scaling, LongRoPE, RopeScaling, Rotary, YaRN

DEFAULT_BASE = 10000.0

_KINDS = {
    "default": "default",
    "linear": "linear",
    "dynamic": "dynamic",
    "yarn": "yarn",
    "llama3": "llama3",
    "longrope": "longrope",
    "su": "longrope",
}


def read_rotary(config: ConfigReader, length: int) -> Rotary:
    """The rotary positions of a whole head; `length` is max_position_embeddings. Raises CheckpointError."""
    new, old = config.section("rope_parameters"), config.section("rope_scaling")
    if new and old:
        if _scaling(new, config, length) != _scaling(old, config, length):
            config.contradiction("rope_parameters", "rope_scaling", say.SCALED_DIFFERENTLY)
        _base(old, config)
    elif (given := new or old) is None:
        return Rotary(config.number("rope_theta", DEFAULT_BASE))
    else:
        new = given
    return Rotary(_base(new, config), scaling=_scaling(new, config, length))


def stretched(rotary: Rotary, length: int) -> int:
    """The context of a config: DynamicNTK alone writes the trained length, which it is there to pass."""
    return int(rotary.scaling.factor * length) if isinstance(rotary.scaling, DynamicNTK) else length


def written_length(rotary: Rotary, context: int) -> int:
    """The inverse: what `max_position_embeddings` says."""
    return rotary.scaling.original_length if isinstance(rotary.scaling, DynamicNTK) else context


def write_rotary(rotary: Rotary) -> dict[str, object]:
    """`rope_parameters`, every value spelt out."""
    written: dict[str, object] = {"rope_type": "default", "rope_theta": rotary.base}
    match rotary.scaling:
        case LinearScaling(factor):
            written |= {"rope_type": "linear", "factor": factor}
        case DynamicNTK(factor):
            written |= {"rope_type": "dynamic", "factor": factor}
        case YaRN() as yarn:
            written |= {
                "rope_type": "yarn",
                "factor": yarn.factor,
                "original_max_position_embeddings": yarn.original_length,
                "beta_fast": yarn.beta_fast,
                "beta_slow": yarn.beta_slow,
                "truncate": yarn.truncate,
            }
            if yarn.attention_factor is not None:
                written["attention_factor"] = yarn.attention_factor
        case Llama3Scaling() as llama3:
            written |= {
                "rope_type": "llama3",
                "factor": llama3.factor,
                "original_max_position_embeddings": llama3.original_length,
                "low_freq_factor": llama3.low_frequency,
                "high_freq_factor": llama3.high_frequency,
            }
        case LongRoPE() as long:
            written |= {
                "rope_type": "longrope",
                "short_factor": list(long.short),
                "long_factor": list(long.long),
                "original_max_position_embeddings": long.original_length,
                "attention_factor": long.attention_factor,
            }
        case None:
            pass
    return written


def _base(section: ConfigReader, config: ConfigReader) -> float:
    outer = config.number("rope_theta", DEFAULT_BASE)
    inner = section.number("rope_theta", outer)
    if config.has("rope_theta") and inner != outer:
        section.contradiction("rope_theta", "rope_theta", say.OUTER_DIFFERS, key="rope_theta", outer=outer)
    return inner


def _scaling(section: ConfigReader, config: ConfigReader, length: int) -> RopeScaling | None:
    kind = section.choice("rope_type", _KINDS, section.text("type") or "default")
    if section.has("type") and section.choice("type", _KINDS) != kind:
        section.contradiction("rope_type", "type", say.SCALINGS_DIFFER)
    section.only("partial_rotary_factor", 1.0, 1)
    match kind:
        case "linear":
            return LinearScaling(section.number("factor"))
        case "dynamic":
            section.only("original_max_position_embeddings", length)
            return DynamicNTK(section.number("factor"), length)
        case "yarn":
            return _yarn(section, _original_length(section, config, length), length)
        case "llama3":
            return Llama3Scaling(
                section.number("factor"),
                _original_length(section, config, length),
                section.number("low_freq_factor"),
                section.number("high_freq_factor"),
            )
        case "longrope":
            return _longrope(section, _original_length(section, config, length), length)
        case _:
            return None


def _original_length(section: ConfigReader, config: ConfigReader, length: int) -> int:
    """The trained length stands in the section, or beside it (Phi-3), or is the only length that there is."""
    key = "original_max_position_embeddings"
    outer = config.whole(key, length)
    inner = section.whole(key, outer)
    if config.has(key) and inner != outer:
        section.contradiction(key, key, say.OUTER_DIFFERS, key=key, outer=outer)
    return inner


def _yarn(section: ConfigReader, original: int, length: int) -> YaRN:
    factor = section.number("factor", length / original)
    attention: float | None = None
    numerator, denominator = section.number("mscale", 0.0), section.number("mscale_all_dim", 0.0)
    if section.has("attention_factor"):
        attention = section.number("attention_factor")
    elif numerator and denominator:
        # DeepSeek-V2 sharpens by the ratio of two such factors (arXiv 2405.04434, §3.1.4).
        attention = sharpening(factor, numerator) / sharpening(factor, denominator)
    return YaRN(
        factor,
        original,
        section.number("beta_fast", 32.0) or 32.0,
        section.number("beta_slow", 1.0) or 1.0,
        attention,
        section.flag("truncate", True),
    )


def sharpening(factor: float, weight: float) -> float:
    """YaRN's 0.1·ln(factor) + 1 with a weight before the logarithm (DeepSeek's `mscale`); 1 where nothing stretches."""
    return 0.1 * weight * math.log(factor) + 1.0 if factor > 1 else 1.0


def _longrope(section: ConfigReader, original: int, length: int) -> LongRoPE:
    factor = section.number("factor", length / original)
    published = math.sqrt(1 + math.log(factor) / math.log(original)) if factor > 1 and original > 1 else 1.0
    attention = section.number("attention_factor", published)
    short, long = section.positive_numbers("short_factor"), section.positive_numbers("long_factor")
    return LongRoPE(short, long, original, attention)
