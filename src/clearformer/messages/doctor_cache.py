"""The laws of caches and of generation: what each says, when an alarm is false, and the evidence."""

from __future__ import annotations

from clearformer.messages import Message

NO_CACHE = Message(
    "The module takes no cache of a known form (--call cache=NAME).",
    "模块不接收已知形式的缓存（--call cache=参数名）。",
)
LAST_ONLY = Message(
    "The module answers the last position only.",
    "模块只答最后一个位置。",
)
CACHED = Message(
    "What is read piece by piece into a cache is answered as if it were read at once.",
    "分段读入缓存与一次读完，输出相同。",
)
CACHED_RISK = Message(
    "Half precision rounds in another order; the noise floor is measured in the same type.",
    "半精度的舍入次序不同；噪声下限以同一类型测得。",
)
PREFILL_DIFFERS = Message(
    "a prompt read into an empty cache differs from the plain forward pass by {floors:.0f} times the noise floor",
    "提示读入空缓存与普通前向相差噪声下限的 {floors:.0f} 倍",
)
NOT_FRESH = Message(
    "the same prompt read into a second new cache is answered otherwise",
    "同一提示读入另一个新缓存，输出不同",
)
STEP_DIFFERS = Message(
    "behind a prompt of {prompt}, position {at} differs from the plain forward pass by {floors:.0f} times the noise floor",
    "提示长 {prompt}，其后位置 {at} 与普通前向相差噪声下限的 {floors:.0f} 倍",
)
POSITIONS_MEND = Message(
    "with the positions handed in it does not",
    "传入位置后则一致",
)
HISTORY_UNREAD = Message(
    "it does not react to the prompt at {unread}",
    "它对提示的位置 {unread} 没有反应",
)
ONES_DIFFER = Message(
    "read one by one from the start, position {at} differs by {floors:.0f} times the noise floor",
    "从头逐个读入时，位置 {at} 相差噪声下限的 {floors:.0f} 倍",
)
CHUNK_DIFFERS = Message(
    "{count} tokens at once behind a cache differ by {floors:.0f} times the noise floor; one at a time they do not",
    "在缓存之后一次读入 {count} 个词元，相差噪声下限的 {floors:.0f} 倍；逐个读入则一致",
)
WINDOW_DIFFERS = Message(
    "with a window of {window} and a prompt of {prompt} the step at position {at} differs by {floors:.0f} times the noise "
    "floor",
    "窗口为 {window}、提示长 {prompt} 时，位置 {at} 的一步相差噪声下限的 {floors:.0f} 倍",
)
RAGGED_DIFFERS = Message(
    "rows padded at the left, with their mask, differ step by step by {floors:.0f} times the noise floor; whole rows do not",
    "左侧填充的行连同掩码逐步读入时，相差噪声下限的 {floors:.0f} 倍；不填充的行则一致",
)
STANDS = Message(
    "its query is that of position {stands}, where {right} is right",
    "它的查询与位置 {stands} 的相同，而正确位置是 {right}",
)
GENERATION = Message(
    "Greedy generation takes the tokens that the module itself puts first, alone and in a padded batch.",
    "贪心生成所取的正是模块自己排在首位的词元，单独或在填充批中皆然。",
)
GENERATION_RISK = Message(
    "Ties in the largest logit: a margin below the noise floor counts as one.",
    "最大 logits 可能并列：差距低于噪声下限即视为并列。",
)
NO_GENERATE = Message(
    "No greedy generating function was handed in (--generate), and the module has none.",
    "没有交入贪心生成函数（--generate），模块自身也没有。",
)
NO_IDS = Message(
    "The module does not take ids, batch first.",
    "模块不接收批维在前的编号。",
)
OTHER_TOKEN = Message(
    "at position {at} generation writes token {chosen}, where the module puts {best} first",
    "在位置 {at} 生成写出词元 {chosen}，而模块排在首位的是 {best}",
)
PADDED_GENERATES_OTHERWISE = Message(
    "the same prompt, padded at the left beside a longer one, goes on otherwise from new token {at} on",
    "同一提示左侧填充、与更长的提示同批时，从第 {at} 个新词元起结果不同",
)
GROWTH = Message(
    "With a cache each step costs one token: the prefix is not computed again.",
    "有缓存时每一步只计算一个词元，不重算前缀。",
)
GROWTH_RISK = Message(
    "Only the number of vectors in linear layers is counted; attention itself does grow.",
    "只计线性层中的向量数；注意力本身确会增长。",
)
WORK_GROWS = Message(
    "linear layers take {first} vectors at the first step and {last} after {steps} steps",
    "线性层第一步处理 {first} 个向量，{steps} 步后为 {last} 个",
)
INPUT_GROWS = Message(
    "generation hands the module inputs of {lengths} tokens, although it takes a cache",
    "模块能用缓存，生成时却依次传入 {lengths} 个词元",
)
