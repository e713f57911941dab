"""Causes about padding: masks without effect, turned round or of the wrong form, and rows that see nothing."""

from __future__ import annotations

from clearformer.doctor.causes.cause import Cause
from clearformer.messages import doctor_causes_padding as say

PADDING = (
    Cause("padding mask without effect", say.PADDING_MASK_WITHOUT_EFFECT, say.PADDING_MASK_WITHOUT_EFFECT_FIX),
    Cause("padding mask inverted", say.PADDING_MASK_INVERTED, say.PADDING_MASK_INVERTED_FIX),
    Cause("padding mask on queries", say.PADDING_MASK_ON_QUERIES, say.PADDING_MASK_ON_QUERIES_FIX),
    Cause("memory padding mask missing", say.MEMORY_PADDING_MASK_MISSING, say.MEMORY_PADDING_MASK_MISSING_FIX),
    Cause("positions not from mask", say.POSITIONS_NOT_FROM_MASK, say.POSITIONS_NOT_FROM_MASK_FIX),
    Cause("padding pooled in", say.PADDING_POOLED_IN, say.PADDING_POOLED_IN_FIX),
    Cause("empty rows", say.EMPTY_ROWS, say.EMPTY_ROWS_FIX),
    Cause("masks overflow", say.MASKS_OVERFLOW, say.MASKS_OVERFLOW_FIX),
    Cause("mask type matters", say.MASK_TYPE_MATTERS, say.MASK_TYPE_MATTERS_FIX),
)
