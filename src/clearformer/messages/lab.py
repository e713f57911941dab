"""What the demonstrations say at each step, and the laws that they assert."""

from __future__ import annotations

from dataclasses import dataclass

from clearformer.messages import Message


@dataclass(frozen=True)
class Law:
    """What must hold, and what it means when it does not."""

    statement: Message
    broken: Message


def law(*, en: tuple[str, str], zh: tuple[str, str]) -> Law:
    """Build a law from (statement, meaning of its breach) in each language."""
    return Law(Message(en[0], zh[0]), Message(en[1], zh[1]))


EXPECTED_AND_FOUND = Message("expected {expected}; found {found}", "应为 {expected}；实际是 {found}")
PLANTED = Message("Planted fault: {fault}. {what}", "植入的错误：{fault}。{what}")

NO_SCALE = Message("Scores are not divided by √d_k.", "分数没有除以 √d_k。")
ZERO_FILL = Message("Hidden scores are set to 0 instead of −∞.", "被遮住的分数填了 0，而不是 −∞。")
SOFTMAX_AXIS_0 = Message(
    "The softmax runs over the queries instead of the keys.", "softmax 沿查询方向而不是键方向归一化。"
)
NO_POSITIONS = Message("Nothing is added to say where a token stands.", "没有加入任何位置信息。")

# 1: three tokens by hand
HAND = Message("Scaled dot-product attention by hand: three tokens", "手算缩放点积注意力：三个词元")
HAND_INPUTS = Message(
    "Each of three tokens asks (Q), offers a label (K) and holds a content (V); the labels of tokens 0 and 2 are the same.",
    "三个词元各有一个提问（Q）、一个标签（K）和一份内容（V）；词元 0 与 2 的标签相同。",
)
HAND_SCORES = Message(
    "Row i, column j: how well query i matches key j, divided by √d_k = √2.",
    "第 i 行第 j 列：查询 i 与键 j 的匹配程度，已除以 √d_k = √2。",
)
HAND_WEIGHTS = Message(
    "The softmax turns every row into shares of one: token 0 reads tokens 0 and 2 alike.",
    "softmax 把每一行变成总和为 1 的份额：词元 0 对词元 0 和 2 一视同仁。",
)
HAND_OUTPUT = Message(
    "The output of a row is the mean of the values, weighted by its shares.",
    "每一行的输出就是按这些份额对 V 求加权平均。",
)
HAND_SCORES_LAW = law(
    en=(
        "The scores are Q Kᵀ / √d_k.",
        "The scores are √d_k too large: the division by √d_k is missing, and the softmax turns sharp.",
    ),
    zh=("分数等于 Q Kᵀ / √d_k。", "分数大了 √d_k 倍：缺少除以 √d_k 这一步，softmax 会变得过尖。"),
)
ROWS_SUM_LAW = law(
    en=(
        "Every row of weights sums to 1.",
        "A query does not spend exactly one unit of attention over the keys: the softmax runs along the wrong axis, which no shape betrays.",
    ),
    zh=("权重的每一行之和为 1。", "一个查询分给各键的注意力总和不是 1：softmax 走错了轴，而形状上看不出来。"),
)
HAND_FIGURES_LAW = law(
    en=(
        "By hand to four decimals: {what}.",
        "Pencil and paper give another result for {what}: a step of the formula is wrong.",
    ),
    zh=("与手算结果四位小数一致：{what}。", "{what}与纸笔计算不符：公式中有一步做错了。"),
)
WEIGHTS = Message("the weights", "权重")
OUTPUT = Message("the output", "输出")

# 2: the causal mask
CAUSAL = Message("The causal mask: nobody reads the future", "因果掩码：谁也看不到未来")
CAUSAL_MASK = Message(
    "The mask says who sees whom: row i sees the columns up to i.", "掩码规定谁能看见谁：第 i 行只能看到第 i 列及之前。"
)
CAUSAL_SCORES = Message("Every query scores every key, the future ones too.", "每个查询给每个键打分，包括未来的键。")
CAUSAL_WEIGHTS = Message(
    "Hidden keys do not exist for the softmax: their weight is 0.", "被遮住的键对 softmax 来说不存在：权重为 0。"
)
UPPER_LAW = law(
    en=(
        "Above the diagonal every weight is exactly 0.",
        "The future gets weight: a hidden score of 0 still counts e⁰ = 1 in the softmax. Training would look ahead and generation could not.",
    ),
    zh=(
        "对角线以上的权重严格为 0。",
        "未来的词元得到了权重：填 0 的分数在 softmax 中仍占 e⁰ = 1。训练时偷看了答案，生成时却看不到。",
    ),
)
FIRST_ROW_LAW = law(
    en=(
        "The first token has only itself to read: 1 0 0 0.",
        "The first token, which has no past, does not spend all of its attention on itself.",
    ),
    zh=("第一个词元只能看自己：1 0 0 0。", "第一个词元没有过去，却没有把全部注意力给自己。"),
)
FUTURE_LAW = law(
    en=(
        "Other tokens 2 and 3 leave outputs 0 and 1 as they were, to the last bit.",
        "A later token changed an earlier output.",
    ),
    zh=("换掉词元 2 和 3，输出 0 和 1 一位不差。", "后面的词元改变了前面的输出。"),
)
FILL = Message(
    "What to fill in? Let token 0 be padding, so that row 0 sees nothing. First −1e9, the usual finite fill, in float64:",
    "该填什么？设词元 0 是填充，于是第 0 行什么也看不到。先用常见的有限值 −1e9（float64）：",
)
FILL_HALF = Message(
    "The same fill in float16, whose largest number is 65504:", "同样的填充放到 float16（最大只能表示 65504）："
)
FILL_LIBRARY = Message("Masked as a boolean, as this library does:", "本库的做法，掩码是布尔值：")
UNIFORM_LAW = law(
    en=(
        "With −1e9 the blind row becomes uniform: three quarters of it read the future.",
        "The finite fill did not make the row uniform.",
    ),
    zh=("填 −1e9 时，全遮的行退化为均匀分布：四分之三的权重读到了未来。", "有限值填充没有让这一行变成均匀分布。"),
)
HALF_LAW = law(
    en=("In float16 −1e9 is −∞, and the blind row is not a number.", "float16 held −1e9."),
    zh=("float16 中 −1e9 就是 −∞，全遮的行变成 NaN。", "float16 居然存下了 −1e9。"),
)
BLIND_LAW = law(
    en=("A row that sees nothing has weights of exactly 0.", "A row that sees nothing reads something."),
    zh=("什么也看不到的行，权重严格为 0。", "什么也看不到的行却读到了东西。"),
)

# 3: the scale
SCALE = Message("Why the scores are divided by √d_k", "为什么分数要除以 √d_k")
SCALE_PAIRS = Message(
    "{pairs} pairs of random vectors with numbers of variance 1; their dot product adds d_k terms of variance 1.",
    "{pairs} 对随机向量，各分量方差为 1；点积是 d_k 个方差为 1 的项之和。",
)
SCALE_TABLE = Message(
    "Standard deviations; ± is the standard error that {pairs} samples leave, from their own fourth moment.",
    "标准差；± 是 {pairs} 个样本留下的标准误差，由样本四阶矩算出。",
)
SCORE = Message("score", "分数")
RAW_LAW = law(
    en=(
        "d_k = {width}: q·k deviates by √d_k, within five standard errors.",
        "The dot products do not spread as a sum of d_k independent terms.",
    ),
    zh=("d_k = {width}：q·k 的标准差为 √d_k，偏差在五倍标准误差内。", "点积的离散程度不像 d_k 个独立项之和。"),
)
SCALED_LAW = law(
    en=(
        "d_k = {width}: the scores deviate by 1, within five standard errors.",
        "The spread of the scores depends on d_k: without the division by √d_k wide heads saturate the softmax, and its gradient dies.",
    ),
    zh=(
        "d_k = {width}：分数的标准差为 1，偏差在五倍标准误差内。",
        "分数的离散程度随 d_k 变化：不除以 √d_k，宽的头会让 softmax 饱和，梯度消失。",
    ),
)
SCALE_SATURATION = Message(
    "One query over 16 keys, d_k = 512. Largest weight p, and the gradient p(1 − p) that its score receives, on average:",
    "一个查询对 16 个键，d_k = 512。最大权重 p 及其分数得到的梯度 p(1 − p) 的平均值：",
)
SCALE_SATURATION_ROW = Message(
    "  p = {largest:.4f}   p(1 − p) = {gradient:.4f} ± {error:.4f}   {which}",
    "  p = {largest:.4f}   p(1 − p) = {gradient:.4f} ± {error:.4f}   {which}",
)
WITH_SCALE = Message("divided by √d_k", "除以 √d_k")
WITHOUT_SCALE = Message("not divided", "不除")
SATURATION_LAW = law(
    en=(
        "Divided, the scores receive the larger gradient, by more than five standard errors.",
        "Dividing the scores did not keep the softmax awake.",
    ),
    zh=("除以 √d_k 后分数得到的梯度更大，差距超过五倍标准误差。", "除以 √d_k 没有让 softmax 保持灵敏。"),
)

# 4: order
ORDER = Message("Attention does not see order, until somebody tells it", "注意力本身看不见顺序")
ORDER_SHUFFLE = Message(
    "Three tokens, attention with two heads and random weights, then the same tokens in the order 2 0 1.",
    "三个词元，两个头，随机权重；再把同样的词元按 2 0 1 的顺序输入。",
)
EQUIVARIANT_LAW = law(
    en=(
        "The outputs move with their tokens: equivariant.",
        "The outputs did not follow their tokens, although nothing told the order.",
    ),
    zh=("输出随词元一起换位：这叫等变。", "没有任何位置信息，输出却没有随词元换位。"),
)
NOT_INVARIANT_LAW = law(
    en=(
        "They are not unchanged: attention is equivariant and not invariant.",
        "The outputs stayed in place while their tokens moved.",
    ),
    zh=("输出并非保持不变：注意力是等变的，不是不变的。", "词元换了位置，输出却留在原处。"),
)
ORDER_POSITIONS = Message(
    "Now each token's vector gets the sinusoids of its position added.", "现在给每个词元的向量加上其位置的正弦编码。"
)
POSITIONS_LAW = law(
    en=(
        "With positions, the outputs of the shuffled tokens are other outputs.",
        "Shuffled tokens give shuffled outputs and nothing else: no position reached the model, so every order of a sentence means the same to it.",
    ),
    zh=(
        "加入位置后，打乱顺序会得到不同的输出。",
        "打乱词元只是打乱了输出：位置信息没有进入模型，一句话怎么排列对它都一样。",
    ),
)
ROTATION_LAW = law(
    en=(
        "PE(pos + 3) is PE(pos) turned by one matrix, the same for every pos.",
        "The step from a position to another depends on where it is taken.",
    ),
    zh=("PE(pos + 3) 由 PE(pos) 乘同一个旋转矩阵得到，与 pos 无关。", "位置之间的变换随所处位置而变。"),
)
ORDER_CAUSAL = Message(
    "The mask tells order too. A causal decoder without positions reads a b c and b a c; its answer at c moves by:",
    "掩码也透露顺序。不带位置编码的因果解码器分别读 a b c 和 b a c，它在 c 处的输出变化：",
)
ORDER_CAUSAL_ROW = Message("  layers {layers}: {gap:.1e}", "  层数 {layers}：{gap:.1e}")
ONE_LAYER_LAW = law(
    en=(
        "One causal layer reads its past as a set: the answer at c does not move.",
        "One layer told two orders of its past apart without positions.",
    ),
    zh=("一层因果注意力把过去当作集合：c 处的输出不变。", "没有位置编码，一层就区分了过去的顺序。"),
)
TWO_LAYERS_LAW = law(
    en=(
        "Two causal layers tell the orders apart: a and b have themselves read different pasts.",
        "Two causal layers did not tell the orders apart.",
    ),
    zh=("两层因果注意力能区分顺序：a 和 b 自己读到的过去已经不同。", "两层因果注意力没有区分出顺序。"),
)
