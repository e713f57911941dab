"""What the NumPy twin refuses: weights that are not the spec's, inputs that do not fit it."""

from __future__ import annotations

from clearformer.messages import failure

WEIGHT_MISSING = failure(
    en=("The spec needs the weight {name}; it is not there.", "Give weights under the names that shapes(spec) lists."),
    zh=("该规格需要权重 {name}，但没有给出。", "请按 shapes(spec) 列出的名称给出权重。"),
)
WEIGHT_UNKNOWN = failure(
    en=("The spec has no weight called {name}.", "Leave it out, or choose the spec that it belongs to."),
    zh=("该规格没有名为 {name} 的权重。", "请去掉它，或改用它所属的规格。"),
)
WEIGHT_SHAPE = failure(
    en=("The weight {name} must have the shape {expected}; found {found}.", "Give it as torch stores it: [out, in]."),
    zh=("权重 {name} 的形状应为 {expected}；实际是 {found}。", "请按 torch 的存法给出：[输出, 输入]。"),
)
ARRAY_SHAPE = failure(
    en=("{what} must have the shape {expected}; found {found}.", "Give {what} with the shape {expected}."),
    zh=("{what} 的形状应为 {expected}；实际是 {found}。", "请给出形状为 {expected} 的 {what}。"),
)
ARRAY_KIND = failure(
    en=("{what} must hold {expected}; found {found}.", "Convert {what} first."),
    zh=("{what} 的元素类型应为 {expected}；实际是 {found}。", "请先转换 {what}。"),
)
NUMBER_OUT_OF_RANGE = failure(
    en=("{what} must lie in {low}…{high}; found {found}.", "Check that {what} and the model belong together."),
    zh=("{what} 应在 {low}…{high} 之间；实际是 {found}。", "请确认 {what} 与该模型配套。"),
)
EMPTY = failure(
    en=("{what} is empty: there is no position to read.", "Give at least one position."),
    zh=("{what} 为空：没有任何位置可读。", "请至少给出一个位置。"),
)
SERIES_TOO_SHORT = failure(
    en=("A patch needs {expected} steps; the series has {found}.", "Give at least {expected} steps."),
    zh=("一个 patch 需要 {expected} 步；序列只有 {found} 步。", "请至少给出 {expected} 步。"),
)
NO_SEGMENTS = failure(
    en=("Segments were given, and this spec has none.", "Leave segments out, or set Tokens(segments=...)."),
    zh=("给出了 segments，但该规格没有分段。", "请去掉 segments，或设置 Tokens(segments=...)。"),
)
NO_PREFIX = failure(
    en=(
        "A prefix was given, and no block of this spec has one.",
        "Leave prefix out, or use Causal(prefix=True).",
    ),
    zh=("给出了 prefix，但该规格的各层都不使用前缀。", "请去掉 prefix，或使用 Causal(prefix=True)。"),
)
PREFIX_CUT = failure(
    en=(
        "The prefix has {prefix} tokens and {seen} of them were read before: its first tokens never saw its last.",
        "Read the whole prefix in one call.",
    ),
    zh=("前缀共 {prefix} 个词元，其中 {seen} 个已先读入：靠前的没有看到靠后的。", "请一次读完整个前缀。"),
)
PAST_TABLE = failure(
    en=(
        "The model has {expected} positions; position {found} was asked for.",
        "Shorten the input to {expected} tokens, new ones included.",
    ),
    zh=("模型只有 {expected} 个位置；却用到了第 {found} 个。", "请把输入（含新生成的）缩短到 {expected} 个词元。"),
)
PAST_CONTEXT = failure(
    en=(
        "The model's context is {expected} tokens; prompt and new tokens together are {found}.",
        "Shorten the prompt, or ask for fewer new tokens.",
    ),
    zh=("模型的上下文为 {expected} 个词元；提示与新生成的合计 {found} 个。", "请缩短提示，或减少生成的数量。"),
)
CACHE_FULL = failure(
    en=("The cache holds {expected} positions; {found} are needed.", "Make it with Cache(capacity={found}) or more."),
    zh=("缓存可容纳 {expected} 个位置；现需要 {found} 个。", "请以 Cache(capacity={found}) 或更大的容量创建。"),
)
CACHE_ROWS = failure(
    en=("The cache holds {expected} sequences; {found} were given.", "Use one cache for one batch."),
    zh=("缓存中有 {expected} 个序列；却给出了 {found} 个。", "一个缓存只用于一个批次。"),
)
CACHE_OF_ANOTHER = failure(
    en=("The cache was filled for another {what}.", "Start with a new Cache for each {what}."),
    zh=("该缓存属于另一个 {what}。", "每个 {what} 请使用新的 Cache。"),
)
CACHE_DOES_NOT_FIT = failure(
    en=("With a cache the model sees one chunk at a time, and {what} needs the whole.", "Call it without a cache."),
    zh=("使用缓存时模型每次只见到一段，而 {what} 需要全部。", "请不用缓存调用。"),
)
END_NOT_FOUND = failure(
    en=("Row {row} has no token {id} to pool at.", "End every text with token {id}."),
    zh=("第 {row} 行没有用于汇聚的词元 {id}。", "请让每段文本以词元 {id} 结尾。"),
)
INDEPENDENT_ENCODER = failure(
    en=(
        "Independent channels give one memory a channel; a decoder reads one memory a sequence.",
        "Set Series(independent=False) in the encoder.",
    ),
    zh=("独立通道会为每个通道产生一份记忆，而解码器每个序列只读一份。", "请在编码器中设置 Series(independent=False)。"),
)
SOURCE_DOES_NOT_FIT = failure(
    en=("{role}: only an encoder-decoder reads a source, and it needs one.", "Give source to EncoderDecoder alone."),
    zh=("{role}：只有编码器-解码器读取 source，且必须给出。", "请仅对 EncoderDecoder 给出 source。"),
)
NO_GENERATOR = failure(
    en=(
        "A temperature of {found} draws tokens at random, and there is no random generator.",
        "Give rng=numpy.random.default_rng(seed), or temperature 0.",
    ),
    zh=(
        "温度为 {found} 时需要随机抽取，但没有给出随机数生成器。",
        "请给出 rng=numpy.random.default_rng(seed)，或把温度设为 0。",
    ),
)
NO_WORDS = failure(
    en=("{head} gives no next token.", "Generate with a Language head."),
    zh=("{head} 不能给出下一个词元。", "请使用 Language 头来生成。"),
)
