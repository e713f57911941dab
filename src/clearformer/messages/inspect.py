"""What is said about looking inside a model: what each step of a trace does, and what an attention table shows."""

from __future__ import annotations

from clearformer.messages import Message, counted, failure

# What cannot be looked at
NO_TOKENIZER = failure(
    en=("{name} comes without a tokenizer, and a text was given.", "Give token ids instead of text."),
    zh=("{name} 没有附带分词器，而给出的是文本。", "请给出词元编号，而不是文本。"),
)
NO_TOKENS = failure(
    en=("Expected at least one token, got none.", "Give at least one word."),
    zh=("至少需要一个词元，实际一个也没有。", "请至少给出一个词。"),
)
TOO_LONG = failure(
    en=("The text has {found} tokens; the model reads {context}.", "Shorten the text."),
    zh=("文本有 {found} 个词元；该模型至多读取 {context} 个。", "请缩短文本。"),
)
BAD_ID = failure(
    en=("Token id {found} is outside the vocabulary of {vocabulary}.", "Give ids from 0 to {last}."),
    zh=("词元编号 {found} 超出大小为 {vocabulary} 的词表。", "请给出 0 到 {last} 的编号。"),
)
NO_IDS = failure(
    en=(
        "Expected token ids as whole numbers of shape (batch, tokens), found {found} {shape}.",
        "Give a list of ids such as [1, 2, 3].",
    ),
    zh=("应为形状（批，词元）的整数编号，实际是 {found} {shape}。", "请给出 [1, 2, 3] 这样的编号列表。"),
)
NOT_FINITE = failure(
    en=(
        "Layer {layer} reads with weights that are NaN: there is nothing to show.",
        "See with clearformer trace where the numbers end; with --dtype float32 gone, it was overflow.",
    ),
    zh=(
        "第 {layer} 层的注意力权重为 NaN，没有可显示的内容。",
        "用 clearformer trace 查看数值从哪一步起失效；若用 --dtype float32 便消失，则是溢出。",
    ),
)
NOT_TOKENS = failure(
    en=("The model reads no tokens (its input is {found}).", "Give the image or the series itself, as a tensor."),
    zh=("该模型不读取词元（其输入为 {found}）。", "请直接给出图像或序列张量。"),
)
TWO_TOWERS = failure(
    en=(
        "Expected a model with one way through it, found two towers.",
        "Look at one of them: model.text or model.image.",
    ),
    zh=("应为单一路径的模型，实际是双塔模型。", "请查看其中之一：model.text 或 model.image。"),
)
NO_TARGET = failure(
    en=(
        "An encoder-decoder needs a target to read, and {name} names no start token.",
        "Give target, a list of token ids.",
    ),
    zh=("编码器-解码器模型需要目标序列，而 {name} 没有指明起始词元。", "请给出 target，即词元编号的列表。"),
)
NO_LAYER = failure(
    en=("There is no layer {found}; the model has {count}.", "Give a number from 0 to {last}."),
    zh=("没有第 {found} 层；该模型有 {count} 层。", "请给出 0 到 {last} 的数。"),
)
BAD_LAYER = failure(
    en=("--layer: expected a number or all, got {found}.", "Give a number such as 0, or all."),
    zh=("--layer：应为数字或 all，实际为 {found}。", "请给出 0 之类的数字，或 all。"),
)
BAD_HEAD = failure(
    en=(
        "--head: expected a head such as 1, or layer.head such as 3.1, got {found}.",
        "Give one of the two; --layer goes with the first.",
    ),
    zh=("--head：应为头的编号（如 1）或 层.头（如 3.1），实际为 {found}。", "请给出其中一种；--layer 只与前者连用。"),
)
ENCODER_WRITES_NOTHING = failure(
    en=("An encoder writes no tokens, and --max-new-tokens asks for some.", "Add --part decoder or --part cross."),
    zh=("编码器不写词元，而 --max-new-tokens 要求生成。", "请加上 --part decoder 或 --part cross。"),
)
NO_PART = failure(
    en=("This model has no {found} attention.", "Choose among: {expected}."),
    zh=("该模型没有 {found} 注意力。", "请在其中选择：{expected}。"),
)
ONE_LAYER = failure(
    en=("--op {op} writes out one block, and --layer all names every one.", "Give --layer a number."),
    zh=("--op {op} 只展开一层，而 --layer all 指所有层。", "请给 --layer 一个数字。"),
)
NO_TARGET_LENGTH = failure(
    en=("--tgt-len is what a decoder beside an encoder reads; this is {found}.", "Use --src-len alone."),
    zh=("--tgt-len 是编码器旁的解码器所读的长度；这里是 {found}。", "请只用 --src-len。"),
)
OF_AN_IMAGE = failure(
    en=(
        "--src-len: an image of this spec's size makes {positions} positions; found {found}.",
        "Leave --src-len out: the spec says how large its images are.",
    ),
    zh=(
        "--src-len：该规格的图像固定为 {positions} 个位置；实际给出 {found}。",
        "请去掉 --src-len：图像大小由规格决定。",
    ),
)
OTHER_STEPS = failure(
    en=(
        "--src-len: {steps} steps make {positions} positions; the model reads {most}.",
        "Ask for {wanted} steps, or leave --src-len out.",
    ),
    zh=(
        "--src-len：{steps} 步得到 {positions} 个位置；该模型读取 {most} 个。",
        "请给出 {wanted} 步，或去掉 --src-len。",
    ),
)
NO_CROSS_ATTENTION = failure(
    en=("This model has no cross-attention in that layer.", "Use --op attention, or an encoder-decoder."),
    zh=("该模型在这一层没有交叉注意力。", "请用 --op attention，或换编码器-解码器模型。"),
)
NEEDS_WEIGHTS = failure(
    en=(
        "{name} is a spec without weights: it reads no text.",
        "Leave the text out, and say --src-len and --tgt-len; or name a model.",
    ),
    zh=("{name} 只是规格，没有权重，不能读文本。", "请去掉文本，改用 --src-len 与 --tgt-len；或给出一个模型。"),
)
READS_TEXT = failure(
    en=("{name} sizes a trace from a spec alone; here a text is read.", "Leave out {name}, or leave out the text."),
    zh=("{name} 用于只凭规格的跟踪；而这里要读文本。", "请去掉 {name}，或去掉文本。"),
)
NO_HEAD = failure(
    en=("There is no head {found} in layer {layer}; it has {count}.", "Give a number from 0 to {last}."),
    zh=("第 {layer} 层没有头 {found}；它有 {count} 个头。", "请给出 0 到 {last} 的数。"),
)

TOO_FEW = failure(
    en=("{name}: expected a whole number from {least}, found {found}.", "Give such a number."),
    zh=("{name}：应为 {least} 以上的整数，实际为 {found}。", "请给出这样的数。"),
)
PAST_CONTEXT = failure(
    en=("{name}: the model reads at most {context} tokens, found {found}.", "Ask for at most {context}."),
    zh=("{name}：该模型至多读取 {context} 个词元，实际为 {found}。", "请不要超过 {context}。"),
)

# What is odd
ALL_HEADS, SOME_HEADS = Message("every head", "所有头"), Message("heads {heads}", "头 {heads}")
ONE_HEAD = Message("head {heads}", "头 {heads}")
ODD = {
    "not_finite": Message("{value:.2%} of the numbers are NaN or infinite", "{value:.2%} 的数是 NaN 或无穷"),
    "saturated": Message(
        "softmax is saturated in {which}: {value:.1%} of the weight on one token",
        "{which} 的 softmax 已饱和：{value:.1%} 的权重落在一个词元上",
    ),
    "sink": Message(
        "softmax is saturated in {which}: {value:.1%} of the weight on one token, mostly the first (a sink)",
        "{which} 的 softmax 已饱和：{value:.1%} 的权重落在一个词元上，多为第一个（注意力汇）",
    ),
    "uniform": Message(
        "weights are uniform in {which}: {value:.1%} of the largest entropy, nothing is chosen",
        "{which} 的权重几乎均匀：熵达到最大值的 {value:.1%}，没有作出选择",
    ),
    "wide_scores": Message(
        "visible scores deviate by {value:.2f} within a row, far from 1: softmax comes near to choosing one",
        "同一行可见分数的标准差为 {value:.2f}，远大于 1：softmax 接近只选一个",
    ),
    "narrow_scores": Message(
        "visible scores deviate by {value:.3f} within a row, far from 1: softmax comes near to a plain mean",
        "同一行可见分数的标准差为 {value:.3f}，远小于 1：softmax 接近简单平均",
    ),
}

# What a step of the trace does, by the last words of its name
MEANINGS = {
    "embed": Message(
        "each token's vector, positions added where the model adds them", "每个词元的向量，若模型如此则加上位置"
    ),
    "query": Message("what each token asks, head by head", "每个词元在各个头里要问的"),
    "key": Message("what each token answers to", "每个词元以什么应答"),
    "value": Message("what each token passes on when it is read", "每个词元被读取时给出的内容"),
    "query_rotated": Message("queries turned by their position", "按位置旋转后的查询"),
    "key_rotated": Message("keys turned by their position", "按位置旋转后的键"),
    "product": Message("query · key: how well each query fits each key", "查询与键的点积：每个查询与每个键的契合程度"),
    "scores": Message("query · key, scaled: how well they fit", "查询与键的缩放点积：契合程度"),
    "masked_scores": Message("−∞ wherever a query may not look", "不可见的位置填 −∞"),
    "weights": Message("softmax over what may be seen: each row sums to 1", "对可见位置做 softmax：每行之和为 1"),
    "heads": Message("values averaged by the weights", "按权重平均的值"),
    "attention.output": Message("the heads side by side, mixed into one vector", "各头并排，混合成一个向量"),
    "cross_attention.output": Message(
        "what was read from the source, mixed into one vector", "从源序列读到的内容，混合成一个向量"
    ),
    "norm": Message("each vector brought to one size", "把每个向量归一到同一尺度"),
    "gate": Message("activated: how far each hidden number is let through", "激活后的门：每个隐藏分量放行多少"),
    "hidden": Message("the wider hidden vector of each token alone", "每个词元各自的、更宽的隐藏向量"),
    "router": Message("each expert's share, zero where not chosen", "每个专家的份额，未选中的为零"),
    "feedforward.output": Message("what the feed-forward network adds", "前馈网络要加上的内容"),
    "sum": Message("the residual stream: what was there, and the sublayer's answer", "残差流：原有内容加上子层的输出"),
    "cross_entropy": Message(
        "one number: how surprised the model is by the right answers, in nats",
        "一个数：模型对正确答案的意外程度（nat）",
    ),
    "mean_squared_error": Message("one number: how far the answers are off", "一个数：答案偏离多远"),
    "output": Message("the residual stream after the block", "经过该层之后的残差流"),
    "pooled": Message("one vector for all that was read", "所读全部内容的一个向量"),
    "logits": Message("what the head answers", "输出头的结果"),
    "next_token": Message("a score for every token that could come next", "每个可能出现的词元的得分"),
}

# Tables
STEP, READS, LETTERS, SHAPE, MEAN, STD, ABSMAX, WHAT = (
    Message("step", "步骤"),
    Message("reads", "输入"),
    Message("letters", "字母"),
    Message("shape", "形状"),
    Message("mean", "均值"),
    Message("std", "标准差"),
    Message("absmax", "最大绝对值"),
    Message("what it is", "含义"),
)
DIMENSIONS = {
    "B": Message("batch", "批"),
    "T": Message("positions that ask", "提问的位置"),
    "S": Message("positions that are read", "被读取的位置"),
    "D": Message("model width", "模型宽度"),
    "H": Message("query heads", "查询头"),
    "G": Message("key/value heads", "键值头"),
    "K": Message("width of a query or key", "查询或键的宽度"),
    "U": Message("width of a value", "值的宽度"),
    "F": Message("feed-forward width", "前馈宽度"),
    "E": Message("experts", "专家"),
    "V": Message("vocabulary", "词表"),
    "R": Message("rotary width", "旋转宽度"),
    "Z": Message("latent width", "潜向量宽度"),
    "L": Message("layers", "层数"),
    "C": Message("channels", "通道"),
    "P": Message("patch", "块边长"),
}
NUMBER, OPERATION = Message("no.", "序号"), Message("operation", "运算")
ODD_HEADING = Message("What is odd:", "值得注意：")
NOTHING_ODD = Message(
    "Nothing is odd: every number is finite, no softmax saturated or flat.",
    "没有异常：数值均有限，softmax 未饱和也不均匀。",
)
AND_MORE = Message("and {count} more; --json has them all", "另有 {count} 处；--json 中有全部")
FROM_SPEC = Message(
    "Shapes of the spec alone, without weights: batch {batch}, {reads} read, {target} written.",
    "仅凭规格得出的形状，不含权重：批 {batch}，读 {reads}，写 {target} 个。",
)
FROM_SPEC_ALONE = Message(
    "Shapes of the spec alone, without weights: batch {batch}, {reads}.",
    "仅凭规格得出的形状，不含权重：批 {batch}，{reads}。",
)


def positions_read(count: int) -> Message:
    return counted(count, "position", "positions", "个位置")


def steps_read(steps: int, positions: int) -> Message:
    """Of a series: its steps, and the patches that they make."""
    read, made = counted(steps, "step", "steps", "步"), positions_read(positions)
    return Message(f"{read.en} in {made.en}", f"{read.zh}（{made.zh}）")


TOKENS = Message("{count} tokens: {tokens}", "{count} 个词元：{tokens}")
TOO_NARROW = Message(
    "This terminal is too narrow for: {names}. A wider one, a file and --json have them.",
    "终端太窄，未显示：{names}。加宽终端、输出到文件或使用 --json 即可看到。",
)
FOLDED = Message(
    "One line a block where it is folded; --layer N or --layer all opens it.",
    "折叠的层每层一行；用 --layer N 或 --layer all 展开。",
)

ENTROPY = Message(
    "entropy in bits: 0 reads one token, log2 of the row's length reads all alike",
    "熵（比特）：0 表示只读一个词元，行长的 log2 表示平均读取全部",
)
PREVIOUS = Message("weight on the token before", "给前一个词元的权重")
FIRST = Message("weight on the first token", "给第一个词元的权重")
ITSELF = Message("weight on itself", "给自身的权重")
INDUCTION = Message(
    "induction: weight on what followed the same token earlier", "归纳：给同一词元上次出现之后那个词元的权重"
)
NO_REPETITION = Message("No token comes again: induction has nothing to measure.", "没有重复出现的词元，无法衡量归纳。")
HEAD = Message("head", "头")
LAYER = Message("layer", "层")
SUMMARY_ROW = Message(
    "Means over the tokens; a row a layer, a column a head.", "对各词元取平均；每行一层，每列一个头。"
)
MAP = Message(
    "Layer {layer}, head {head}: each row is a token that asks, each column one that it reads; a row sums to 1.",
    "第 {layer} 层，头 {head}：每行是提问的词元，每列是被读取的词元；每行之和为 1。",
)
MAP_TOP = Message(
    "Layer {layer}, head {head}: each row is a token that asks, then the tokens that it reads most.",
    "第 {layer} 层，头 {head}：每行是提问的词元，其后是它读取最多的词元。",
)
