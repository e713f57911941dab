"""The help sentences of the verbs that look inside a model by pictures, and of the laboratory."""

from __future__ import annotations

from clearformer.messages import Message

INSIDE = (
    # lens
    Message(
        "What an encoder-decoder should write; without it, what the model itself writes is looked at.",
        "编码器-解码器应写出的内容；省略时查看模型自己写出的内容。",
    ),
    Message(
        "Tune the lens on this text first: a learnt map a layer; the model is not changed.",
        "先用此文本调校透镜：每层学一个映射；模型不变。",
    ),
    Message("Updates of the tuned lens [50].", "调校透镜的更新次数 [50]。"),
    Message(
        "Keep the lens that --tune makes in this file, for --tuned.",
        "把 --tune 得到的透镜存入此文件，供 --tuned 使用。",
    ),
    Message(
        "Look through a lens that --save kept; another model's is refused.",
        "使用由 --save 保存的透镜；其他模型的透镜会被拒绝。",
    ),
    # positions
    Message("Positions to draw.", "要绘制的位置数。"),
    Message("Draw it into this file: .png, .svg or .html.", "画到此文件：.png、.svg 或 .html。"),
    # lab
    Message(
        "An experiment, or a .yaml file of your own; without it, all experiments are listed.",
        "实验名称，或您自己的 .yaml 文件；省略时列出全部实验。",
    ),
    Message("List the experiments, and run none.", "只列出实验，不运行。"),
    Message("Trials of each arm, each with other random numbers [5].", "每组的试验次数，每次用不同的随机数 [5]。"),
    Message(
        "How long the whole experiment may take, such as 90s, 3m or 1h [3m]; turned once into equal steps for every arm.",
        "整个实验可用的时间，例如 90s、3m 或 1h [3m]；开始时一次折算成各组相等的步数。",
    ),
    Message(
        "The experiment's folder; one that was cut off goes on, one that is done is shown. runs/lab-NAME-1, -2, … if left out.",
        "实验文件夹；中断的会继续，完成的会直接显示。省略时为 runs/lab-名称-1、-2……",
    ),
    Message(
        "Processes that run trials side by side; one a core if left out.", "并行运行试验的进程数；省略时每核一个。"
    ),
)
