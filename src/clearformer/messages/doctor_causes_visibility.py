"""What is wrong with what a position sees, and the mend in one line."""

from __future__ import annotations

from clearformer.messages import Message

CAUSAL_MASK_ONLY_WITH_ANOTHER_MASK = Message(
    "The causal mask is applied only when another mask is handed in; without one the whole future is seen.",
    "只有传入别的掩码时才加因果掩码；不传时未来全部可见。",
)
CAUSAL_MASK_ONLY_WITH_ANOTHER_MASK_FIX = Message(
    "Build the causal mask first, then combine: mask = causal if mask is None else causal & mask",
    "先建因果掩码再合并：mask = causal if mask is None else causal & mask",
)
PAST_UNREAD = Message(
    "A position does not read what comes before it.",
    "某个位置读不到它前面的内容。",
)
PAST_UNREAD_FIX = Message(
    "Let the mask keep the lower triangle: torch.ones(T, T).tril().bool() is what may be seen.",
    "让掩码保留下三角：torch.ones(T, T).tril().bool() 才是可见部分。",
)
ENCODER_IS_CAUSAL = Message(
    "The encoder reads one side only: a causal mask is in it.",
    "编码器只读一侧：其中混入了因果掩码。",
)
ENCODER_IS_CAUSAL_FIX = Message(
    "Leave the causal mask to the decoder: is_causal=False, mask=None in the encoder.",
    "因果掩码只留给解码器：编码器中 is_causal=False、mask=None。",
)
DEPENDS_ON_THE_LENGTH = Message(
    "What a position answers depends on how long the input is.",
    "某个位置的输出取决于输入的总长度。",
)
DEPENDS_ON_THE_LENGTH_FIX = Message(
    "Take nothing over the position axis: no norm, mean or softmax over T, and view(B, T, …) only with T in its place.",
    "不要沿位置轴做归一化、平均或 softmax；view(B, T, …) 时 T 须在原处。",
)
ROWS_DEPEND_ON_EACH_OTHER = Message(
    "What stands in one row of the batch changes another row.",
    "批中一行的内容会改变另一行的输出。",
)
ROWS_DEPEND_ON_EACH_OTHER_FIX = Message(
    "Keep B as an axis of its own through every view, and take no statistic over it in evaluation.",
    "每次 view 都让 B 自成一维；评估时不要沿它取统计量。",
)
WINDOW_OFF_BY_ONE = Message(
    "The window is wider or narrower by one than declared.",
    "窗口比声明的宽一个或窄一个位置。",
)
WINDOW_OFF_BY_ONE_FIX = Message(
    "A window of w shows the query itself and w - 1 before it: keep (q - k >= 0) & (q - k < w).",
    "宽为 w 的窗口可见自身与之前 w - 1 个位置：保留 (q - k >= 0) & (q - k < w)。",
)
DOCUMENTS_MIXED = Message(
    "A packed document sees the one before it.",
    "打包在同一行的文档能看到前一篇文档。",
)
DOCUMENTS_MIXED_FIX = Message(
    "mask &= document_ids[:, :, None] == document_ids[:, None, :]",
    "mask &= document_ids[:, :, None] == document_ids[:, None, :]",
)
POSITIONS_NOT_RESET = Message(
    "Positions run on from one packed document into the next.",
    "位置编号从一篇文档延续到了下一篇。",
)
POSITIONS_NOT_RESET_FIX = Message(
    "Count positions anew at each document.",
    "每篇文档重新编号。",
)
SOURCE_UNREAD = Message(
    "The decoder does not read the source.",
    "解码器没有读源序列。",
)
SOURCE_UNREAD_FIX = Message(
    "Let the keys and values of cross-attention come from the encoder: attention(x, memory, memory)",
    "交叉注意力的键和值应来自编码器：attention(x, memory, memory)",
)
PATHS_DIFFER = Message(
    "Two ways of computing the same thing, such as with and without gradients, give different answers.",
    "同一计算的两条路径（如带梯度与不带梯度）结果不同。",
)
PATHS_DIFFER_FIX = Message(
    "Hand each attention one mask that says everything, boolean, and no hint beside it.",
    "每个注意力只给一个完整的布尔掩码，旁边不再给提示参数。",
)
