"""The laws of loss and labels: what each says, when an alarm is false, and the evidence."""

from __future__ import annotations

from clearformer.messages import Message

# K22
SHIFT = Message(
    "Of logits that favour the same, the next or another token, those of the next have the smallest loss.",
    "在偏向当前、下一个或其他词元的 logits 中，偏向下一个词元者损失最小。",
)
SHIFT_RISK = Message(
    "A loss whose labels were moved on by one before it must say so: hand in the collator, or name them targets.",
    "若标签在进入损失前已移位，须让检查知道：交入整批函数，或把参数命名为 targets。",
)
HEARS_NOTHING = Message(
    "the loss is {loss:.4g} whichever token the logits favour", "无论 logits 偏向哪个词元，损失都是 {loss:.4g}"
)
REWARDS_ANOTHER = Message(
    "the loss is smallest ({loss:.3g}) for logits that favour the token at offset {offset:+d}; for the next token (+1) it "
    "is {right:.3g}, for no preference {flat:.3g}",
    "logits 偏向相对位置 {offset:+d} 的词元时损失最小（{loss:.3g}）；偏向下一个词元（+1）时为 {right:.3g}，无偏好时为 {flat:.3g}",
)
UNLESS_MOVED = Message(
    "right only if the labels come in already moved on by one (hand in --collate to have that checked)",
    "仅当传入的标签已经移位时才正确（交入 --collate 即可核对）",
)
NEVER_SMALL = Message(
    "with nearly all probability on the right token the loss is still {loss:.3g}, against {flat:.3g} without preference",
    "即使几乎全部概率都在正确词元上，损失仍为 {loss:.3g}，而无偏好时为 {flat:.3g}",
)
LOSS_NOT_FINITE = Message("The loss of plain logits is not finite.", "普通 logits 的损失不是有限值。")
NO_TARGET_SIDE = Message(
    "Whether an encoder-decoder's labels are moved on shows only with its collator (--collate).",
    "编码器-解码器的标签是否移位，只有连同整批函数（--collate）才能看出。",
)
