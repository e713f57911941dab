"""The laws of tokenizers and of where an answer stops: what each says, when an alarm is false, and the evidence."""

from __future__ import annotations

from clearformer.messages import Message

# K28
TOKENIZER = Message(
    "What is encoded comes back; a special token is one id; a text begins once; every id is in the vocabulary.",
    "编码后能原样解码；特殊词元是单个 id；文本只有一个开头标记；所有 id 都在词表内。",
)
TOKENIZER_RISK = Message(
    "Lower-casing, NFKC and unknown tokens lose text by design: noted only.",
    "小写化、NFKC 规范化与未知词元本就会丢失文本：仅作提示。",
)
NOTHING_READ = Message("The tokenizer encodes none of the trial texts.", "分词器编码不了任何一个试探文本。")
ROUND_TRIP = Message("{text} comes back as {back}", "{text} 解码后成了 {back}")
SPLIT = Message("{word} has the id {id}, but is encoded to {ids}", "{word} 的 id 是 {id}，却被编码为 {ids}")
TWO_BEGIN = Message("an encoded text begins with the id {bos} twice", "编码后的文本以 id {bos} 开头两次")
TWO_BEGIN_AFTER_TEMPLATE = Message(
    "a conversation rendered by the template and then encoded begins with the id {bos} twice",
    "对话经模板渲染再编码后，以 id {bos} 开头两次",
)
OTHER_PATH = Message(
    "a conversation by the template has the ids {template} from position {at} on; its text, encoded, {direct}",
    "对话由模板直接得到的 id 从位置 {at} 起为 {template}；先渲染成文本再编码则为 {direct}",
)
BEYOND = Message("{text} has the id {id}; the model has {vocab} rows", "{text} 的 id 为 {id}，而模型只有 {vocab} 行")

# K26
STOPS = Message(
    "Generation stops at the token that ends a turn, and at the tokenizer's end.",
    "生成在结束一轮的词元以及分词器的结束符处停止。",
)
STOPS_RISK = Message("A base model has no turns: a warning.", "基础模型没有对话轮次，故只作警告。")
NO_STOPS = Message(
    "Neither a config nor a tokenizer tells where an answer stops.", "配置与分词器都没有说明回答在何处停止。"
)
TURN_END = Message(
    "the chat template ends an answer with {word} ({id}); generation stops at {stops}",
    "对话模板以 {word}（{id}）结束回答；生成只在 {stops} 处停止",
)
NO_EOS = Message(
    "the tokenizer's end is {id}; generation stops at {stops}", "分词器的结束符为 {id}；生成只在 {stops} 处停止"
)
