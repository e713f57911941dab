"""Sentences of the translation task."""

from __future__ import annotations

from clearformer.messages import Message, failure

VOCABULARY_FROM = Message("a whole number ≥ {least}", " ≥ {least} 的整数")
TOKENS_FROM = Message("a whole number ≥ 4", " ≥ 4 的整数")
SHARE_WITH_ENDS = Message("a share from 0, which is off, to 1", "从 0（关闭）到 1 的比例")
NO_DATA = failure(
    en=(
        "Expected parallel text, found no data.{field}.",
        "Give --src and --tgt (files, line by line translations), or --data with a named set: {names}.",
    ),
    zh=(
        "应有平行文本，但没有 data.{field}。",
        "请用 --src 与 --tgt 给出逐行对应的文件，或用 --data 给出命名数据集：{names}。",
    ),
)
UNKNOWN_SET = failure(
    en=("Expected a named set of parallel text ({expected}), found {found}.", "Give that name, or --src and --tgt."),
    zh=("应为平行文本的命名数据集（{expected}），实际为 {found}。", "请给出该名称，或使用 --src 与 --tgt。"),
)
ONE_PAIR = failure(
    en=(
        "Expected at least 2 pairs of sentences, one to train on and one to validate on, found 1.",
        "Give more lines, or validation files of their own.",
    ),
    zh=("至少需要 2 对句子：一对训练，一对验证；实际只有 1 对。", "请提供更多行，或另给验证文件。"),
)
NO_TEST = failure(
    en=(
        "{path} has no test split.",
        "Judge it on validation: --split validation. Test text is named when a run begins: clearformer train translation … --data.test_source FILE --data.test_target FILE",
    ),
    zh=(
        "{path} 没有测试集。",
        "请改用验证集：--split validation。测试文本须在训练时指定：clearformer train translation … --data.test_source 文件 --data.test_target 文件",
    ),
)
READS_NO_TOKENS = failure(
    en=("model.spec reads {found}; a translator reads tokens.", "Give an EncoderDecoder with Tokens on both sides."),
    zh=("model.spec 读取的是 {found}；翻译模型应读取词元。", "请给出两侧都是 Tokens 的 EncoderDecoder。"),
)
CONTEXT_TOO_SHORT = failure(
    en=(
        "The longest sentence has {expected} tokens, its marks included; model.spec holds {found}.",
        "Give a spec with a longer context, or leave the sentence out.",
    ),
    zh=(
        "最长的句子连同标记有 {expected} 个词元；model.spec 只容纳 {found} 个。",
        "请给出上下文更长的 spec，或去掉该句。",
    ),
)
NO_TRANSLATOR = failure(
    en=(
        "{name} is of type {found}; translating needs an encoder and a decoder.",
        "Train one: clearformer train translation --src A --tgt B",
    ),
    zh=("{name} 是 {found}；翻译需要编码器和解码器。", "请训练一个：clearformer train translation --src A --tgt B"),
)
NO_TEXTS = failure(
    en=("Expected at least one text to translate, found none.", "Give texts, or lines on standard input."),
    zh=("至少需要一段待翻译的文本，实际没有。", "请给出文本，或从标准输入逐行给出。"),
)
EMPTY_TEXT = failure(
    en=("Text {number} is empty.", "Leave it out, or write something in it."),
    zh=("第 {number} 段文本是空的。", "请去掉它，或写入内容。"),
)
TEXT_TOO_LONG = failure(
    en=("Text {number} has {found} tokens; the model holds {context}.", "Translate it sentence by sentence."),
    zh=("第 {number} 段文本有 {found} 个词元；模型至多容纳 {context} 个。", "请逐句翻译。"),
)
