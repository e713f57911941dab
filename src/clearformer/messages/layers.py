"""What a layer can be given wrongly."""

from __future__ import annotations

from clearformer.messages import failure

PAST_LEARNED_POSITIONS = failure(
    en=("The text needs {found} positions; the model learnt {length}.", "Shorten the text to {length} tokens."),
    zh=("文本需要 {found} 个位置；模型只学过 {length} 个。", "请把文本缩短到 {length} 个词元。"),
)
NO_IDS = failure(
    en=(
        "Expected token ids as whole numbers of shape (batch, tokens), at least one of each; found {dtype} {found}.",
        "Give a tensor such as torch.tensor([[1, 2, 3]]).",
    ),
    zh=(
        "应为形状（批，词元）的整数编号，两者至少为一；实际是 {dtype} {found}。",
        "请给出 torch.tensor([[1, 2, 3]]) 这样的张量。",
    ),
)
ID_OUTSIDE = failure(
    en=("The {name} {found} is outside the model's table.", "Give numbers from 0 to {last}."),
    zh=("编号（{name}）{found} 超出模型的表。", "请给出 0 到 {last} 的数。"),
)
BAD_REAL = failure(
    en=(
        "real marks each token: expected bool {expected}, found {dtype} {found}.",
        "Give a bool tensor of the ids' shape, False at padding; a mask of 0 and 1 becomes one by mask.bool().",
    ),
    zh=(
        "real 逐个标记词元：应为 bool {expected}，实际是 {dtype} {found}。",
        "请给出与编号同形状的 bool 张量，填充处为 False；0 与 1 的掩码可用 mask.bool() 转换。",
    ),
)
IMAGE_SHAPE = failure(
    en=(
        "Images must be (channels, height, width) = {expected}; found {found}.",
        "Resize the image, or build the spec for its size.",
    ),
    zh=("图像形状应为（通道，高，宽）= {expected}；实际是 {found}。", "请缩放图像，或按其尺寸构造规格。"),
)
SERIES_SHAPE = failure(
    en=(
        "A window needs at least {patch} steps of {channels} channels; found {found}.",
        "Give a longer window, or build the spec for its channels.",
    ),
    zh=("窗口至少需要 {patch} 步、{channels} 个通道；实际是 {found}。", "请给更长的窗口，或按其通道数构造规格。"),
)
FLATTEN_LENGTH = failure(
    en=(
        "The head reads {expected} positions side by side; found {found}.",
        "Give windows of the length that the spec was built for.",
    ),
    zh=("输出头并排读取 {expected} 个位置；实际有 {found} 个。", "请使用构造规格时的窗口长度。"),
)
NO_END_TOKEN = failure(
    en=(
        "A sequence holds no end token (id {id}), at which its vector is read.",
        "Append token {id} to every sequence.",
    ),
    zh=("有序列不含结束词元（编号 {id}），而向量正取自它。", "请在每个序列末尾加上词元 {id}。"),
)
CACHE_FULL = failure(
    en=(
        "The cache holds {capacity} positions; {wanted} are needed.",
        "Make the cache larger, or generate fewer tokens.",
    ),
    zh=("缓存可放 {capacity} 个位置；需要 {wanted} 个。", "请加大缓存，或少生成一些词元。"),
)
NO_PREFIX = failure(
    en=(
        "A prefix was given, but no block of this model looks both ways within one.",
        "Leave prefix out, or use Causal(prefix=True).",
    ),
    zh=("给出了 prefix，但模型中没有可双向查看前缀的块。", "请去掉 prefix，或使用 Causal(prefix=True)。"),
)
NO_SEGMENTS = failure(
    en=("Segments were given, but this model has no segment table.", "Leave segments out."),
    zh=("给出了 segments，但模型没有段嵌入表。", "请去掉 segments。"),
)
BAD_DOCUMENTS = failure(
    en=(
        "documents numbers the document of each position: expected whole numbers {expected}, found {dtype} {found}.",
        "Give one number a position, in the ids' shape.",
    ),
    zh=(
        "documents 为每个位置标出所属文档：应为整数 {expected}，实际是 {dtype} {found}。",
        "请按编号的形状，为每个位置给出一个数。",
    ),
)
DOCUMENTS_AND = failure(
    en=(
        "documents was given with {given}, but a row of several documents is read whole and has no {given} of its own.",
        "Leave out one of them, or give each document its own row.",
    ),
    zh=(
        "同时给出了 documents 与 {given}，但含多个文档的行须整行读取，没有自己的 {given}。",
        "请去掉其中之一，或让每个文档独占一行。",
    ),
)
POOLED_DOCUMENTS = failure(
    en=(
        "documents was given, but this model gives one answer a row ({found}).",
        "Give each document its own row.",
    ),
    zh=("给出了 documents，但此模型每行只作一个回答（{found}）。", "请让每个文档独占一行。"),
)
PREFIX_CUT = failure(
    en=(
        "The prefix has {prefix} tokens but {seen} were read before: the first of them never saw the last.",
        "Read the whole prefix in one call.",
    ),
    zh=("前缀有 {prefix} 个词元，而此前只读了 {seen} 个：靠前的没有看到靠后的。", "请一次读完整个前缀。"),
)
TOKENS_ONLY = failure(
    en=("{given} belongs to tokens, but this model reads {found}.", "Leave {given} out."),
    zh=("{given} 只用于词元，而此模型读取的是 {found}。", "请去掉 {given}。"),
)
POOLED_CACHE = failure(
    en=(
        "A cache was given, but this model answers from the whole sequence at once ({found}).",
        "Read the sequence in one call, without a cache.",
    ),
    zh=("给出了缓存，但此模型要看完整个序列才作答（{found}）。", "请不用缓存，一次读完序列。"),
)
