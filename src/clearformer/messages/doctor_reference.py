"""A module beside its reference: the law, the evidence, and the causes with their mends."""

from __future__ import annotations

from clearformer.messages import Message

REFERENCE = Message(
    "With the same weights the module answers as its reference does.", "权重相同时，模块的结果与参照一致。"
)
REFERENCE_RISK = Message(
    "A reference with other weights differs rightly: weights are copied into it where names and shapes agree.",
    "权重不同的参照本来就会不同：凡名称与形状一致，权重会先复制过去。",
)
PARTS = Message(
    "at {count} of 3 lengths, first {length}, it differs from its reference, by {floors:.0f} times the noise floor",
    "在 3 种长度中的 {count} 种（最短为 {length}）与参照不同，幅度为噪声下限的 {floors:.0f} 倍",
)
FIRST = Message("the first part that differs is {place}", "最先出现差异的部分是 {place}")
FEWER_HEADS = Message(
    "it scores with {mine} heads, its reference with {right}", "它用 {mine} 个头计算得分，参照用 {right} 个"
)
OTHER_SCALE = Message(
    "it scales by {mine:.4g}, its reference by {right:.4g}", "它的缩放为 {mine:.4g}，参照为 {right:.4g}"
)

# Causes
TILED = Message(
    "Key heads are laid out tile after tile, so that a query head reads another group's key.",
    "键的头按整组平铺，使查询头读到了别组的键。",
)
TILED_FIX = Message(
    "k = k.repeat_interleave(H // G, dim=1), not k.repeat(1, H // G, 1, 1)",
    "k = k.repeat_interleave(H // G, dim=1)，而不是 k.repeat(1, H // G, 1, 1)",
)
REDUCED = Message(
    "The queries of a group are summed or averaged instead of each reading the shared key.",
    "同组的查询被求和或平均，而不是各自去读共享的键。",
)
REDUCED_FIX = Message(
    "k, v = k.repeat_interleave(H // G, 1), v.repeat_interleave(H // G, 1)",
    "k, v = k.repeat_interleave(H // G, 1), v.repeat_interleave(H // G, 1)",
)
DIFFERS = Message(
    "Something differs from the reference that no hypothesis mends.", "与参照不同，已试的假设都不能弥合。"
)
DIFFERS_FIX = Message("compare the part that is named, line by line", "请逐行比较所指出的部分")
