"""What the program itself says: how it was called, why it stopped, what it prints around results."""

from __future__ import annotations

from clearformer.messages import Message, failure

# The two lines of an error
CAUSE = Message("Error: ", "错误：")
REMEDY = Message("What to do: ", "怎么办：")

# How it was called
UNKNOWN_VERB = failure(
    en=("There is no verb {verb}; expected one of: {known}.", "Run clearformer --help to see what each one does."),
    zh=("没有命令 {verb}；应为以下之一：{known}。", "运行 clearformer --help 查看各个命令的用途。"),
)
NEAR_VERB = failure(
    en=("There is no verb {verb}. Did you mean {nearest}?", "Run clearformer --help to see every verb."),
    zh=("没有命令 {verb}。您是否想用 {nearest}？", "运行 clearformer --help 查看全部命令。"),
)
UNKNOWN_CHOICE = failure(
    en=(
        "{command} does not know {found}; expected one of: {known}.",
        "Run {command} --help to see what each one does.",
    ),
    zh=("{command} 不认识 {found}；应为以下之一：{known}。", "运行 {command} --help 查看各自的用途。"),
)
NEAR_CHOICE = failure(
    en=("{command} does not know {found}. Did you mean {nearest}?", "It knows: {known}."),
    zh=("{command} 不认识 {found}。您是否想用 {nearest}？", "可选的有：{known}。"),
)
OPTION_FIRST = failure(
    en=("The option {option} stands before the verb.", "Write the verb first: clearformer VERB … {option}"),
    zh=("选项 {option} 写在了命令之前。", "请先写命令：clearformer 命令 … {option}"),
)
UNKNOWN_OPTION = failure(
    en=(
        "{command} has no option {option}.",
        "Run {command} --help to see its options; after -- everything is taken as text.",
    ),
    zh=("{command} 没有选项 {option}。", "运行 {command} --help 查看它的选项；-- 之后的内容都当作文本。"),
)
NEAR_OPTION = failure(
    en=("{command} has no option {option}. Did you mean {nearest}?", "Run {command} --help to see its options."),
    zh=("{command} 没有选项 {option}。您是否想用 {nearest}？", "运行 {command} --help 查看它的选项。"),
)
MISSING_ARGUMENT = failure(
    en=("{command}: expected {name}, found nothing.", "Run {command} --help to see what it takes."),
    zh=("{command}：缺少 {name}。", "运行 {command} --help 查看它需要什么。"),
)
MISSING_VALUE = failure(
    en=("{command}: expected a value after {name}, found none.", "Write it as {name} VALUE."),
    zh=("{command}：{name} 之后缺少值。", "请写成 {name} 值。"),
)
NOT_WHOLE = failure(
    en=("{name}: expected a whole number, got {value}.", "Give a number such as 8."),
    zh=("{name}：应为整数，实际为 {value}。", "请给出整数，例如 8。"),
)
NOT_NUMBER = failure(
    en=("{name}: expected a number, got {value}.", "Give a number such as 0.7."),
    zh=("{name}：应为数字，实际为 {value}。", "请给出数字，例如 0.7。"),
)
NOT_CHOICE = failure(
    en=("{name}: expected one of {choices}, got {value}.", "Choose one of those."),
    zh=("{name}：应为 {choices} 之一，实际为 {value}。", "请从中选择一个。"),
)
NOT_VALUE = failure(
    en=("{name}: the value {value} cannot be read.", "Run {command} --help to see what it takes."),
    zh=("{name}：无法识别值 {value}。", "运行 {command} --help 查看它需要什么。"),
)
TWICE = failure(
    en=("{name} is given twice.", "Give it once."),
    zh=("{name} 给出了两次。", "请只给出一次。"),
)
TOO_MANY = failure(
    en=("{command} does not take this: {value}.", "Put a text of several words in quotes."),
    zh=("{command} 不接受：{value}。", "多个词的文本请放在引号里。"),
)
BAD_CALL = failure(
    en=("{command}: {detail}", "Run {command} --help to see what it takes."),
    zh=("{command}：{detail}", "运行 {command} --help 查看它需要什么。"),
)
NO_FOLDER = failure(
    en=("The current folder has been removed.", "Change to a folder that exists, then run the command again."),
    zh=("当前文件夹已被删除。", "请切换到存在的文件夹，再重新运行命令。"),
)
NOT_UTF8 = failure(
    en=(
        "{source}: expected UTF-8 text, found the byte {byte} at position {position}.",
        "Convert it first, for example with: iconv -f GB18030 -t UTF-8",
    ),
    zh=(
        "{source}：应为 UTF-8 文本，第 {position} 位是字节 {byte}。",
        "请先转换编码，例如：iconv -f GB18030 -t UTF-8",
    ),
)
NO_INPUT = failure(
    en=("Expected {name}, or text on standard input, found neither.", "Write {name} after the command, or pipe it in."),
    zh=("应有 {name} 或标准输入中的文本，两者都没有。", "请在命令后写出 {name}，或用管道传入。"),
)
NOT_IDS = failure(
    en=("Expected token ids, whole numbers with spaces between them, found {value}.", "Give ids such as: 72 101 108"),
    zh=("应为以空格分隔的词元编号，实际有 {value}。", "请给出编号，例如：72 101 108"),
)
NO_SUCH_DEMO = failure(
    en=("There is no demonstration {number}; there are {known}.", "Leave the number out to run them all."),
    zh=("没有第 {number} 个演示；可选的有 {known}。", "省略编号即运行全部演示。"),
)

# Why it stopped
INTERRUPTED = failure(
    en=("Interrupted.", "Run the same command again to start over."),
    zh=("已中断。", "重新运行同一命令即可。"),
)
TERMINATED = failure(
    en=("Stopped by a signal ({name}).", "Run the same command again to start over."),
    zh=("被信号（{name}）终止。", "重新运行同一命令即可。"),
)
OUT_OF_MEMORY = failure(
    en=(
        "The machine has no more memory to give.",
        "Use a smaller model, --dtype bfloat16 or a shorter text, or close other programs; clearformer env shows what is free.",
    ),
    zh=(
        "内存不足。",
        "请改用更小的模型、--dtype bfloat16 或更短的文本，或关闭其他程序；clearformer env 可查看可用内存。",
    ),
)
SYSTEM = failure(
    en=("{path}: {detail}.", "Check the path, its permissions and the disk."),
    zh=("{path}：{detail}。", "请检查路径、权限和磁盘。"),
)
MODULE_MISSING = failure(
    en=("The Python package {name} is not installed.", "Install it: pip install {name}"),
    zh=("没有安装 Python 包 {name}。", "请安装：pip install {name}"),
)
INTERNAL = failure(
    en=("Internal error ({name}).", "Run the command again with --debug, and report what it prints."),
    zh=("内部错误（{name}）。", "请加上 --debug 重新运行，并报告其输出。"),
)

# What is printed
READING = Message("Reading", "读取")
NO_TEXT_FILE = failure(
    en=(
        "Expected at least one text file, found none.",
        "Name the files to learn from: clearformer tokenizer train FILE …",
    ),
    zh=("至少应有一个文本文件，实际没有。", "请写出用来学习的文件：clearformer tokenizer train 文件 …"),
)
LEARNING = Message("Learning merges …", "正在学习合并……")
TRAINED = Message(
    "{vocabulary} tokens: {merges} merges, {special} special tokens; a token holds {ratio:.2f} bytes of the text on average.",
    "共 {vocabulary} 个词元：{merges} 次合并，{special} 个特殊词元；平均每个词元 {ratio:.2f} 字节。",
)
PULLING = Message("Fetching {name}", "获取 {name}")
PLANNED = Message(
    "{name} at {commit}: {files} files, {size}, of which {missing} are to be fetched.",
    "{name}（{commit}）：{files} 个文件，共 {size}，其中 {missing} 待下载。",
)
PLANNED_FILE = Message("  {size:>10}  {name}", "  {size:>10}  {name}")
PLANNED_REST = Message("  {size:>10}  in {count} smaller files", "  {size:>10}  其余 {count} 个较小的文件")
LOADING = Message("Loading {name}", "载入 {name}")
EXPORTING = Message("Exporting {name}", "导出 {name}")
FELL_BACK = Message(
    "{count} tensors are f16, {first} the first: their rows do not divide into the blocks of 32 that {kind} needs.",
    "有 {count} 个张量存为 f16（首个为 {first}）：其行长不能分成 {kind} 所需的 32 个一块。",
)
FORM_OF_FOLDER = failure(
    en=(
        "{found} is a form of folders; {out} is to be a GGUF file, which has one.",
        "Leave it out, or give a name without .gguf.",
    ),
    zh=("{found} 是文件夹的形式；{out} 是 GGUF 文件，只有一种形式。", "请去掉该选项，或改用不带 .gguf 的名称。"),
)
TYPE_OF_FILE = failure(
    en=("{found} is for GGUF files; {out} is to be a folder.", "Leave it out, or give a name that ends in .gguf."),
    zh=("{found} 只用于 GGUF 文件；{out} 是文件夹。", "请去掉该选项，或改用以 .gguf 结尾的名称。"),
)
MEASURING = Message("Measuring for some two minutes …", "正在测量，约需两分钟……")
BACKENDS = Message("Backends and number types", "后端与数值类型")
NOTHING_STORED = Message(
    "The cache {path} is empty. Built in and one command away: clearformer pull {builtin}",
    "缓存 {path} 为空。内置模型一条命令即可获取：clearformer pull {builtin}",
)
REMOVED = Message("Removed {name}, {size} freed.", "已删除 {name}，释放 {size}。")
INTACT = Message("Every file has its recorded SHA-256.", "每个文件的 SHA-256 都与记录一致。")
ALL_PASSED = Message("ALL CHECKS PASSED", "全部检查通过 · ALL CHECKS PASSED")
SOME_FAILED = Message(
    "CHECKS FAILED in demonstrations: {names}", "以下演示的检查未通过 · CHECKS FAILED in demonstrations: {names}"
)
CAUGHT_BY = Message(
    "The planted fault {fault} was caught, as it should be, by:", "植入的错误 {fault} 被发现了，正该如此："
)
CAUGHT = Message("  ✗ {n}. {law}", "  ✗ {n}. {law}")
NOT_TOUCHED = Message(
    "The planted fault {fault} does not touch this demonstration; without a number, all of them run.",
    "植入的错误 {fault} 影响不到这个演示；省略编号即运行全部演示。",
)
