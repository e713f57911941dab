"""The law of the loss at the start: what it says, when an alarm is false, and the evidence."""

from __future__ import annotations

from clearformer.messages import Message

START = Message(
    "Answers are finite numbers, and a model that has learnt nothing has a loss near ln V on random tokens.",
    "输出是有限的数；什么都没学到的模型，在随机词元上的损失接近 ln V。",
)
START_RISK = Message(
    "Minus infinity may be meant, for ids never to be said; a trained model may be sure of anything: only a module whose norms are as they were made is judged.",
    "负无穷可能是有意的，用于永不输出的词元；训练过的模型可以对任何内容有把握：只评判归一化层仍为初值的模块。",
)
NO_LOGITS = Message(
    "The answers are no logits over the vocabulary.",
    "输出不是词表上的 logits。",
)
NOT_NUMBERS = Message(
    "The answers are not all numbers.",
    "输出并非全是数。",
)
TRAINED = Message(
    "The module has been trained, or has no norm to tell.",
    "模块已经训练过，或没有可供判断的归一化层。",
)
PROBABILITIES = Message(
    "every answer is positive and sums to one",
    "每个输出均为正且和为一",
)
SURE_AT_START = Message(
    "the loss on random tokens is {loss:.2f}, where ln V is {expected:.2f}; the logits spread by {spread:.2g}",
    "随机词元上的损失为 {loss:.2f}，而 ln V 为 {expected:.2f}；logits 的离散度为 {spread:.2g}",
)
ANSWERS_NOT_FINITE = Message(
    "{wrong} of {of} answers are NaN or infinite, while every parameter is finite",
    "{of} 个输出中有 {wrong} 个是 NaN 或无穷大，而所有参数都是有限的",
)
