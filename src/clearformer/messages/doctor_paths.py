"""The law of several paths: what it says, when an alarm is false, and the evidence."""

from __future__ import annotations

from clearformer.messages import Message

PATHS = Message(
    "With and without gradients, with one kernel or another, the answer is the same.",
    "带不带梯度、用哪种内核，输出都相同。",
)
PATHS_RISK = Message(
    "PyTorch's fast path writes zeros at padding; only real positions are compared.",
    "PyTorch 的快速路径在填充处写零；只比较真实位置。",
)
IDLE_DROPOUT = Message(
    "{count} dropouts with a rate of {rate:g} are declared, and two passes of training are the same to the last bit",
    "声明了 {count} 处比例为 {rate:g} 的 dropout，而训练模式下两次前向逐位相同",
)
PATHS_DIFFER = Message(
    "the plain answer and that {way} differ by {floors:.0f} times the noise floor",
    "普通输出与{way}的输出相差噪声下限的 {floors:.0f} 倍",
)
WITH_GRADIENT = Message(
    "with gradients",
    "带梯度",
)
OTHER_KERNEL = Message(
    "of the other attention kernel",
    "另一注意力内核",
)
WITH_WEIGHTS = Message(
    "with attention weights asked for or not",
    "要求或不要求返回注意力权重",
)
