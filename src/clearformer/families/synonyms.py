"""Sizes for which a family has a word of its own beside the one that all others use."""

from __future__ import annotations

from clearformer.families.config_reader import MAX_WHOLE, ConfigReader
from clearformer.messages import families as say


def whole_by_either_name(config: ConfigReader, own: str, common: str, *, limit: int = MAX_WHOLE) -> int:
    """The number that stands under one of two names, or under both. Raises CheckpointError where they differ."""
    if not config.has(own):
        return config.whole(common, limit=limit) if config.has(common) else config.whole(own, limit=limit)
    value = config.whole(own, limit=limit)
    if config.has(common) and config.whole(common, limit=limit) != value:
        config.contradiction(own, common, say.SYNONYMS_DIFFER)
    return value


def name_in(config: ConfigReader, own: str, common: str) -> str:
    """The one of the two names that the config has, for a message about it."""
    return own if config.has(own) else common
