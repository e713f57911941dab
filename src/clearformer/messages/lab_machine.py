"""What the laboratory says whatever the experiment: plans, refusals, verdicts, the words of its tables."""

from __future__ import annotations

from clearformer.messages import Message, counted, failure

UNKNOWN_EXPERIMENT = failure(
    en=("No experiment is called {found}.{hint}", "clearformer lab lists them; a file of your own ends in .yaml."),
    zh=("没有名为 {found} 的实验。{hint}", "clearformer lab 列出全部实验；自定义实验文件以 .yaml 结尾。"),
)
LIST_AND_NAME = failure(
    en=("--list lists every experiment and runs none; found {found} beside it.", "Leave one of the two out."),
    zh=("--list 只列出实验而不运行，却同时给出了 {found}。", "请去掉其中一个。"),
)
BAD_SEEDS = failure(
    en=("Expected 1 to {most} seeds, found {found}.", "Five give an interval of a fair width."),
    zh=("种子数应为 1 到 {most}；实际是 {found}。", "五个种子即可得到宽度合适的区间。"),
)
BAD_WORKERS = failure(
    en=("Expected at least one worker, found {found}.", "Leave --workers out for one a core."),
    zh=("至少需要一个工作进程；实际是 {found}。", "省略 --workers 即每核一个。"),
)
ALONE = failure(
    en=(
        "{name} measures time: its trials run one by one, and {found} workers would disturb each other.",
        "Leave --workers out.",
    ),
    zh=("{name} 测量时间，各次试验须逐个运行；{found} 个进程会互相干扰。", "请去掉 --workers。"),
)
BUDGET_TOO_SHORT = failure(
    en=(
        "{budget:g} s are too short: {trials} trials of one step, each with its evaluation, do not fit.",
        "Give --budget {least}s or more{or_}.",
    ),
    zh=(
        "{budget:g} 秒太短：{trials} 次试验即使各只做一步并评估一次也放不下。",
        "请给出 --budget {least}s 或更长{or_}。",
    ),
)
OR_FEWER_SEEDS = Message(", or fewer seeds than {seeds} by --seeds", "，或用 --seeds 给出少于 {seeds} 个种子")
NO_FEWER_SEEDS = Message("", "")
NO_STEPS = failure(
    en=(
        "{name} reads with a published model and trains nothing: there are no steps that a budget could hold.",
        "Leave --budget out.",
    ),
    zh=("{name} 只用已发布的模型阅读，不训练，没有可由预算决定的步数。", "请去掉 --budget。"),
)
NOT_EQUAL = failure(
    en=(
        "The arms promise equal {what} and differ: {first} has {expected:,}, {arm} has {found:,}.",
        "Change a width until the two agree, or take the promise out of the experiment.",
    ),
    zh=(
        "各组承诺{what}相等，实际不同：{first} 为 {expected:,}，{arm} 为 {found:,}。",
        "请调整宽度直至两者一致，或从实验中去掉这项承诺。",
    ),
)
FACTS = {
    "parameters": Message("parameters", "参数量"),
    "active_parameters": Message("active parameters", "激活参数量"),
    "cache_bytes": Message("cache bytes a token", "每词元缓存字节"),
}


def arms_of(count: int) -> Message:
    return counted(count, "arm", "arms", "组")


def seeds_of(count: int) -> Message:
    return counted(count, "seed", "seeds", "个种子")


def steps_of(count: int) -> Message:
    return counted(count, "step", "steps", "步")


CANNOT_CREATE = failure(
    en=("The experiment's folder {path} cannot be made: {detail}.", "Give another folder by --out."),
    zh=("无法建立实验文件夹 {path}：{detail}。", "请用 --out 给出另一个文件夹。"),
)
NOT_A_NOTEBOOK = failure(
    en=("{path} holds {found}, which is no part of an experiment.", "Give an empty or a new folder by --out."),
    zh=("{path} 中有 {found}，它不属于任何实验。", "请用 --out 给出空文件夹或新文件夹。"),
)
PLAN_DAMAGED = failure(
    en=("{path} does not hold what this program writes there.", "Remove the file, or begin in a new folder by --out."),
    zh=("{path} 的内容不是本程序写入的。", "请删除该文件，或用 --out 在新文件夹中开始。"),
)
OTHER_EXPERIMENT = failure(
    en=(
        "{path} holds trials of {kept} whose arms are not those of {asked} now: they would not compare.",
        "Give a new folder by --out.",
    ),
    zh=("{path} 中 {kept} 的试验与现在 {asked} 的各组不同，无法比较。", "请用 --out 给出新文件夹。"),
)
OTHER_BUDGET = failure(
    en=(
        "{path} was planned for {kept:g} s, {steps} a trial; found --budget {asked:g}s.",
        "Leave --budget out to go on with that plan, or give a new folder by --out.",
    ),
    zh=(
        "{path} 的计划是 {kept:g} 秒、每次试验 {steps}；实际给出 --budget {asked:g}s。",
        "省略 --budget 即按原计划继续，或用 --out 给出新文件夹。",
    ),
)
WORKER_DIED = failure(
    en=(
        "The process that ran {arm} with seed {seed} ended before its time: {detail}",
        "Free some memory or give fewer --workers, then run the same command with --out and the folder: what is done stays.",
    ),
    zh=(
        "运行 {arm}（种子 {seed}）的进程提前结束：{detail}",
        "请释放内存或减少 --workers，然后用 --out 指定该文件夹重新运行：已完成的部分会保留。",
    ),
)

FOLDER = Message(
    "The experiment lies in {path}; cut off, it goes on with --out {path}.",
    "实验位于 {path}；若被中断，用 --out {path} 继续。",
)
TIMING = Message("Timing one trial of each arm.", "正在为每组计时一次。")
PLANNED = Message(
    "{budget:g} s are enough for {steps} a trial, {arms} × {seeds}.",
    "{budget:g} 秒够每次试验做 {steps}，共 {arms} × {seeds}。",
)
PLANNED_ANEW = Message(
    "This machine is slower now than when it was timed. To end within {budget:g} s all begin again, with {steps} a trial.",
    "机器比计时的时候慢。为了在 {budget:g} 秒内结束，全部重新开始，每次试验做 {steps}。",
)
GOING_ON = Message("Going on; trials done: {done} of {count}.", "继续：{count} 次试验中已完成 {done} 次。")
RUNNING = Message("Running {name}", "正在运行 {name}")

ARM = Message("arm", "组")
SETTING = Message(
    "{arms} × {seeds} × {steps}; means and {level} % intervals over the seeds (Student's t).",
    "{arms} × {seeds} × {steps}；均值与种子间的 {level}% 区间（学生 t 分布）。",
)
SETTING_OF_ONE = Message(
    "{arms} × {seeds} × {steps}; one seed gives no interval.", "{arms} × {seeds} × {steps}；只有一个种子，没有区间。"
)
EQUAL, COUNT_OF = (
    Message("Equal in all arms: {facts}.", "各组相等：{facts}。"),
    Message("{what} {count:,}", "{what} {count:,}"),
)
NOT_ALIKE = Message(
    "The arms differ in parameters, and what a figure owes to that is not told apart.",
    "各组的参数量不同，指标中有多少出于这一点，此处不作区分。",
)
SEPARATOR, QUOTED = Message(", ", "、"), Message("“{name}”", "“{name}”")
HIGHEST, LOWEST = Message("highest", "最高"), Message("lowest", "最低")
ONE_SEED = Message(
    "{best} has the {extreme} {figure}, {mean}; one seed gives no interval, so nothing is decided.",
    "{best}的{figure}{extreme}，为 {mean}；只有一个种子，没有区间，不能下结论。",
)
APART_FROM_ALL = Message(
    "{best} has the {extreme} {figure}, {mean}; its {level} % interval does not overlap with that of {apart}.",
    "{best}的{figure}{extreme}，为 {mean}；其 {level}% 区间与{apart}的区间不重叠。",
)
APART_FROM_NONE = Message(
    "Undecided: {best} has the {extreme} {figure}, {mean}, but its {level} % interval overlaps with that of {near}.",
    "未定：{best}的{figure}{extreme}，为 {mean}，但其 {level}% 区间与{near}的区间重叠。",
)
APART_FROM_SOME = Message(
    "{best} has the {extreme} {figure}, {mean}; its {level} % interval overlaps with that of {near}, and not with that of {apart}.",
    "{best}的{figure}{extreme}，为 {mean}；其 {level}% 区间与{near}的区间重叠，与{apart}的不重叠。",
)
UNDECIDED = Message(
    "Undecided: {best} has the {extreme} {figure}, {mean}.", "未定：{best}的{figure}{extreme}，为 {mean}。"
)
ALONE_MEASURED = Message(
    "{best} alone has a figure, {mean}: there is nothing to compare it with.",
    "只有{best}有结果，{figure}为 {mean}：无从比较。",
)
NO_INTERVAL = Message(" Of {arms} a single seed is left, which gives no interval.", "{arms}只剩一个种子，没有区间。")
ALL_DIVERGED = Message("Every trial diverged: nothing can be compared.", "所有试验都发散了：无从比较。")
DIVERGED = Message(" Diverged, of the seeds: {arms}.", "发散的种子数：{arms}。")
HELD = {
    "so": Message("measured: so", "实测：成立"),
    "not so": Message("measured: the other way round", "实测：相反"),
    "undecided": Message("measured: undecided, the intervals do not stand apart", "实测：未定，两个区间没有分开"),
}
CLAIM = Message("The source says: {says} — {held}.", "来源称：{says}——{held}。")

PICTURE_TEXT = Message("{title} {verdict}", "{title}{verdict}")
LEARNING_X, LEARNING_Y = Message("step", "步"), Message("training loss (nats)", "训练损失（nat）")
LOSS = Message("validation loss", "验证损失")
ACCURACY = Message("accuracy", "准确率")
FREE_RUNNING = Message("accuracy, writing itself", "自行续写的准确率")
FIRST_OVER_LAST = Message("gradient, first block / last", "梯度，首层 / 末层")
BLOCK, GRADIENT_NORM = Message("block", "层"), Message("gradient norm before training", "训练前的梯度范数")
PICTURE_AXIS = Message("{figure}: seeds, mean, {level} % interval", "{figure}：各种子、均值、{level}% 区间")
LOSS_BEYOND = Message("loss past the trained length", "超出训练长度的损失")
PLACE = Message("place in the window", "窗口中的位置")
