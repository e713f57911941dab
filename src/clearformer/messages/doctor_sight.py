"""The laws of who sees whom: what each says, when an alarm is false, and the evidence."""

from __future__ import annotations

from clearformer.messages import Message

DETERMINISM = Message("In evaluation the same input gives the same output.", "评估模式下，同样的输入给出同样的输出。")
DETERMINISM_RISK = Message(
    "Kernels that add in any order differ by rounding; the noise floor allows for it.",
    "求和次序不定的内核只相差舍入误差，噪声下限已把它计入。",
)
NOT_DETERMINED = Message(
    "two evaluations of one input differ by {size:.2g}, {floors:.0f} times the noise floor",
    "同一输入的两次评估相差 {size:.2g}，是噪声下限的 {floors:.0f} 倍",
)
CAUSALITY = Message("What comes later changes nothing before it.", "后面的内容不改变前面的输出。")
CAUSALITY_RISK = Message(
    "A bidirectional or prefix model must be declared as such: --kind encoder.",
    "双向模型或前缀模型须如实声明：--kind encoder。",
)
READS_AHEAD = Message(
    "another token at position {at} moves {count} earlier outputs, from position {first} on, by {floors:.0f} times the "
    "noise floor",
    "改变位置 {at} 的词元，会使从位置 {first} 起的 {count} 个更早的输出变动，幅度为噪声下限的 {floors:.0f} 倍",
)
