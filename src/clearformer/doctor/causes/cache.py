"""Causes about reading on with a cache, and about the generation that uses it."""

from __future__ import annotations

from clearformer.doctor.causes.cause import Cause
from clearformer.messages import doctor_causes_cache as say

CACHE = (
    Cause("offset after prefill", say.OFFSET_AFTER_PREFILL, say.OFFSET_AFTER_PREFILL_FIX),
    Cause("cache top-left aligned", say.CACHE_TOP_LEFT_ALIGNED, say.CACHE_TOP_LEFT_ALIGNED_FIX),
    Cause("prefill not causal", say.PREFILL_NOT_CAUSAL, say.PREFILL_NOT_CAUSAL_FIX),
    Cause("cache loses the past", say.CACHE_LOSES_THE_PAST, say.CACHE_LOSES_THE_PAST_FIX),
    Cause("cache order", say.CACHE_ORDER, say.CACHE_ORDER_FIX),
    Cause("cache holds other entries", say.CACHE_HOLDS_OTHER_ENTRIES, say.CACHE_HOLDS_OTHER_ENTRIES_FIX),
    Cause("cache loses the window", say.CACHE_LOSES_THE_WINDOW, say.CACHE_LOSES_THE_WINDOW_FIX),
    Cause("padding forgotten in the cache", say.PADDING_FORGOTTEN_IN_THE_CACHE, say.PADDING_FORGOTTEN_IN_THE_CACHE_FIX),
    Cause("chunk not causal", say.CHUNK_NOT_CAUSAL, say.CHUNK_NOT_CAUSAL_FIX),
    Cause("cache kept from before", say.CACHE_KEPT_FROM_BEFORE, say.CACHE_KEPT_FROM_BEFORE_FIX),
    Cause("prefix repeated", say.PREFIX_REPEATED, say.PREFIX_REPEATED_FIX),
    Cause(
        "generation differs from forward", say.GENERATION_DIFFERS_FROM_FORWARD, say.GENERATION_DIFFERS_FROM_FORWARD_FIX
    ),
    Cause(
        "padded prompts generate otherwise",
        say.PADDED_PROMPTS_GENERATE_OTHERWISE,
        say.PADDED_PROMPTS_GENERATE_OTHERWISE_FIX,
    ),
)
