"""Causes that lie in an operation of the forward pass: what is wrong, and the mend in one line."""

from __future__ import annotations

from clearformer.messages import Message

WRONG_AXIS = Message("The softmax runs over an axis that is not the keys'.", "softmax 没有沿键所在的轴计算。")
WRONG_AXIS_FIX = Message(
    "weights = scores.softmax(dim=-1) for scores (B, H, T, S)",
    "得分为 (B, H, T, S) 时：weights = scores.softmax(dim=-1)",
)
SCALE_WRONG = Message(
    "Scores are scaled by something else than the root of the head's width.", "得分没有按头宽的平方根缩放。"
)
SCALE_WRONG_FIX = Message(
    "scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])",
    "scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])",
)
SCALE_MISSING = Message("Scores are not scaled.", "得分没有缩放。")
MERGED = Message(
    "Heads are merged without a transpose: (B, H, T, d) is reshaped to (B, T, H·d) as it lies.",
    "合并头时缺少转置：(B, H, T, d) 被直接 reshape 成 (B, T, H·d)。",
)
MERGED_FIX = Message("y = y.transpose(1, 2).reshape(B, T, H * d)", "y = y.transpose(1, 2).reshape(B, T, H * d)")
SPLIT = Message(
    "Heads are split without a transpose: (B, T, H·d) is viewed as (B, H, T, d), which cuts the sequence.",
    "切分头时缺少转置：(B, T, H·d) 被直接看作 (B, H, T, d)，切开的是序列。",
)
SPLIT_FIX = Message("q = q.view(B, T, H, d).transpose(1, 2)", "q = q.view(B, T, H, d).transpose(1, 2)")
BATCH_FIRST = Message(
    "The attention takes the first axis for the sequence and is given rows first: tokens read other rows of the batch.",
    "注意力把第一轴当作序列，而输入的第一轴是批次：词元读到了批次里的其他行。",
)
BATCH_FIRST_FIX = Message("nn.MultiheadAttention(…, batch_first=True)", "nn.MultiheadAttention(…, batch_first=True)")
OVER_POSITIONS = Message(
    "Something is averaged or normalised over the positions, so that each reads all of them.",
    "有运算沿位置求均值或归一化，使每个位置都读到所有位置。",
)
OVER_POSITIONS_FIX = Message(
    "normalise over the features: nn.LayerNorm(D), dim=-1", "沿特征归一化：nn.LayerNorm(D)，dim=-1"
)
AROUND = Message(
    "A convolution or a shift reads what comes next: its kernel lies around its position instead of before it, or a roll "
    "brings the end to the beginning.",
    "卷积或移位读到了后面的内容：卷积核以当前位置为中心而不是位于其前，或 roll 把末尾卷到了开头。",
)
AROUND_FIX = Message(
    "pad at the left alone: conv(F.pad(x, ((kernel - 1) * dilation, 0))), with padding=0",
    "只在左侧填充：conv(F.pad(x, ((kernel - 1) * dilation, 0)))，并设 padding=0",
)
MULTIPLIED = Message(
    "The mask is multiplied into the scores: a hidden score becomes 0, not -inf.",
    "掩码乘进了得分：被遮住的得分变为 0，而不是 -inf。",
)
MULTIPLIED_FIX = Message("scores = scores.masked_fill(~mask, -inf)", "scores = scores.masked_fill(~mask, -inf)")
AFTERWARDS = Message(
    "The mask is put on after the softmax: the future is in the sum that normalises.",
    "掩码加在 softmax 之后：归一化的和里已含有未来。",
)
AFTERWARDS_FIX = Message(
    "mask the scores, then softmax: scores.masked_fill(~mask, -inf).softmax(-1)",
    "先遮得分再 softmax：scores.masked_fill(~mask, -inf).softmax(-1)",
)
ADDED = Message(
    "A mask of 0 and 1 is added to the scores as if it were boolean.", "0/1 掩码被当作布尔掩码，加到了得分上。"
)
ADDED_FIX = Message("attn_mask=mask.bool()", "attn_mask=mask.bool()")
HINT = Message(
    "is_causal=True is a hint about the mask given beside it, and that mask is not causal.",
    "is_causal=True 只是对所给掩码的提示，而该掩码并不是因果掩码。",
)
HINT_FIX = Message(
    "give the causal mask itself: attn_mask=torch.ones(T, T).triu(1).bool(), is_causal=True",
    "直接给出因果掩码：attn_mask=torch.ones(T, T).triu(1).bool(), is_causal=True",
)
FILL = Message(
    "What hidden scores are filled with is a number that real scores can fall below.",
    "用来填充被遮住得分的数，真实得分可以比它更低。",
)
FILL_FIX = Message(
    "masked_fill(mask, torch.finfo(scores.dtype).min), or -inf",
    "masked_fill(mask, torch.finfo(scores.dtype).min)，或用 -inf",
)
MEMORY = Message(
    "A decoder layer reads its own input as memory, where no mask hides the future.",
    "解码层把自己的输入当作 memory 来读，那里没有掩码遮住未来。",
)
MEMORY_FIX = Message(
    "use nn.TransformerEncoder with a causal mask, or give memory_mask too",
    "改用带因果掩码的 nn.TransformerEncoder，或同时给出 memory_mask",
)
SOURCE_HIDDEN = Message(
    "The attention to the source is causal: a target sees the source only up to its own position.",
    "对源序列的注意力用了因果掩码：目标只看得到源序列中不晚于自身位置的部分。",
)
SOURCE_HIDDEN_FIX = Message("is_causal=False for cross-attention", "交叉注意力应为 is_causal=False")
