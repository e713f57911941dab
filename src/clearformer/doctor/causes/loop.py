"""Causes in the training loop."""

from __future__ import annotations

from clearformer.doctor.causes.cause import Cause
from clearformer.messages import doctor_causes_loop as say

LOOP = (
    Cause("accumulation by mean of means", say.MEAN_OF_MEANS, say.MEAN_OF_MEANS_FIX),
    Cause("accumulation not divided", say.NOT_DIVIDED, say.NOT_DIVIDED_FIX),
    Cause("gradients not zeroed", say.NOT_ZEROED, say.NOT_ZEROED_FIX),
    Cause("gradients zeroed before the step", say.ZEROED_EARLY, say.ZEROED_EARLY_FIX),
    Cause("clip before unscale", say.CLIP_SCALED, say.CLIP_SCALED_FIX),
    Cause("clip after the step", say.CLIP_LATE, say.CLIP_LATE_FIX),
    Cause("clip inside accumulation", say.CLIP_INSIDE, say.CLIP_INSIDE_FIX),
    Cause("scheduler stepped N times", say.STEPPED_N, say.STEPPED_N_FIX),
    Cause("scheduler before optimizer", say.SCHEDULER_FIRST, say.SCHEDULER_FIRST_FIX),
    Cause("scheduler never stepped", say.SCHEDULER_IDLE, say.SCHEDULER_IDLE_FIX),
    Cause("warm-up off its plan", say.WARM_UP, say.WARM_UP_FIX),
    Cause("optimizer made anew", say.ANEW, say.ANEW_FIX),
    Cause("learning rate zero at first", say.RATE_ZERO_FIRST, say.RATE_ZERO_FIRST_FIX),
    Cause("optimizer lacks parameters", say.LACKS, say.LACKS_FIX),
    Cause("weights do not move", say.NOT_MOVED, say.NOT_MOVED_FIX),
    Cause("training in evaluation mode", say.EVALUATING, say.EVALUATING_FIX),
    Cause("scaler never updated", say.NO_UPDATE, say.NO_UPDATE_FIX),
)
