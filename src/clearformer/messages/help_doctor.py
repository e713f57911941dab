"""Help sentences of `clearformer doctor`."""

from __future__ import annotations

from clearformer.messages import Message

DOCTOR = (
    Message(
        "my_model.py:build, package.module:build, a run's or a model's folder, or a Hub id.",
        "my_model.py:build、包.模块:build、训练或模型的文件夹，或 Hub 编号。",
    ),
    Message(
        "What the model is meant to be; some laws are those of decoders alone.",
        "模型本来应是什么；有些定律只适用于解码器。",
    ),
    Message(
        "Tokens in the vocabulary: the model is given ids below this.",
        "词表大小：给模型的编号都小于它。",
    ),
    Message(
        "The longest input that the model takes, in tokens.",
        "模型能读的最长输入，以词元计。",
    ),
    Message(
        "Positions that a token sees, itself included, where that is meant to be limited.",
        "一个词元能看到的位置数（含自身），若本应有限。",
    ),
    Message(
        "Attention heads, where the model does not say.",
        "注意力头数，若模型自己没有说明。",
    ),
    Message(
        "Embedding and output are meant to be one matrix; --untied: two.",
        "嵌入与输出应为同一矩阵；--untied：应为两个。",
    ),
    Message(
        "The id that pads.",
        "填充所用的编号。",
    ),
    Message(
        "The id that begins a text.",
        "文本开头的编号。",
    ),
    Message(
        "The id that ends a text.",
        "文本结尾的编号。",
    ),
    Message(
        "How the model is called, such as 'ids=input_ids mask=attention_mask:keep', where it cannot be found out.",
        "模型的调用方式，例如 'ids=input_ids mask=attention_mask:keep'，在无法自动判断时给出。",
    ),
    Message(
        "The loss, as FILE.py:NAME.",
        "损失函数，写作 文件.py:名称。",
    ),
    Message(
        "What makes a batch of examples, as FILE.py:NAME.",
        "把样本组成一批的函数，写作 文件.py:名称。",
    ),
    Message(
        "A tokenizer's file or folder, or FILE.py:NAME.",
        "分词器的文件或文件夹，或 文件.py:名称。",
    ),
    Message(
        "What continues ids, as FILE.py:NAME.",
        "续写编号的函数，写作 文件.py:名称。",
    ),
    Message(
        "What turns logits into those sampled from, as FILE.py:NAME.",
        "把 logits 变成采样所用 logits 的函数，写作 文件.py:名称。",
    ),
    Message(
        "A repetition penalty, as FILE.py:NAME.",
        "重复惩罚函数，写作 文件.py:名称。",
    ),
    Message(
        "A beam search, as FILE.py:NAME.",
        "束搜索函数，写作 文件.py:名称。",
    ),
    Message(
        "The training loop, as FILE.py:NAME.",
        "训练循环，写作 文件.py:名称。",
    ),
    Message(
        "Training that goes on from a folder, as FILE.py:NAME.",
        "从文件夹继续训练的函数，写作 文件.py:名称。",
    ),
    Message(
        "What gives an epoch's batches, as FILE.py:NAME.",
        "给出一轮各批数据的函数，写作 文件.py:名称。",
    ),
    Message(
        "A forecasting pipeline, scaling included, as FILE.py:NAME.",
        "含缩放的预测流程，写作 文件.py:名称。",
    ),
    Message(
        "A module that is known to be right and takes the same weights, as FILE.py:NAME.",
        "已知正确、可装入同样权重的模块，写作 文件.py:名称。",
    ),
    Message(
        "What you see, in your own words or by its number in docs/doctor.md: its checks come first.",
        "您看到的症状，可用自己的话，也可用 docs/doctor.md 中的编号：与之有关的检查先做。",
    ),
    Message(
        "Only these checks, such as K01 K05.",
        "只做这些检查，例如 K01 K05。",
    ),
    Message(
        "Only the checks that take little, in under ten seconds.",
        "只做耗时少的检查，十秒以内。",
    ),
    Message(
        "Follow a run's metrics while it trains, and speak up when one of its laws breaks.",
        "在训练进行时跟踪指标，一有定律不成立便报告。",
    ),
    Message(
        "Write the diagnosis into this file as a page that opens offline.",
        "把诊断写成可离线打开的网页，存入此文件。",
    ),
    Message(
        "Write the diagnosis into this file as SARIF 2.1.0, for code hosts.",
        "把诊断按 SARIF 2.1.0 写入此文件，供代码托管平台使用。",
    ),
    Message(
        "Seconds after which your code is ended.",
        "超过这么多秒即终止您的代码。",
    ),
    Message(
        "Memory that your code may take, such as 8GB; most of what is free if left out.",
        "您的代码可用的内存，例如 8GB；省略时为空闲内存的大部分。",
    ),
    Message(
        "Let your code reach the network.",
        "允许您的代码访问网络。",
    ),
    Message(
        "Variables of the environment that your code may see beside the harmless ones.",
        "除无害的以外，您的代码还可见的环境变量。",
    ),
    # train
    Message(
        "Speak up when a law of a training's course breaks, such as a loss that stays at ln V.",
        "训练过程违反定律时立即报告，例如损失停在 ln V。",
    ),
)
