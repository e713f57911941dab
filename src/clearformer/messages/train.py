"""What training says: recipes that cannot be followed, steps that fail, what a run chose and where it stands."""

from __future__ import annotations

from clearformer.messages import Message, failure

# Recipes
RECIPE_UNREADABLE = failure(
    en=("The recipe {path} cannot be read: {detail}.", "Give the path of a YAML file in UTF-8."),
    zh=("无法读取配方 {path}：{detail}。", "请给出一个 UTF-8 编码的 YAML 文件的路径。"),
)
RECIPE_NOT_YAML = failure(
    en=("{path} is no recipe: expected YAML with one value for each name, found {detail}.", "Mend the file there."),
    zh=("{path} 不是配方：应为每个名称对应一个值的 YAML，实际是 {detail}。", "请修正文件的该处。"),
)
RECIPE_UNFOLDS = Message("aliases that unfold to more than {most} values", "展开后超过 {most} 个值的别名")
RECIPE_TOO_DEEP = Message("values within values, too deep to read", "嵌套过深的值")
WRONG_RECIPE = failure(
    en=("{path} is a recipe of type {found}; expected {expected}.", "Choose the task that the recipe was written for."),
    zh=("{path} 是 {found} 类型的配方；应为 {expected}。", "请选择与该配方相符的任务。"),
)
OUT_OF_RANGE = failure(
    en=("{field} must be {expected}; found {found}.", "Change {field} in the recipe, or give --{field}."),
    zh=("{field} 应为{expected}；实际是 {found}。", "请在配方中修改 {field}，或用 --{field} 给出。"),
)
AT_LEAST_0 = Message("at least 0", "不小于 0 的数")
SEED_RANGE = Message("from 0 to 2^63 − 1", "从 0 到 2^63 − 1 的整数")
AT_LEAST_1 = Message("at least 1", "不小于 1 的数")
POSITIVE = Message("more than 0", "大于 0 的数")
BELOW_1 = Message("from 0 to below 1", "从 0 到小于 1 的数")
SHARE = Message("from 0 to 1", "从 0 到 1 的数")
BAD_BUDGET = failure(
    en=("--budget is a time such as 90s, 3m or 1h; found {found}.", "Give one of that form, more than nothing."),
    zh=("--budget 是 90s、3m 或 1h 这样的时间；实际是 {found}。", "请给出这种形式的正数时间。"),
)
STEPS_AND_BUDGET = failure(
    en=("Expected steps or budget, found both: steps {steps}, budget {budget} s.", "Take one of the two out."),
    zh=("steps 与 budget 只能给出其一，实际两者都有：{steps} 步，{budget} 秒。", "请去掉其中一个。"),
)
NO_STEPS = failure(
    en=(
        "Nothing says how long to train: expected steps or budget, found neither.",
        "Give --steps N, or --budget 10m.",
    ),
    zh=("没有说明训练多久：应给出 steps 或 budget，实际都没有。", "请给出 --steps N 或 --budget 10m。"),
)

# Steps
NOT_FINITE = failure(
    en=(
        "The loss or its gradient was not finite at {count} steps in a row, the last being {step} (loss {loss}, gradient {norm}); expected finite numbers.",
        "Lower --optimizer.lr (it is {lr}), lengthen --schedule.warmup, or look for bad values in the data; what was saved before is intact.",
    ),
    zh=(
        "损失或其梯度连续 {count} 步不是有限值，最后是第 {step} 步（损失 {loss}，梯度 {norm}）；应为有限值。",
        "请减小 --optimizer.lr（现为 {lr}）、加长 --schedule.warmup，或检查数据中的异常值；此前保存的内容完好。",
    ),
)
WEIGHTS_NOT_FINITE = failure(
    en=(
        "Step {step} left weights that are not finite; expected finite numbers. They are not saved.",
        "Lower optimizer.lr or clip; the last saved state is intact.",
    ),
    zh=(
        "第 {step} 步之后出现了非有限的权重；应为有限值。它们不会被保存。",
        "请减小 optimizer.lr 或 clip；上次保存的状态完好。",
    ),
)
DIVERGED = failure(
    en=(
        "The training diverged: after step {step} the loss is {loss}, with optimizer.lr {lr}.",
        "Start again with a smaller rate, such as --optimizer.lr {lower}, or a longer --schedule.warmup; what was saved before is intact.",
    ),
    zh=(
        "训练已发散：第 {step} 步之后损失为 {loss}，optimizer.lr 为 {lr}。",
        "请改用较小的学习率重新训练，例如 --optimizer.lr {lower}，或加长 --schedule.warmup；此前保存的内容完好。",
    ),
)
SKIPPED = Message(
    "Step {step}: loss {loss}, gradient {norm}; an update that is not finite is not made ({count} of {most} before the run stops).",
    "第 {step} 步：损失 {loss}，梯度 {norm}；非有限的更新不予执行（连续 {most} 次即停止，现为第 {count} 次）。",
)

# Going on with a run
RECIPE_CHANGED = failure(
    en=(
        "The run in {path} has another recipe: {field} is {kept} there, {asked} here ({count} fields differ).",
        "Resume with the run's own recipe.yaml and no other options, or start a new run folder with the changed one.",
    ),
    zh=(
        "{path} 中的运行用的是另一份配方：{field} 在那里是 {kept}，在这里是 {asked}（共 {count} 处不同）。",
        "请用该运行自己的 recipe.yaml 且不加其他选项来继续，或用修改后的配方开始新的运行文件夹。",
    ),
)
ALREADY_BEGUN = failure(
    en=("The run in {path} has begun: expected no saved state, found step {step}.", "Give --resume, or a new folder."),
    zh=("{path} 中的运行已经开始：不应有已保存的状态，实际有第 {step} 步的。", "请加上 --resume，或换一个新文件夹。"),
)
STATE_DOES_NOT_FIT = failure(
    en=(
        "The state of step {step} in {path} does not fit this model: expected {expected}, found {found}.",
        "The data or the program changed since it was saved; start a new run folder.",
    ),
    zh=(
        "{path} 中第 {step} 步的状态与此模型不符：应为 {expected}，实际是 {found}。",
        "保存之后数据或程序有所改变；请开始新的运行文件夹。",
    ),
)
STATE_DAMAGED = Message("A damaged state is passed over: {cause}", "跳过一个损坏的状态：{cause}")
RESUMED = Message("Going on from step {step} of {steps}.", "从第 {step} 步继续，共 {steps} 步。")
FROM_THE_START = Message("No state was saved yet; starting from the beginning.", "尚无已保存的状态；从头开始。")
METRICS_LOST = Message(
    "{path} is {lost} bytes shorter than when the state was saved; its last records are lost.",
    "{path} 比保存状态时短了 {lost} 字节；最后几条记录已丢失。",
)

# What a run chose
STEPS_RECKONED = Message(
    "{budget:.0f} s are enough for {steps} steps: an update takes {update_ms:.1f} ms, an evaluation {evaluation_s:.1f} s.",
    "{budget:.0f} 秒够做 {steps} 步：一次更新 {update_ms:.1f} 毫秒，一次评估 {evaluation_s:.1f} 秒。",
)

# Who watches
NO_TRACKER = failure(
    en=(
        "The tracker {name} needs the package {package}, which is not installed.",
        "Install it: pip install {package}",
    ),
    zh=("跟踪器 {name} 需要软件包 {package}，但尚未安装。", "请安装：pip install {package}"),
)
UNKNOWN_TRACKER = failure(
    en=("No tracker is called {found}.{hint}", "Trackers: {expected}."),
    zh=("没有名为 {found} 的跟踪器。{hint}", "跟踪器有：{expected}。"),
)
BAD_BAND = failure(
    en=("{path} holds no loss curve: {detail}.", "Make it again with the command that stands in it."),
    zh=("{path} 中没有损失曲线：{detail}。", "请用其中写明的命令重新生成。"),
)
BAND_OTHER_LENGTH = Message(
    "The expected curve is for {expected} steps, this run has {found}; they are not compared.",
    "预期曲线对应 {expected} 步，本次运行为 {found} 步；不作比较。",
)
BAND_WITHIN = Message(
    "Step {step}: loss {loss:.3f} is within the expected {low:.3f} to {high:.3f}.",
    "第 {step} 步：损失 {loss:.3f} 在预期的 {low:.3f} 至 {high:.3f} 之内。",
)
BAND_ABOVE = Message(
    "Step {step}: loss {loss:.3f} is above the expected {low:.3f} to {high:.3f}: this run learns worse than it should.",
    "第 {step} 步：损失 {loss:.3f} 高于预期的 {low:.3f} 至 {high:.3f}：本次运行学得比应有的差。",
)
BAND_BELOW = Message(
    "Step {step}: loss {loss:.3f} is below the expected {low:.3f} to {high:.3f}: better than the recorded runs.",
    "第 {step} 步：损失 {loss:.3f} 低于预期的 {low:.3f} 至 {high:.3f}：好于有记录的运行。",
)

# What a run would take
PARAMETERS = Message("Parameters: {count:,}", "参数量：{count:,}")
MEMORY = Message("Memory: about {size}", "内存：约 {size}")
DATA_SIZE = Message("{name}: {count:,}", "{name}：{count:,}")
TIME = Message(
    "Time: about {time} for {steps:,} steps ({update_ms:.1f} ms an update; {evaluations} evaluations of {evaluation_s:.1f} s, with samples {share:.0%} of it)",
    "时间：{steps:,} 步约 {time}（每次更新 {update_ms:.1f} 毫秒；{evaluations} 次评估、每次 {evaluation_s:.1f} 秒，连同样例占总时间的 {share:.0%}）",
)
