"""The symptoms and misconceptions that the doctor knows by name, and what is true about each."""

from __future__ import annotations

from clearformer.messages import Message, failure

UNKNOWN = failure(
    en=(
        "--symptom: no symptom is known by {found}. Known are: {known}.",
        "Describe what you see, such as 'loss near zero but garbage', or give a number.",
    ),
    zh=(
        "--symptom：没有名为 {found} 的症状。已知的有：{known}。",
        "请描述您看到的现象，例如“loss 接近 0 但生成乱码”，或给出编号。",
    ),
)
NOTHING_GIVEN = failure(
    en=(
        "Expected TARGET or --symptom, found neither.",
        "Name the function that makes your model: clearformer doctor my_model.py:build",
    ),
    zh=("应有 TARGET 或 --symptom，两者都没有。", "请写出构建模型的函数：clearformer doctor my_model.py:build"),
)

HEADING = Message("{number}. {name}", "{number}. {name}")
PATH = Message("Checked first: {checks}.", "先检查：{checks}。")
COMMANDS = Message("To see it: {commands}", "亲眼看看：{commands}")
WITH_TARGET = Message(
    "On your own model: clearformer doctor my_model.py:build --symptom {number}",
    "检查您自己的模型：clearformer doctor my_model.py:build --symptom {number}",
)

TOO_GOOD = Message("The loss is soon near zero, but what is generated is garbage", "loss 很快接近 0，生成的却是乱码")
TOO_GOOD_TRUTH = Message(
    "Either the answer is in the input: a mask that lets the future through, a fill that scores can reach, or labels that "
    "are not shifted (a model then learns to copy; measured here, its loss goes to zero and it repeats what it reads). Or "
    "generation computes something else than training did: the cache, the positions, the tokens around the prompt.",
    "要么答案就在输入里：掩码漏出未来、分数能越过填充值，或标签没有移位（模型只学会照抄；实测 loss 趋于零，生成时重复输入）。要么生成与训练算的不是同一件事：缓存、位置，或提示两端的词元。",
)
STUCK = Message("The loss stays at ln V", "loss 卡在 ln V 附近不动")
STUCK_TRUTH = Message(
    "ln V is the loss of giving every token the same chance: nothing is learnt. The learning rate is zero, the optimizer "
    "lacks the parameters, gradients do not arrive (blocks without residuals: measured here with six). It is often put "
    "down to labels that are not shifted; measured here, those drive the loss to zero instead.",
    "ln V 是给每个词元同样概率时的损失：什么都没学到。学习率为零、优化器里没有参数，或梯度到不了（例如没有残差的层，此处用六层实测）。常有人归因于标签没有移位；实测那样 loss 反而趋于零。",
)
UNIFORM = Message("Attention weights are nearly uniform in every row", "注意力权重每行几乎均匀")
UNIFORM_TRUTH = Message(
    "Scores are too small: scaled twice, or by the model's width instead of the head's, or initial weights near zero. A "
    "row whose keys are all hidden by the same finite fill is uniform as well, and reads what it must not.",
    "分数太小：缩放了两次、用模型宽度代替头宽，或初始权重近于零。所有键都被同一有限值遮住的行也会均匀，并读到不该读的内容。",
)
ONE_HOT = Message("Attention weights are nearly one-hot, and gradients vanish", "注意力权重接近 one-hot，梯度消失")
ONE_HOT_TRUTH = Message(
    "Scores are too large: 1/√d_head is missing, or initial weights are wide. A saturated softmax passes no gradient.",
    "分数太大：缺少 1/√d_head，或初始权重过大。饱和的 softmax 传不回梯度。",
)
NAN = Message("NaN appears", "出现 NaN")
NAN_TRUTH = Message(
    "A row with every key hidden is softmax over nothing; two masks of the smallest number add up to -inf; a row without "
    "targets is a mean over nothing; float16 overflows. A fill of -1e9 hides the first of these and heals none: such a row "
    "then reads all keys alike.",
    "整行键都被遮住时，softmax 无从归一；两个最小值掩码相加得 -inf；没有目标的行是对空集求平均；float16 会溢出。改填 -1e9 只掩盖第一种，并未治好：那一行会同等地读所有键。",
)
VIEW = Message(".view() complains about memory that is not contiguous", ".view() 报内存不连续")
VIEW_TRUTH = Message(
    "After transpose, view cannot merge the heads; reshape or contiguous() can. Check the axes before silencing it: a "
    "reshape without transposing back runs, and mixes positions.",
    "transpose 之后 view 无法合并各头，reshape 或 contiguous() 可以。消除报错之前先核对轴：没有转置回来的 reshape 能运行，却会混淆位置。",
)
SLOWER = Message("Generation grows slower and slower, and takes more and more memory", "越生成越慢，显存不断增长")
SLOWER_TRUTH = Message(
    "Without a cache every step reads the whole text again; with one, each step's input is one token. A cache that grows by "
    "the prefix each step is worse than none. Memory that grows by a constant per token is what a cache costs.",
    "没有缓存时每一步都重读全文；有缓存时每步只输入一个词元。若每步都把前缀再存一遍，比没有缓存更糟。每个词元增加固定的内存，则是缓存应有的代价。",
)
GARBLED = Message("Generation step by step with a cache is garbled", "增量生成结果错乱")
GARBLED_TRUTH = Message(
    "Positions or mask do not count what is cached: the offset after the prompt, a causal mask aligned at the top left, "
    "a prompt read without a mask, or positions of a left-padded row.",
    "位置或掩码没有计入缓存的部分：提示之后的偏移、左上对齐的因果掩码、读提示时没有掩码，或左填充行的位置。",
)
BATCHED = Message("What shares the batch changes the answer", "batch 内短句影响长句输出")
BATCHED_TRUTH = Message(
    "Pads are read, positions are not those of the real tokens, or the loss counts pads. Alone and padded beside others, a "
    "row must give the same.",
    "填充被读到、位置不是真实词元的位置，或损失计入了填充。单独一行与补齐后同批的结果必须一致。",
)

M1 = Message("“Attention has parameters”", "“注意力有参数”")
M1_TRUTH = Message(
    "The weighted average has none; the projections around it have. The table of parts counts them.",
    "加权平均没有参数，有参数的是它前后的投影；分项表会逐一列出。",
)
M2 = Message("“Several heads need a loop”", "“多头要循环”")
M2_TRUTH = Message(
    "One product of matrices and a reshape give all heads at once: B H T S.",
    "一次矩阵乘法加 reshape 就得到所有的头：B H T S。",
)
M3 = Message("“Softmax goes over the columns”", "“softmax 对列归一化”")
M3_TRUTH = Message(
    "It goes over the keys, the last axis: each query's weights sum to one.",
    "它对键，即最后一维归一化：每个查询的权重之和为一。",
)
M4 = Message("“Filling the mask with 0 will do”", "“mask 填 0 就行”")
M4_TRUTH = Message(
    "exp(0) = 1 keeps its share: what is hidden must be -inf before the softmax.",
    "exp(0)=1 照样分到权重：被遮的须在 softmax 之前置为负无穷。",
)
M5 = Message("“Position encodings are optional”", "“位置编码可有可无”")
M5_TRUTH = Message(
    "Without them an encoder sees a set. A causal decoder of two layers or more can infer order from the mask, and some are "
    "trained so.",
    "没有它，编码器看到的只是集合。两层以上的因果解码器可由掩码推出次序，也有模型是这样训练的。",
)
M6 = Message("“Scores are divided by √d_k against overflow”", "“除以 √d_k 是为了防止溢出”")
M6_TRUTH = Message(
    "It keeps their variance at one, so that softmax does not saturate; against overflow the maximum is subtracted.",
    "它使分数的方差保持为一，softmax 才不饱和；防溢出靠的是减去最大值。",
)
M7 = Message("“The feed-forward network works token by token, so it is of no use”", "“FFN 是逐 token 的，所以没用”")
M7_TRUTH = Message("It holds the non-linearity and most of the parameters.", "非线性和大部分参数都在它里面。")
M8 = Message("“LayerNorm and BatchNorm can be swapped”", "“LayerNorm 和 BatchNorm 换一下就行”")
M8_TRUTH = Message(
    "BatchNorm mixes rows: an answer then depends on its neighbours, and lengths and single steps break it.",
    "BatchNorm 会混合各行：答案便取决于同批的其他行，变长序列和逐步推理都会出错。",
)
M9 = Message("“Encoder and decoder layers are alike”", "“Encoder 和 Decoder 层结构一样”")
M9_TRUTH = Message(
    "A decoder layer of a pair also reads the source, and its own attention is causal.",
    "解码器层还多一个读取源的交叉注意力，且自注意力是因果的。",
)
M10 = Message("“A KV cache is an approximation”", "“KV Cache 是近似，会降低质量”")
M10_TRUTH = Message(
    "It keeps numbers that do not change: the tokens are the same.", "它只是保存不再变化的量：生成的词元完全相同。"
)
M11 = Message("“FlashAttention is a sparse approximation”", "“FlashAttention 是稀疏近似”")
M11_TRUTH = Message(
    "It is exact, in blocks that fit into fast memory; paths differ by rounding.",
    "它是精确计算，只是按快速内存分块；各实现只差舍入。",
)
M12 = Message("“The number of parameters is the memory”", "“参数量就是显存占用”")
M12_TRUTH = Message(
    "Training adds gradients, the optimizer's state and activations; generation adds the cache.",
    "训练还要梯度、优化器状态和激活；推理还要 KV 缓存。",
)
