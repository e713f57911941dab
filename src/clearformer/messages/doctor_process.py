"""What the doctor says about the user's code as such: where it lies, that it raised, ended, hung or wanted too much."""

from __future__ import annotations

from clearformer.messages import Message, failure

# Finding it
NO_FUNCTION_NAMED = failure(
    en=(
        "{target}: expected FILE.py:NAME or package.module:NAME.",
        "Name the function that makes the model: my_model.py:build",
    ),
    zh=("{target}：应为 文件.py:名称 或 包.模块:名称。", "请写出构建模型的函数：my_model.py:build"),
)
NO_SUCH_FILE = failure(
    en=("There is no file {path}.", "Check the path; it counts from the current folder."),
    zh=("没有文件 {path}。", "请检查路径，它从当前文件夹算起。"),
)
NO_SUCH_MODULE = failure(
    en=(
        "There is no module {name}.",
        "Run the command in the folder that holds it, or give the file: path/to/file.py:NAME",
    ),
    zh=("没有模块 {name}。", "请在含有它的文件夹中运行，或给出文件：path/to/file.py:名称"),
)
NO_SUCH_FUNCTION = failure(
    en=(
        "{place} has no {name}; it has {known}.{near}",
        "Name one of those; a model is named by a function without arguments that returns it.",
    ),
    zh=("{place} 中没有 {name}，只有：{known}。{near}", "请给出其中之一；模型应由一个无参数、返回模型的函数给出。"),
)
IMPORT_RAISED = failure(
    en=(
        "Importing {target} raised {kind} at {place}: {detail}.",
        "Import it in Python by itself first, and mend that line.",
    ),
    zh=("导入 {target} 时在 {place} 引发了 {kind}：{detail}。", "请先在 Python 中单独导入它，并修正该行。"),
)
RAISED = failure(
    en=("{target} raised {kind} at {place}: {detail}.", "Call it in Python by itself first, and mend that line."),
    zh=("{target} 在 {place} 引发了 {kind}：{detail}。", "请先在 Python 中单独调用它，并修正该行。"),
)
WANTED_NETWORK = failure(
    en=(
        "{target} wanted the network at {place}, and did not get it ({kind}: {detail}).",
        "Let it build the model from a config or from files that are here, or let it through: --network",
    ),
    zh=(
        "{target} 在 {place} 想访问网络，未获允许（{kind}：{detail}）。",
        "请让它由配置或本机文件构建模型，或放行：--network",
    ),
)
WANTED_MEMORY = failure(
    en=(
        "{target} wanted more memory than it may take, at {place} ({kind}: {detail}).",
        "Hand in a smaller model of the same kind, or let it take more: --memory-limit 64GB",
    ),
    zh=(
        "{target} 在 {place} 需要的内存超过上限（{kind}：{detail}）。",
        "请交入同类的较小模型，或放宽上限：--memory-limit 64GB",
    ),
)
WANTS_ARGUMENTS = failure(
    en=(
        "{target} needs arguments: {needed}.",
        "Write a function without arguments that calls it with those you train with, and name that one.",
    ),
    zh=("{target} 需要参数：{needed}。", "请写一个无参数的函数，用您训练时的参数调用它，并给出那个函数。"),
)
MAKES_OTHER = failure(
    en=("{target}: expected {role}, found {found}.", "Let it return that object, or a tuple with it inside."),
    zh=("{target}：应为 {role}，实际为 {found}。", "请让它返回该对象，或含有它的元组。"),
)

NO_CODE = failure(
    en=(
        "{option}: expected FILE.py:NAME or package.module:NAME, found {found}.",
        "Name the file and the function in it: my_train.py:loss",
    ),
    zh=("{option}：应为 文件.py:名称 或 包.模块:名称，实际为 {found}。", "请写出文件与其中的函数：my_train.py:loss"),
)
NO_SUCH_CHECK = failure(
    en=("There is no check {found}; there are {known}.", "docs/doctor.md says what each of them looks at."),
    zh=("没有检查 {found}；可选的有 {known}。", "各项检查的内容见 docs/doctor.md。"),
)
WITHOUT_TARGET = failure(
    en=("{option} needs something to examine.", "Name it: clearformer doctor my_model.py:build {option} …"),
    zh=("{option} 需要有检查对象。", "请指明对象：clearformer doctor my_model.py:build {option} …"),
)
NO_FILE = failure(
    en=("{option}: expected a file to write, found {found!r}.", "Give a file's name: {option} doctor.out"),
    zh=("{option}：应为要写入的文件，实际为 {found!r}。", "请给出文件名：{option} doctor.out"),
)
NOT_WATCHED = failure(
    en=(
        "{option} has no meaning with --watch, which follows a run's metrics.",
        "Leave it out, or examine first without --watch.",
    ),
    zh=("{option} 与 --watch 并用没有意义：后者只跟踪训练的指标。", "请去掉它，或先不带 --watch 做一次检查。"),
)
BAD_SIZE = failure(
    en=(
        "{option}: expected 1 to {most}, got {found}.",
        "Give the size that the model was built with, or leave it out.",
    ),
    zh=("{option}：应为 1 到 {most}，实际为 {found}。", "请给出构建模型时的大小，或不写该选项。"),
)
BAD_ID = failure(
    en=(
        "{option}: expected an id from 0 to {most}, got {found}.",
        "Ids lie below --vocab; give the one that your tokenizer has, or leave it out.",
    ),
    zh=(
        "{option}：应为 0 到 {most} 的编号，实际为 {found}。",
        "编号须小于 --vocab；请给出分词器中的编号，或不写该选项。",
    ),
)
BAD_TIME = failure(
    en=("--time-limit: expected 1 to 86400 seconds, got {found}.", "Give seconds, such as --time-limit 300."),
    zh=("--time-limit：应为 1 到 86400 秒，实际为 {found}。", "请给出秒数，例如 --time-limit 300。"),
)

# How its process ended
ENDED_LOADING = failure(
    en=(
        "The code ended its own process ({how}) while {target} was being loaded. Its last words: {words}",
        'Keep training and sys.exit under `if __name__ == "__main__":`, so that the file can be imported.',
    ),
    zh=(
        "载入 {target} 时，代码结束了自己的进程（{how}）。最后的输出：{words}",
        '请把训练与 sys.exit 放到 `if __name__ == "__main__":` 之下，使文件可以被导入。',
    ),
)
HUNG_LOADING = failure(
    en=(
        "Loading {target} took longer than {seconds:.0f} s and was ended. Its last words: {words}",
        'Keep training under `if __name__ == "__main__":`, or give it longer: --time-limit {more:.0f}',
    ),
    zh=(
        "载入 {target} 超过 {seconds:.0f} 秒，已终止。最后的输出：{words}",
        '请把训练放到 `if __name__ == "__main__":` 之下，或延长时限：--time-limit {more:.0f}',
    ),
)
ENDED_CALLING = failure(
    en=(
        "The module ended its own process ({how}) when it was called. Its last words: {words}",
        "Call it once by itself, with random ids below --vocab, and take exits out of forward.",
    ),
    zh=(
        "模块在被调用时结束了自己的进程（{how}）。最后的输出：{words}",
        "请先单独调用它一次（随机编号小于 --vocab），并去掉 forward 中的退出语句。",
    ),
)
HUNG_CALLING = failure(
    en=(
        "The module had not answered after {seconds:.0f} s when it was called, and was ended. Its last words: {words}",
        "Hand in a smaller one of the same kind, or give it longer: --time-limit {more:.0f}",
    ),
    zh=(
        "模块被调用后 {seconds:.0f} 秒没有回应，已终止。最后的输出：{words}",
        "请交入同类的较小模型，或延长时限：--time-limit {more:.0f}",
    ),
)
NO_PROCESS = failure(
    en=("No process could be started: {detail}.", "Close other programs, then run the command again."),
    zh=("无法启动进程：{detail}。", "请关闭其他程序后重新运行。"),
)
ENDED_IN = Message(
    "The code ended its own process under this check ({how}).", "代码在这项检查中结束了自己的进程（{how}）。"
)
HUNG_IN = Message(
    "It took longer than {seconds:.0f} s under this check and was ended.", "这项检查超过 {seconds:.0f} 秒，已终止。"
)
NOT_REACHED = Message("Not reached: the process ended before.", "未进行：进程在此之前已结束。")
WENT_ON = Message(
    "The process ended in {check} ({how}); the examination was begun again without it.",
    "进程在 {check} 中结束（{how}）；已略去它重新检查。",
)
STOPPED_EARLY = Message(
    "The examination ended early ({how}): causes are by suspicion alone.", "检查提前结束（{how}）：原因仅凭推断。"
)
FLOOD = Message("The code printed {size}; it is not shown.", "代码输出了 {size}，未予显示。")
REMAINED = Message(
    "The code left processes behind that had gone out of its session: {count} ({names}). They were ended.",
    "代码留下了脱离其会话的进程：{count} 个（{names}），均已终止。",
)
REFUSED_NETWORK = Message(
    "The code wanted the network ({to}), and did not get it; --network lets it.",
    "代码想访问网络（{to}），未获允许；--network 可放行。",
)

# How a process ends
EXIT_CODE = Message("exit code {code}", "退出码 {code}")
SIGNAL = Message("signal {name}", "信号 {name}")
INTERRUPTED = Message("it was broken off", "已被中断")
OVER_TIME = Message("its time was over", "时限已到")
CLOSED = Message("it closed its results", "结果通道被关闭")
NOT_LOADED = Message("The checkpoint does not load: {why}", "检查点无法载入：{why}")

ROLES = {
    "model": Message("an nn.Module", "nn.Module"),
    "tokenizer": Message("a tokenizer", "分词器"),
}
STARTING = Message("Loading {target}", "载入 {target}")
EXAMINING = Message("{check} {name}", "{check} {name}")
DECIDING = Message("Telling the causes apart", "区分原因")
