"""Causes in loss, labels and collator: what is wrong, and the mend in one line."""

from __future__ import annotations

from clearformer.messages import Message

SHIFTED_TWICE = Message(
    "The labels are shifted twice, by the collator and again by the loss or model: token t+2 is learnt.",
    "标签被移位两次（整批函数一次，损失或模型又一次）：学的是第 t+2 个词元。",
)
SHIFTED_TWICE_FIX = Message(
    "Shift in one place only: labels = input_ids.clone() for a model that shifts inside.",
    "只在一处移位：模型内部会移位时，labels = input_ids.clone()。",
)
NOT_SHIFTED = Message(
    "The labels are not shifted: the model learns to repeat its input, the loss falls near zero, generation repeats.",
    "标签没有移位：模型学会复述输入，损失降到接近零，生成时只会重复。",
)
NOT_SHIFTED_FIX = Message(
    "cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())",
    "cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())",
)
PREVIOUS = Message(
    "The labels are shifted the wrong way: the model learns the previous token.",
    "标签移位方向相反：模型学的是前一个词元。",
)
PREVIOUS_FIX = Message(
    "logits[:, :-1] against ids[:, 1:], not the reverse.", "应以 logits[:, :-1] 对 ids[:, 1:]，不可颠倒。"
)
IGNORES_LOGITS = Message("The loss does not depend on the logits.", "损失与 logits 无关。")
IGNORES_LOGITS_FIX = Message(
    "Compute the loss from the logits themselves, not from argmax, .detach() or .item().",
    "损失须由 logits 本身算出，不可经 argmax、.detach() 或 .item()。",
)
SOFTMAX_BEFORE = Message(
    "A softmax stands before a loss that has its own: the loss cannot fall near zero.",
    "损失自带 softmax，其前又做了一次 softmax：损失无法接近零。",
)
SOFTMAX_BEFORE_FIX = Message(
    "cross_entropy(logits, targets): no softmax before it.", "cross_entropy(logits, targets)：之前不要 softmax。"
)

PADDING_COUNTED = Message("Padding counts in the loss.", "填充被计入损失。")
PADDING_COUNTED_FIX = Message(
    "labels[mask == 0] = -100 in the collator, ignore_index=-100 in the loss",
    "在整批函数中 labels[mask == 0] = -100，损失用 ignore_index=-100",
)
DIVIDED_BY_LENGTH = Message(
    "The loss is divided by the padded length: it depends on how long the longest row of the batch is.",
    "损失除以填充后的长度：其大小取决于同批最长的一行。",
)
DIVIDED_BY_LENGTH_FIX = Message(
    "loss.sum() / (labels != -100).sum(), not loss.mean()", "用 loss.sum() / (labels != -100).sum()，不用 loss.mean()"
)
SMOOTHING_COUNTS = Message("The smoothing term sums over padding as well.", "平滑项把填充也计入求和。")
SMOOTHING_COUNTS_FIX = Message(
    "cross_entropy(…, ignore_index=-100, label_smoothing=ε), or mask the smoothing term too",
    "用 cross_entropy(…, ignore_index=-100, label_smoothing=ε)，或对平滑项同样加掩码",
)
EMPTY_ROW_NAN = Message(
    "A row without targets divides by zero: the loss is NaN.", "没有目标的行导致除以零：损失为 NaN。"
)
EMPTY_ROW_NAN_FIX = Message("Divide by count.clamp(min=1).", "除以 count.clamp(min=1)。")
ROWS_FIRST = Message(
    "Rows are averaged before the batch: a token of a short row weighs more.",
    "先按行平均再按批平均：短行的词元权重更大。",
)
ROWS_FIRST_FIX = Message(
    "If not meant: one mean over all targets of the batch.", "若非有意：对整批所有目标只求一次平均。"
)
EOS_UNSUPERVISED = Message(
    "The end of sequence is never a target: the model cannot learn to stop.", "序列结束符从不作为目标：模型学不会停止。"
)
EOS_UNSUPERVISED_FIX = Message(
    "Ignore padding by the attention mask, not by labels == pad_id; keep the end when rows are cut.",
    "按注意力掩码忽略填充，不按 labels == pad_id；截断时保留结束符。",
)
NO_TARGETS = Message("Some rows have no target at all after truncation.", "有些行在截断后没有任何目标。")
NO_TARGETS_FIX = Message("Cut the prompt from the left, or drop such rows.", "从左侧截断提示，或丢弃这样的行。")
LABEL_RANGE = Message("A label is neither an id of the vocabulary nor ignored.", "有标签既不在词表内，也不被忽略。")
LABEL_RANGE_FIX = Message("labels = labels.masked_fill(pads, -100)", "labels = labels.masked_fill(pads, -100)")
PROMPT_SUPERVISED = Message("The prompt is supervised like the answer.", "提示与回答一样受到监督。")
PROMPT_SUPERVISED_FIX = Message(
    "labels[:, :prompt_length] = -100, if only the answer is to be learnt",
    "若只学回答：labels[:, :prompt_length] = -100",
)
FIRST_ANSWER_TOKEN = Message("The answer's first token is not supervised.", "回答的第一个词元没有受到监督。")
FIRST_ANSWER_TOKEN_FIX = Message(
    "Mask exactly the prompt: before a shift its length, after a shift one less.",
    "恰好遮住提示：移位前为其长度，移位后少一。",
)
MASK_MISSES_PADS = Message(
    "The collator's attention mask does not mark the padding.", "整批函数给出的注意力掩码没有标出填充。"
)
MASK_MISSES_PADS_FIX = Message(
    "attention_mask = 1 for each row's own tokens, 0 for its padding", "attention_mask：自身词元为 1，填充为 0"
)
OUT_OF_STEP = Message("Labels and ids do not lie at matching positions.", "标签与 ids 的位置不对应。")
OUT_OF_STEP_FIX = Message(
    "Pad ids and labels on the same side, to the same length.", "ids 与标签应在同侧填充到同样长度。"
)
IDS_BEYOND = Message("Some ids are beyond the vocabulary that the model has.", "有 id 超出模型的词表。")
IDS_BEYOND_FIX = Message(
    "model.resize_token_embeddings(len(tokenizer)), or use an id that exists",
    "model.resize_token_embeddings(len(tokenizer))，或改用已有的 id",
)
