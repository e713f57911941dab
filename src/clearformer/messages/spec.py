"""What a spec can get wrong."""

from __future__ import annotations

from clearformer.messages import Message, failure

OUT_OF_RANGE = failure(
    en=("{owner}.{field} must be {expected}; found {found}.", "Set {field} to {expected}."),
    zh=("{owner}.{field} 应为 {expected}；实际是 {found}。", "请把 {field} 设为 {expected}。"),
)
WHOLE_FROM_1 = Message("a whole number from 1 to 2⁵³", "1 到 2⁵³ 的整数")
WHOLE_FROM_0 = Message("a whole number from 0 to 2⁵³", "0 到 2⁵³ 的整数")
FINITE_ABOVE_0 = Message("a finite number > 0", "> 0 的有限数")
ALL_FINITE_ABOVE_0 = Message("a tuple of finite numbers > 0", "> 0 的有限数组成的元组")
PROBABILITY = Message("a probability in [0, 1)", "[0, 1) 内的概率")
FROM_0 = Message("≥ 0", "≥ 0")
ABOVE_1 = Message("above 1", "> 1")
AT_MOST = Message("at most {limit}", "≤ {limit}")
AT_MOST_COUNT = Message("at most count ({count})", "≤ count（{count}）")
BELOW_HIGH_FREQUENCY = Message("below high_frequency ({high})", "< high_frequency（{high}）")
PAST_EXACT_BUCKETS = Message(
    "above the {exact} exact buckets a side, of which there must be at least 1", "> 每侧精确桶数 {exact}，后者至少为 1"
)
NO_GATE_WITHOUT_SHARED = Message("False without a shared expert", "False（没有共享专家时）")
NO_TRANSFORM_WITH_FLATTEN = Message("None with Flatten", "None（使用 Flatten 时）")
NOT_ONE_OF = failure(
    en=("{owner}.{field} must be one of {expected}; found {found}.", "Choose one of {expected}."),
    zh=("{owner}.{field} 只能取 {expected}；实际是 {found}。", "请从 {expected} 中选一个。"),
)
HEADS_DO_NOT_DIVIDE = failure(
    en=(
        "{heads} query heads cannot be shared evenly among {kv_heads} key/value heads.",
        "Choose kv_heads that divides {heads}: 1 for multi-query, {heads} for multi-head attention.",
    ),
    zh=(
        "{heads} 个查询头无法平均分给 {kv_heads} 个键值头。",
        "请让 kv_heads 整除 {heads}：1 即 multi-query，{heads} 即 multi-head。",
    ),
)
WIDTH_DOES_NOT_SPLIT = failure(
    en=(
        "A width of {width} does not split into {heads} heads.",
        "Choose a head count that divides {width}, or give key_width.",
    ),
    zh=("宽度 {width} 不能平均分成 {heads} 个头。", "请选择能整除 {width} 的头数，或直接给出 key_width。"),
)
ROTARY_WIDTH = failure(
    en=(
        "Rotary positions turn pairs of numbers: the rotary width must be even and at most {limit}; found {found}.",
        "Give Rotary(width=...) an even number up to {limit}.",
    ),
    zh=(
        "旋转位置编码成对旋转：旋转宽度须为偶数且不超过 {limit}；实际是 {found}。",
        "请给 Rotary(width=...) 一个不超过 {limit} 的偶数。",
    ),
)
ROTARY_NEEDS_WIDTH = failure(
    en=(
        "Latent attention rotates a separate part of each head, whose width is not given.",
        "Give Rotary(width=...).",
    ),
    zh=("潜在注意力只旋转每个头的独立部分，但没有给出其宽度。", "请给出 Rotary(width=...)。"),
)
TOO_MANY_BLOCKS = failure(
    en=("A stack has at most {limit} blocks; found {found}.", "Choose fewer blocks."),
    zh=("一个堆栈最多 {limit} 层；实际是 {found} 层。", "请减少层数。"),
)
SINUSOIDAL_WIDTH = failure(
    en=(
        "Sinusoidal positions pair sines with cosines: the model width must be even; found {found}.",
        "Choose an even width.",
    ),
    zh=("正弦位置编码把 sin 与 cos 配对：模型宽度须为偶数；实际是 {found}。", "请选择偶数宽度。"),
)
LONGROPE_LENGTH = failure(
    en=(
        "LongRoPE needs one factor per rotated pair, {expected}; found {short} short and {long} long ones.",
        "Give {expected} factors in both lists.",
    ),
    zh=(
        "LongRoPE 每个旋转对需要一个系数，共 {expected} 个；实际短表 {short} 个、长表 {long} 个。",
        "请在两个表里各给 {expected} 个系数。",
    ),
)
SHARED_BIAS_DIFFERS = failure(
    en=(
        "Blocks {first} and {second} share one relative-bias table and disagree about its buckets, sides or heads.",
        "Give every sharing block the same RelativeBias and head count, or set shared=False.",
    ),
    zh=(
        "第 {first} 与第 {second} 个块共用一张相对偏置表，但桶数、方向或头数不一致。",
        "请让共用者的 RelativeBias 与头数一致，或设 shared=False。",
    ),
)
CROSS_ATTENTION_SEES_ALL = failure(
    en=(
        "Cross-attention reads the whole memory, whose positions are not the decoder's; found {found}.",
        "Use visibility=Full() and position=None for cross_attention.",
    ),
    zh=(
        "交叉注意力读取整个编码器输出，其位置与解码器无关；实际是 {found}。",
        "请为 cross_attention 使用 visibility=Full() 和 position=None。",
    ),
)
PARALLEL_NORMS = failure(
    en=(
        "Parallel(shared_norm={shared}) does not fit feedforward_norm={found}.",
        "With shared_norm=True give attention_norm alone; with False give both, or neither.",
    ),
    zh=(
        "Parallel(shared_norm={shared}) 与 feedforward_norm={found} 不相容。",
        "shared_norm=True 时只给 attention_norm；False 时两个都给或都不给。",
    ),
)
PARALLEL_HAS_NO_CROSS = failure(
    en=(
        "A parallel block has no place for cross-attention.",
        "Use Sequential(...) in decoders that read a memory.",
    ),
    zh=("并行块里没有交叉注意力的位置。", "读取编码器输出的解码器请用 Sequential(...)。"),
)
CROSS_NORM_WITHOUT_CROSS = failure(
    en=("cross_norm is given but cross_attention is not.", "Give both or neither."),
    zh=("给出了 cross_norm，却没有 cross_attention。", "两者都给，或都不给。"),
)
VISIBILITY_DOES_NOT_FIT = failure(
    en=(
        "Block {block} of the {role} has {found}; {role} blocks need {expected}.",
        "Use visibility={expected}, or another architecture.",
    ),
    zh=(
        "{role} 的第 {block} 个块是 {found}；{role} 的块需要 {expected}。",
        "请用 visibility={expected}，或换一种架构。",
    ),
)
CROSS_DOES_NOT_FIT = failure(
    en=(
        "Block {block} of the {role}: cross_attention must be {expected}.",
        "Only the decoder of an encoder-decoder has cross-attention, in every block.",
    ),
    zh=(
        "{role} 的第 {block} 个块：cross_attention 应为 {expected}。",
        "只有编码器-解码器的解码器才有交叉注意力，且每个块都有。",
    ),
)
CONTEXT_PAST_TABLE = failure(
    en=(
        "A context of {context} does not fit a learned table of {length} positions.",
        "Set context to at most {length}, or lengthen the table.",
    ),
    zh=(
        "上下文长度 {context} 超过了可学习位置表的 {length} 个位置。",
        "请把 context 设为不超过 {length}，或加长位置表。",
    ),
)
TIED_NEEDS_TOKENS = failure(
    en=(
        "A tied language head reuses a token table; the input is {found}.",
        "Use Tokens(...) as input, or tied=False.",
    ),
    zh=("绑定的语言头要复用词嵌入表；但输入是 {found}。", "请用 Tokens(...) 作输入，或设 tied=False。"),
)
INPUT_DOES_NOT_FIT = failure(
    en=("{role} takes {expected} as input; found {found}.", "Use {expected}."),
    zh=("{role} 的输入应为 {expected}；实际是 {found}。", "请使用 {expected}。"),
)
HEAD_DOES_NOT_FIT = failure(
    en=("The head {head} does not fit here: {why}.", "{mend}."),
    zh=("输出头 {head} 在此不适用：{why}。", "{mend}。"),
)
# Why a head does not fit, and what would mend it
GIVES_NO_VECTOR = (
    Message("the {tower} tower must give a vector", "{tower} 塔必须输出向量"),
    Message("Use Vector(...)", "请使用 Vector(...)"),
)
SPEAKS_WITHOUT_TOKENS = (
    Message("it speaks tokens and the input has none", "它输出词元，而输入中没有词元"),
    Message("Use Tokens(...)", "请使用 Tokens(...)"),
)
CONTINUES_NO_SERIES = (
    Message("a forecast continues a series", "预测头只能延续序列"),
    Message("Use Series(...) as input", "请用 Series(...) 作输入"),
)
RESTORES_NO_MEAN = (
    Message("only a forecast restores the removed mean", "只有预测头才能还原被减去的均值"),
    Message("Use Forecast(...)", "请使用 Forecast(...)"),
)
MIXES_CHANNELS = (
    Message("independent channels answer one by one", "独立通道各自作答"),
    Message("Use Forecast(...)", "请使用 Forecast(...)"),
)
READS_NO_CLASS_TOKEN = (
    Message("First() needs a class token", "First() 需要分类词元"),
    Message("Set class_token=True, or pool by Mean()", "请设 class_token=True，或用 Mean() 汇聚"),
)
ENDS_OUTSIDE_VOCABULARY = (
    Message("EndToken needs an id of the vocabulary", "EndToken 需要词表内的编号"),
    Message("Give an id below the vocabulary", "请给出小于词表大小的编号"),
)
FLATTENS_SENTENCES = (
    Message("sentences differ in length", "句子长短不一"),
    Message("Use Mean(), First() or Last()", "请使用 Mean()、First() 或 Last()"),
)
FLATTENS_ANOTHER_LENGTH = (
    Message("the image has {length} positions", "图像有 {length} 个位置"),
    Message("Use Flatten({length})", "请使用 Flatten({length})"),
)
SHARED_VOCABULARIES_DIFFER = failure(
    en=(
        "A shared vocabulary needs equal tables; the encoder has {encoder} × {encoder_width}, the decoder {decoder} × {decoder_width}.",
        "Make both sides equal, or set shared_vocabulary=False.",
    ),
    zh=(
        "共享词表要求两侧相同；编码器是 {encoder} × {encoder_width}，解码器是 {decoder} × {decoder_width}。",
        "请让两侧一致，或设 shared_vocabulary=False。",
    ),
)
PATCH_DOES_NOT_DIVIDE = failure(
    en=(
        "An image of {height}×{width} does not cut into patches of {patch}.",
        "Choose a patch that divides both sides.",
    ),
    zh=("{height}×{width} 的图像不能切成边长 {patch} 的块。", "请选择能整除两条边的块。"),
)
EXPERTS_UNREACHABLE = failure(
    en=(
        "A token chooses {active} experts but can reach only {reachable} ({kept} of {groups} groups, {count} experts).",
        "Lower active, or keep more groups.",
    ),
    zh=(
        "每个词元选 {active} 个专家，却只够得着 {reachable} 个（{groups} 组中的 {kept} 组，共 {count} 个专家）。",
        "请减小 active，或保留更多组。",
    ),
)
TOWERS_DIFFER = failure(
    en=(
        "The towers meet in one space, but their vectors are {text} and {image} wide.",
        "Give both Vector heads the same width.",
    ),
    zh=("两座塔应汇于同一空间，但向量宽度分别是 {text} 与 {image}。", "请让两个 Vector 头的宽度相同。"),
)
UNKNOWN_TYPE = failure(
    en=("No type is called {found}.{hint}", "Known types: {expected}."),
    zh=("没有名为 {found} 的类型。{hint}", "已知类型：{expected}。"),
)
TYPE_LEFT_OUT = failure(
    en=("{owner}.{field} does not say which type it is.", "Add `type`, one of {expected}."),
    zh=("{owner}.{field} 没有说明是哪种类型。", "请加上 `type`，取 {expected} 之一。"),
)
UNKNOWN_FIELD = failure(
    en=("{owner} has no field {found}.{hint}", "Its fields are {expected}."),
    zh=("{owner} 没有字段 {found}。{hint}", "它的字段有 {expected}。"),
)
MISSING_FIELD = failure(
    en=("{owner} needs the field {field}.", "Add it."),
    zh=("{owner} 缺少字段 {field}。", "请补上。"),
)
WRONG_KIND = failure(
    en=("{owner}.{field} must be {expected}; found {found}.", "Write {field} as {expected}."),
    zh=("{owner}.{field} 应为 {expected}；实际是 {found}。", "请把 {field} 写成 {expected}。"),
)
UNKNOWN_PRESET = failure(
    en=("No preset is called {found}.{hint}", "Presets: {expected}."),
    zh=("没有名为 {found} 的预设。{hint}", "预设有：{expected}。"),
)
