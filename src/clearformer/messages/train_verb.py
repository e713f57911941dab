"""Sentences of `clearformer train` and of the verbs that use a run."""

from __future__ import annotations

from clearformer.messages import Message, failure

STEPS_OR_BUDGET = failure(
    en=("Expected --steps or --budget, found both.", "Give the number of updates, or the time to train for."),
    zh=("--steps 与 --budget 只能给出其一，实际两者都有。", "请给出更新次数，或训练时长。"),
)
RESUME_WHAT = failure(
    en=(
        "Expected --out DIR with --resume, found none.",
        "Name the run folder to go on with, such as --out runs/language-1.",
    ),
    zh=("使用 --resume 时应给出 --out 文件夹，实际没有。", "请指明要继续的运行文件夹，例如 --out runs/language-1。"),
)
RESUME_KEEPS_RECIPE = failure(
    en=(
        "Expected no --config with --resume: a run goes on with the recipe that it was started with.",
        "Leave --config out (the losses expected of it are kept in the run), or start a new run with another --out.",
    ),
    zh=(
        "--resume 不能与 --config 同用：继续运行只能沿用它开始时的配方。",
        "请去掉 --config（预期的损失曲线已保存在运行中），或用另一个 --out 开始新的运行。",
    ),
)
NO_REFERENCE = failure(
    en=(
        "Expected one reference for each of {expected} inputs, found {found}.",
        "Give a reference file with one line for each input.",
    ),
    zh=("应为 {expected} 个输入各有一条参考译文，实际为 {found} 条。", "请给出与输入逐行对应的参考文件。"),
)

READING_DATA = Message("Reading the data …", "正在读取数据……")
TRYING = Message(
    "Trying how fast this machine trains it; kept for the next time …", "正在测试本机的训练速度；结果会留待下次使用……"
)
SIZE = Message("  {name}: {count}", "  {name}：{count}")
STEP = Message(
    "loss {loss:.3f}  {speed:.0f} {unit}/s{mfu}{memory}", "损失 {loss:.3f}  {speed:.0f} {unit}/秒{mfu}{memory}"
)
UNITS = {"token": Message("tokens", "词元"), "example": Message("examples", "样本")}
EVALUATED = Message("step {step}: {figures}", "第 {step} 步：{figures}")
EVALUATED_BEST = Message("step {step}: {figures}  (best so far)", "第 {step} 步：{figures}（目前最佳）")
SAMPLE = Message("  {input} → {output}", "  {input} → {output}")
SAMPLE_TRUTH = Message("    should be: {truth}", "    应为：{truth}")
REASONS = {
    "done": Message("Trained for {step} steps.", "已训练 {step} 步。"),
    "patience": Message(
        "Stopped after {step} steps: the last evaluations were no better.", "第 {step} 步后停止：最近几次评估没有变好。"
    ),
    "SIGINT": Message(
        "Interrupted after {step} steps, saved; go on with --resume.",
        "第 {step} 步后中断，已保存；可用 --resume 继续。",
    ),
    "SIGTERM": Message(
        "Ended by SIGTERM after {step} steps, saved; go on with --resume.",
        "第 {step} 步后收到 SIGTERM，已保存；可用 --resume 继续。",
    ),
    "SIGUSR1": Message(
        "Ended by SIGUSR1 after {step} steps, saved; go on with --resume.",
        "第 {step} 步后收到 SIGUSR1，已保存；可用 --resume 继续。",
    ),
}
BEST = Message("Best {metric}: {value:.4f}, at step {step}.", "最佳 {metric}：{value:.4f}，在第 {step} 步。")
SPEED = Message("{speed:.0f} {unit} a second.", "每秒 {speed:.0f} {unit}。")
EVALUATING = Message("Evaluating", "正在评估")
EVALUATION = Message("{task}, {split}, {n}:", "{task}，{split}，{n}：")
FIGURE = Message("  {name}: {value:.4f}", "  {name}：{value:.4f}")
SIGNATURE = Message("  BLEU as {signature}", "  BLEU 的计算方式：{signature}")
NO_CLASSES_TO_DRAW = failure(
    en=(
        "--plot draws which classes are taken for which; a run of {task} has none.",
        "Leave --plot out; a run folder's plots/ shows the course of its training.",
    ),
    zh=(
        "--plot 绘制类别的混淆矩阵；{task} 的运行没有类别。",
        "请去掉 --plot；运行文件夹的 plots/ 中有训练过程图。",
    ),
)

NOTHING_TO_SCORE = failure(
    en=("--lowercase says how translations are scored, and there is no --reference.", "Give --reference FILE as well."),
    zh=("--lowercase 决定译文如何计分，但没有给出 --reference。", "请同时给出 --reference FILE。"),
)
BAD_STEPS = failure(
    en=("Expected at least 1 step to forecast, found {found}.", "Give a larger number to --steps."),
    zh=("预测步数至少为 1，实际为 {found}。", "请增大 --steps。"),
)
SHORT_TABLE = failure(
    en=(
        "Expected more rows than the {expected} to be held out, found {found}.",
        "Give a longer table, or fewer --steps.",
    ),
    zh=("行数应多于留出的 {expected} 行，实际为 {found}。", "请提供更长的表格，或减小 --steps。"),
)
NO_FOLDER_OF_RUN = failure(
    en=(
        "{name} is not a run of the task that this verb is for.",
        "Name the run folder that `clearformer train` printed.",
    ),
    zh=("{name} 不是此命令所对应任务的运行。", "请给出 `clearformer train` 打印的运行文件夹。"),
)
TRANSLATING = Message("Translating", "正在翻译")
DOCTOR = Message("{said}", "{said}")
