"""The laws of sampling, penalties and beams: what each says, when an alarm is false, and the evidence."""

from __future__ import annotations

from clearformer.messages import Message

DECODING = Message(
    "Top-p keeps the fewest most probable tokens that reach p, top-k keeps k, temperature 0 is greedy, a penalty lowers what "
    "was seen, a beam of full width finds the best.",
    "top-p 保留概率最高且总和达到 p 的最少词元，top-k 保留 k 个，温度为 0 即贪心，惩罚只降低已出现者，满宽度的束搜索找到最优。",
)
DECODING_RISK = Message(
    "A beam may divide its score by a power of the answer's length: either ranking is accepted.",
    "束搜索可以把得分除以回答长度的某次幂：两种排名都接受。",
)
ROWS_MIXED = Message(
    "a row alone and the same row in a batch have chances that differ by {apart:.2g}",
    "同一行单独采样与在一批中采样，概率相差 {apart:.2g}",
)
NUCLEUS_RAISES = Message("top_p={mass:g} raises: {detail}", "top_p={mass:g} 引发异常：{detail}")
NUCLEUS_EMPTY = Message("top_p={mass:g} keeps no token", "top_p={mass:g} 时一个词元都不保留")
NOT_MOST_PROBABLE = Message(
    "with top_p={mass:g} {count} tokens are kept that are not the {count} most probable",
    "top_p={mass:g} 时保留了 {count} 个词元，却不是概率最高的 {count} 个",
)
NUCLEUS_SHORT = Message(
    "with top_p={mass:g} {count} tokens with a mass of {inside:.2g} are kept; {needed} are needed to reach it",
    "top_p={mass:g} 时只保留 {count} 个词元，概率总和 {inside:.2g}；要达到需 {needed} 个",
)
NUCLEUS_LARGE = Message(
    "with top_p={mass:g} {count} tokens with a mass of {inside:.2g} are kept; {needed} reach it",
    "top_p={mass:g} 时保留了 {count} 个词元，概率总和 {inside:.2g}；{needed} 个即可达到",
)
OTHER_CHANCES = Message(
    "at temperature 1, with nothing excluded, a token's chance differs from softmax by {apart:.2g}",
    "温度为 1 且不作任何排除时，词元的概率与 softmax 相差 {apart:.2g}",
)
OTHER_HEAT = Message(
    "at temperature {heat:g} the best token has the chance {top:.3f}; softmax(logits / {heat:g}) gives {right:.3f}",
    "温度为 {heat:g} 时最优词元的概率为 {top:.3f}；softmax(logits / {heat:g}) 应为 {right:.3f}",
)
COLD_RAISES = Message("temperature 0 raises: {detail}", "温度为 0 时引发异常：{detail}")
COLD_DRAWS = Message(
    "at temperature 0 the best token has the chance {top:.3g} instead of 1",
    "温度为 0 时最优词元的概率为 {top:.3g}，而不是 1",
)
TOP_K = Message(
    "with top_k={k} {count} tokens are kept, or not the best {k}",
    "top_k={k} 时保留了 {count} 个词元，或不是最优的 {k} 个",
)
BEYOND_WORDS = Message(
    "the model has {rows} rows, the tokenizer {words} words: for even logits {share:.1%} of the draws are no word",
    "模型有 {rows} 行，分词器只有 {words} 个词：logits 相同时有 {share:.1%} 的采样不是任何词",
)
PENALTY_ROWS = Message(
    "a row's logits depend on what other rows of the batch have seen", "某行的 logits 受同批其他行已出现的词元影响"
)
PENALTY_RAISES = Message(
    "with a penalty of {penalty:g} a token that was seen rises from {before:.3g} to {after:.3g}",
    "惩罚为 {penalty:g} 时，一个已出现的词元从 {before:.3g} 升到 {after:.3g}",
)
PENALTY_TOUCHES = Message(
    "with a penalty of {penalty:g} {count} of {of} tokens change that were not seen",
    "惩罚为 {penalty:g} 时，{of} 个未出现的词元中有 {count} 个变化",
)
PENALTY_IDLE = Message("a penalty of {penalty:g} changes nothing", "惩罚为 {penalty:g} 时没有任何变化")

# Beams
AFTER_END = Message("a result goes on after its end: {ids}", "某个结果在结束符之后仍继续：{ids}")
PROMPT_COUNTS = Message(
    "the same answers after a prompt of {short} and of {long} tokens are {apart:.3g} apart in score, or ranked otherwise",
    "同样的回答接在 {short} 个与 {long} 个词元的提示之后，得分间距相差 {apart:.3g}，或排名不同",
)
NOT_BEST = Message(
    "with {width} beams, enough for every sequence, {found} ({score:.3f}) is returned; {best} has {right:.3f}",
    "{width} 束足以容纳所有序列，却返回 {found}（{score:.3f}）；{best} 的得分为 {right:.3f}",
)
OUT_OF_ORDER = Message("the scores are not in falling order: {scores}", "得分没有从高到低排列：{scores}")
