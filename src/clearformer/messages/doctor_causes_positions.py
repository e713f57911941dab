"""What is wrong with positions, and the mend in one line."""

from __future__ import annotations

from clearformer.messages import Message

POSITIONS_ON_THE_BATCH_AXIS = Message(
    "Positions are counted along the batch: rows differ by their number, and places in a row do not.",
    "位置沿批维编号：行与行因序号而不同，行内位置却无区别。",
)
POSITIONS_ON_THE_BATCH_AXIS_FIX = Message(
    "x + pe[:, : x.size(1)] for x of (B, T, D): the table lies along axis 1",
    "x 为 (B, T, D) 时写 x + pe[:, : x.size(1)]：表沿第 1 维展开",
)
POSITIONS_UNUSED = Message(
    "There is a table of positions, and the order of the tokens does not come from it.",
    "模型有位置表，但词元的次序并不由它得来。",
)
POSITIONS_UNUSED_FIX = Message(
    "x = tokens(ids) + positions(torch.arange(T))",
    "x = tokens(ids) + positions(torch.arange(T))",
)
ORDER_UNSEEN = Message(
    "The order of the tokens makes no difference.",
    "词元的次序不影响输出。",
)
ORDER_UNSEEN_FIX = Message(
    "Add positions to the embeddings, or turn queries and keys (RoPE).",
    "给嵌入加上位置，或旋转查询与键（RoPE）。",
)
ROTARY_ANGLES_IN_LOW_PRECISION = Message(
    "Rotary angles are computed in too few bits: far positions run together.",
    "旋转角以过低精度计算：远处的位置混在一起。",
)
ROTARY_ANGLES_IN_LOW_PRECISION_FIX = Message(
    "Compute position · inv_freq, cos and sin in float32, and cast afterwards.",
    "以 float32 计算 位置 × inv_freq、cos 与 sin，之后再转换类型。",
)
ROTARY_LAYOUT = Message(
    "The rotary layout is mixed: angles, turn and weights do not agree on which two numbers form a pair.",
    "旋转位置的排列不一致：角度、旋转与权重对哪两个数成一对各执一词。",
)
ROTARY_LAYOUT_FIX = Message(
    "Halves: cat([angles, angles]) with rotate_half; pairs: repeat_interleave(2) with x[..., ::2], x[..., 1::2]; "
    "permute the rows of q and k between them.",
    "前后两半：cat([angles, angles]) 配 rotate_half；相邻成对：repeat_interleave(2) 配 x[..., ::2] 与 x[..., 1::2]；"
    "两者互换须重排 q、k 的行。",
)
ROTARY_ON_ONE_SIDE = Message(
    "Only queries or only keys are turned by their position: their product then depends on where they stand, not on how "
    "far apart they are.",
    "只旋转了查询或只旋转了键：两者的乘积于是取决于所处位置，而不是相隔多远。",
)
ROTARY_ON_ONE_SIDE_FIX = Message(
    "q, k = rotary(q, positions), rotary(k, positions)", "q, k = rotary(q, positions), rotary(k, positions)"
)
ROTARY_ON_VALUES = Message(
    "Values are turned by their position too: what is read then depends on where it stands.",
    "值也被按位置旋转：读到的内容于是随位置而变。",
)
ROTARY_ON_VALUES_FIX = Message("Turn queries and keys alone; leave v as it is.", "只旋转 q 与 k，v 保持原样。")
ROTARY_ANGLES_DISAGREE = Message(
    "Queries and keys are turned by different angles: another base, another pairing, or other positions.",
    "查询与键的旋转角不一致：底数、成对方式或位置不同。",
)
ROTARY_ANGLES_DISAGREE_FIX = Message(
    "One table of cos and sin, and one function, for q and k alike.", "q 与 k 用同一张 cos、sin 表和同一个函数。"
)
POSITIONS_RESTART_WITH_THE_CACHE = Message(
    "With a cache new tokens count from position 0, unless positions are handed in.",
    "使用缓存时若不传位置，新词元又从位置 0 数起。",
)
POSITIONS_RESTART_WITH_THE_CACHE_FIX = Message(
    "positions = past_length + torch.arange(T)",
    "positions = past_length + torch.arange(T)",
)
