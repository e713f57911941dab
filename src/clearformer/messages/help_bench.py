"""Help sentences of `bench`."""

from __future__ import annotations

from clearformer.messages import Message

BENCH = (
    Message(
        "The model and the batch: decoders of 0.8 and 13.9 million, or 7.6 million that translate.",
        "模型与批次：80 万或 1390 万参数的解码器，或 760 万参数的翻译模型。",
    ),
    Message(
        "Peers, commas between: nanogpt-like, hf, litgpt, x-transformers, nn; to translate: hf, joeynmt, nn.",
        "对照软件，用逗号分隔：nanogpt-like、hf、litgpt、x-transformers、nn；翻译：hf、joeynmt、nn。",
    ),
    Message("Updates a run.", "每次运行的更新次数。"),
    Message("Lengths in tokens, commas between; 4K is 4,096.", "长度（词元数），用逗号分隔；4K 即 4,096。"),
    Message("Heads of queries.", "查询的头数。"),
    Message("Heads of keys and values; as many if left out.", "键与值的头数；不填则与查询相同。"),
    Message("Numbers of a head.", "每头的维数。"),
    Message("Sequences.", "序列数。"),
    Message("What writes with the cache.", "有缓存时用什么生成。"),
    Message("Leave out the whole text read again at every token.", "不测每个词元都重读全文的方式。"),
    Message("Compute the gradients as well.", "同时计算梯度。"),
    Message("Keys that a query sees; all before it if left out.", "每个查询可见的键数；不填则为之前的全部。"),
    Message("Share of the weights to drop.", "随机丢弃的权重比例。"),
    Message("Draw time and memory into this file (.png or .svg).", "把时间与内存画入此文件（.png 或 .svg）。"),
    Message(
        "Measure causal attention by plain products, by tiles and by SDPA: time and memory at each length.",
        "测量因果注意力的三种实现（直接相乘、分块、SDPA）：各长度下的时间与内存。",
    ),
    Message(
        "Measure writing with the cache and without: time to the first token, time of each further one, and memory.",
        "测量有缓存与无缓存的生成：首词元时间、其后每词元时间与内存。",
    ),
    Message(
        "Measure what the points for looking inside cost while they are off: a forward pass with them and without any.",
        "测量观测点关闭时的代价：有观测点与完全没有观测点的前向计算。",
    ),
    Message("Compile every model; its time is not counted.", "编译每个模型；编译时间不计。"),
    Message("Compute in this number type.", "计算使用的数值类型。"),
    Message(
        "Compute in this number type; a peer beside int8 and int4 computes in bfloat16.",
        "计算使用的数值类型；与 int8、int4 对照的软件用 bfloat16 计算。",
    ),
    Message(
        "Measure training: tokens a second over whole updates, forward, backward and optimizer.",
        "测量训练：完整更新（前向、反向与优化器）每秒的词元数。",
    ),
    Message(
        "Measure writing: tokens a second of all rows after their first, greedy.",
        "测量生成：各行首个词元之后每秒的总词元数，贪心。",
    ),
    Message("Texts of that length that are written side by side.", "同时生成的等长文本数。"),
    Message(
        "Programs beside it in alternating runs, commas between: hf, llama.cpp.",
        "交替运行的对照软件，用逗号分隔：hf、llama.cpp。",
    ),
    Message(
        "Measure reading: prompt tokens a second until the first new token is there, batch 1.",
        "测量读取：到第一个新词元出现为止每秒读取的提示词元数，批大小 1。",
    ),
    Message(
        "Measure Hugging Face transformers beside it, in alternating runs.", "同时交替测量 Hugging Face transformers。"
    ),
    Message(
        "Measure a cold start from a GGUF file: seconds until the first token and the most memory, by `import torch`.",
        "测量从 GGUF 文件冷启动：到首个词元的秒数与内存峰值，并与单独的 `import torch` 对照。",
    ),
    Message(
        "The number type of the weights, and of the GGUF file that all programs read.",
        "权重的数值类型，也是各程序所读 GGUF 文件的类型。",
    ),
    Message("llama.cpp: start it beside ours, in alternating runs.", "llama.cpp：与我们交替启动，一并测量。"),
    Message("Runs of each program; medians are taken over them.", "每个程序运行的次数；结果取中位数。"),
    Message("Measure on a busy machine too; the result says so.", "机器繁忙时也测量；结果中会注明。"),
    Message("Write the JSON object into this file as well.", "把 JSON 对象也写入这个文件。"),
    Message("Tokens of the prompt.", "提示的词元数。"),
    Message("Tokens to write after it.", "其后要生成的词元数。"),
)
