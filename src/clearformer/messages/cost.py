"""What is said about costs: names of figures, the letters of their formulas, and what cannot be reckoned."""

from __future__ import annotations

from clearformer.messages import Message, failure
from clearformer.messages.inspect import DIMENSIONS

# Refused
NOT_WHOLE = failure(
    en=("{name}: expected a whole number from 1 to {most}, found {found}.", "Give such a number."),
    zh=("{name}：应为 1 到 {most} 的整数，实际为 {found}。", "请给出这样的数。"),
)
LENGTH_IS_FIXED = failure(
    en=("{name}: the input of this {kind} fixes how many positions there are.", "Leave the length out."),
    zh=("{name}：这个 {kind} 的位置数由输入决定。", "请省略长度。"),
)
NO_SOURCE = failure(
    en=("source_length: this {kind} has no encoder in front of a decoder that reads a text.", "Leave it out."),
    zh=("source_length：这个 {kind} 的解码器之前没有读文本的编码器。", "请省略它。"),
)
NOT_ONE_OF = failure(
    en=("{name}: expected one of {expected}, found {found}.", "Give one of those."),
    zh=("{name}：应为 {expected} 之一，实际为 {found}。", "请给出其中之一。"),
)
PAST_TABLE = failure(
    en=("{found} positions are more than the {length} that the model has learnt.", "Ask for at most {length}."),
    zh=("{found} 个位置超出模型学过的 {length} 个。", "请不要超过 {length}。"),
)
WRITES_NOTHING = failure(
    en=("--generate needs a model that writes tokens; this one is {found}.", "Leave --generate out."),
    zh=("--generate 需要能写词元的模型；这个模型是 {found}。", "请去掉 --generate。"),
)
BAD_GENERATE = failure(
    en=(
        "--generate: expected prompt+new tokens such as 512+128, found {found}.",
        "Give two whole numbers from 1, of at most 13 digits.",
    ),
    zh=("--generate：应为“提示+生成”的词元数，例如 512+128，实际为 {found}。", "请给出两个 1 以上、至多 13 位的整数。"),
)
NO_SIZE = failure(
    en=(
        "Expected a size such as 24GB or 16GiB, found {found}.",
        "Give a number with its unit, from a byte to a million TB.",
    ),
    zh=("应为 24GB 或 16GiB 这样的大小，实际为 {found}。", "请给出带单位的数，从 1 字节到一百万 TB。"),
)
NOT_MEASURED = Message(
    "No times: this machine has not been measured. clearformer env --measure does it.",
    "没有时间估计：本机尚未测量。请运行 clearformer env --measure。",
)

# Sections
PARAMETERS = Message("Parameters", "参数量")
FLOPS = Message("FLOPs of the matrix products, 2 a multiply-add", "矩阵乘法的 FLOPs，每次乘加计 2")
TRAINING_MEMORY = Message(
    "Memory in training: {dtype}, {optimizer}; the total counts what is marked *",
    "训练内存：{dtype}，{optimizer}；合计按标 * 的一项计算",
)
ANSWERING = Message("KV cache and answering", "KV 缓存与推理")
SPEED = Message("FLOPs a byte, and time", "每字节 FLOPs 与时间")
GENERATING = Message("Writing {new} tokens behind {prompt}", "读 {prompt} 个词元后生成 {new} 个")
FITTING = Message("The most that fits into {size}", "{size} 中放得下的最大值")
LETTERS_TITLE = Message("Letters", "字母")
WHOLE = Message(
    "{kind}, {blocks} blocks; {work}; {dtype}",
    "{kind}，{blocks} 层；{work}；{dtype}",
)

# Rows
PARTS = {
    "tokens": Message("token table", "词元表"),
    "positions": Message("position table", "位置表"),
    "segments": Message("segment table", "句段表"),
    "patches": Message("patch projection", "分块投影"),
    "attention": Message("attention", "注意力"),
    "cross_attention": Message("cross-attention", "交叉注意力"),
    "feedforward": Message("feed-forward", "前馈"),
    "router": Message("router", "路由"),
    "norms": Message("norms", "归一化"),
    "head": Message("head", "输出头"),
    "scale": Message("scale", "缩放"),
    "comparison": Message("texts × images", "文本 × 图像"),
}
SIDES = {
    "encoder": Message("encoder", "编码器"),
    "decoder": Message("decoder", "解码器"),
    "text": Message("text", "文本"),
    "image": Message("image", "图像"),
}
TOTAL, ACTIVE, PLAIN = (
    Message("total", "合计"),
    Message("active for one token", "单个词元用到的"),
    Message("without biases and norms", "不含偏置与归一化"),
)
SCORES, SCORES_VISIBLE = (
    Message("scores and mixing, executed", "打分与加权，实际执行"),
    Message("the same, visible pairs only", "同上，只计可见的位置对"),
)
FORWARD, TRAINING = Message("forward", "前向"), Message("forward and backward", "前向与反向")
WEIGHTS, GRADIENTS, OPTIMIZER = Message("weights", "权重"), Message("gradients", "梯度"), Message("optimizer", "优化器")
ACTIVATIONS = Message("activations", "激活")
HELD = {
    ("plain", False): Message("activations, scores held", "激活，保存分数表"),
    ("sdpa", False): Message("activations, scores not held", "激活，不保存分数表"),
    ("plain", True): Message("activations recomputed, scores held", "激活重算，保存分数表"),
    ("sdpa", True): Message("activations recomputed, scores not held", "激活重算，不保存分数表"),
    ("tiled", False): Message("activations, attention by tiles", "激活，分块注意力"),
    ("tiled", True): Message("activations recomputed, attention by tiles", "激活重算，分块注意力"),
}
ONE_TABLE = Message("one block's table of scores", "单层的分数表")
PEAK = Message("fullest moment of an update", "一次更新的峰值")
PER_TOKEN, WHOLE_CACHE = Message("KV cache, a token", "KV 缓存，每词元"), Message("KV cache, whole", "KV 缓存，全部")
IN_WINDOWS, SOURCE_KEPT = (
    Message("of it within windows", "其中窗口之内"),
    Message("source's keys and values", "源序列的键值"),
)
WEIGHTS_AND_CACHE = Message("weights and cache", "权重与缓存")
INTENSITY_PREFILL, INTENSITY_DECODE, BALANCE = (
    Message("prefill, FLOPs a byte", "预填充，每字节 FLOPs"),
    Message("decode, FLOPs a byte", "解码，每字节 FLOPs"),
    Message("this machine, peak by rate of reading", "本机：峰值除以读取速率"),
)
PREFILL_TIME, DECODE_TIME = Message("prefill", "预填充"), Message("decode, a token", "解码，每词元")
BASIS = {
    "backend": Message("by {backend}'s measured rates", "按 {backend} 的实测速率"),
    "roofline": Message("at best: peak and bandwidth", "最快情形：峰值与带宽"),
}
WITH_CACHE, WITHOUT_CACHE = Message("with a cache", "有缓存"), Message("without", "无缓存")
LINEAR, ATTENTION, VISIBLE = (
    Message("products with weights", "与权重的乘法"),
    Message("attention, executed", "注意力，实际执行"),
    Message("attention, visible", "注意力，可见部分"),
)
READ, PAIRS = Message("positions read", "读取的位置数"), Message("pairs of positions", "位置对数")
GROWS = Message("grows as length to the {exponent:.2f}", "随长度的 {exponent:.2f} 次方增长")
PURPOSES = {"training": Message("training", "训练"), "answering": Message("answering", "推理")}
BATCH, LENGTH, LAYERS = (
    Message("sequences of {length}", "长度为 {length} 的序列数"),
    Message("positions, batch {batch}", "位置数，批大小 {batch}"),
    Message("blocks a stack", "每栈层数"),
)
FITS_NOT = Message("not even 1", "1 也放不下")
FIXED, NO_BLOCKS = Message("the input fixes them", "由输入决定"), Message("there are none to repeat", "没有可重复的层")
AT_LEAST = Message("or more: nobody looked further", "或更多：未再往上查")
WITHIN = Message("{outer}: {inner}", "{outer}：{inner}")
MODEL_OF = Message("{count:,} parameters", "{count:,} 个参数")
LETTERS = {
    **DIMENSIONS,
    "W": Message("attention window", "注意力窗口"),
    "N": Message("parameters", "参数"),
    "Tₚ": Message("tokens of the prompt", "提示的词元"),
    "Tₙ": Message("tokens written", "生成的词元"),
    "M": Message("numbers in the blocks' matrices", "各层矩阵中的数"),
}

# Comparing
MODEL, NUMBERS, USED, PER_POSITION, CACHE_TOKEN, KEPT, TRAINED, WRITTEN = (
    Message("model", "模型"),
    Message("parameters", "参数量"),
    Message("active", "激活参数"),
    Message("FLOPs a position", "每位置 FLOPs"),
    Message("cache a token", "每词元缓存"),
    Message("weights", "权重"),
    Message("training", "训练内存"),
    Message("decode", "解码"),
)
