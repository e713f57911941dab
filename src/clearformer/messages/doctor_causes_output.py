"""What is wrong with the size of the output, and the mend in one line."""

from __future__ import annotations

from clearformer.messages import Message

INITIAL_SCALE = Message(
    "The fresh model is sure of itself: its logits spread too far.",
    "未训练的模型过于自信：logits 的离散度过大。",
)
INITIAL_SCALE_FIX = Message(
    "Embedding std 0.02 (or 1/sqrt(D)) where the head is tied; a norm before the head",
    "输出头与嵌入共享时，嵌入标准差取 0.02（或 1/sqrt(D)）；输出头之前加归一化",
)
PROBABILITIES_AS_LOGITS = Message(
    "Probabilities come out where a loss expects logits.",
    "输出的是概率，而损失函数需要 logits。",
)
PROBABILITIES_AS_LOGITS_FIX = Message(
    "Leave the softmax out of forward: cross_entropy has its own.",
    "forward 中不要 softmax：cross_entropy 自带。",
)
ANSWERS_NOT_FINITE = Message(
    "The forward pass itself makes NaN or infinite numbers: a division by zero, a logarithm of zero, an overflow.",
    "前向计算自身产生了 NaN 或无穷大：除以零、对零取对数，或数值溢出。",
)
ANSWERS_NOT_FINITE_FIX = Message(
    "an epsilon under the root or the quotient, log_softmax instead of softmax().log(), float32 for sums and exponents",
    "在根号或除数处加 epsilon，用 log_softmax 代替 softmax().log()，求和与指数用 float32",
)
