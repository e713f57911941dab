"""Every cause that the doctor can name: what is wrong, and the mend in one line."""

from __future__ import annotations

from clearformer.messages import Message

NO_CAUSAL_MASK = Message("Nothing hides the future: the causal mask is missing.", "没有遮住未来：缺少因果掩码。")
NO_CAUSAL_MASK_FIX = Message(
    "scores = scores.masked_fill(~torch.ones(T, T).tril().bool(), -inf), or is_causal=True",
    "scores = scores.masked_fill(~torch.ones(T, T).tril().bool(), -inf)，或用 is_causal=True",
)
MASK_INVERTED = Message(
    "The mask is inverted: True hides where the operation takes it as keep, or the other way round.",
    "掩码反了：True 本意是遮住，而运算把它当作保留（或相反）。",
)
MASK_INVERTED_FIX = Message("attn_mask=~mask", "attn_mask=~mask")
MASK_OFF_BY_ONE = Message("The mask is off by one: it shows the next token.", "掩码差一位：看得到下一个词元。")
MASK_OFF_BY_ONE_FIX = Message(
    "triu(diagonal=1) hides; tril(diagonal=0) keeps.", "triu(diagonal=1) 是遮住；tril(diagonal=0) 是保留。"
)
DROPOUT_IN_EVALUATION = Message("Dropout acts in evaluation.", "评估时 dropout 仍在起作用。")
DROPOUT_IN_EVALUATION_FIX = Message(
    "dropout_p=self.dropout if self.training else 0.0", "dropout_p=self.dropout if self.training else 0.0"
)
STATE_BETWEEN_CALLS = Message("The module keeps something from call to call.", "模块在两次调用之间保留了状态。")
STATE_BETWEEN_CALLS_FIX = Message("Reset it at the start of forward.", "在 forward 开头将其重置。")
DROPOUT_IDLE = Message("Dropout is declared and never acts in training.", "声明了 dropout，但训练时从不起作用。")
DROPOUT_IDLE_FIX = Message(
    "Call it in forward, x = self.dropout(x), and hand its rate on: dropout_p=self.p if self.training else 0.0",
    "在 forward 中调用 x = self.dropout(x)，并把比例传下去：dropout_p=self.p if self.training else 0.0",
)
