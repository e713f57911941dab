"""Causes in loss, labels and collator: what is wrong, and the mend in one line."""

from __future__ import annotations

from clearformer.messages import Message

SHIFTED_TWICE = Message(
    "The labels are shifted twice, by the collator and again by the loss or model: token t+2 is learnt.",
    "标签被移位两次（整批函数一次，损失或模型又一次）：学的是第 t+2 个词元。",
)
SHIFTED_TWICE_FIX = Message(
    "Shift in one place only: labels = input_ids.clone() for a model that shifts inside.",
    "只在一处移位：模型内部会移位时，labels = input_ids.clone()。",
)
NOT_SHIFTED = Message(
    "The labels are not shifted: the model learns to repeat its input, the loss falls near zero, generation repeats.",
    "标签没有移位：模型学会复述输入，损失降到接近零，生成时只会重复。",
)
NOT_SHIFTED_FIX = Message(
    "cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())",
    "cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())",
)
PREVIOUS = Message(
    "The labels are shifted the wrong way: the model learns the previous token.",
    "标签移位方向相反：模型学的是前一个词元。",
)
PREVIOUS_FIX = Message(
    "logits[:, :-1] against ids[:, 1:], not the reverse.", "应以 logits[:, :-1] 对 ids[:, 1:]，不可颠倒。"
)
IGNORES_LOGITS = Message("The loss does not depend on the logits.", "损失与 logits 无关。")
IGNORES_LOGITS_FIX = Message(
    "Compute the loss from the logits themselves, not from argmax, .detach() or .item().",
    "损失须由 logits 本身算出，不可经 argmax、.detach() 或 .item()。",
)
SOFTMAX_BEFORE = Message(
    "A softmax stands before a loss that has its own: the loss cannot fall near zero.",
    "损失自带 softmax，其前又做了一次 softmax：损失无法接近零。",
)
SOFTMAX_BEFORE_FIX = Message(
    "cross_entropy(logits, targets): no softmax before it.", "cross_entropy(logits, targets)：之前不要 softmax。"
)
