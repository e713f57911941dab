"""The laws inside a forward pass: what each says, when an alarm is false, and the evidence."""

from __future__ import annotations

from clearformer.messages import Message

OPERATIONS = Message(
    "Scores are query times key over the root of the head's width; the softmax runs over the keys; heads keep their "
    "tokens.",
    "得分是查询乘键再除以头宽的平方根；softmax 沿键的方向；每个头内的词元不错位。",
)
OPERATIONS_RISK = Message(
    "Some families choose another scale on purpose: that is at most a warning, and none where query or key are "
    "normalised. Recording switches PyTorch's fast path off.",
    "有些模型有意选用别的缩放：最多给出警告；查询或键已归一化时不给。记录时会关闭 PyTorch 的快速路径。",
)
NO_ATTENTION = Message(
    "No attention was recognised among the operations of the forward pass.", "前向计算的运算中没有认出注意力。"
)
DROPS = Message(
    "dropout of {rate:.2g} acts in evaluation, at {count} places",
    "评估时仍有比例为 {rate:.2g} 的 dropout，共 {count} 处",
)
READS_ROWS = Message(
    "{count} attentions run across the rows of the batch instead of along the sequence",
    "有 {count} 处注意力沿批次的行计算，而不是沿序列计算",
)
SPLIT = Message(
    "in {count} attentions one head meets the same token several times and others never: the split into heads cuts the "
    "sequence, not the features",
    "有 {count} 处注意力的同一个头多次遇到同一词元，却遇不到其他词元：切分头时切的是序列而不是特征",
)
MERGED = Message(
    "{count} times what comes out of an attention, {shape}, is reshaped so that one vector holds numbers of several tokens",
    "有 {count} 处注意力的输出 {shape} 被直接 reshape，使一个向量里混有多个词元的数",
)
WRONG_AXIS = Message(
    "{count} softmaxes run over axis {axis}, the keys are axis {right}: the weights of a query do not sum to one",
    "有 {count} 处 softmax 沿第 {axis} 轴计算，而键在第 {right} 轴：同一查询的权重之和不是 1",
)
SEES_EVERYTHING = Message(
    "{count} attentions see every position, later ones too", "有 {count} 处注意力看得到所有位置，包括后面的"
)
SEES_ONLY_AHEAD = Message(
    "{count} attentions see only what comes later and nothing before", "有 {count} 处注意力只看得到后面，看不到前面"
)
SEES_ONE_AHEAD = Message("{count} attentions see one position ahead", "有 {count} 处注意力多看到后面一个位置")
SEES_SOME_AHEAD = Message("{count} attentions see some later positions", "有 {count} 处注意力看得到后面的部分位置")
SEES_NOT_ITSELF = Message(
    "{count} attentions see what lies before a position and not the position itself",
    "有 {count} 处注意力看得到某位置之前，却看不到该位置本身",
)
HINT = Message(
    "{count} attentions are told is_causal=True beside a mask that is not causal; which of the two counts depends on "
    "need_weights",
    "有 {count} 处注意力同时收到 is_causal=True 和一个并非因果的掩码；以哪个为准取决于 need_weights",
)
ADDED = Message(
    "{count} times a mask of 0 and 1 is added to the scores: it prefers some keys and hides none",
    "有 {count} 处把 0/1 掩码加到得分上：这只是偏向某些键，什么也没有遮住",
)
MULTIPLIED = Message(
    "{count} times the scores are multiplied by a mask: a hidden score becomes 0, and e⁰ is a weight",
    "有 {count} 处把得分乘以掩码：被遮住的得分变成 0，而 e⁰ 仍有权重",
)
AFTERWARDS = Message(
    "{count} times the mask comes after the softmax: what is hidden has already been counted in the sum",
    "有 {count} 处掩码放在 softmax 之后：被遮住的位置已计入归一化的和",
)
SOURCE_CAUSAL = Message(
    "{count} attentions of the source with itself see nothing of what comes later",
    "源序列自身的 {count} 处注意力看不到后面的任何内容",
)
SOURCE_HIDDEN = Message(
    "{count} attentions hide part of the source from the target although none of it was masked",
    "有 {count} 处注意力对目标隐藏了部分源序列，而源序列并未被掩码",
)
SCALED = Message(
    "in {count} attentions scores are multiplied by {scale:.4g}; 1/√{width} is {right:.4g}",
    "有 {count} 处注意力的得分乘以 {scale:.4g}，而 1/√{width} 为 {right:.4g}",
)
UNSCALED = Message(
    "in {count} attentions scores are not scaled; 1/√{width} is {right:.4g}",
    "有 {count} 处注意力的得分没有缩放；1/√{width} 为 {right:.4g}",
)

# K02
AMPLIFIED = Message(
    "However large the scores grow, what comes later changes nothing before it.",
    "无论得分多大，后面的内容都不改变前面的输出。",
)
AMPLIFIED_RISK = Message(
    "Scores are raised as far as a long training can raise them; normalised queries and keys keep their size.",
    "得分被放大到长时间训练可能达到的程度；已归一化的查询和键保持原有大小。",
)
LEAKS_ALREADY = Message("It reads ahead without that (K01).", "不放大得分就已读到后面（K01）。")
NOTHING_TO_AMPLIFY = Message(
    "No product of queries and keys was recognised, or they are normalised and cannot grow.",
    "没有认出查询与键的乘积，或它们已归一化、无法增大。",
)
GIVES_WAY = Message(
    "with scores of up to {reached:.0f} another token at position {at} moves earlier outputs, by {floors:.0f} times the "
    "noise floor",
    "当得分达到 {reached:.0f} 时，改变位置 {at} 的词元会使更早的输出变动，幅度为噪声下限的 {floors:.0f} 倍",
)
FILLED_WITH = Message("hidden scores become {value:.4g}", "被遮住的得分变为 {value:.4g}")
