"""What is said about weights in legacy pickles, which are read only when asked for, in a process of their own."""

from __future__ import annotations

from clearformer.messages import Failure, Message, failure


def _unfit(en: str, zh: str) -> Failure:
    """What is in the file is not what may be converted: the remedy is another form of the model."""
    return failure(
        en=(f"{{path}}: {en}", "Nothing was written. Get the model as safetensors or GGUF."),
        zh=(f"{{path}}：{zh}", "没有写入任何内容。请改用该模型的 safetensors 或 GGUF 版本。"),
    )


COMPRESSED = _unfit(
    "the record {found} of the archive is packed; weights as torch saves them never are.",
    "归档中的 {found} 经过压缩；torch 保存的权重从不压缩。",
)
NOT_TENSORS = _unfit(
    "expected tensors by name and nothing else, found {found} at {name}.",
    "应只有按名称存放的张量，但在 {name} 处发现 {found}。",
)
NOT_DENSE = _unfit(
    "expected dense tensors of numbers, found {found} at {name}.", "应为稠密的数值张量，但在 {name} 处发现 {found}。"
)
SWELLS = _unfit(
    "its tensors claim {found} bytes; a file of this size can fill {limit}.",
    "其张量自称有 {found} 字节，而这样大小的文件最多只能有 {limit} 字节。",
)
TOO_HUNGRY = _unfit(
    "reading it takes more memory than {limit} bytes above torch's own.",
    "读取它所需的内存超过 torch 自身之外的 {limit} 字节。",
)
TOO_SLOW = _unfit(
    "reading it took more than {seconds} s of processor time.", "读取它耗费的处理器时间超过 {seconds} 秒。"
)
REACHED_OUT = _unfit(
    "reading it reached for something beyond the file ({detail}), which was refused.",
    "读取过程试图触及文件以外的内容（{detail}），已被拒绝。",
)
REFUSED = _unfit("it is no pickle of weights alone ({detail}).", "它不是只含权重的 pickle 文件（{detail}）。")
WORKER_LOST = _unfit("the process that read it died (code {code}).", "读取它的进程异常退出（代码 {code}）。")
TOO_MANY = _unfit(
    "expected at most {limit} files of weights, found {found}.", "权重文件最多 {limit} 个，实际为 {found} 个。"
)
NOT_WRITTEN = failure(
    en=(
        "{path}: the converted weights cannot be written ({detail}).",
        "Free disk space or check permissions, then try again.",
    ),
    zh=("{path}：无法写入转换后的权重（{detail}）。", "请释放磁盘空间或检查权限，然后重试。"),
)

CONVERTING = Message("Converting {name}", "转换 {name}")
CONVERTED = Message(
    "Converted to safetensors: {name}. The pickles were not changed.",
    "已转换为 safetensors：{name}。原 pickle 文件未改动。",
)
