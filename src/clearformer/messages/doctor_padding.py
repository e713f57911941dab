"""The laws of padding: what each says, when an alarm is false, and the evidence."""

from __future__ import annotations

from clearformer.messages import Message

NO_MASK = Message(
    "The module takes no padding mask.",
    "模块不接收填充掩码。",
)
ONE_LENGTH = Message(
    "The module takes one length only.",
    "模块只接收一种长度。",
)
PAD_CONTENT = Message(
    "What stands under the padding mask moves nothing that is real.",
    "填充掩码之下的内容不影响任何真实位置。",
)
PAD_CONTENT_RISK = Message(
    "Random ids and vectors are used, since a norm hides constant shifts.",
    "用随机的编号与向量来试，因为归一化会掩盖常数偏移。",
)
PADDING_READ = Message(
    "other content under a mask {side} moves real positions",
    "{side}被遮位置的内容改变后，真实位置随之变动",
)
WITHOUT_EFFECT = Message(
    "the mask itself changes nothing",
    "掩码本身不起任何作用",
)
TURNED_HIDES = Message(
    "handed in the other way round, the mask does hide it",
    "把掩码取反后传入，反而遮住了它",
)
PAD_EQUIVALENCE = Message(
    "A padded row with its mask is answered as the row alone.",
    "带掩码的填充行与不填充的同一行输出相同。",
)
PAD_EQUIVALENCE_RISK = Message(
    "Learned positions that are not handed in move with padding at the left: told as information.",
    "未传入位置时，可学习的位置会随左填充移动：只作提示。",
)
PADDED_DIFFERS = Message(
    "padded {side}, the real positions differ from the row alone by {floors:.0f} times the noise floor",
    "{side}填充后，真实位置与单独输入相差噪声下限的 {floors:.0f} 倍",
)
WITH_POSITIONS_TOO = Message(
    "with the positions handed in as well",
    "传入位置后依旧如此",
)
MASK_CONTRACT = Message(
    "A mask that hides nothing changes nothing, and one that hides something does.",
    "不遮任何内容的掩码不起作用，遮住内容的掩码起作用。",
)
MASK_CONTRACT_RISK = Message(
    "PyTorch adds masks of floats by contract: that a type matters is told as information.",
    "按约定 PyTorch 会把浮点掩码相加：掩码类型有别只作提示。",
)
FULL_MASK_ACTS = Message(
    "a mask that hides nothing moves the answers by {floors:.0f} times the noise floor",
    "不遮任何内容的掩码使输出变动，幅度为噪声下限的 {floors:.0f} 倍",
)
TYPE_MATTERS = Message(
    "the same mask as {one} and as {other} gives different answers",
    "同一掩码以 {one} 与 {other} 表示时输出不同",
)
EMPTY_ROWS = Message(
    "Queries that see nothing leave every real answer and every gradient a number.",
    "没有可见键的查询不会让真实位置的输出或梯度变成非数。",
)
EMPTY_ROWS_RISK = Message(
    "A row of padding alone may be NaN by contract if nothing else is; that is told as information.",
    "整行都是填充时，只要不波及其他，按约定可为 NaN；只作提示。",
)
NOT_FINITE = Message(
    "{share:.0%} of the real answers are not numbers in a batch {place}",
    "{place}的批里，真实位置的输出有 {share:.0%} 不是数",
)
GRADIENT_NOT_FINITE = Message(
    "the gradients of {count} parameters are not numbers after a batch {place}",
    "{place}的批之后，{count} 个参数的梯度不是数",
)
ROW_NOT_FINITE = Message(
    "a row of padding alone is answered with NaN",
    "整行都是填充时输出为 NaN",
)
SOURCE_PADDING_READ = Message(
    "other content under the source mask moves the answers by {floors:.0f} times the noise floor",
    "源掩码之下的内容改变后输出随之变动，幅度为噪声下限的 {floors:.0f} 倍",
)
PAD_IDS_READ = Message(
    "ids of padding put behind the source move the answers by {floors:.0f} times the noise floor",
    "在源序列后补上填充 id，输出随之变动，幅度为噪声下限的 {floors:.0f} 倍",
)
SIDES = {
    "left": Message("at the left", "左侧"),
    "right": Message("at the right", "右侧"),
    "middle": Message("in the middle", "中间"),
}
PLACES = {
    "left": Message("padded at the left", "左侧填充"),
    "whole": Message("with a row of padding alone", "有一行全是填充"),
}
