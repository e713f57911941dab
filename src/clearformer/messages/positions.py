"""What is said about how a model knows positions."""

from __future__ import annotations

from clearformer.messages import Message, failure

BAD_LENGTH = failure(
    en=("--length: expected a whole number from 2 to {longest}, found {found}.", "Give such a number."),
    zh=("--length：应为 2 到 {longest} 的整数，实际为 {found}。", "请给出这样的数。"),
)
NO_POSITIONS = failure(
    en=(
        "This model is told no positions: there is nothing to draw.",
        "Choose one that is; a causal mask alone already tells a decoder the order (clearformer demo 4).",
    ),
    zh=("该模型没有任何位置信息，无可绘制。", "请换一个模型；仅因果掩码就能让解码器知道次序（clearformer demo 4）。"),
)
NEEDS_TABLE = failure(
    en=("Its positions are learnt, and a spec has no weights.", "Name a model instead, such as minilm-l6."),
    zh=("它的位置是学出来的，而规格没有权重。", "请改用一个模型，例如 minilm-l6。"),
)

TITLE = Message("How {name} knows its positions", "{name} 如何知道位置")
KINDS = {
    "sinusoidal": Message("sinusoidal vectors, added to the input", "正弦位置向量，加到输入上"),
    "learned": Message("learnt vectors, added to the input", "学到的位置向量，加到输入上"),
    "rotary": Message("rotary: queries and keys are turned", "旋转位置：查询与键被旋转"),
    "alibi": Message("ALiBi: a penalty on distance, added to the scores", "ALiBi：按距离的惩罚，加到分数上"),
    "relative": Message("a learnt bias by distance, added to the scores", "按距离学到的偏置，加到分数上"),
    "buckets": Message(
        "buckets of distance; their bias is learnt, and a spec has none", "距离的分桶；偏置由训练得到，规格中没有"
    ),
}
WHERE = {
    "table": Message("{stack}: {kind}", "{stack}：{kind}"),
    "layers": Message("{stack}, layers {first} to {last}: {kind}", "{stack}，第 {first} 至 {last} 层：{kind}"),
    "layer": Message("{stack}, layer {first}: {kind}", "{stack}，第 {first} 层：{kind}"),
}
WAVES = Message(
    "{count} pairs, wavelengths from {shortest:.1f} to {longest:,.0f} positions.",
    "{count} 对，波长从 {shortest:.1f} 到 {longest:,.0f} 个位置。",
)
FALLS = Message(
    "The inner product of two equal vectors falls under a half at distance {half}.",
    "两个相同向量的内积在距离 {half} 处降到一半以下。",
)
STAYS = Message(
    "The inner product of two equal vectors stays over a half up to distance {last}.",
    "两个相同向量的内积直到距离 {last} 仍高于一半。",
)
ALIKE = Message(
    "Mean cosine of neighbours {near:.2f}, of positions {last} apart {far:.2f}.",
    "相邻位置的平均余弦为 {near:.2f}，相距 {last} 的为 {far:.2f}。",
)
SLOPES = Message("Slopes by head: {slopes}.", "各头的斜率：{slopes}。")
BIASES = Message(
    "From {lowest:.2f} to {highest:.2f}, by head and distance.", "按头与距离，从 {lowest:.2f} 到 {highest:.2f}。"
)
BUCKETS = Message("{count} buckets over distances {first} to {last}.", "距离 {first} 到 {last} 共 {count} 个桶。")

POSITION, DISTANCE = Message("position", "位置"), Message("distance, key minus query", "距离（键减查询）")
AWAY = Message("distance", "距离")
DIMENSION, PAIR = Message("dimension", "维度"), Message("pair, fast to slow", "对（由快到慢）")
HEAD, BUCKET = Message("head", "头"), Message("bucket", "桶")
INNER, COSINE = Message("inner product of equal vectors", "相同向量的内积"), Message("mean cosine", "平均余弦")
COS_OF_ANGLE = Message("cosine of the angle", "角度的余弦")
