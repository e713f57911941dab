"""The words of a card: what an explanation consists of, headings, marks, and the one line that sums a model up."""

from __future__ import annotations

from dataclasses import dataclass

from clearformer.messages import Message, failure


@dataclass(frozen=True)
class Explained:
    """A choice that configs name: what it chooses, what the paper of 2017 had in its place, and why that changed."""

    meaning: Message
    in_2017: Message
    why: Message


@dataclass(frozen=True)
class Case:
    """One value of a choice, where values differ enough to be explained apart."""

    meaning: Message
    why: Message


NOTHING = Message("–", "–")

SECTIONS = {
    "model": Message("Model", "模型"),
    "tokens": Message("Input and embedding", "输入与嵌入"),
    "attention": Message("Attention", "注意力"),
    "positions": Message("Positions", "位置"),
    "feedforward": Message("Feed-forward", "前馈"),
    "norms": Message("Normalisation", "归一化"),
    "depth": Message("Depth", "深度"),
    "output": Message("Output", "输出"),
    "training": Message("Training only", "仅用于训练"),
    "bookkeeping": Message("Changes nothing in what is computed", "不影响计算"),
}
OF_SECTION = Message("{tower}: {section}", "{tower}：{section}")
MEANING, IN_2017, WHY, COST, CONFLICT = (
    Message("chooses", "含义"),
    Message("in 2017", "2017"),
    Message("why", "原因"),
    Message("costs", "代价"),
    Message("conflict", "矛盾"),
)
UNKNOWN = Message(
    "Unknown: what these keys mean is not known here",
    "未知：此处不知道这些键的含义",
)

# Instead of a cost
HARMLESS = Message("Nothing: in this model it changes no result.", "无：在这个模型中不影响任何结果。")
NULL = Message("Null: this choice is not made.", "null：不作此选择。")
UNREAD = Message(
    "Not read by the {family} family: with this key the model is refused.",
    "{family} 家族不读取此键：带有它的模型会被拒绝加载。",
)
NOT_PRICED = Message("Not reckoned: the model as a whole is not understood.", "未推算：未能理解整个模型。")

# A model in one line
A_DECODER, AN_ENCODER, BOTH, TOWERS = (
    Message("a decoder of {count} layers", "{count} 层的解码器"),
    Message("an encoder of {count} layers", "{count} 层的编码器"),
    Message("an encoder of {source} and a decoder of {target} layers", "{source} 层编码器加 {target} 层解码器"),
    Message("a text tower of {text} and an image tower of {image} layers", "{text} 层文本塔加 {image} 层图像塔"),
)
TOWER = {
    "text": Message(
        "text {width:,} wide with {each}, {length:,} tokens", "文本塔宽 {width:,}，{each}，{length:,} 个词元"
    ),
    "image": Message(
        "images {width:,} wide with {each}, {length:,} positions", "图像塔宽 {width:,}，{each}，{length:,} 个位置"
    ),
}
PARAMETERS = Message("{count} parameters", "{count} 参数")
ACTIVE = Message("{count} of them used by a token", "每个词元用到其中 {count}")
WIDTH = Message("width {width:,}", "宽度 {width:,}")
MULTI_HEAD, GROUPED, MULTI_QUERY, LATENT, SEVERAL_HEADS = (
    Message("{heads} heads", "{heads} 个头"),
    Message("grouped queries {heads}:{kv_heads}", "分组查询 {heads}:{kv_heads}"),
    Message("{heads} query heads on one of keys and values", "{heads} 个查询头共用一个键值头"),
    Message("{heads} heads out of a latent of {rank}", "{heads} 个头由 {rank} 宽的潜向量恢复"),
    Message("heads that differ by layer", "各层头数不同"),
)
WINDOWS = Message("{count} of {total} layers see {reach:,} positions", "{total} 层中 {count} 层只看 {reach:,} 个位置")
POSITIONS = {
    "Rotary": Message("rotary positions (base {base:,.0f})", "旋转位置（底数 {base:,.0f}）"),
    "ALiBi": Message("positions by ALiBi", "ALiBi 位置"),
    "RelativeBias": Message("relative positions in {buckets} buckets", "{buckets} 个桶的相对位置"),
    "Sinusoidal": Message("sinusoidal positions", "正弦位置"),
    "Learned": Message("learnt positions", "学到的位置"),
}
NETWORKS = {
    "Dense": Message("{activation} network of {width:,}", "{width:,} 宽的 {activation} 前馈"),
    "Gated": Message("gated {activation} network of {width:,}", "{width:,} 宽的 {activation} 门控前馈"),
    "Experts": Message("{active} of {count} experts of {width:,}", "{count} 个 {width:,} 宽的专家中取 {active} 个"),
}
NORMS = {
    "pre": Message("{norm} before each sublayer", "每个子层之前 {norm}"),
    "post": Message("{norm} behind each sum", "每次求和之后 {norm}"),
    "branch": Message("{norm} behind each sublayer", "每个子层之后 {norm}"),
    "sandwich": Message("{norm} around each sublayer", "每个子层前后 {norm}"),
    "parallel": Message("{norm}, attention and network side by side", "{norm}，注意力与前馈并行"),
}
VOCABULARY, TIED = Message("{count:,} tokens", "{count:,} 个词元"), Message("tied head", "输出头共用词元表")
CONTEXT = Message("context {count:,}", "上下文 {count:,}")
CACHE = Message("{size} of cache a token in {dtype}", "每词元缓存 {size}（{dtype}）")
NOT_LOADED = Message(
    "The family {family} is not loaded here: keys that are known are explained, the whole is not priced.",
    "此处不能加载 {family} 家族：已知的键仍有解释，但不对整个模型作推算。",
)
NO_FAMILY = Message(
    "The config names no model_type: keys that are known are explained, the whole is not priced.",
    "配置没有给出 model_type：已知的键仍有解释，但不对整个模型作推算。",
)
REFUSED = Message("Would be refused: {why}", "会被拒绝加载：{why}")
NOT_READ = Message("the {family} family does not know {keys}.", "{family} 家族不认识 {keys}。")
FAMILY = Message("{name} ({family})", "{name}（{family}）")

# What contradicts what
CONTRADICTS = Message("Contradicts {other} = {value}: {why}.", "与 {other} = {value} 矛盾：{why}。")
REFUSED_VALUE = Message("Refused: {why}", "被拒绝：{why}")
HEADS_DIVIDE, KV_DIVIDE, LISTED, CHOSEN, GROUPS_CHOSEN, OUTSIDE, NARROWER, LABELS, PATCHES = (
    Message("heads do not divide the width", "头数不能整除宽度"),
    Message("key/value heads do not divide the query heads", "键值头数不能整除查询头数"),
    Message("the list names {count} layers", "列表给出了 {count} 层"),
    Message("more experts chosen than there are", "所选专家多于专家总数"),
    Message("more groups kept than there are", "保留的组多于总组数"),
    Message("the id lies outside the vocabulary", "编号超出词表"),
    Message("the stretched context is shorter than the trained one", "拉伸后的上下文短于训练长度"),
    Message("id2label names {count} labels", "id2label 给出了 {count} 个标签"),
    Message("patches do not divide the image", "块不能整除图像"),
)
NO_SUBJECT = failure(
    en=(
        "card: expected a model's name, a path, a config or a spec, found {found}.",
        "Give one of those.",
    ),
    zh=("card：应为模型名称、路径、配置或规格，实际为 {found}。", "请给出其中之一。"),
)
