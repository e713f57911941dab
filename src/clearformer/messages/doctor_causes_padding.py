"""What is wrong with padding, and the mend in one line."""

from __future__ import annotations

from clearformer.messages import Message

PADDING_MASK_WITHOUT_EFFECT = Message(
    "The padding mask changes nothing: what stands under it is read.",
    "填充掩码不起作用：被遮位置的内容仍会被读到。",
)
PADDING_MASK_WITHOUT_EFFECT_FIX = Message(
    "Hide the padded keys in every attention: scores.masked_fill(~mask[:, None, None, :], -inf)",
    "在每个注意力里遮住填充的键：scores.masked_fill(~mask[:, None, None, :], -inf)",
)
PADDING_MASK_INVERTED = Message(
    "The padding mask is inverted: real tokens are hidden and padding is read.",
    "填充掩码反了：真实词元被遮住，填充反而被读取。",
)
PADDING_MASK_INVERTED_FIX = Message(
    "attention_mask has 1 for real tokens, key_padding_mask has True for padding: pass ~mask.",
    "attention_mask 用 1 表示真实词元，key_padding_mask 用 True 表示填充：请传 ~mask。",
)
PADDING_MASK_ON_QUERIES = Message(
    "The padding mask hides queries instead of keys.",
    "填充掩码遮的是查询而不是键。",
)
PADDING_MASK_ON_QUERIES_FIX = Message(
    "mask[:, None, None, :] lies along the keys; mask[:, None, :, None] along the queries.",
    "mask[:, None, None, :] 沿键的方向；mask[:, None, :, None] 沿查询的方向。",
)
MEMORY_PADDING_MASK_MISSING = Message(
    "The decoder reads padded source positions: only the encoder knows the mask.",
    "解码器会读源序列的填充位置：掩码只给了编码器。",
)
MEMORY_PADDING_MASK_MISSING_FIX = Message(
    "memory_key_padding_mask=src_key_padding_mask",
    "memory_key_padding_mask=src_key_padding_mask",
)
POSITIONS_NOT_FROM_MASK = Message(
    "Positions are counted from the first column, padding included: a left-padded row stands elsewhere.",
    "位置从第一列数起、把填充也算在内：左填充的行因此错位。",
)
POSITIONS_NOT_FROM_MASK_FIX = Message(
    "positions = (attention_mask.cumsum(-1) - 1).clamp(min=0)",
    "positions = (attention_mask.cumsum(-1) - 1).clamp(min=0)",
)
PADDING_POOLED_IN = Message(
    "Padding is counted in the mean, the maximum or the last position that stands for the row.",
    "整行的平均、最大或末位取值把填充也算了进去。",
)
PADDING_POOLED_IN_FIX = Message(
    "(h * mask[..., None]).sum(1) / mask.sum(1, keepdim=True); the last real position is mask.sum(1) - 1",
    "(h * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)；最后一个真实位置是 mask.sum(1) - 1",
)
EMPTY_ROWS = Message(
    "A query that may see nothing gets NaN, and NaN spreads.",
    "没有任何可见键的查询得到 NaN，并向外扩散。",
)
EMPTY_ROWS_FIX = Message(
    "Fill with torch.finfo(dtype).min, or let every query see itself.",
    "用 torch.finfo(dtype).min 填充，或让每个查询至少看到自己。",
)
MASKS_OVERFLOW = Message(
    "Two masks of the smallest number are added: the sum is -inf, and a row of it NaN.",
    "两个取最小值的掩码相加：和为 -inf，整行如此便成 NaN。",
)
MASKS_OVERFLOW_FIX = Message(
    "Combine masks as booleans, and fill once.",
    "以布尔形式合并掩码，只填充一次。",
)
MASK_TYPE_MATTERS = Message(
    "The same mask as boolean, integer and float gives different answers.",
    "同一掩码用布尔、整数与浮点表示时，输出不同。",
)
MASK_TYPE_MATTERS_FIX = Message(
    "mask = mask.bool() at the start of forward",
    "在 forward 开头写 mask = mask.bool()",
)
