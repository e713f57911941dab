"""What a task refuses: data that it cannot learn from, a model that does not fit it, a run without what is asked."""

from __future__ import annotations

from clearformer.messages import Message, failure

UNKNOWN_TASK = failure(
    en=("No task is called {found}.{hint}", "Choose one of {expected}."),
    zh=("没有名为 {found} 的任务。{hint}", "请从 {expected} 中选一个。"),
)
OUT_OF_RANGE = failure(
    en=("{field} must be {expected}; found {found}.", "Set --{field} to {expected}."),
    zh=("{field} 应为{expected}；实际是 {found}。", "请把 --{field} 设为{expected}。"),
)
WHOLE_FROM_1 = Message("a whole number ≥ 1", " ≥ 1 的整数")
WHOLE_FROM_2 = Message("a whole number ≥ 2", " ≥ 2 的整数")
WHOLE_FROM_3 = Message("a whole number ≥ 3", " ≥ 3 的整数")
SHARE_WITH_ZERO = Message("from 0 to below 1", " 0 到 1 之间的数（不含 1）")
SHARE = Message("a share between 0 and 1", " 0 与 1 之间的比例")
NO_DATA = failure(
    en=("The recipe names no data.", "Give --data: {expected}."),
    zh=("配方没有指明数据。", "请给出 --data：{expected}。"),
)
TEXT_EXPECTED = Message(
    "a .txt or .jsonl file, a folder of .txt files, or one of {names}",
    ".txt 或 .jsonl 文件、.txt 文件夹，或 {names} 之一",
)
TABLE_EXPECTED = Message(
    "a TSV, CSV or JSONL file of texts and labels, or one of {names}",
    "文本与标签的 TSV、CSV 或 JSONL 文件，或 {names} 之一",
)
CONTEXT_PAST_DATA = failure(
    en=(
        "{path}: the {split} text has {found} tokens; a context of {context} needs at least {expected}.",
        "Give more text, or set data.context to at most {most}.",
    ),
    zh=(
        "{path}：{split} 文本有 {found} 个词元；长度为 {context} 的上下文至少需要 {expected} 个。",
        "请提供更多文本，或把 data.context 设为不超过 {most}。",
    ),
)
TOO_LITTLE = failure(
    en=(
        "{path}: the {split} part holds {found} tokens, which is too little to learn from or to measure.",
        "Give more text; data.share sets how much of it is kept for validation.",
    ),
    zh=(
        "{path}：{split} 部分只有 {found} 个词元，不足以学习或评估。",
        "请提供更多文本；data.share 决定留作验证的比例。",
    ),
)
MADE_WHOLE = failure(
    en=(
        "{path} is a text made by rule, with a validation part of its own; {field} has no use.",
        "Leave --{field} out.",
    ),
    zh=("{path} 是按规则生成的文本，自带验证部分；{field} 没有用处。", "请去掉 --{field}。"),
)
NO_TEST = failure(
    en=(
        "{path} has no test split.",
        "Judge it on validation: --split validation. A test split is named when a run begins: clearformer train … --data.test FILE",
    ),
    zh=(
        "{path} 没有测试集。",
        "请改用验证集：--split validation。测试集须在训练时指定：clearformer train … --data.test 文件",
    ),
)
NO_TEST_MADE = failure(
    en=("{path} has no test split: its text is made by rule.", "Judge it on validation: --split validation"),
    zh=("{path} 没有测试集：其文本按规则生成。", "请改用验证集：--split validation"),
)
CUSTOM_DOES_NOT_FIT = failure(
    en=(
        "The custom spec is {found}; this task trains {expected}.",
        "Give a spec of that architecture and head, or choose another model type.",
    ),
    zh=("自定义规格是 {found}；此任务训练 {expected}。", "请给出该结构与输出头的规格，或选择其他模型类型。"),
)
CUSTOM_READS_NO_TOKENS = failure(
    en=("The custom spec reads {found}; this task's data are tokens.", "Give the spec an input of type Tokens."),
    zh=("自定义规格的输入是 {found}；此任务的数据是词元。", "请让规格的输入为 Tokens。"),
)
CUSTOM_CONTEXT = failure(
    en=(
        "The custom spec has a context of {found}; the data are cut into windows of {expected}.",
        "Set data.context to at most {found}, or enlarge the spec's context.",
    ),
    zh=(
        "自定义规格的上下文长度是 {found}；数据按 {expected} 切分。",
        "请把 data.context 设为不超过 {found}，或加大规格的上下文。",
    ),
)
NO_TOKENIZER = failure(
    en=("{path} has no tokenizer.json to take over.", "Name a model folder that holds one, or a built-in model."),
    zh=("{path} 中没有可沿用的 tokenizer.json。", "请指定含有它的模型文件夹，或内置模型。"),
)
NO_MARK = failure(
    en=(
        "The tokenizer of {path} has no {token}, which this task needs.",
        "Take over a tokenizer that has one, or train one: BytePair or Characters.",
    ),
    zh=("{path} 的分词器没有此任务所需的 {token}。", "请沿用带有它的分词器，或训练一个：BytePair 或 Characters。"),
)
ONE_CLASS = failure(
    en=("{path}: every text has the label {found}.", "Give texts of at least two classes."),
    zh=("{path}：所有文本的标签都是 {found}。", "请提供至少两个类别的文本。"),
)
UNKNOWN_LABEL = failure(
    en=(
        "{path}: the label {found} does not occur in the training data, which has {expected}.",
        "Correct the label, or add training texts of that class.",
    ),
    zh=("{path}：标签 {found} 未出现在训练数据中，后者有 {expected}。", "请更正标签，或加入该类别的训练文本。"),
)
TOO_FEW_TEXTS = failure(
    en=(
        "{path}: {found} texts leave the {split} split empty.",
        "Give more texts, or a file of its own as data.{split}.",
    ),
    zh=("{path}：{found} 条文本会使 {split} 集为空。", "请提供更多文本，或用 data.{split} 单独给出文件。"),
)
NOT_A_RUN = failure(
    en=("{path} is no run folder: it has no recipe.yaml.", "Name a folder that `clearformer train` made."),
    zh=("{path} 不是运行文件夹：没有 recipe.yaml。", "请指定 `clearformer train` 生成的文件夹。"),
)
BAD_SPLIT = failure(
    en=("A split is validation or test; found {found}.", "Choose one of the two."),
    zh=("数据划分只有 validation 与 test；实际是 {found}。", "请从两者中选一个。"),
)
NO_LABELS = failure(
    en=(
        "{name} classifies nothing: its head is {found}.",
        "Train one with `clearformer train classification`, and name its run.",
    ),
    zh=("{name} 不能分类：其输出头是 {found}。", "请用 `clearformer train classification` 训练，并指定该运行。"),
)
BAD_LABELS = failure(
    en=("{path} must hold a list of {expected} names; found {found}.", "Restore the file from the training run."),
    zh=("{path} 应为 {expected} 个名称的列表；实际是 {found}。", "请从训练运行中恢复该文件。"),
)
FILLS_NOTHING = failure(
    en=(
        "{name} fills no gaps: it is of type {found} and not an encoder with a language head.",
        "Train one with `clearformer train masked`, and name its run.",
    ),
    zh=(
        "{name} 不能填空：它是 {found}，而不是带语言头的编码器。",
        "请用 `clearformer train masked` 训练，并指定该运行。",
    ),
)
NO_MASK_TOKEN = failure(
    en=("The tokenizer of {name} has no mask token.", "Use a model that was trained to fill gaps."),
    zh=("{name} 的分词器没有掩码词元。", "请使用为填空训练的模型。"),
)
NO_GAP = failure(
    en=("The text has no gap: {found}.", "Put {expected} where a word is missing."),
    zh=("文本中没有空缺：{found}。", "请在缺词处写上 {expected}。"),
)
BAD_TOP = failure(
    en=("top must be a whole number ≥ 1; found {found}.", "Ask for at least one candidate."),
    zh=("top 应为 ≥ 1 的整数；实际是 {found}。", "请至少要求一个候选。"),
)
NO_TEXTS = failure(
    en=("There is no text to classify.", "Give at least one text, in a list."),
    zh=("没有可分类的文本。", "请在列表中至少给出一条文本。"),
)
EMPTY_TEXT = failure(
    en=("Text {number} is empty.", "Give it at least one character."),
    zh=("第 {number} 条文本是空的。", "请至少写一个字符。"),
)
ROW_SHARE = Message("share of the class", "占该类的比例")
MEANT = Message("meant", "真实类别")
NAMED = Message("named", "预测类别")
