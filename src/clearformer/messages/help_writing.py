"""The help sentences of `generate`, `chat` and `embed`; `help` looks them up."""

from __future__ import annotations

from clearformer.messages import Message

WRITING = (
    # generate, chat
    Message("The text to continue; without it, standard input.", "要续写的文本；省略时读取标准输入。"),
    Message(
        "Answer the prompt as a message, through the model's chat template; else continue it as text.",
        "通过模型的对话模板，把提示当作一条消息来回答；否则当作文本续写。",
    ),
    Message("A message from the system before the first of yours.", "在您的第一条消息之前的系统消息。"),
    Message(
        "Write at most this many tokens [the model's default, else 256].",
        "至多生成这么多词元 [模型自带的默认值，否则 256]。",
    ),
    Message(
        "Divide logits by this before sampling; 0 takes the likeliest token [the model's default, else 0].",
        "采样前把 logits 除以此数；0 表示总取最可能的词元 [模型自带的默认值，否则 0]。",
    ),
    Message("Sample among this many likeliest tokens; 0 is off.", "只在最可能的这么多个词元中采样；0 表示关闭。"),
    Message(
        "Sample among the likeliest tokens that hold this much probability; 1 is off.",
        "只在合计达到此概率的最可能词元中采样；1 表示关闭。",
    ),
    Message(
        "Drop tokens less likely than this share of the likeliest one; 0 is off.",
        "舍去概率低于最可能词元此比例的词元；0 表示关闭。",
    ),
    Message(
        "Divide the positive logits of tokens seen before by this, multiply the negative ones; 1 is off.",
        "出现过的词元：正 logit 除以此数，负 logit 乘以此数；1 表示关闭。",
    ),
    Message("Start of the random numbers; the same seed gives the same text.", "随机数种子；种子相同则文本相同。"),
    Message("End before this string; may be given several times.", "在此字符串之前结束；可以多次给出。"),
    Message(
        "Show the likeliest tokens at each step, this many, with their log-probabilities before any filter.",
        "显示每一步最可能的这么多个词元，及其过滤之前的对数概率。",
    ),
    Message(
        "Keep keys and values; without, every step reads the whole text again.", "保留键和值；否则每一步都重读全文。"
    ),
    Message(
        "Read the prompt in pieces of this many tokens, which bounds the memory needed.",
        "每次读取提示中的这么多个词元，以限制所需内存。",
    ),
    Message(
        "Beam search: keep this many likeliest beginnings and write the best whole text; 1 is off.",
        "束搜索：保留这么多个最可能的开头，写出整段最佳的文本；1 表示关闭。",
    ),
    Message(
        "Rank the beams' texts by log-probability over ((5 + n) / 6) to this power; more favours long texts [0.6].",
        "按对数概率除以 ((5 + n) / 6) 的此次幂给各束的文本排序；越大越偏向长文本 [0.6]。",
    ),
    # embed
    Message("Texts; without them, the lines of standard input.", "文本；省略时读取标准输入的各行。"),
    Message("Compare the texts: the cosine between each two.", "比较文本：两两之间的余弦。"),
)
