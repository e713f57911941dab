"""What is said about model files: missing, damaged, hostile, contradictory, or not to be written."""

from __future__ import annotations

from clearformer.messages import Failure, failure


def _damaged(en: str, zh: str) -> Failure:
    """A fault in the bytes themselves: the remedy is always another copy."""
    return failure(
        en=(f"{{path}}: {en}", "The file is damaged or is not what its name says: fetch it again from its source."),
        zh=(f"{{path}}：{zh}", "文件已损坏，或内容与扩展名不符：请从原始来源重新获取。"),
    )


# Any file
MISSING = failure(
    en=("{path}: expected a file, found none.", "Check the path, or fetch the file again."),
    zh=("{path}：应有此文件，但没有找到。", "请检查路径，或重新获取该文件。"),
)
UNREADABLE = failure(
    en=("{path}: cannot be read ({detail}).", "Check the file's permissions and the disk."),
    zh=("{path}：无法读取（{detail}）。", "请检查文件权限和磁盘。"),
)
NOT_REGULAR = failure(
    en=("{path}: expected a regular file, found something else.", "Give the path of an ordinary file."),
    zh=("{path}：应为普通文件，实际不是。", "请给出普通文件的路径。"),
)
TOO_LARGE = failure(
    en=(
        "{path}: expected at most {limit} bytes, found {found}.",
        "No model needs so large a file here: get it from its source.",
    ),
    zh=("{path}：最多允许 {limit} 字节，实际为 {found}。", "正常的模型用不到这么大的文件：请从原始来源获取。"),
)
FOREIGN = _damaged("the library that reads it failed ({detail}).", "读取它的程序库报错（{detail}）。")
ESCAPES = failure(
    en=(
        "{path}: the name {name} leads outside the folder.",
        "Put the file itself into the folder, under a plain name.",
    ),
    zh=("{path}：名称 {name} 指向了文件夹之外。", "请把文件本身放进该文件夹，并使用普通文件名。"),
)

# JSON
NOT_JSON = _damaged(
    "expected a JSON object, found invalid JSON ({detail}).", "应为 JSON 对象，实际不是合法的 JSON（{detail}）。"
)
NOT_OBJECT = _damaged("expected a JSON object, found {found}.", "应为 JSON 对象，实际为 {found}。")
DUPLICATE_KEY = _damaged("the key {key} occurs twice.", "键 {key} 出现了两次。")
TOO_MANY_CONTAINERS = _damaged(
    "expected at most {limit} lists and objects, found {found}.", "列表与对象最多 {limit} 个，实际为 {found} 个。"
)
TOO_DEEP = _damaged("nested deeper than {limit} levels.", "嵌套超过 {limit} 层。")

# safetensors
TOO_SHORT = _damaged("expected at least {expected} bytes, found {found}.", "至少应有 {expected} 字节，实际为 {found}。")
HEADER_LENGTH = _damaged(
    "the header claims {found} bytes; at most {limit} are possible here.",
    "文件头自称 {found} 字节，此处最多只能有 {limit} 字节。",
)
TOO_MANY_TENSORS = _damaged(
    "expected at most {limit} tensors, found {found}.", "张量最多 {limit} 个，实际为 {found} 个。"
)
TOO_MANY_VALUES = _damaged(
    "expected at most {limit} metadata values, found {found}.", "元数据最多 {limit} 项，实际为 {found} 项。"
)
BAD_METADATA = _damaged(
    "expected text under __metadata__, found {found}.", "__metadata__ 中应全为文本，实际为 {found}。"
)
BAD_ENTRY = _damaged(
    "tensor {name}: expected dtype, shape and data_offsets, found {found}.",
    "张量 {name}：应有 dtype、shape 和 data_offsets，实际为 {found}。",
)
BAD_DTYPE = failure(
    en=(
        "{path}: tensor {name} has the unknown type {found}.",
        "Get a copy in float32, float16 or bfloat16, or a GGUF file.",
    ),
    zh=("{path}：张量 {name} 的类型 {found} 未知。", "请改用 float32、float16 或 bfloat16 的版本，或 GGUF 文件。"),
)
BAD_SHAPE = _damaged("tensor {name}: the shape {found} is not possible.", "张量 {name}：形状 {found} 不可能存在。")
BAD_RANGE = _damaged(
    "tensor {name}: its shape needs {expected} bytes, its range {found}.",
    "张量 {name}：按形状需要 {expected} 字节，实际范围为 {found}。",
)
NOT_CONTIGUOUS = _damaged(
    "tensor {name}: expected to start at byte {expected} of the data, found {found} (an overlap or a hole).",
    "张量 {name}：应从数据第 {expected} 字节开始，实际为 {found}（有重叠或空洞）。",
)
DATA_LENGTH = _damaged(
    "expected {expected} bytes of data, found {found}.", "应有 {expected} 字节数据，实际为 {found}。"
)
NO_TENSOR = failure(
    en=("{path}: there is no tensor {name}.", "Check that the file belongs to this model."),
    zh=("{path}：没有名为 {name} 的张量。", "请确认该文件属于这个模型。"),
)

# GGUF
NOT_GGUF = _damaged("expected the magic GGUF, found {found}.", "文件开头应为 GGUF，实际为 {found}。")
BIG_ENDIAN = failure(
    en=("{path}: this GGUF file is big-endian.", "Get the little-endian file, or convert it with gguf-convert-endian."),
    zh=("{path}：这是大端序的 GGUF 文件。", "请获取小端序的文件，或用 gguf-convert-endian 转换。"),
)
GGUF_VERSION = failure(
    en=("{path}: expected GGUF version 2 or 3, found {found}.", "Get a newer conversion of the model."),
    zh=("{path}：应为 GGUF 第 2 或 3 版，实际为 {found}。", "请获取该模型较新的转换版本。"),
)
ENDS_EARLY = _damaged(
    "at byte {at} expected {expected} more bytes, found {found}.",
    "在第 {at} 字节处还应有 {expected} 字节，实际只有 {found}。",
)
NOT_UTF8 = _damaged("the text at byte {at} is not UTF-8.", "第 {at} 字节处的文本不是 UTF-8。")
VALUE_TYPE = _damaged("{key}: the value type {found} is unknown.", "{key}：值类型 {found} 未知。")
VALUE_BOOL = _damaged(
    "{key}: expected a boolean of 0 or 1, found {found}.", "{key}：布尔值应为 0 或 1，实际为 {found}。"
)
ALIGNMENT = _damaged(
    "expected an alignment that is a power of two, found {found}.", "对齐值应为 2 的幂，实际为 {found}。"
)
TENSOR_TYPE = failure(
    en=(
        "{path}: tensor {name} has the unknown GGML type {found}.",
        "Update the gguf package, or get another quantisation.",
    ),
    zh=("{path}：张量 {name} 的 GGML 类型 {found} 未知。", "请更新 gguf 包，或改用其他量化版本。"),
)
NOT_DECODED = failure(
    en=(
        "{path}: the gguf package cannot decode the type {found} of tensor {name}.",
        "Get another quantisation, such as Q8_0 or Q4_K.",
    ),
    zh=("{path}：gguf 包不能解码张量 {name} 的类型 {found}。", "请改用其他量化版本，例如 Q8_0 或 Q4_K。"),
)
MISALIGNED = _damaged(
    "tensor {name}: expected an offset that is a multiple of {expected}, found {found}.",
    "张量 {name}：偏移应为 {expected} 的倍数，实际为 {found}。",
)
OUT_OF_FILE = _damaged(
    "tensor {name} ends at byte {expected}, the file at {found}.",
    "张量 {name} 止于第 {expected} 字节，而文件止于第 {found} 字节。",
)
OVERLAP = _damaged("tensors {name} and {other} overlap.", "张量 {name} 与 {other} 重叠。")
SPLIT_GGUF = failure(
    en=(
        "{path}: this is one of {found} parts of a model.",
        "Join the parts with llama-gguf-split --merge, and give the result.",
    ),
    zh=(
        "{path}：这只是模型 {found} 个分片中的一个。",
        "请用 llama-gguf-split --merge 合并各分片，再使用合并后的文件。",
    ),
)

# Folders
NOT_FOLDER = failure(
    en=(
        "{path}: expected a folder with a config.json, found none.",
        "Give a folder of config.json and model.safetensors.",
    ),
    zh=(
        "{path}：应为含有 config.json 的文件夹，但没有找到。",
        "请给出含有 config.json 和 model.safetensors 的文件夹。",
    ),
)
NO_WEIGHTS = failure(
    en=("{path}: expected model.safetensors or its index, found neither.", "Fetch the weights into this folder."),
    zh=("{path}：应有 model.safetensors 或其索引，两者都没有找到。", "请把权重文件下载到该文件夹。"),
)
LEGACY = failure(
    en=(
        "{path}: the weights are only in {name}, a pickle, which is read only when you ask for it.",
        "Convert it, in a process that may open nothing else: clearformer pull {path} --allow-pickle",
    ),
    zh=(
        "{path}：权重只存于 {name}，这是 pickle 文件，只有您明确要求时才会读取。",
        "请转换它（在一个不能打开其他任何内容的进程中进行）：clearformer pull {path} --allow-pickle",
    ),
)
FOREIGN_WEIGHTS = failure(
    en=(
        "{path}: the weights are only in {name}, a format that is not read here.",
        "Get the model as safetensors or GGUF, or convert it with what wrote it.",
    ),
    zh=(
        "{path}：权重只存于 {name}，此处不读取这种格式。",
        "请改用该模型的 safetensors 或 GGUF 版本，或用写出它的软件转换。",
    ),
)
BAD_INDEX = _damaged(
    "expected weight_map to map tensor names to files, found {found}.",
    "weight_map 应为张量名到文件名的映射，实际为 {found}。",
)
SHARD_ABSENT = failure(
    en=("{path}: the index names the shard {name}, which is absent.", "Fetch that shard into the same folder."),
    zh=("{path}：索引提到分片 {name}，但该文件不存在。", "请把该分片下载到同一文件夹。"),
)
SHARD_LACKS = failure(
    en=(
        "{path}: the index puts {name} into the shard {shard}, which lacks it.",
        "Fetch the index and the shards of one version.",
    ),
    zh=("{path}：索引称 {name} 在分片 {shard} 中，但其中没有。", "请获取同一版本的索引与分片。"),
)
SHARD_TWICE = failure(
    en=(
        "{path}: tensor {name} lies in two shards, and the index names neither.",
        "Fetch the index and the shards of one version.",
    ),
    zh=("{path}：张量 {name} 同时出现在两个分片中，而索引没有指明。", "请获取同一版本的索引与分片。"),
)

# Weight tables
LACKS_TENSORS = failure(
    en=(
        "{path}: {count} tensors that the config calls for are missing: {names}.",
        "Use the weights that belong to this config.json.",
    ),
    zh=("{path}：缺少配置要求的 {count} 个张量：{names}。", "请使用与该 config.json 配套的权重。"),
)
UNEXPECTED_TENSORS = failure(
    en=(
        "{path}: {count} tensors have no place in this model: {names}.",
        "Use the config.json that belongs to these weights.",
    ),
    zh=("{path}：有 {count} 个张量在此模型中没有位置：{names}。", "请使用与这些权重配套的 config.json。"),
)
SHAPE_DIFFERS = failure(
    en=(
        "{path}: tensor {name}: expected shape {expected}, found {found}.",
        "Use the config.json that belongs to these weights.",
    ),
    zh=("{path}：张量 {name}：形状应为 {expected}，实际为 {found}。", "请使用与这些权重配套的 config.json。"),
)
NOT_FLOAT = failure(
    en=(
        "{path}: tensor {name}: expected floating-point weights, found {found}.",
        "Get the model unquantised, or as a GGUF file.",
    ),
    zh=("{path}：张量 {name}：应为浮点权重，实际为 {found}。", "请获取未量化的模型，或 GGUF 文件。"),
)
NOT_TIED = failure(
    en=(
        "{path}: {name} must equal {other}, which it is tied to, and differs.",
        "Set tie_word_embeddings to false in config.json, if the weights are right.",
    ),
    zh=(
        "{path}：{name} 与 {other} 绑定，应当相等，实际不同。",
        "若权重无误，请在 config.json 中把 tie_word_embeddings 设为 false。",
    ),
)
GIVEN_TWICE = failure(
    en=("{path}: {name} is given twice, by {first} and by {second}.", "Remove one of the two from the file."),
    zh=("{path}：{name} 有两个来源：{first} 与 {second}。", "请从文件中删除其中之一。"),
)
NO_RULE = failure(
    en=(
        "The family's weight table has no row for {name}.",
        "Save the model in the family that built it, without added parts.",
    ),
    zh=("该模型家族的权重表中没有 {name} 这一行。", "请按构建它的模型家族保存，不要带额外添加的部件。"),
)

# Writing and manifests
WRITE_FAILED = failure(
    en=(
        "{path}: cannot be written ({detail}); what was there before is untouched.",
        "Free disk space or check permissions, then try again.",
    ),
    zh=("{path}：无法写入（{detail}）；原有内容未受影响。", "请释放磁盘空间或检查权限，然后重试。"),
)
EXISTS = failure(
    en=("{path}: already exists.", "Choose another folder, or remove this one first."),
    zh=("{path}：已存在。", "请选择别的文件夹，或先将其删除。"),
)
FILE_EXISTS = failure(
    en=("{path}: already exists.", "Choose another name, or remove this file first."),
    zh=("{path}：已存在。", "请换一个文件名，或先将其删除。"),
)
TOO_LARGE_FOR_KIND = failure(
    en=("Tensor {name} holds {found}; {kind} goes to {limit}.", "Choose --type bf16 or f32."),
    zh=("张量 {name} 含有 {found}；{kind} 最大为 {limit}。", "请改用 --type bf16 或 f32。"),
)
BAD_MANIFEST = _damaged("the entry {name} of the manifest is not valid.", "清单中的条目 {name} 无效。")
SIZE_DIFFERS = _damaged("expected {expected} bytes, found {found}.", "应为 {expected} 字节，实际为 {found}。")
HASH_DIFFERS = _damaged("expected SHA-256 {expected}, found {found}.", "SHA-256 应为 {expected}，实际为 {found}。")
