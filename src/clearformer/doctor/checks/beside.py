"""The checks of what stands beside the module: loss, collator, loop, loaders, samplers, tokenizer."""

from __future__ import annotations

from clearformer.doctor.check import Check
from clearformer.doctor.checks.coverage import COVERAGE
from clearformer.doctor.checks.decoding import DECODING
from clearformer.doctor.checks.future import FUTURE
from clearformer.doctor.checks.labels import LABELS
from clearformer.doctor.checks.loop import LOOP
from clearformer.doctor.checks.loss_padding import LOSS_PADDING
from clearformer.doctor.checks.resume import RESUME
from clearformer.doctor.checks.shift import SHIFT
from clearformer.doctor.checks.stop_set import STOP_SET
from clearformer.doctor.checks.tokenizer_laws import TOKENIZER

BESIDE: tuple[Check, ...] = (SHIFT, LOSS_PADDING, LABELS, DECODING, TOKENIZER, STOP_SET, COVERAGE, FUTURE, LOOP, RESUME)
