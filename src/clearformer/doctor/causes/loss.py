"""Causes in the loss, its labels and the collator that makes them."""

from __future__ import annotations

from clearformer.doctor.causes.cause import Cause
from clearformer.messages import doctor_causes_loss as say

LOSS = (
    Cause("labels shifted twice", say.SHIFTED_TWICE, say.SHIFTED_TWICE_FIX),
    Cause("labels not shifted", say.NOT_SHIFTED, say.NOT_SHIFTED_FIX),
    Cause("labels are the previous token", say.PREVIOUS, say.PREVIOUS_FIX),
    Cause("loss ignores the logits", say.IGNORES_LOGITS, say.IGNORES_LOGITS_FIX),
    Cause("softmax before the loss", say.SOFTMAX_BEFORE, say.SOFTMAX_BEFORE_FIX),
    Cause("padding counted in the loss", say.PADDING_COUNTED, say.PADDING_COUNTED_FIX),
    Cause("loss divided by padded length", say.DIVIDED_BY_LENGTH, say.DIVIDED_BY_LENGTH_FIX),
    Cause("smoothing counts the padding", say.SMOOTHING_COUNTS, say.SMOOTHING_COUNTS_FIX),
    Cause("row without targets gives NaN", say.EMPTY_ROW_NAN, say.EMPTY_ROW_NAN_FIX),
    Cause("rows averaged before the batch", say.ROWS_FIRST, say.ROWS_FIRST_FIX),
    Cause("EOS never supervised", say.EOS_UNSUPERVISED, say.EOS_UNSUPERVISED_FIX),
    Cause("rows without targets", say.NO_TARGETS, say.NO_TARGETS_FIX),
    Cause("label out of range", say.LABEL_RANGE, say.LABEL_RANGE_FIX),
    Cause("prompt supervised", say.PROMPT_SUPERVISED, say.PROMPT_SUPERVISED_FIX),
    Cause("first answer token not supervised", say.FIRST_ANSWER_TOKEN, say.FIRST_ANSWER_TOKEN_FIX),
    Cause("collator's mask misses the pads", say.MASK_MISSES_PADS, say.MASK_MISSES_PADS_FIX),
    Cause("labels out of step with the ids", say.OUT_OF_STEP, say.OUT_OF_STEP_FIX),
    Cause("ids beyond the vocabulary", say.IDS_BEYOND, say.IDS_BEYOND_FIX),
)
