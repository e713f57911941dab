"""The laws of parameters and of blocks: what each says, when an alarm is false, and the evidence."""

from __future__ import annotations

from clearformer.messages import Message

PARAMETERS = Message(
    "Every parameter is registered, holds finite numbers, is read, gets a gradient, and belongs to one layer.",
    "每个参数都已注册、数值有限、被用到、得到梯度，并且只属于一层。",
)
PARAMETERS_RISK = Message(
    "Sharing, freezing and idle parts can be meant: in a published family they are told and no alarm. Experts that no "
    "token reached are left out.",
    "共享、冻结和闲置的部分可能是有意的：对已发布的模型族只作说明，不报警。没有词元到达的专家不计。",
)
UNREGISTERED = Message(
    "{count} tensors are read and would be trained, and are no parameters of the module: {first}. No optimizer, no "
    "checkpoint and no .to(device) reaches them",
    "有 {count} 个张量参与计算、需要梯度，却不是模块的参数：{first}。优化器、检查点和 .to(device) 都够不到它们",
)
NOT_FINITE = Message(
    "{wrong} of the {of} numbers of {first} are NaN or infinite, in row {rows}{more} (tensors with such numbers: {count})",
    "{first} 的 {of} 个数中有 {wrong} 个是 NaN 或无穷大，位于第 {rows}{more} 行（含此类数值的张量共 {count} 个）",
)
NO_GRADIENT = Message(
    "none of the {count} parameters that require a gradient gets one: the output has no graph behind it",
    "需要梯度的 {count} 个参数没有一个得到梯度：输出背后没有计算图",
)
SWITCHED_OFF = Message(
    "none of the {count} parameters that require a gradient gets one: forward runs with gradients switched off",
    "需要梯度的 {count} 个参数没有一个得到梯度：forward 在关闭梯度的状态下运行",
)
FROZEN = Message(
    "none of the {count} parameters requires a gradient, first {first}: training would change nothing",
    "{count} 个参数都不需要梯度，首个为 {first}：训练不会改变任何东西",
)
UNTIED = Message(
    "{first} is meant to be {other}, and is another tensor with other numbers",
    "{first} 本应与 {other} 是同一张量，却是数值不同的另一个张量",
)
COPIED = Message(
    "{first} holds the numbers of {other} and is another tensor: the first step parts them",
    "{first} 与 {other} 数值相同却是两个张量：训练一步后就会分开",
)
SHARED = Message("the layers of {first} are one layer, used several times", "{first} 的各层其实是同一层，被多次使用")
CLONED = Message("the layers of {first} all begin with the same numbers", "{first} 的各层以完全相同的数值开始")
CUT = Message(
    "{count} parameters are read and get no gradient, first {first}",
    "有 {count} 个参数参与计算却得不到梯度，首个为 {first}",
)
UNUSED = Message("{count} parameters are never read, first {first}", "有 {count} 个参数从未被用到，首个为 {first}")

# K20
RESIDUAL = Message(
    "With its sublayers silenced, a block hands on what it was given.", "把各子层置零后，块应原样传递输入。"
)
RESIDUAL_RISK = Message(
    "Norms after the sum, norms around a sublayer, parallel branches and scaled branches are told from it by the order "
    "in which norms and matrices run.",
    "后置归一化、夹层归一化、并行分支和带系数的分支，可由归一化与矩阵的先后次序区分。",
)
NO_BLOCKS = Message("No list of blocks was recognised.", "没有认出由块组成的列表。")
CARRIES_NORM = Message(
    "{count} blocks hand on their norm's output instead of what they were given, first {first}",
    "有 {count} 个块传下去的是归一化后的输出，而不是输入本身，首个为 {first}",
)
HANDS_ON_NOTHING = Message(
    "{count} blocks hand on nothing of what they were given once their sublayers are silenced, first {first}",
    "把子层置零后，有 {count} 个块没有传下任何输入，首个为 {first}",
)
