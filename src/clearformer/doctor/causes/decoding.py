"""Causes in sampling, penalties, beams, tokenizers and stop sets."""

from __future__ import annotations

from clearformer.doctor.causes.cause import Cause
from clearformer.messages import doctor_causes_decoding as say

DECODING = (
    Cause("nucleus drops the crossing token", say.CROSSING, say.CROSSING_FIX),
    Cause("nucleus empty", say.EMPTY, say.EMPTY_FIX),
    Cause("nucleus keeps too much", say.TOO_MUCH, say.TOO_MUCH_FIX),
    Cause("kept tokens are not the most probable", say.NOT_BEST, say.NOT_BEST_FIX),
    Cause("top-k keeps the wrong number", say.TOP_K, say.TOP_K_FIX),
    Cause("temperature inverted", say.INVERTED, say.INVERTED_FIX),
    Cause("temperature without effect", say.NO_HEAT, say.NO_HEAT_FIX),
    Cause("temperature zero not greedy", say.NOT_GREEDY, say.NOT_GREEDY_FIX),
    Cause("rows mixed in sampling", say.MIXED, say.MIXED_FIX),
    Cause("sampled distribution differs", say.DIFFERS, say.DIFFERS_FIX),
    Cause("penalty raises seen tokens", say.RAISES, say.RAISES_FIX),
    Cause("penalty touches unseen tokens", say.TOUCHES, say.TOUCHES_FIX),
    Cause("penalty without effect", say.IDLE, say.IDLE_FIX),
    Cause("prompt length in the beam score", say.PROMPT, say.PROMPT_FIX),
    Cause("finished beams go on", say.GO_ON, say.GO_ON_FIX),
    Cause("beam stops at the first end", say.FIRST_END, say.FIRST_END_FIX),
    Cause("beam misses the best", say.MISSES, say.MISSES_FIX),
    Cause("beam scores out of order", say.ORDER, say.ORDER_FIX),
    Cause("padded vocabulary sampled", say.PADDED, say.PADDED_FIX),
    Cause("tokenizer loses whitespace", say.LOSES_SPACE, say.LOSES_SPACE_FIX),
    Cause("tokenizer loses characters", say.LOSES_CHARACTERS, say.LOSES_CHARACTERS_FIX),
    Cause("special token split", say.SPLIT, say.SPLIT_FIX),
    Cause("two BOS", say.TWO_BEGIN, say.TWO_BEGIN_FIX),
    Cause("template and encode differ", say.OTHER_PATH, say.OTHER_PATH_FIX),
    Cause("turn end not in the stop set", say.TURN, say.TURN_FIX),
    Cause("EOS not in the stop set", say.NO_EOS, say.NO_EOS_FIX),
)
