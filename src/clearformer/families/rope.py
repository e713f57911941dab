"""Rotary positions in configs: `rope_theta` with `rope_scaling`, or `rope_parameters`, which replaced both."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from clearformer.families.config_reader import MAX_WHOLE, ConfigReader
from clearformer.messages import families as say
from clearformer.spec import DynamicNTK, Layout, LinearScaling, Llama3Scaling, LongRoPE, RopeScaling, Rotary, YaRN

DEFAULT_BASE = 10000.0
KINDS = {
    "default": "default",
    "linear": "linear",
    "dynamic": "dynamic",
    "yarn": "yarn",
    "llama3": "llama3",
    "longrope": "longrope",
    "su": "longrope",
}
_PART = "partial_rotary_factor"


@dataclass(frozen=True)
class RopeDialect:
    """What a family means by rotary keys, and by those that it leaves out.

    `part` is that of a head that turns where `partial_rotary_factor` is absent; None for a family without that key, in
    which all of it turns. `original` is the trained length that stands beside the section and rules over it (Phi-3).
    `kinds` are the names of scalings, `layout` is how pairs lie, `base_keys` and `part_keys` are the names of what
    stands beside the section.
    """

    base: float = DEFAULT_BASE
    part: float | None = None
    original: int | None = None
    kinds: Mapping[str, str] = field(default_factory=lambda: KINDS)
    layout: Layout = "halves"
    base_keys: tuple[str, ...] = ("rope_theta",)
    part_keys: tuple[str, ...] = (_PART,)


LLAMA_DIALECT = RopeDialect()


def read_rotary(config: ConfigReader, length: int, head_width: int, dialect: RopeDialect = LLAMA_DIALECT) -> Rotary:
    """The rotary positions of a model; `length` is max_position_embeddings. Raises CheckpointError."""
    new, old = config.section("rope_parameters"), config.section("rope_scaling")
    rotary = _turned(new or old or _nothing(config), config, length, head_width, dialect)
    if new and old:
        meant = dataclasses.replace(dialect, base=rotary.base, part=_part(new, config, dialect))
        if rotary != _turned(old, config, length, head_width, meant):
            config.contradiction("rope_parameters", "rope_scaling", say.SCALED_DIFFERENTLY)
    return rotary


def read_rotary_by_kind(config: ConfigReader, length: int, bases: Mapping[str, tuple[str, float]]) -> dict[str, Rotary]:
    """The rotary positions of each kind of layer: `rope_parameters` nested by kind, or the older keys.

    `bases` names for each kind the older key of its base and what that is by default. The older `rope_scaling` is that
    of the first kind alone (Gemma 3: the global layers). Raises CheckpointError.
    """
    nested, old = config.section("rope_parameters"), config.section("rope_scaling")
    found: dict[str, Rotary] = {}
    for kind, (key, default) in bases.items():
        new = nested.section(kind) if nested else None
        section = new or old or _nothing(config)
        scaling = _nested_scaling(section, length)
        if new and old and scaling != _nested_scaling(old, length):
            config.contradiction("rope_parameters", "rope_scaling", say.SCALED_DIFFERENTLY)
        found[kind] = Rotary(_inner(section, config, "rope_theta", default, (key,)), scaling=scaling)
        old = None
    return found


def stretched(rotary: Rotary, length: int) -> int:
    """The context of a config: DynamicNTK alone writes the trained length, which it is there to pass."""
    return int(rotary.scaling.factor * length) if isinstance(rotary.scaling, DynamicNTK) else length


def written_length(rotary: Rotary, context: int) -> int:
    """The inverse: what `max_position_embeddings` says."""
    return rotary.scaling.original_length if isinstance(rotary.scaling, DynamicNTK) else context


def write_rotary(rotary: Rotary, head_width: int | None = None) -> dict[str, object]:
    """`rope_parameters`, every value spelt out; with `head_width`, the part of a head that turns among them."""
    written: dict[str, object] = {"rope_type": "default", "rope_theta": rotary.base}
    if head_width is not None:
        written[_PART] = _factor(rotary.rotated(head_width), head_width)
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


def _factor(width: int, head_width: int) -> float:
    """width / head_width, such that the product, cut to a whole number, is `width` again."""
    factor = width / head_width
    return factor if int(head_width * factor) == width else math.nextafter(factor, 1.0)


def _nothing(config: ConfigReader) -> ConfigReader:
    """The section of a config that has none."""
    return ConfigReader({}, config.path)


def _turned(section: ConfigReader, config: ConfigReader, length: int, head_width: int, dialect: RopeDialect) -> Rotary:
    part = _part(section, config, dialect)
    width = None if part is None or part == 1 else int(head_width * part)
    base = _inner(section, config, "rope_theta", dialect.base, dialect.base_keys)
    return Rotary(base, width, dialect.layout, _scaling(section, config, length, dialect))


def _part(section: ConfigReader, config: ConfigReader, dialect: RopeDialect) -> float | None:
    if dialect.part is None:
        section.only(_PART, 1.0, 1)
        return None
    part = _inner(section, config, _PART, dialect.part, dialect.part_keys)
    if not 0 < part <= 1:
        section.cannot_say(_PART, "0 … 1", part)
    return part


def _inner(section: ConfigReader, config: ConfigReader, name: str, default: float, keys: tuple[str, ...]) -> float:
    """A number of the section, or of the config beside it under the first of `keys`; the others must agree."""
    outer = config.number(keys[0], default)
    for key in keys[1:]:
        if config.number(key, outer) != outer:
            config.contradiction(keys[0], key, say.SYNONYMS_DIFFER)
    inner = section.number(name, outer)
    if inner != outer and (said := [key for key in keys if config.has(key)]):
        section.contradiction(name, name, say.OUTER_DIFFERS, key=said[0], outer=outer)
    return inner


def _nested_scaling(section: ConfigReader, length: int) -> RopeScaling | None:
    """The scaling of one kind of layer, whose section is read alone."""
    section.only(_PART, 1.0, 1)
    scaling = _scaling(section, section, length, LLAMA_DIALECT)
    if isinstance(scaling, YaRN):
        # transformers looks for it beside the kinds, and rounds whatever a kind says.
        section.only("truncate", True)
    return scaling


def _scaling(section: ConfigReader, config: ConfigReader, length: int, dialect: RopeDialect) -> RopeScaling | None:
    kind = section.choice("rope_type", dialect.kinds, section.text("type") or "default")
    if section.has("type") and section.choice("type", dialect.kinds) != kind:
        section.contradiction("rope_type", "type", say.SCALINGS_DIFFER)
    match kind:
        case "linear":
            return LinearScaling(section.number("factor"))
        case "dynamic":
            section.only("original_max_position_embeddings", length)
            factor = section.number("factor")
            if factor * length > MAX_WHOLE:
                section.cannot_say("factor", f"≤ {MAX_WHOLE // length}", factor)
            return DynamicNTK(factor, length)
        case "yarn":
            return _yarn(section, _original_length(section, config, length, dialect), length)
        case "llama3":
            return Llama3Scaling(
                section.number("factor"),
                _original_length(section, config, length, dialect),
                section.number("low_freq_factor"),
                section.number("high_freq_factor"),
            )
        case "longrope":
            return _longrope(section, _original_length(section, config, length, dialect), length)
        case _:
            return None


def _original_length(section: ConfigReader, config: ConfigReader, length: int, dialect: RopeDialect) -> int:
    """The trained length stands in the section, or beside it (Phi-3), or is the only length that there is."""
    key = "original_max_position_embeddings"
    outer = config.whole(key, dialect.original or length)
    inner = section.whole(key, outer)
    if (config.has(key) or dialect.original) and inner != outer:
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
        divisor = sharpening(factor, denominator)
        if not divisor:
            section.cannot_say("mscale_all_dim", "≥ 0", denominator)
        attention = sharpening(factor, numerator) / divisor
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
