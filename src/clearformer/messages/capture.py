"""What is said about keeping, editing and differentiating activations by their names."""

from __future__ import annotations

from clearformer.messages import failure

NO_POINT = failure(
    en=("No activation is called {pattern}.", "Nearest: {near}."),
    zh=("没有名为 {pattern} 的激活。", "相近的有：{near}。"),
)
TOO_LARGE = failure(
    en=(
        "{count} activations take {size}; {free} of memory is free.",
        "Name fewer, such as {narrower}; shorten the text; or give a folder, and they are written to disk.",
    ),
    zh=(
        "{count} 个激活需要 {size}；空闲内存为 {free}。",
        "请缩小范围，例如 {narrower}；缩短文本；或给出 folder，写入磁盘。",
    ),
)
DISK_TOO_SMALL = failure(
    en=(
        "{count} activations take {size}; {free} is free in {folder}.",
        "Name fewer, such as {narrower}; shorten the text; or give a folder on a larger disk.",
    ),
    zh=(
        "{count} 个激活需要 {size}；{folder} 中空闲 {free}。",
        "请缩小范围，例如 {narrower}；缩短文本；或换到更大的磁盘。",
    ),
)
FOLDER_IN_USE = failure(
    en=("{folder} holds files already.", "Give a new folder, or an empty one."),
    zh=("{folder} 中已有文件。", "请给出新的或空的文件夹。"),
)
AMBIGUOUS = failure(
    en=("{found} names {count} of what was captured.", "Give one of the full names: {near}."),
    zh=("{found} 对应捕获到的 {count} 个激活。", "请给出完整名称之一：{near}。"),
)
OTHER_SHAPE = failure(
    en=("An edit of {name} gave {found}; it must keep the shape {expected}.", "Return a tensor of that shape."),
    zh=("对 {name} 的编辑得到 {found}；形状必须保持 {expected}。", "请返回该形状的张量。"),
)
NO_HEADS_THERE = failure(
    en=("An activation of shape {shape} has no heads.", "Edit heads, weights, scores, query, key or value."),
    zh=("形状为 {shape} 的激活没有头。", "请编辑 heads、weights、scores、query、key 或 value。"),
)
NO_SUCH_HEAD = failure(
    en=("There is no head {found}; that activation has {count}.", "Give numbers from 0 to {last}."),
    zh=("没有头 {found}；该激活有 {count} 个头。", "请给出 0 到 {last} 的数。"),
)
NO_SUCH_POSITION = failure(
    en=("There is no position {found}; that activation has {count}.", "Give numbers from 0 to {last}."),
    zh=("没有位置 {found}；该激活有 {count} 个位置。", "请给出 0 到 {last} 的数。"),
)
NOT_A_NUMBER = failure(
    en=(
        "Gradients are of one number, and this model's answer has shape {shape}.",
        "Give of, a function from the answer to one number; or a text of two tokens and more to a model that writes.",
    ),
    zh=(
        "梯度是对一个数求的，而该模型的输出形状为 {shape}。",
        "请给出 of，即从输出到一个数的函数；或给会写文本的模型两个以上词元。",
    ),
)
NOT_REACHED = failure(
    en=("The number does not depend on {name}: it has no gradient there.", "Ask for activations that lead to it."),
    zh=("该数不依赖 {name}，那里没有梯度。", "请选择通向它的激活。"),
)
