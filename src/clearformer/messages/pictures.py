"""What pictures of a model's inside say: titles, axes, descriptions for those who cannot see them, and refusals."""

from __future__ import annotations

from clearformer.messages import Message, counted, failure

BAD_FORMAT = failure(
    en=("A picture is written as one of {expected}; found {found}.", "End the file's name with one of those."),
    zh=("图片格式应为 {expected} 之一；实际是 {found}。", "请用其中之一作为文件名结尾。"),
)
PAGE_TOO_LARGE = failure(
    en=("That page would hold {size}; browsers open {limit}.", "Choose --layer or --head, or shorten the text."),
    zh=("该网页将有 {size}；浏览器能打开 {limit}。", "请选择 --layer 或 --head，或缩短文本。"),
)
NO_FONT = Message(
    "No font here shows {characters}: the picture has boxes in their place. An .svg or .html shows them in any browser; "
    "or install a font such as Noto Sans CJK.",
    "本机没有能显示 {characters} 的字体：图中以方框代替。.svg 或 .html 在浏览器中可正常显示；也可安装 Noto Sans CJK 等字体。",
)

ATTENTION_TITLE = Message("Who reads whom: {name}", "谁在读谁：{name}")
PART = {
    "encoder": Message("Self-attention of the encoder", "编码器自注意力"),
    "decoder": Message("Self-attention of the decoder", "解码器自注意力"),
    "cross": Message("Cross-attention, the target reads the source", "交叉注意力，目标读源"),
}
GRID_TITLE = Message("{part}, {layers} × {heads}", "{part}，{layers} × {heads}")
HEAD_TITLE = Message("{part}, layer {layer}, head {head}", "{part}，第 {layer} 层，头 {head}")
GRID_TEXT = Message(
    "Heat maps of {heads} heads in {layers} layers over {queries} tokens; rows ask, columns are read, darker is more. "
    "The sharpest head is {sharp} ({entropy:.2f} bits), the one that looks back most {back} ({previous:.0%} of its weight on the token before).",
    "{layers} 层共 {heads} 个头在 {queries} 个词元上的热图；行为提问者，列为被读者，越深权重越大。"
    "最集中的头是 {sharp}（{entropy:.2f} 比特），最常回看前一个词元的头是 {back}（{previous:.0%} 的权重）。",
)
HEAD_TEXT = Message(
    "Heat map of one head over {queries} tokens; rows ask, columns are read, darker is more. Strongest: {strongest}.",
    "一个头在 {queries} 个词元上的热图；行为提问者，列为被读者，越深权重越大。最强的是：{strongest}。",
)
READS = Message("{query} reads {key} ({weight:.0%})", "{query} 读 {key}（{weight:.0%}）")
HEAD_NUMBER = Message("head {number}", "头 {number}")
LAYER_NUMBER = Message("layer {number}", "层 {number}")
WEIGHT = Message("weight", "权重")
READ_TOKENS, ASKING_TOKENS = Message("read", "被读取"), Message("asking", "提问")
BEHIND_LINE = Message("behind the line: written by the model", "线后为模型所写")

PAGE_OVERVIEW = Message("All heads", "所有头")
PAGE_HEAD = Message("One head", "一个头")
PAGE_HOW = Message(
    "Choose a layer and a head, then point at a token (or move to it with the Tab key): what it reads is shaded.",
    "选择层与头，再指向一个词元（或用 Tab 键移到它）：它读取的词元会加深。",
)
PAGE_HABITS = Message("What kind of reader each head is", "每个头是怎样的读者")
PAGE_ASKS, PAGE_IS_READ = Message("asks", "提问"), Message("is read", "被读取")

LENS_TITLE = Message("What each layer would say next: {name}", "每一层会接着说什么：{name}")
LENS_TUNED_TITLE = Message("What each layer would say next, tuned: {name}", "每一层会接着说什么（调校后）：{name}")
LENS_TEXT = Message(
    "Each cell is a layer's likeliest token at a position, darker where it is surer of it. The last layer is the model itself. "
    "The last position settles on its final answer from layer {settled} on.",
    "每格是某层在某位置上最可能的词元，越深越确信。最后一层即模型本身。最后一个位置从第 {settled} 层起给出最终答案。",
)
PROBABILITY_SHORT = Message("probability", "概率")
EMBEDDING = Message("embed", "嵌入")
TOKENS_READ = Message("tokens read", "读入的词元")


def layers(count: int) -> Message:
    return counted(count, "layer", "layers", "层")


def heads(count: int) -> Message:
    return counted(count, "head", "heads", "头")
