"""Errors that a module raises: the law, the evidence, and the causes with their mends."""

from __future__ import annotations

from clearformer.messages import Message

RAISED = Message(
    "The module answers one row and many, short inputs and long ones, and its backward pass runs.",
    "一行或多行、短输入或长输入，模块都能给出结果，反向传播也能运行。",
)
RAISED_RISK = Message(
    "A length that the module itself refuses is told and no alarm; blocks of a fixed size, and what a published family "
    "cannot take, are a warning. Forecasters keep their length.",
    "模块主动拒绝的长度只作说明，不报警；固定大小的分块，以及已发布的模型族不接受的长度，只给警告。预测模型保持其固定长度。",
)
UNCALLED = Message("No way of calling the module was found.", "没有找到调用该模块的方式。")
GUESSED = Message(
    "Given a guessed number of features it raises {kind}: {detail} Say how it is called: --call, --context.",
    "在猜测的特征数下引发 {kind}：{detail} 请用 --call、--context 说明调用方式。",
)
RAISES = Message("the module raises {kind}: {detail}", "模块引发 {kind}：{detail}")
ONE_LENGTH = Message(
    "it answers inputs of {only} positions only; for {length} it raises {kind}: {detail}",
    "只有长度为 {only} 的输入能得到结果；长度为 {length} 时引发 {kind}：{detail}",
)
ROWS = Message(
    "for {rows} rows of {length} it raises {kind}: {detail}", "{rows} 行、长度 {length} 时引发 {kind}：{detail}"
)
LENGTH = Message("for inputs of {length} it raises {kind}: {detail}", "输入长度为 {length} 时引发 {kind}：{detail}")
LENGTHS = Message("lengths that it takes: {lengths}", "可接受的长度：{lengths}")
SCATTERED = Message(
    "for ids that do not lie in one piece (a transposed batch) it raises {kind}: {detail}",
    "输入在内存中不连续（如转置得到的批次）时引发 {kind}：{detail}",
)
BACKWARD = Message("the backward pass raises {kind}: {detail}", "反向传播引发 {kind}：{detail}")
AXES = Message(
    "{axes} (B rows, T positions, D width, H heads, F hidden, V vocabulary, P places)",
    "{axes}（B 行数，T 位置数，D 宽度，H 头数，F 隐藏宽度，V 词表，P 位置表长度）",
)

# Causes
VIEW = Message(
    "view is asked of a tensor that does not lie in one piece, as after a transpose.",
    "对不连续的张量（例如转置之后）调用了 view。",
)
VIEW_FIX = Message(
    "x.transpose(1, 2).reshape(…), or .contiguous().view(…)", "x.transpose(1, 2).reshape(…)，或 .contiguous().view(…)"
)
SHAPES = Message("Two tensors meet whose axes do not agree.", "两个张量的轴对不上。")
SHAPES_FIX = Message(
    "take sizes from the tensor itself: B, T, D = x.shape; mask[:T, :T]",
    "尺寸取自张量本身：B, T, D = x.shape；mask[:T, :T]",
)
IN_PLACE = Message("A tensor that the gradient needs is changed in place.", "求梯度所需的张量被原地修改。")
IN_PLACE_FIX = Message(
    "x = x + y instead of x += y; masked_fill, not masked_fill_",
    "用 x = x + y 代替 x += y；用 masked_fill 而不是 masked_fill_",
)
DEVICES = Message("Tensors lie on different devices.", "张量位于不同的设备上。")
DEVICES_FIX = Message(
    "make it in forward on x.device, or register_buffer it", "在 forward 中建于 x.device 上，或用 register_buffer 注册"
)
TYPES = Message("Tensors of different number types meet.", "不同数值类型的张量相遇。")
TYPES_FIX = Message("y = y.to(x.dtype)", "y = y.to(x.dtype)")
BEYOND = Message("An index is beyond its table: an id, or a position.", "索引超出了表的范围：词元编号或位置。")
BEYOND_FIX = Message(
    "make the table as long as the longest input, and as wide as the vocabulary",
    "表的长度须不小于最长输入，且容得下整个词表",
)
OWN_LENGTHS = Message("The module refuses some lengths of its own accord.", "模块主动拒绝某些长度。")
OWN_LENGTHS_FIX = Message(
    "if short texts shall be written too: pad inside forward, and cut the answer back",
    "若也要处理短文本：在 forward 内部填充，再截回原长度",
)
OTHER = Message("The forward pass raises an error.", "前向计算引发错误。")
OTHER_FIX = Message("see the line that is named", "请查看所指出的那一行")
