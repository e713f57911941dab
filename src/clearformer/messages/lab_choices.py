"""The words of the experiments on choices between parts: norms, feed-forward networks, positions, caches, tables."""

from __future__ import annotations

from clearformer.messages import Message

PLACEMENT = Message(
    "Norms before or behind the sublayers: who needs a warm-up?", "归一化放在子层之前还是之后：谁需要预热？"
)
PLACEMENT_ABOUT = Message(
    "Six layers read text letter by letter at a high rate; warmed up over a fifth of the steps, or at full rate from the first step. Norms before the sublayers have one more behind the last layer, as in the source.",
    "六层模型以较高学习率逐字母读文本；一组用五分之一的步数预热，一组从第一步起就用全学习率。归一化在子层之前时，末层之后还多一个归一化，与来源一致。",
)
PRE_WARM, PRE_COLD = Message("before, warmed up", "之前，预热"), Message("before, cold", "之前，不预热")
POST_WARM, POST_COLD = Message("behind, warmed up", "之后，预热"), Message("behind, cold", "之后，不预热")
PLACEMENT_CLAIM = Message(
    "norms before the sublayers train more stably (here: both warmed up, to a lower loss)",
    "归一化放在子层之前，训练更稳定（此处：都预热时，损失更低）",
)
WARMUP_CLAIM = Message(
    "norms behind the sublayers need a warm-up (here: a higher loss without it)",
    "归一化放在子层之后时需要预热（此处：不预热则损失更高）",
)

NORMS = Message("LayerNorm or RMSNorm?", "LayerNorm 还是 RMSNorm？")
NORMS_ABOUT = Message(
    "Two layers of GPT-2's design read text letter by letter. LayerNorm stands without its bias, so that subtracting the mean is the one difference and parameters are equal, which is checked before anything is run; the source expects about the same loss from less work.",
    "两层 GPT-2 式模型逐字母读文本。LayerNorm 不带偏置，两组只差“减去均值”这一步，参数量相等，运行前即予核对；来源预期二者损失相当，而 RMSNorm 计算更少。",
)
LAYERNORM, RMSNORM = Message("LayerNorm", "LayerNorm"), Message("RMSNorm", "RMSNorm")

FEEDFORWARD = Message("ReLU, GELU or SwiGLU at equal parameters?", "参数量相同时，ReLU、GELU 还是 SwiGLU？")
FEEDFORWARD_ABOUT = Message(
    "Feed-forward networks 384 wide, or 256 with a gate: 2 · 128 · 384 = 3 · 128 · 256 weights each, which is checked before anything is run.",
    "前馈网络宽 384，或带门控时宽 256：权重均为 2 · 128 · 384 = 3 · 128 · 256 个，运行前即予核对。",
)
RELU, GELU, SWIGLU = Message("ReLU", "ReLU"), Message("GELU", "GELU"), Message("SwiGLU", "SwiGLU")
GELU_CLAIM = Message("GELU learns better than ReLU", "GELU 比 ReLU 学得好")
SWIGLU_CLAIM = Message("SwiGLU learns better than ReLU at equal parameters", "参数量相同时 SwiGLU 比 ReLU 学得好")

KV_HEADS = Message("What does a smaller cache of keys and values cost?", "更小的键值缓存要付出什么代价？")
KV_HEADS_ABOUT = Message(
    "Eight query heads share eight, two or one key/value heads, and the cache shrinks with them. What the projections save widens the feed-forward networks, so that parameters are equal, which is checked before anything is run.",
    "八个查询头共用八个、两个或一个键值头，缓存随之缩小。投影省下的参数用来加宽前馈网络，因此参数量相等，运行前即予核对。",
)
MHA, GQA, MQA = (
    Message("MHA, 8 of 8", "MHA，8 / 8"),
    Message("GQA, 2 of 8", "GQA，2 / 8"),
    Message("MQA, 1 of 8", "MQA，1 / 8"),
)
MQA_CLAIM = Message(
    "one shared key/value head costs quality (here: a higher loss)", "只用一个共享键值头会损失质量（此处：损失更高）"
)

TIED = Message("One table for embedding and head, or two?", "嵌入与输出头共用一张表，还是各用一张？")
TIED_ABOUT = Message(
    "A vocabulary of 1,024 byte pairs over two layers 128 wide, where the table is a good part of all parameters: a second one adds a quarter.",
    "词表为 1024 个字节对，两层、宽 128，此时词表占参数的很大一部分：再加一张表，参数量增加四分之一。",
)
ONE_TABLE, TWO_TABLES = Message("one table", "一张表"), Message("two tables", "两张表")
TIED_CLAIM = Message("one table learns better than two", "共用一张表学得更好")

POSITIONS = Message(
    "How should a token know its place, and what holds past the trained length?",
    "词元应如何知道自己的位置？超出训练长度后哪种还管用？",
)
POSITIONS_ABOUT = Message(
    "Trained on windows of 64 letters, read on windows of 256: the loss by place. A learnt table ends at its 64th row.",
    "在 64 个字母的窗口上训练，在 256 个的窗口上阅读：按位置给出损失。可学习的表到第 64 行为止。",
)
SINUSOIDAL, LEARNED = Message("sinusoidal", "正弦"), Message("learned", "可学习")
ROPE, ALIBI, NO_POSITION = Message("RoPE", "RoPE"), Message("ALiBi", "ALiBi"), Message("none", "无")
NO_POSITION_CLAIM = Message("without positions the loss is higher", "没有位置信息时损失更高")
ROPE_CLAIM = Message("RoPE learns better than sinusoids", "RoPE 比正弦编码学得好")
ALIBI_CLAIM = Message(
    "past the trained length ALiBi holds and RoPE does not (here: a lower loss there)",
    "超出训练长度后 ALiBi 仍有效，而 RoPE 失效（此处：该处损失更低）",
)

ROPE_SCALING = Message(
    "Can RoPE be stretched past the trained length afterwards?", "训练之后能否把 RoPE 拉长到超过训练长度？"
)
ROPE_SCALING_ABOUT = Message(
    "The same decoder, trained on windows of 64 letters, reads 256 with its angles as trained, divided by four, or changed by frequency (dynamic NTK, YaRN); no arm learns anything anew.",
    "同一个在 64 字母窗口上训练的解码器读取 256 个字母：角度保持不变、全部除以四，或按频率改变（动态 NTK、YaRN）；各组都不再训练。",
)
AS_TRAINED, LINEAR = Message("angles as trained", "角度不变"), Message("linear", "线性插值")
NTK, YARN = Message("dynamic NTK", "动态 NTK"), Message("YaRN", "YaRN")
NTK_CLAIM = Message(
    "without training on, dynamic NTK loses less than linear interpolation", "不再训练时，动态 NTK 的损失低于线性插值"
)
YARN_CLAIM = Message("YaRN loses less than dynamic NTK", "YaRN 的损失低于动态 NTK")
