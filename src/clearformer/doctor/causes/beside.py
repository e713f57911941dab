"""The causes that lie beside the module, together."""

from __future__ import annotations

from clearformer.doctor.causes.cause import Cause
from clearformer.doctor.causes.data import DATA
from clearformer.doctor.causes.decoding import DECODING
from clearformer.doctor.causes.loop import LOOP
from clearformer.doctor.causes.loss import LOSS

BESIDE: tuple[Cause, ...] = (*LOSS, *LOOP, *DECODING, *DATA)
