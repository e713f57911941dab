"""Sentences about text files, the named sets, and reading them."""

from __future__ import annotations

from clearformer.messages import failure

WORKER_DIED = failure(
    en=(
        "A process that reads the data has died ({detail}).",
        "Train with --compute.workers 0 to see its error; --resume goes on.",
    ),
    zh=("一个读取数据的进程已终止（{detail}）。", "请用 --compute.workers 0 训练以查看其错误；--resume 可继续。"),
)
NO_FILE = failure(
    en=("{path} cannot be read: {detail}.", "Name a file or folder that exists and may be read."),
    zh=("无法读取 {path}：{detail}。", "请给出存在且可读的文件或文件夹。"),
)
NO_TEXTS = failure(
    en=("{path} holds no text file ({known}).", "Give a folder with such files, or name one file."),
    zh=("{path} 中没有文本文件（{known}）。", "请给出含有这类文件的文件夹，或指定一个文件。"),
)
NOT_UTF8 = failure(
    en=("{path} is not UTF-8 text (byte {offset}).", "Save it as UTF-8."),
    zh=("{path} 不是 UTF-8 文本（第 {offset} 字节）。", "请存为 UTF-8 编码。"),
)
BAD_GZIP = failure(
    en=("{path} is no whole gzip file: {detail}.", "Fetch it again, or unpack it first."),
    zh=("{path} 不是完整的 gzip 文件：{detail}。", "请重新下载，或先行解压。"),
)
BAD_JSON_LINE = failure(
    en=("{path} line {line}: expected a JSON object with {expected}, found {found}.", "Write one object a line."),
    zh=("{path} 第 {line} 行：应为含有 {expected} 的 JSON 对象，实际为 {found}。", "请每行写一个对象。"),
)
HALF_CHARACTER = failure(
    en=(
        "{path} line {line}: {found} is half a character (a lone surrogate), which no text can hold.",
        "Write both halves, or remove it.",
    ),
    zh=("{path} 第 {line} 行：{found} 是半个字符（孤立的代理项），文本无法容纳。", "请写全两半，或将其删除。"),
)
EMPTY = failure(
    en=("{path} holds no text.", "Give a file with something to learn from."),
    zh=("{path} 中没有文本。", "请给出有内容可学的文件。"),
)
UNEQUAL_LINES = failure(
    en=(
        "{source} has {source_lines} lines and {target} has {target_lines}; line by line they must be translations of each other.",
        "Remove the surplus lines, or add those that lack: the shorter file is {shorter}.",
    ),
    zh=(
        "{source} 有 {source_lines} 行，{target} 有 {target_lines} 行；两个文件应逐行互为译文。",
        "请删去多余的行或补上缺少的行：较短的文件是 {shorter}。",
    ),
)
PAST_BUDGET = failure(
    en=(
        "Sentence {number} has {found} tokens, more than the {budget} of a batch.",
        "Give a larger token budget, or leave out such sentences.",
    ),
    zh=("第 {number} 个句子有 {found} 个词元，超过一批的 {budget} 个。", "请增大每批的词元数，或去掉这样的句子。"),
)
BAD_ROW = failure(
    en=(
        "{path} line {line}: expected a text and a label, found {found}.",
        'Write both on each line, with a tab between (.tsv), a comma (.csv), or as {{"text": …, "label": …}} (.jsonl).',
    ),
    zh=(
        "{path} 第 {line} 行：应为文本和标签，实际为 {found}。",
        '请在每行写出两者，用制表符（.tsv）或逗号（.csv）分隔，或写成 {{"text": …, "label": …}}（.jsonl）。',
    ),
)
NO_TEXT_COLUMN = failure(
    en=(
        "{path}: the first line names a column of labels but none of texts ({expected}); found {found}.",
        "Call the column of texts by one of these names.",
    ),
    zh=(
        "{path}：首行有标签列，却没有文本列（{expected}）；实际为 {found}。",
        "请用上述名称之一命名文本列。",
    ),
)
UNKNOWN_SET = failure(
    en=("Expected a named set ({known}), found {found}.{hint}", "Give one of those, or the path of a file."),
    zh=("应为命名数据集之一（{known}），实际为 {found}。{hint}", "请给出其中之一，或文件路径。"),
)
CANNOT_FETCH = failure(
    en=(
        "{name} needs {file}, which could not be fetched from {url} ({detail}).",
        "Put that file into {folder}, or set CLEARFORMER_DATA to a folder that has {name}/{file}.",
    ),
    zh=(
        "{name} 需要 {file}，但无法从 {url} 获取（{detail}）。",
        "请把该文件放入 {folder}，或让 CLEARFORMER_DATA 指向含有 {name}/{file} 的文件夹。",
    ),
)
NO_PUBLISHER = failure(
    en=(
        "{name} needs {file}; its publisher offers no plain file.",
        "Make a tab-separated file with the columns sentence and label, and put it into {folder}, or into {name}/ under CLEARFORMER_DATA.",
    ),
    zh=(
        "{name} 需要 {file}；其发布者没有提供纯文本文件。",
        "请制作含 sentence 与 label 两列、以制表符分隔的文件，放入 {folder}，或 CLEARFORMER_DATA 下的 {name}/。",
    ),
)
OTHER_CONTENT = failure(
    en=(
        "{url} gave {file} with SHA-256 {found}; expected {expected}.",
        "Its publisher has changed it: fetch the file elsewhere and put it into {folder}.",
    ),
    zh=(
        "{url} 给出的 {file} 的 SHA-256 为 {found}，应为 {expected}。",
        "发布者更改了该文件：请从别处获取并放入 {folder}。",
    ),
)
CACHE_FAILED = failure(
    en=("{path} cannot be written: {detail}.", "Make room on the disk, or choose another --out."),
    zh=("无法写入 {path}：{detail}。", "请腾出磁盘空间，或换一个 --out。"),
)
