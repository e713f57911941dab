"""The words of the experiments on what surrounds attention: mixtures, smoothing, batch statistics, recurrence."""

from __future__ import annotations

from clearformer.messages import Message

MOE = Message("What does a mixture of experts give at equal active parameters?", "激活参数量相同时，混合专家带来什么？")
MOE_ABOUT = Message(
    "Each token passes two of eight experts, or one dense network as large as the two and the router together; equal active parameters are checked before anything is run.",
    "每个词元经过八个专家中的两个，或经过与“两个专家加路由器”等大的一个稠密网络；运行前核对激活参数量相等。",
)
DENSE, EXPERTS = Message("dense", "稠密"), Message("2 of 8 experts", "8 个专家选 2")
MOE_CLAIM = Message(
    "at the same work a token, more experts than are used at once lower the loss",
    "每词元计算量相同时，备有多于同时启用数的专家可降低损失",
)

SMOOTHING = Message("What does label smoothing do?", "标签平滑有什么作用？")
SMOOTHING_ABOUT = Message(
    "A share of the target is spread over all tokens in training; the loss below is measured without it.",
    "训练时把目标的一部分均摊给所有词元；下面的损失在不平滑的条件下测量。",
)
SMOOTHING_LOSS = Message(
    "a smoothing of 0.1 hurts perplexity, for the model learns to be less sure",
    "0.1 的平滑会损害困惑度，因为模型学得不那么确定",
)
SMOOTHING_ACCURACY = Message("it raises accuracy", "它会提高准确率")

BATCH_NORM = Message("Why is it LayerNorm and not BatchNorm?", "为什么用 LayerNorm 而不用 BatchNorm？")
BATCH_NORM_ABOUT = Message(
    "The same decoder with statistics over its own features, or over all tokens of the batch. In use a BatchNorm divides by what it kept from training; while it trains, a text's answer depends on the texts beside it.",
    "同一个解码器：统计量取自词元自身的特征，或取自整批词元。使用时 BatchNorm 除以训练中累积的统计量；训练时，一条文本的输出取决于同批的其他文本。",
)
LAYER_NORM_ARM, BATCH_NORM_ARM = Message("LayerNorm", "LayerNorm"), Message("BatchNorm", "BatchNorm")
TRAINING_GAP = Message("loss in use − in training mode", "使用时与训练模式的损失之差")
BATCH_DEPENDENCE = Message("moved by other rows", "受同批其他行影响的变动")
BATCH_NORM_CLAIM = Message("BatchNorm ends with a higher loss", "BatchNorm 最终的损失更高")
BATCH_NORM_DEPENDS = Message(
    "with BatchNorm a row's logits depend on the other rows of its batch",
    "使用 BatchNorm 时，一行的 logits 取决于同批的其他行",
)
BATCH_NORM_GAP = Message(
    "with BatchNorm the loss is higher in use than in training mode",
    "采用 BatchNorm 时，使用时的损失高于训练模式下的损失",
)

RECURRENCE = Message(
    "What does attention give over recurrence at equal parameters?", "参数量相同时，注意力比循环网络多带来什么？"
)
RECURRENCE_ABOUT = Message(
    "Sixteen keys with their values are read, then each key is asked again; only a look-up answers. How many answers are right, by the distance of the pair, and how many tokens a second each model reads, by the text's length.",
    "先读十六对键和值，再逐个问键：只有查找才能答对。按键值对的距离统计答对率，并按文本长度测量每秒读取的词元数。",
)
TRANSFORMER, LSTM = Message("Transformer", "Transformer"), Message("LSTM", "LSTM")
RECALLED, SPEED = Message("recalled", "答对率"), Message("tokens/s read, 1,024", "读取速度（词元/秒，长 1,024）")
DISTANCE, TEXT_LENGTH = Message("distance, tokens", "距离（词元）"), Message("text, tokens", "文本长度（词元）")
RECURRENCE_RECALL = Message(
    "attention reaches every earlier token in one step, and recalls more",
    "注意力一步即可到达任何更早的词元，因而记得更多",
)
RECURRENCE_SPEED = Message(
    "it reads all positions at once, and is faster than a recurrence", "它同时读取所有位置，比循环网络更快"
)
