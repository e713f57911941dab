"""Sentences about run folders and the states in them."""

from __future__ import annotations

from clearformer.messages import failure

EXISTS = failure(
    en=(
        "Expected a new run folder, found {path}, which is not empty.",
        "Choose another --out, or go on with that run: --resume --out {path}",
    ),
    zh=("应为新的运行文件夹，但 {path} 不是空的。", "请换一个 --out，或继续该运行：--resume --out {path}"),
)
NO_RUN = failure(
    en=(
        "Expected a run folder at {path}, found no recipe.yaml in it.",
        "Name the folder that `clearformer train` printed.",
    ),
    zh=("{path} 应为运行文件夹，但其中没有 recipe.yaml。", "请给出 `clearformer train` 打印的文件夹。"),
)
IN_USE = failure(
    en=("{path} is in use by process {pid}.", "Wait for it to end, or end it: kill {pid} (it saves first)."),
    zh=("{path} 正被进程 {pid} 使用。", "请等它结束，或结束它：kill {pid}（它会先保存）。"),
)
BAD_STATE = failure(
    en=("{path}: the state has no {name}.", "Remove that folder; the state before it is used then."),
    zh=("{path}：该状态缺少 {name}。", "请删除该文件夹；此后会使用它之前的状态。"),
)
CANNOT_CREATE = failure(
    en=(
        "{path}: the run folder cannot be made ({detail}).",
        "Check permissions and disk space, or choose another --out.",
    ),
    zh=("{path}：无法创建运行文件夹（{detail}）。", "请检查权限和磁盘空间，或换一个 --out。"),
)
CANNOT_LOCK = failure(
    en=("{path}: the lock cannot be opened ({detail}).", "A run needs a folder that you may write into."),
    zh=("{path}：无法打开锁文件（{detail}）。", "运行文件夹必须可以写入。"),
)
NOT_TEXT = failure(
    en=("{path}: expected UTF-8 text, found other bytes at {at}.", "The file is damaged: restore it from a copy."),
    zh=("{path}：应为 UTF-8 文本，但第 {at} 字节处不是。", "文件已损坏：请用备份恢复。"),
)
NOT_AS_PUBLISHED = failure(
    en=("{path} is damaged: {cause}", "Resume the run, which publishes the model again, or copy the folder anew."),
    zh=("{path} 已损坏：{cause}", "请继续该运行以重新发布模型，或重新复制该文件夹。"),
)
