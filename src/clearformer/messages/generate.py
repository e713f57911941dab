"""What is said about generating: settings that make no sense, prompts that cannot be answered, models that cannot speak."""

from __future__ import annotations

from clearformer.messages import Message, failure

# Settings
BAD_TEMPERATURE = failure(
    en=(
        "temperature: expected a number from 0 on, got {found}.",
        "Use 0 for the likeliest token, about 0.7 for variety.",
    ),
    zh=("temperature：应为不小于 0 的数，实际为 {found}。", "取 0 即总选最可能的词元；想要变化可用 0.7 左右。"),
)
BAD_TOP_K = failure(
    en=("top_k: expected a whole number from 0 on, got {found}.", "Use 0 to switch it off, or a number such as 50."),
    zh=("top_k：应为不小于 0 的整数，实际为 {found}。", "取 0 即关闭，或取 50 之类的数。"),
)
BAD_TOP_P = failure(
    en=(
        "top_p: expected a number above 0 and up to 1, got {found}.",
        "Use 1 to switch it off, or a number such as 0.9.",
    ),
    zh=("top_p：应大于 0 且不超过 1，实际为 {found}。", "取 1 即关闭，或取 0.9 之类的数。"),
)
BAD_MIN_P = failure(
    en=("min_p: expected a number from 0 to 1, got {found}.", "Use 0 to switch it off, or a number such as 0.05."),
    zh=("min_p：应在 0 到 1 之间，实际为 {found}。", "取 0 即关闭，或取 0.05 之类的数。"),
)
BAD_PENALTY = failure(
    en=(
        "repetition_penalty: expected a number from {least} to {most}, got {found}.",
        "Use 1 to switch it off, or a number such as 1.1.",
    ),
    zh=("repetition_penalty：应为 {least} 到 {most} 之间的数，实际为 {found}。", "取 1 即关闭，或取 1.1 之类的数。"),
)
BAD_MAX_NEW = failure(
    en=("max_new_tokens: expected a whole number from 1 on, got {found}.", "Give the number of tokens to write."),
    zh=("max_new_tokens：应为不小于 1 的整数，实际为 {found}。", "请给出要生成的词元数。"),
)
BAD_TOP_LOGPROBS = failure(
    en=(
        "top_logprobs: expected a whole number from 0 to {most}, got {found}.",
        "Give the number of likeliest tokens to show; 0 shows none.",
    ),
    zh=("top_logprobs：应为 0 到 {most} 的整数，实际为 {found}。", "请给出要显示的最可能词元数；0 表示不显示。"),
)
BAD_CHUNK = failure(
    en=("prefill_chunk: expected a whole number from 1 on, got {found}.", "Leave it out to read 512 tokens at a time."),
    zh=("prefill_chunk：应为不小于 1 的整数，实际为 {found}。", "省略时每次读取 512 个词元。"),
)
BAD_NUM_BEAMS = failure(
    en=(
        "num_beams: expected a whole number from 1 to {most}, got {found}.",
        "Use 1 to switch it off, or a number such as 5.",
    ),
    zh=("num_beams：应为 1 到 {most} 的整数，实际为 {found}。", "取 1 即关闭，或取 5 之类的数。"),
)
BAD_LENGTH_PENALTY = failure(
    en=(
        "length_penalty: expected a number from 0 to {most}, got {found}.",
        "Use 0 to rank by probability alone, or a number such as 0.6.",
    ),
    zh=("length_penalty：应为 0 到 {most} 之间的数，实际为 {found}。", "取 0 即只按概率排序，或取 0.6 之类的数。"),
)
PENALTY_WITHOUT_BEAMS = failure(
    en=(
        "length_penalty ranks the texts that several beams found, and num_beams is 1.",
        "Give num_beams too, such as 5, or leave length_penalty out.",
    ),
    zh=(
        "length_penalty 用于给多个束找到的文本排序，而 num_beams 为 1。",
        "请同时给出 num_beams（例如 5），或省略 length_penalty。",
    ),
)
BESIDE_BEAMS = failure(
    en=(
        "{found} does not go together with num_beams above 1: beam search looks for the likeliest whole text.",
        "Leave out {found}, or num_beams.",
    ),
    zh=(
        "{found} 不能与大于 1 的 num_beams 并用：束搜索寻找的是整段最可能的文本。",
        "请省略 {found}，或省略 num_beams。",
    ),
)
MAKERS_PENALTY = failure(
    en=(
        "The model's makers ask for repetition_penalty {found}, which does not go together with num_beams above 1.",
        "Give repetition_penalty 1 to search without it, or leave num_beams out.",
    ),
    zh=(
        "模型的发布者要求 repetition_penalty 为 {found}，它不能与大于 1 的 num_beams 并用。",
        "请把 repetition_penalty 设为 1 以不用它搜索，或省略 num_beams。",
    ),
)
BAD_SEED = failure(
    en=("seed: expected a whole number from 0 to 2^63 − 1, got {found}.", "Leave it out for a new text each time."),
    zh=("seed：应为 0 到 2^63 − 1 的整数，实际为 {found}。", "省略则每次生成不同的文本。"),
)
EMPTY_STOP = failure(
    en=(
        "stop: expected a string, got an empty one, which every text contains.",
        "Give the characters to stop at, or leave it out.",
    ),
    zh=("stop：应为字符串，实际为空串，而任何文本都包含空串。", "请给出要停在其前的字符，或省略此项。"),
)
BAD_STOP = failure(
    en=("stop: expected strings of UTF-8 text, got {found}.", "Give the characters to stop at, or leave it out."),
    zh=("stop：应为 UTF-8 文本字符串，实际为 {found}。", "请给出要停在其前的字符，或省略此项。"),
)
BAD_MAKERS = failure(
    en=(
        "The model's own generation settings make no sense: {why}",
        "Give that setting yourself, or correct the model's generation_config.json.",
    ),
    zh=("模型自带的生成设置没有意义：{why}", "请自行给出该设置，或改正模型的 generation_config.json。"),
)

# Prompts
EMPTY_PROMPT = failure(
    en=("The prompt is empty, and {name} has no begin token to start from.", "Give at least one word."),
    zh=("提示为空，而 {name} 没有可以起头的开始词元。", "请至少给出一个词。"),
)
PROMPT_TOO_LONG = failure(
    en=(
        "The prompt has {found} tokens; {name} holds {context} in all, with at least one to write.",
        "Shorten the prompt to at most {most} tokens.",
    ),
    zh=(
        "提示有 {found} 个词元；{name} 总共只容纳 {context} 个，且至少要生成一个。",
        "请把提示缩短到至多 {most} 个词元。",
    ),
)
SOURCE_TOO_LONG = failure(
    en=("The text has {found} tokens; {name} reads {context}.", "Shorten the text, or cut it into parts."),
    zh=("文本有 {found} 个词元；{name} 至多读取 {context} 个。", "请缩短文本，或分段处理。"),
)
NO_PROMPTS = failure(
    en=("Expected at least one text, got none.", "Give a text, or a list with a text in it."),
    zh=("至少需要一段文本，实际一段也没有。", "请给出文本，或含有文本的列表。"),
)
ONE_TEXT = failure(
    en=("texts: expected a list of texts, got a single text.", "Put it into a list: [text]."),
    zh=("texts：应为文本的列表，实际是单独一段文本。", "请放进列表：[文本]。"),
)
NOT_A_NUMBER = failure(
    en=(
        "The model's logits hold NaN or infinity after {position} tokens of prompt: no next token can be chosen.",
        "Use --dtype float32; if it stays, the weights are damaged.",
    ),
    zh=(
        "在 {position} 个词元的提示之后，模型的 logits 含有 NaN 或无穷大，无法选出下一个词元。",
        "请使用 --dtype float32；若仍如此，则权重已损坏。",
    ),
)

NOT_FINITE = failure(
    en=(
        "The model's numbers are NaN or infinite for this text: nothing can be read from them.",
        "Use --dtype float32; if it stays, the weights are damaged.",
    ),
    zh=(
        "模型对此文本算出的数含有 NaN 或无穷大，无法从中得出结果。",
        "请使用 --dtype float32；若仍如此，则权重已损坏。",
    ),
)
NOTHING_TO_READ = failure(
    en=("Prompt {number} holds no token, so nothing can follow it.", "Give every prompt at least one token."),
    zh=("第 {number} 个提示不含任何词元，其后无从续写。", "请让每个提示至少含有一个词元。"),
)

# Models
CANNOT_SPEAK = failure(
    en=(
        "{name} has no language head ({found}): it writes no text.",
        "Choose a language model; for sentence vectors use: clearformer embed",
    ),
    zh=("{name} 没有语言模型头（{found}），不能生成文本。", "请选择语言模型；要得到句向量请用：clearformer embed"),
)
NO_TOKENIZER = failure(
    en=("{name} comes without a tokenizer.", "Put its tokenizer.json beside the weights."),
    zh=("{name} 没有附带分词器。", "请把它的 tokenizer.json 放在权重旁边。"),
)
NO_TEMPLATE = failure(
    en=(
        "{name} has no chat template: it was not trained to answer.",
        "Let it continue a text instead: clearformer generate",
    ),
    zh=("{name} 没有对话模板：它未受过应答训练。", "请改为续写文本：clearformer generate"),
)
NO_VECTORS = failure(
    en=("{name} gives no sentence vectors (its head is {found}).", "Choose a sentence encoder such as minilm-l6."),
    zh=("{name} 不输出句向量（其输出头为 {found}）。", "请选择句子编码器，例如 minilm-l6。"),
)
NO_START = failure(
    en=("{name} names no token that starts its target.", "Give decoder_start_token_id in its generation_config.json."),
    zh=("{name} 没有指明目标序列的起始词元。", "请在 generation_config.json 中给出 decoder_start_token_id。"),
)
EMPTY_TEXT = failure(
    en=("Text {number} is empty, and {name} adds no token of its own.", "Give at least one word."),
    zh=("第 {number} 个文本为空，而 {name} 自身不添加词元。", "请至少给出一个词。"),
)
FEW_TEXTS = failure(
    en=(
        "--similarity compares texts: expected two or more, got {found}.",
        "Give another text, or one a line on standard input.",
    ),
    zh=("--similarity 用于比较文本：至少需要两个，实际为 {found} 个。", "请再给一个文本，或在标准输入中每行一个。"),
)

# What is said to need memory
CACHE = Message("The key/value cache", "键值缓存")

# What is printed
WRITTEN = Message(
    "{prompt} prompt tokens at {prefill:.0f} tok/s, {new} new at {decode:.1f} tok/s; ended by: {reason}",
    "提示 {prompt} 个词元，{prefill:.0f} 词元/秒；生成 {new} 个，{decode:.1f} 词元/秒；结束原因：{reason}",
)
UNKNOWN_IN_PROMPT = Message(
    "{count} of the prompt's {total} tokens are unknown to this model, which reads each as the same mark.",
    "提示的 {total} 个词元中有 {count} 个是该模型不认识的，一律读作同一个未知标记。",
)
WRITTEN_AT_ONCE = Message(
    "{prompt} prompt tokens at {prefill:.0f} tok/s, {new} new; ended by: {reason}",
    "提示 {prompt} 个词元，{prefill:.0f} 词元/秒；生成 {new} 个；结束原因：{reason}",
)
CHAT_HELP = Message(
    "Chatting with {name}. /exit leaves, /reset forgets, a \\ at the end of a line continues it, Ctrl-C stops an answer.",
    "正在与 {name} 对话。/exit 退出，/reset 清空，行末的 \\ 表示续行，Ctrl-C 停止回答。",
)
FORGOTTEN = Message("Forgotten.", "已清空。")
STOPPED = Message("[stopped]", "[已停止]")
BEGIN_OUTSIDE = failure(
    en=(
        "{name}: texts begin with token {found}, and the embedding's last row is {expected}.",
        "Correct {key} in the model's generation_config.json or config.json.",
    ),
    zh=(
        "{name}：文本以词元 {found} 起头，而词嵌入的最后一行是 {expected}。",
        "请改正模型 generation_config.json 或 config.json 中的 {key}。",
    ),
)
