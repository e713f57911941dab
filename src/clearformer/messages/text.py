"""Sentences of the text room: tokenizers, chat templates, conversations."""

from __future__ import annotations

from clearformer.messages import failure

FILE_MISSING = failure(
    en=("Expected the file {path}, found none.", "Put {name} into the model's folder, or pull the model again."),
    zh=("应有文件 {path}，但没有找到。", "请把 {name} 放进模型文件夹，或重新拉取该模型。"),
)
ONLY_SENTENCEPIECE = failure(
    en=(
        "{path}: expected {name}, found SentencePiece's {found}, which is not read here.",
        "Put a {name} with the same ids beside it: transformers saves one for T5, transformers.js publishes those of "
        "OPUS-MT. Where source and target have vocabularies of their own, the source's is source_tokenizer.json.",
    ),
    zh=(
        "{path}：应有 {name}，实际只有 SentencePiece 的 {found}，此处无法读取。",
        "请在旁边放入编号相同的 {name}：T5 的可由 transformers 保存，OPUS-MT 的由 transformers.js 发布。"
        "若源语言与目标语言词表不同，源语言的文件名为 source_tokenizer.json。",
    ),
)
FILE_TOO_LARGE = failure(
    en=(
        "{path} holds more than {limit} bytes, the most that is read.",
        "Use the file that the model's publisher ships.",
    ),
    zh=("{path} 超过了可读取的上限 {limit} 字节。", "请使用模型发布者提供的原始文件。"),
)
FILE_UNREADABLE = failure(
    en=("{path} could not be read: {detail}.", "Check the file's permissions, or pull the model again."),
    zh=("无法读取 {path}：{detail}。", "请检查文件权限，或重新拉取该模型。"),
)
FILE_UNWRITABLE = failure(
    en=("{path} could not be written: {detail}.", "Check the folder's permissions and the disk."),
    zh=("无法写入 {path}：{detail}。", "请检查文件夹权限和磁盘。"),
)
NOT_JSON = failure(
    en=(
        "Expected a JSON object in {path}, found something else: {detail}.",
        "The file is damaged or cut short; pull the model again.",
    ),
    zh=("{path} 应是一个 JSON 对象，实际不是：{detail}。", "文件已损坏或被截断，请重新拉取该模型。"),
)
NOT_A_TOKENIZER = failure(
    en=(
        "{path} does not describe a tokenizer: {detail}.",
        "Use a tokenizer.json written by the tokenizers library, or pull the model again.",
    ),
    zh=(
        "{path} 描述的不是可用的分词器：{detail}。",
        "请使用 tokenizers 库写出的 tokenizer.json，或重新拉取该模型。",
    ),
)
BAD_FIELD = failure(
    en=("{path}: expected {field} to be {expected}, found {found}.", "Correct that field, or pull the model again."),
    zh=("{path}：{field} 应为 {expected}，实际是 {found}。", "请改正该字段，或重新拉取该模型。"),
)
NOT_TEXT = failure(
    en=("Expected text, found a value of type {found}.", "Pass a string."),
    zh=("应为文本，实际是 {found} 类型的值。", "请传入字符串。"),
)
LONE_SURROGATE = failure(
    en=(
        "The text holds half of a UTF-16 surrogate pair at position {position}; it is no character.",
        "Remove it, or decode the source as UTF-8 with errors='replace'.",
    ),
    zh=(
        "文本第 {position} 位是 UTF-16 代理对的一半，不是字符。",
        "请删除它，或以 errors='replace' 按 UTF-8 解码来源。",
    ),
)
ID_TOO_LARGE = failure(
    en=(
        "The token {word} has the id {found}; ids stay below {limit}.",
        "The tokenizer's file is damaged; pull the model again.",
    ),
    zh=("词元 {word} 的编号为 {found}，而编号应小于 {limit}。", "分词器文件已损坏；请重新获取模型。"),
)
TEXT_GROWS = failure(
    en=(
        "The steps of the {part} may make a text {found} times as long; at most {limit} is allowed.",
        "Use the original tokenizer.json from the model's publisher.",
    ),
    zh=(
        "{part} 的各步骤可能使文本变为原来的 {found} 倍长，最多允许 {limit} 倍。",
        "请使用模型发布者提供的原始 tokenizer.json。",
    ),
)
ID_OUT_OF_RANGE = failure(
    en=(
        "Expected a token id from 0 to {last} that the vocabulary holds, found {found}.",
        "Use ids made by this tokenizer.",
    ),
    zh=("词元编号应在 0 到 {last} 之间且在词表中，实际是 {found}。", "请使用此分词器产生的编号。"),
)
ENCODING_FAILED = failure(
    en=("The tokenizer failed on this input: {detail}.", "Its file is likely damaged; pull the model again."),
    zh=("分词器处理此输入时失败：{detail}。", "其文件很可能已损坏，请重新拉取该模型。"),
)

GGUF_FIELD = failure(
    en=("GGUF metadata: expected {key} to be {expected}, found {found}.", "Convert the model again, or pull it again."),
    zh=("GGUF 元数据：{key} 应为 {expected}，实际是 {found}。", "请重新转换或重新拉取该模型。"),
)
GGUF_MODEL_UNKNOWN = failure(
    en=("GGUF tokenizer model {name} is not known; known are {known}.", "Use the model's Hugging Face folder instead."),
    zh=("不认识 GGUF 分词器类型 {name}；已知的有 {known}。", "请改用该模型的 Hugging Face 文件夹。"),
)
GGUF_PRE_UNKNOWN = failure(
    en=("GGUF pre-tokenizer {name} is not known; known are {known}.", "Use the model's Hugging Face folder instead."),
    zh=("不认识 GGUF 预分词器 {name}；已知的有 {known}。", "请改用该模型的 Hugging Face 文件夹。"),
)
GGUF_CANNOT_SAY = failure(
    en=(
        "GGUF cannot say this tokenizer: its {field} is {found}; llama.cpp knows {expected}.",
        "Export the model as a folder: leave .gguf out of the name.",
    ),
    zh=(
        "GGUF 无法表达这个分词器：其 {field} 为 {found}，而 llama.cpp 只认识 {expected}。",
        "请导出为文件夹：名称不带 .gguf。",
    ),
)

VOCABULARY_TOO_SMALL = failure(
    en=(
        "Expected a vocabulary of at least {least} (256 bytes and the special tokens), got {found}.",
        "Ask for a larger vocabulary.",
    ),
    zh=("词表至少应有 {least} 项（256 个字节加特殊词元），实际要求 {found}。", "请增大词表。"),
)
SPECIAL_LEARNT = failure(
    en=(
        "The special token {token} is also learnt from the text, so text could produce it.",
        "Give special tokens a form that no word has, such as <|end|>.",
    ),
    zh=("特殊词元 {token} 也会从文本中学到，文本便可能产生它。", "请给特殊词元取普通词不会有的形式，如 <|end|>。"),
)
NOT_PLAIN_BPE = failure(
    en=(
        "{path} is not a plain byte-level BPE: {detail}.",
        "Load it with tokenizer_from_folder, which uses the tokenizers library.",
    ),
    zh=("{path} 不是普通的字节级 BPE：{detail}。", "请用 tokenizer_from_folder 加载，它使用 tokenizers 库。"),
)
MERGE_OUT_OF_ORDER = failure(
    en=(
        "Merge {index} joins {left} and {right}, of which one is not made by an earlier merge.",
        "Train the tokenizer again, or use its original file.",
    ),
    zh=("第 {index} 次合并把 {left} 与 {right} 相连，但其中之一并非由更早的合并得到。", "请重新训练，或使用原始文件。"),
)

TEMPLATE_TOO_LARGE = failure(
    en=("The chat template has {found} characters, more than the {limit} allowed.", "Use the model's own template."),
    zh=("聊天模板有 {found} 个字符，超过上限 {limit}。", "请使用模型自带的模板。"),
)
TEMPLATE_INPUT = failure(
    en=("The conversation cannot be given to the chat template: {detail}.", "Use strings, numbers, lists and objects."),
    zh=("无法把对话交给聊天模板：{detail}。", "请只用字符串、数字、列表和对象。"),
)
TEMPLATE_INPUT_TOO_LARGE = failure(
    en=("The conversation takes {found} bytes, more than the {limit} allowed.", "Shorten the conversation."),
    zh=("对话占 {found} 字节，超过上限 {limit}。", "请缩短对话。"),
)
TEMPLATE_OUTPUT_TOO_LARGE = failure(
    en=("The chat template wrote more than {limit} bytes.", "Shorten the conversation, or use another template."),
    zh=("聊天模板的输出超过 {limit} 字节。", "请缩短对话，或换用其他模板。"),
)
TEMPLATE_TOO_SLOW = failure(
    en=("The chat template ran longer than {seconds} s and was stopped.", "Use the model's own template."),
    zh=("聊天模板运行超过 {seconds} 秒，已被终止。", "请使用模型自带的模板。"),
)
TEMPLATE_TOO_HUNGRY = failure(
    en=("The chat template asked for more memory than it may use.", "Use the model's own template."),
    zh=("聊天模板申请的内存超过上限。", "请使用模型自带的模板。"),
)
TEMPLATE_UNSAFE = failure(
    en=("The chat template tried to leave its sandbox: {detail}.", "Do not trust this model's files."),
    zh=("聊天模板试图越出沙箱：{detail}。", "请勿信任此模型的文件。"),
)
TEMPLATE_REFUSED = failure(
    en=("The chat template refused the conversation: {detail}.", "Change the roles or their order as it asks."),
    zh=("聊天模板拒绝了此对话：{detail}。", "请按其要求修改角色或顺序。"),
)
TEMPLATE_FAILED = failure(
    en=("The chat template failed: {detail}.", "Check the template, and the fields of the messages."),
    zh=("聊天模板出错：{detail}。", "请检查模板及消息的字段。"),
)
TEMPLATE_WORKER_LOST = failure(
    en=("The process that renders chat templates ended without an answer.", "Try again; if it repeats, report it."),
    zh=("渲染聊天模板的进程没有回答便结束了。", "请重试；若再次出现，请报告。"),
)
NO_MESSAGES = failure(
    en=("Expected at least one message, found none.", "Give the conversation a message."),
    zh=("对话至少应有一条消息，实际没有。", "请给出至少一条消息。"),
)
BAD_MESSAGE = failure(
    en=("Expected message {index} to be an object with a role, found {found}.", "Write it as role and content."),
    zh=("第 {index} 条消息应是带 role 的对象，实际是 {found}。", "请写成 role 与 content。"),
)
PARTS_FORM_SPECIAL = failure(
    en=(
        "The text parts of message {index} join into the special token {token}.",
        "Send the message as one text.",
    ),
    zh=("第 {index} 条消息的各段文本拼成了特殊词元 {token}。", "请把这条消息作为一段文本发送。"),
)
NONCE_BROKEN = failure(
    en=(
        "The chat template altered a special string of the conversation, which can then not be told from its own.",
        "Remove strings such as {token} from the messages.",
    ),
    zh=("聊天模板改动了对话里的特殊字符串，无法再与模板自己的区分。", "请从消息中去掉 {token} 这样的字符串。"),
)

VOCABULARY_PAST_TEXT = failure(
    en=(
        "The text gives {found} tokens at most, not {expected}.",
        "Ask for a vocabulary of {found} or fewer, or give more text.",
    ),
    zh=("该文本最多只能得到 {found} 个词元，而不是 {expected} 个。", "请把词表设为 {found} 或更小，或提供更多文本。"),
)
NO_MERGES = failure(
    en=("BPE-dropout leaves out merges; this tokenizer's model, {found}, has none.", "Set data.dropout to 0."),
    zh=("BPE-dropout 会随机省略合并；该分词器的模型 {found} 没有合并规则。", "请把 data.dropout 设为 0。"),
)
