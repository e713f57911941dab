"""What the vision task refuses."""

from __future__ import annotations

from clearformer.messages import Message, failure

NO_DATA = failure(
    en=(
        "The recipe names no images.",
        "Give --data: a folder with one folder of images a class, an .npz file, or digits.",
    ),
    zh=("配方没有指明图像。", "请给出 --data：每类一个子文件夹的文件夹、.npz 文件，或 digits。"),
)
SIZE_DOES_NOT_DIVIDE = failure(
    en=(
        "Images of {height} × {width} do not divide into patches of {patch}.",
        "Set --data.size to multiples of {patch}, or --model.patch to a divisor of both sides.",
    ),
    zh=(
        "{height} × {width} 的图像不能整分为边长 {patch} 的块。",
        "请把 --data.size 设为 {patch} 的倍数，或把 --model.patch 设为两边的公约数。",
    ),
)
FROM_1 = Message("whole numbers from 1", "不小于 1 的整数")
DEGREES = Message("from 0 to 180", " 0 到 180 之间的数")
SIZE_IS_FIXED = failure(
    en=(
        "The images of {path} are arrays of {found}, which are not scaled; data.size asks for {expected}.",
        "Leave --data.size out, or write the arrays at that size.",
    ),
    zh=(
        "{path} 中的图像是 {found} 的数组，不做缩放；data.size 要求 {expected}。",
        "请不指定 --data.size，或按该尺寸写出数组。",
    ),
)
NO_PREPROCESSOR = failure(
    en=(
        "{path} has no {name}, and so does not say how the model's pictures are scaled and in which units.",
        "Put the publisher's {name} beside config.json; transformers writes it by processor.save_pretrained.",
    ),
    zh=(
        "{path} 中没有 {name}，因此不知道该模型的图像如何缩放、以何为单位。",
        "请把发布者的 {name} 放到 config.json 旁；transformers 用 processor.save_pretrained 写出它。",
    ),
)
BAD_FACTS = failure(
    en=(
        "{path} does not say how the model's images are read: {detail}.",
        "Train again, or restore the run folder from its original.",
    ),
    zh=("{path} 没有说明模型如何读取图像：{detail}。", "请重新训练，或从原件恢复运行文件夹。"),
)
OTHER_CLASSES = failure(
    en=("The model was trained on {expected}; the data now hold {found}.", "Give the data of training."),
    zh=("模型在 {expected} 上训练；现在的数据是 {found}。", "请提供训练时的数据。"),
)
