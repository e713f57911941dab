"""What the demonstrations of heads, layers and parameter counts say."""

from __future__ import annotations

from clearformer.messages import Message
from clearformer.messages.lab import law

# 5: heads
HEADS = Message("Splitting and merging heads", "拆头与合头")
HEADS_SPLIT = Message(
    "Eight columns become two heads of four: [T, H·K] → [H, T, K]. Each number keeps its token and its column.",
    "八列拆成两个头，每头四列：[T, H·K] → [H, T, K]。每个数仍属于原来的词元和列。",
)
HEADS_SHAPES = Message(
    "Split and merged: {before} → {split} → {merged}.", "拆开再合上：{before} → {split} → {merged}。"
)
SHAPES_LAW = law(
    en=("The shapes are [5, 8] → [2, 5, 4] → [5, 8].", "Heads were split or merged into another shape."),
    zh=("形状依次为 [5, 8] → [2, 5, 4] → [5, 8]。", "拆头或合头得到了别的形状。"),
)
COLUMNS_LAW = law(
    en=(
        "Head 1 is columns 4 to 7 of every token.",
        "A head holds numbers of several tokens: a reshape without its transpose.",
    ),
    zh=("头 1 就是每个词元的第 4 至 7 列。", "一个头里混进了别的词元的数：只做了 reshape，漏了转置。"),
)
INVERSE_LAW = law(
    en=("Merging undoes splitting, number for number.", "Merging does not undo splitting."),
    zh=("合头逐个数还原拆头。", "合头没有还原拆头。"),
)
ONE_BY_ONE_LAW = law(
    en=("All heads at once give what each head alone gives.", "A head's answer depends on its neighbours."),
    zh=("所有头一起算，与每个头单独算结果相同。", "一个头的结果受到了相邻头的影响。"),
)
HEADS_COUNT = Message(
    "The four projections of width 8 hold {one} numbers as one head and {two} as two heads.",
    "宽度为 8 的四个投影：一个头时有 {one} 个数，两个头时有 {two} 个数。",
)
COUNT_LAW = law(
    en=("More heads, the same number of parameters: 4·d².", "The number of heads changed the number of parameters."),
    zh=("头数变多，参数量不变：4·d²。", "头数改变了参数量。"),
)

# 6: layers
LAYERS = Message("Three encoder layers: the shape that allows stacking", "三个编码器层：形状不变，所以能堆叠")
LAYERS_INPUT = Message(
    "Six tokens of width 32, drawn from N(0, 0.1²); four heads, feed-forward width 128, norms first.",
    "六个宽度为 32 的词元，取自 N(0, 0.1²)；四个头，前馈宽度 128，先归一化。",
)
LAYERS_ROW = Message(
    "  layer {layer}: shape {shape}, mean {mean:+.4f}, standard deviation {deviation:.4f}",
    "  第 {layer} 层：形状 {shape}，均值 {mean:+.4f}，标准差 {deviation:.4f}",
)
LAYERS_STEPS = Message(
    "Inside a layer: x + attention(norm(x)), then x + feedforward(norm(x)). Layer 0, token 0, its first four numbers:",
    "层内：x + attention(norm(x))，再 x + feedforward(norm(x))。第 0 层词元 0 的前四个数：",
)
LAYERS_DRAW_LAW = law(
    en=(
        "The input's mean and deviation are 0 and 0.1, within five standard errors.",
        "The input is not drawn from N(0, 0.1²).",
    ),
    zh=("输入的均值与标准差为 0 和 0.1，偏差在五倍标准误差内。", "输入不是取自 N(0, 0.1²)。"),
)
NORM_LAW = law(
    en=(
        "LayerNorm leaves every token with mean 0 and variance 1.",
        "The norm does not run over one token's own numbers.",
    ),
    zh=("LayerNorm 后每个词元的均值为 0、方差为 1。", "归一化没有在单个词元自己的分量上进行。"),
)
SAME_LAYER_LAW = law(
    en=(
        "Layer {layer}, written out step by step, is the library's layer.",
        "The steps and the library's layer differ: one of them is not attention as the paper has it.",
    ),
    zh=("逐步写出的第 {layer} 层与库中的层一致。", "逐步计算与库中的层不一致：其中一步不是论文里的注意力。"),
)
SHAPE_KEPT_LAW = law(
    en=("The shape is kept: [6, 32] in, [6, 32] out.", "A layer changed the shape, and no other can follow it."),
    zh=("形状不变：输入 [6, 32]，输出 [6, 32]。", "某一层改变了形状，后面无法再接别的层。"),
)
FINITE_LAW = law(
    en=("Every number is finite.", "A layer wrote infinity or not-a-number."),
    zh=("所有数都是有限值。", "某一层输出了无穷大或 NaN。"),
)

# 7: counting
COUNTING = Message("Counting the parameters of the base model", "逐项核算 base 模型的参数")
COUNTING_RULES = Message(
    "d = {width}, d_ff = {hidden}, V = {vocabulary}, six layers a side. Matrices first:",
    "d = {width}，d_ff = {hidden}，V = {vocabulary}，编码器与解码器各六层。先数矩阵：",
)
COUNTING_REST = Message("Then what those sums leave out:", "再数上面没有计入的部分：")
ONE_ATTENTION = Message("an attention", "一个注意力子层")
ONE_FEEDFORWARD = Message("a feed-forward network", "一个前馈网络")
ONE_LAYER = Message("an encoder layer", "一个编码器层")
ENCODER = Message("six encoder layers", "六个编码器层")
DECODER = Message("six decoder layers", "六个解码器层")
EMBEDDING = Message("one shared embedding", "一张共享词嵌入表")
TOTAL = Message("matrices together", "矩阵合计")
FEEDFORWARD_BIASES = Message("feed-forward biases", "前馈网络的偏置")
NORMS = Message("norms", "归一化的增益与偏置")
COUNT_FIGURE_LAW = law(
    en=("{count:>10,}  {formula:<22}  {what}", "The spec's weights and the formula do not count the same."),
    zh=("{count:>10,}  {formula:<22}  {what}", "规格列出的权重与公式的数目不一致。"),
)
WHOLE_LAW = law(
    en=(
        "The spec's weight table holds matrices, biases and norms, and nothing else: {count:,}.",
        "The weight table holds something that was not counted, or misses something.",
    ),
    zh=("规格的权重表恰由矩阵、偏置和归一化组成：{count:,}。", "权重表里有漏数或多数的东西。"),
)
SMALL_LAW = law(
    en=(
        "Biases and norms, and the 18·4·d of attention biases that some code has, add {count:,}: 0.10 M and not the 2 M up to the paper's 65 M, which is counted otherwise.",
        "Biases and norms do not add up to 98,304.",
    ),
    zh=(
        "偏置与归一化，连同有些实现才有的 18·4·d 个注意力偏置，共 {count:,}，即 0.10 M，补不上与论文 65 M 相差的 2 M：论文的计数方式不同。",
        "偏置与归一化之和不是 98,304。",
    ),
)
SHARE_LAW = law(
    en=(
        "Without the embedding, feed-forward networks hold 4/7 = 57 % of the matrices; 2/3 in layers without cross-attention.",
        "The shares of the feed-forward networks are not 4/7 and 2/3.",
    ),
    zh=(
        "除词嵌入外，前馈网络占矩阵参数的 4/7，即 57 %；只有没有交叉注意力的层才是 2/3。",
        "前馈网络的占比不是 4/7 与 2/3。",
    ),
)
