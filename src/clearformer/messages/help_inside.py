"""The help sentences of the verbs that look inside a model by pictures: lens, positions."""

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
    # positions
    Message("Positions to draw.", "要绘制的位置数。"),
    Message("Draw it into this file: .png, .svg or .html.", "画到此文件：.png、.svg 或 .html。"),
)
