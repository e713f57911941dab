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

# K23
LOSS_PADDING = Message(
    "Padding changes no loss, and a row's loss does not depend on the rows beside it.",
    "填充不改变损失，一行的损失也不取决于同批的其他行。",
)
LOSS_PADDING_RISK = Message(
    "A mean per sequence may be meant: it is only noted. A sum, and a sum divided by the rows, are accepted.",
    "按序列求平均可能是有意为之，仅作提示。求和、求和后除以行数均视为正确。",
)
PADS_COUNT = Message(
    "other logits at padded positions alone move the loss from {together:.4g} to {loud:.4g}",
    "只改变填充位置的 logits，损失就从 {together:.4g} 变为 {loud:.4g}",
)
SMOOTHING_COUNTS = Message(
    "other logits at padded positions alone move the loss from {together:.4g} to {loud:.4g}, though no label is asked for "
    "there",
    "只改变填充位置的 logits，损失就从 {together:.4g} 变为 {loud:.4g}，而那里并没有标签",
)
LENGTH_DIVIDES = Message(
    "a short row alone has the loss {short:.4g}, a long one {long:.4g}, both in one padded batch {together:.4g}",
    "短行单独的损失为 {short:.4g}，长行为 {long:.4g}，两行填充成一批后为 {together:.4g}",
)
EMPTY_ROW = Message(
    "one row whose labels are all ignored makes the loss of the batch {value}",
    "某一行的标签全部被忽略时，整批损失变为 {value}",
)
ROWS_FIRST = Message(
    "a short row beside one three times as long has {share:.0%} of the weight: rows are averaged before the batch",
    "短行与三倍长的行同批时占 {share:.0%} 的权重：先按行求了平均",
)
NOTHING_IGNORED = Message(
    "this loss ignores no label that was tried (-100, -1, 0, pad_id): right only where nothing is padded; with --collate "
    "or --pad it can be judged",
    "试过的标签（-100、-1、0、pad_id）这个损失都不忽略：只有从不填充时才对；给出 --collate 或 --pad 才能判断",
)
NO_PADDING = Message("This collator pads nothing.", "这个整批函数不做填充。")

# K24
LABELS = Message(
    "Labels cover the end and every row, are ids that exist, and lie where the ids do; padding is masked.",
    "标签涵盖结束符与每一行，都是存在的 id，且与 ids 位置对应；填充须加掩码。",
)
LABELS_RISK = Message(
    "Plain pretraining may have no end per row; learning the prompt too may be meant: a warning.",
    "纯预训练的行末可以没有结束符；连提示一起学习可能是有意为之，故只作警告。",
)
ID_OUTSIDE = Message(
    "the batch holds the id {found}; the vocabulary has {vocab}", "批中有 id {found}，而词表大小为 {vocab}"
)
LABEL_OUTSIDE = Message(
    "the batch holds the label {found}; the vocabulary has {vocab}, and only -100 is ignored by default",
    "批中有标签 {found}，而词表大小为 {vocab}，默认只忽略 -100",
)
MASK_UNIFORM = Message(
    "the attention mask has one value everywhere, though {pads} positions are padding",
    "注意力掩码处处为同一值，而有 {pads} 个位置是填充",
)
NO_TARGET = Message("{rows} of {of} rows have no target", "{of} 行中有 {rows} 行没有目标")
CUT_TO_PROMPT = Message(
    "a row with a prompt of {length} tokens is cut to {kept}, and no target is left",
    "提示长 {length} 词元的一行被截为 {kept}，不剩任何目标",
)
PROMPT_ASKED = Message("{count} labels are tokens of the prompt", "有 {count} 个标签是提示中的词元")
FIRST_MISSING = Message("no row asks for the first token of its answer", "没有一行要求学习回答的第一个词元")
OTHER_LENGTH = Message("the ids are {ids} long, the labels {labels}", "ids 长 {ids}，标签长 {labels}")
NO_DISTANCE = Message(
    "at no distance do the labels repeat the ids; at best {share:.0%} match, at offset {offset:+d}",
    "标签与 ids 在任何间距上都对不齐；最好也只有 {share:.0%} 相符（相对位置 {offset:+d}）",
)
AT_DISTANCE = Message("the labels are the ids at offset {offset:+d}", "标签是相对位置 {offset:+d} 处的 id")
END_NOT_ASKED = Message(
    "every example ends in {eos}; in {rows} of {of} rows no label is {eos}",
    "每个样本都以 {eos} 结尾，而 {of} 行中有 {rows} 行没有标签 {eos}",
)
PADS_ASKED = Message(
    "{count} labels at padded positions are {pad}, the id of padding, where -100 is expected: right only with "
    "ignore_index={pad} (hand in --loss to have that checked)",
    "填充位置上有 {count} 个标签是填充编号 {pad}，而那里应为 -100：只有损失用 ignore_index={pad} 时才对（给出 --loss 可检查）",
)
BEGINS_ONLY = Message(
    "the collator puts {bos} before each example and no {eos} behind it: an end is asked for only where the examples "
    "bring one along",
    "整批函数在每个样本前加了 {bos}，却没有在后面加 {eos}：只有样本自带结束符时才会要求它",
)
END_NOT_REWARDED = Message(
    "nowhere does the loss fall as {eos}, with which every example ends, becomes more likely",
    "每个样本都以 {eos} 结尾，但提高它的概率在任何位置都不会降低损失",
)

# K25
FREE_RUNNING = Message(
    "A batch that is known by heart with a teacher is also said without one.",
    "有教师输入时背得出的内容，自由生成时也说得出。",
)
FREE_RUNNING_RISK = Message(
    "Only a batch that was learnt is judged; the module is copied, the copy trained.",
    "只判断已学会的批；训练的是模块的副本。",
)
EXPLAINED = Message("What {check} found explains more.", "{check} 的发现已更能说明问题。")
NOTHING_BY_HEART = Message(
    "There is nothing to learn by heart: no ids, few words, or no parameter to train.",
    "无从背诵：没有 id、词太少或没有可训练的参数。",
)
NOT_LEARNT = Message(
    "The batch was not learnt by heart: a loss of {loss:.3g} after {steps} steps.",
    "未能背下这一批：{steps} 步后损失为 {loss:.3g}。",
)
NOT_SAID = Message(
    "after {steps} steps the loss of a small batch is {loss:.2g}, yet {wrong} of {of} tokens come out wrong when each is "
    "generated from those before",
    "{steps} 步后一小批的损失为 {loss:.2g}，但逐个生成时 {of} 个词元中有 {wrong} 个出错",
)
