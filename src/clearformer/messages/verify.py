"""What is said about comparing a model with the original: what cannot be compared, what may be wrong, the verdict."""

from __future__ import annotations

from clearformer.messages import Message, failure

# What cannot be compared
NO_TRANSFORMERS = failure(
    en=(
        "Comparing with Hugging Face needs transformers, which is not installed.",
        "Install it: pip install transformers; or compare with the NumPy twin: --against numpy.",
    ),
    zh=(
        "与 Hugging Face 比较需要 transformers，而它没有安装。",
        "请运行 pip install transformers，或改与 NumPy 孪生实现比较：--against numpy。",
    ),
)
CANNOT_LOAD = failure(
    en=("transformers {version} cannot load {path}: {detail}.", "Compare with the NumPy twin: --against numpy."),
    zh=("transformers {version} 无法加载 {path}：{detail}。", "请改与 NumPy 孪生实现比较：--against numpy。"),
)
CANNOT_COMPUTE = failure(
    en=("transformers cannot compute {name}: {detail}.", "Compare with the NumPy twin: --against numpy."),
    zh=("transformers 无法计算 {name}：{detail}。", "请改与 NumPy 孪生实现比较：--against numpy。"),
)
NOTHING_COMPARED = failure(
    en=(
        "{name}: no tensor of the two sides could be laid side by side.",
        "Compare with the NumPy twin: --against numpy.",
    ),
    zh=("{name}：双方没有任何可以对照的张量。", "请改与 NumPy 孪生实现比较：--against numpy。"),
)
NO_FILES = failure(
    en=("{name} was read from no file, so transformers has nothing to read.", "Compare with the NumPy twin: numpy."),
    zh=("{name} 不是从文件读取的，transformers 无从读取。", "请改与 NumPy 孪生实现比较：numpy。"),
)
NOT_ALIKE = failure(
    en=(
        "{name} is of another architecture: {what} is {expected} there and {found} here.",
        "Give a checkpoint of the same architecture and size.",
    ),
    zh=("{name} 的架构不同：{what} 在那里是 {expected}，在这里是 {found}。", "请给出架构和规模相同的检查点。"),
)
READS_NO_TEXT = failure(
    en=("{name} reads no text (its input is {found}).", "Leave --text out: numbers are drawn for it."),
    zh=("{name} 不读取文本（其输入为 {found}）。", "请去掉 --text：会为它随机生成输入。"),
)
EMPTY_TEXT = failure(
    en=("--text: expected at least one token, found none.", "Give at least one word."),
    zh=("--text：至少需要一个词元，实际一个也没有。", "请至少给出一个词。"),
)

# Stages
STAGES = {
    "loading": Message("Loading", "加载"),
    "reference": Message("Computing the reference", "计算参照结果"),
    "noise": Message("Measuring its noise", "测量其噪声"),
    "ours": Message("Computing ours", "计算我们的结果"),
    "hypotheses": Message("Trying hypotheses", "逐一尝试假设"),
}

# What may be wrong, by the words of --json
HYPOTHESES = {
    "rotary_layout": Message("the rotary layout is the other one", "旋转位置的排列方式弄反了"),
    "key_permutation": Message("keys were permuted with the wrong head count", "键按错误的头数做了重排"),
    "gqa_order": Message("query heads read the key heads in the wrong order", "查询头与键头的对应顺序有误"),
    "transposed_linear": Message("a matrix is transposed", "有矩阵被转置"),
    "untied_head": Message("the head is tied where it was not, or not where it was", "输出头是否共享词嵌入弄错了"),
    "norm_offset": Message("norm weights are off by one", "归一化权重差 1"),
    "norm_eps": Message("the eps of a norm is wrong", "归一化的 eps 有误"),
    "rope_base": Message("the rotary base or its scaling is wrong", "旋转位置的基数或缩放有误"),
    "gate_up_swapped": Message("gate and up are swapped", "gate 与 up 互换了"),
}
IN_EVERY_BLOCK = Message("every block", "每一层")
ALL_NORMS = Message("all norms", "所有归一化")
ALL_BUT_HEAD_NORMS = Message("all norms but those of queries and keys", "除查询与键之外的所有归一化")
HEAD_NORMS = Message("the norms of queries and keys", "查询与键的归一化")
PAIRS_FOR_HALVES = Message(
    "In {where}, the rows of query and key have rotary pairs side by side; halves are read.",
    "{where}：查询与键的各行是旋转对相邻排列，而读取时按前后两半处理。",
)
HALVES_FOR_PAIRS = Message(
    "In {where}, the rows of query and key lie in rotary halves; they were taken for pairs side by side.",
    "{where}：查询与键的各行本是前后两半排列，却被当作相邻配对重排过。",
)
LAYOUT_SAID = Message(
    "The rotary positions pair other numbers of a head: neighbours for halves, or halves for neighbours.",
    "旋转位置配对的分量不对：相邻与前后两半弄反了。",
)
KEYS_CUT = Message(
    "In {where}, the rows of key were permuted as those of {heads} heads.",
    "{where}：键的各行曾按 {heads} 个头重排。",
)
HEADS_DEALT = Message(
    "In {where}, query head h reads key head h mod G; h // (H/G) was meant, or the other way round.",
    "{where}：查询头 h 读取键头 h mod G，而本应是 h // (H/G)，或正好相反。",
)
TRANSPOSED = Message("{matrix} is transposed in {where}.", "{matrix} 被转置：{where}。")
ALL_TRANSPOSED = Message("Every square matrix is transposed in {where}.", "{where}：所有方阵都被转置。")
HEAD_UNTIED = Message(
    "The head multiplies by a matrix of its own; the token table was meant (tied).",
    "输出头用了自己的矩阵，而本应共享词嵌入（tied）。",
)
HEAD_TIED = Message(
    "The head multiplies by the token table (tied); a matrix of its own was meant.",
    "输出头共享了词嵌入（tied），而本应有自己的矩阵。",
)
HEAD_OTHER = Message("The head's matrix is not the original's.", "输出头的矩阵与原模型不同。")
NORM_ONE_MORE = Message(
    "The weights of {where} are one too large: 1 + w was stored where w is read.",
    "{where}的权重大了 1：存的是 1 + w，读取时当作 w。",
)
NORM_ONE_LESS = Message(
    "The weights of {where} are one too small: w was stored where 1 + w is read.",
    "{where}的权重小了 1：存的是 w，读取时当作 1 + w。",
)
OFFSET_SAID = Message(
    "RMSNorm multiplies by 1 + w where w was meant, or by w where 1 + w was.",
    "RMSNorm 乘的是 1 + w 而本应是 w，或正好相反。",
)
EPS = Message(
    "The norms' eps is {found}; with {expected} it agrees.", "归一化的 eps 是 {found}；改为 {expected} 后一致。"
)
EPS_OF_REFERENCE = Message(
    "The norms' eps is {found}; the reference says {expected}.", "归一化的 eps 是 {found}；参照模型为 {expected}。"
)
ROPE_BASE = Message(
    "The rotary base is {found}; with {expected} it agrees.", "旋转位置的基数是 {found}；改为 {expected} 后一致。"
)
ROPE_SCALING = Message(
    "The rotary scaling is {found}; with {expected} it agrees.", "旋转位置的缩放是 {found}；改为 {expected} 后一致。"
)
ROPE_OF_REFERENCE = Message(
    "The rotary base and scaling are {found}; the reference says {expected}.",
    "旋转位置的基数与缩放是 {found}；参照模型为 {expected}。",
)
SWAPPED = Message("In {where}, gate and up stand under each other's name.", "{where}：gate 与 up 的名称互换了。")

# The verdict
REFERENCES = {
    "hf": Message("transformers, reading the same files", "读取相同文件的 transformers"),
    "numpy": Message("the NumPy twin", "NumPy 孪生实现"),
}
HEADING = Message(
    "{name} against {against}: {count} tensors, {positions} positions",
    "{name} 对照 {against}：{count} 个张量，{positions} 个位置",
)
VERDICTS = {
    "equal": Message("equal: no difference beyond the noise", "相等：没有超出噪声的差异"),
    "rounding": Message(
        "rounding: within {allowed:g} times the noise, and no jump at one layer",
        "舍入误差：不超过噪声的 {allowed:g} 倍，且没有在某一层突增",
    ),
    "bug": Message("bug: {name} is the first tensor beyond the noise", "有错误：{name} 是第一个超出噪声的张量"),
}
FAULT = Message("The fault: {what} Undone, the model agrees.", "错误所在：{what}改正后与参照一致。")
UNEXPLAINED = Message("None of the {count} hypotheses mends it: {names}.", "{count} 个假设都不能修正它：{names}。")
TENSOR, MAX_ABS, REL, NOISE, TIMES = (
    Message("tensor", "张量"),
    Message("max abs", "最大绝对差"),
    Message("relative", "相对差"),
    Message("noise", "噪声"),
    Message("× noise", "噪声倍数"),
)
MEASURED = Message(
    "Noise: at least {exact:.1g} of a tensor's largest number; beyond it what these variations move: {names}.",
    "噪声至少是张量最大值的 {exact:.1g}；另取这些变化带来的差异：{names}。",
)
FOLDED = Message(
    "One row a block, its output; --layer all or --layer N opens it, --json has every tensor.",
    "每层一行，即该层的输出；用 --layer all 或 --layer N 展开，--json 含全部张量。",
)

COMMA = Message(", ", "、")
VARIATIONS = {
    "kernel": Message("another attention kernel", "另一种注意力核"),
    "batch": Message("a batch of two", "两行的批"),
    "threads": Message("another number of threads", "不同的线程数"),
    "sdpa": Message("fused attention", "融合注意力"),
    "float64": Message("float64 weights", "float64 权重"),
    "held": Message("the number type in which the model lies in memory", "模型在内存中的数值类型"),
    "stored as the model": Message("the number types in which the model is stored", "模型的存储类型"),
    "stored as the reference": Message("the number types in which the reference is stored", "参照模型的存储类型"),
}

# Notes
APART_INSIDE = Message(
    "Inside the blocks {count} tensors lie apart, {name} first: heads or rotary pairs in another order; what leaves the blocks agrees.",
    "层内有 {count} 个张量不一致，首先是 {name}：头或旋转对的顺序不同；各层的输出一致。",
)
SAME_READING = Message(
    "The twin reads the file as we do: what is compared is the computing. --against hf compares the reading too.",
    "孪生实现与我们用同样的方式读取文件：比较的是计算。--against hf 连读取方式一并比较。",
)
ANSWER_NOT_COMPARED = Message(
    "Not compared: the sentence vector, which sentence-transformers makes of what transformers gives.",
    "未比较：句向量，它由 sentence-transformers 从 transformers 的输出得到。",
)
DRAWN_WEIGHTS = Message(
    "transformers did not find {count} weights in the files and drew them: {names}.",
    "transformers 在文件中没有找到 {count} 个权重，已随机初始化：{names}。",
)
NO_VARIATION = Message(
    "Not measured: transformers has not for this model: {name}.", "未测量：transformers 对该模型不支持{name}。"
)
TYPE_NOT_WRITTEN = Message(
    "Not measured: how much the stored number types of {name} round; they cannot be written here.",
    "未测量：{name} 的存储类型带来的舍入；此处无法写出该类型。",
)
DRAWN_IDS = Message("No tokenizer: {count} ids were drawn.", "没有分词器：随机取了 {count} 个编号。")
CUT_SHORT = Message(
    "Of the text {count} tokens were read, {left_out} left out.", "文本读取了 {count} 个词元，舍去 {left_out} 个。"
)
