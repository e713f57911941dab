"""The words of the experiments on attention: scale, mask, heads, residual stream, cache."""

from __future__ import annotations

from clearformer.messages import Message

NO_SCALE = Message(
    "What happens when scores are not divided by √d_k?",
    "分数不除以 √d_k 会怎样？",
)
NO_SCALE_ABOUT = Message(
    "One head 128 wide reads text letter by letter; drawn with the paper's weights (queries and keys of variance one) and with GPT-2's small ones (0.02).",
    "一个宽 128 的头逐字母读文本；权重分别按论文初始化（查询与键的方差为 1）和按 GPT-2 的小初始化（0.02）。",
)
SCALED = Message("paper's weights, divided by √d_k", "论文初始化，除以 √d_k")
UNSCALED = Message("paper's weights, not divided", "论文初始化，不除")
SCALED_SMALL = Message("small weights, divided by √d_k", "小初始化，除以 √d_k")
UNSCALED_SMALL = Message("small weights, not divided", "小初始化，不除")
NO_SCALE_CLAIM = Message(
    "without the division training is slower, for the softmax saturates (the paper's weights)",
    "不除以 √d_k 时 softmax 饱和，训练变慢（论文初始化）",
)
NO_SCALE_SMALL_CLAIM = Message(
    "without the division training is slower (small weights)", "不除以 √d_k 时训练变慢（小初始化）"
)

NO_MASK = Message("What happens without the causal mask?", "去掉因果掩码会怎样？")
NO_MASK_ABOUT = Message(
    "A decoder is to foretell letters drawn by chance from sixteen: one in sixteen can be right, the rest was looked up. "
    "Then it writes 16 letters itself, where there is no future to look at.",
    "让解码器预测从十六个字母中随机抽取的文本：猜对的应为十六分之一，多出的都是偷看来的。随后让它自行续写 16 个字母，那时没有未来可看。",
)
MASKED, UNMASKED = Message("causal mask", "有因果掩码"), Message("no mask", "无掩码")
NO_MASK_CLAIM = Message(
    "without the mask the accuracy of the next token is falsely high, for the model looks at the answer",
    "没有掩码时，下一词元准确率虚高，因为模型偷看了答案",
)

HEADS = Message("What do more heads give at equal parameters?", "参数量相同时，更多的头有什么作用？")
HEADS_ABOUT = Message(
    "H heads of 128 / H numbers each: the projections stay 128 × 128, so parameters and cache are the same for every H, which is checked before anything is run.",
    "H 个头，每头宽 128 / H：投影矩阵始终为 128 × 128，参数量与缓存都不随 H 变化；运行前即予核对。",
)
HEADS_OF = Message("{heads} × {width}", "{heads} 头 × {width}")

NO_RESIDUAL = Message("What happens at depth six without residual connections?", "六层深时去掉残差连接会怎样？")
NO_RESIDUAL_ABOUT = Message(
    "Six pre-norm blocks read text letter by letter, once with x + f(norm(x)) and once with f(norm(x)) alone; weights are drawn by Xavier, which keep a signal's size.",
    "六个前置归一化的层逐字母读文本：一组为 x + f(norm(x))，一组仅为 f(norm(x))；权重按 Xavier 初始化，保持信号大小。",
)
RESIDUAL, WITHOUT_RESIDUAL = Message("x + f(norm(x))", "x + f(norm(x))"), Message("f(norm(x)) alone", "仅 f(norm(x))")
NO_RESIDUAL_CLAIM = Message("without residual connections the loss stays higher", "没有残差连接时损失更高")
NO_RESIDUAL_GRADIENT = Message(
    "without them the first block gets less of the gradient, beside the last one",
    "没有残差连接时，与末层相比，首层得到的梯度更少",
)

NO_CACHE = Message("What does writing cost without a cache of keys and values?", "不用键值缓存，生成的代价有多大？")
NO_CACHE_ABOUT = Message(
    "A decoder of four layers, 256 wide, writes after prompts of growing length, greedily; without the cache it reads the whole text again for every token.",
    "四层、宽 256 的解码器在越来越长的提示后贪心续写；不用缓存时，每个词元都要重读全文。",
)
CACHED, UNCACHED = Message("with the cache", "使用缓存"), Message("without it", "不用缓存")
MS_A_TOKEN = Message("ms a token after 512", "512 个词元后的毫秒/词元")
SAME_TOKENS = Message("same tokens", "词元相同")
PROMPT_X, MS_Y = Message("prompt tokens", "提示词元数"), Message("ms a token", "毫秒/词元")
NO_CACHE_CLAIM = Message(
    "without the cache a token takes longer after a long prompt, on a CPU too",
    "不用缓存时，长提示之后每个词元更慢，在 CPU 上也看得出",
)
