"""The laws of a training's course: what each says, when an alarm is false, the evidence, the causes and their mends."""

from __future__ import annotations

from clearformer.messages import Message, failure

NO_METRICS = Message("The folder holds no metrics of a training.", "文件夹中没有训练指标。")
TOO_SHORT = Message(
    "The run has {found} losses; a trend takes {fewest} over {steps} steps.",
    "该训练只有 {found} 个损失值；判断趋势需要 {steps} 步中的 {fewest} 个。",
)
NO_RATES = Message("The metrics hold no learning rates.", "指标中没有学习率。")
NO_NORMS = Message(
    "The metrics hold {found} gradient norms; it takes {fewest}.",
    "指标中只有 {found} 个梯度范数，至少需要 {fewest} 个。",
)
NO_HELD_OUT = Message(
    "The metrics hold {found} losses on held-out data; it takes {fewest}.",
    "指标中只有 {found} 个留出数据上的损失，至少需要 {fewest} 个。",
)

FALLS = Message("A loss that is trained falls.", "训练中的损失会下降。")
FALLS_RISK = Message(
    "A model that was already trained may have little left to learn: such a loss is far below ln V, and only a warning.",
    "已训练好的模型可能没有多少可学：这时损失远低于 ln V，只作警告。",
)
AT_LN_V = Message(
    "after {step} steps the loss is {last:.3f}; knowing nothing of {choices} choices is ln V = {nothing:.3f}",
    "{step} 步之后损失为 {last:.3f}；对 {choices} 个选项一无所知即 ln V = {nothing:.3f}",
)
NOT_FALLING = Message(
    "the loss began at {first:.3f} and is {last:.3f} after {step} steps",
    "损失从 {first:.3f} 开始，{step} 步之后为 {last:.3f}",
)

STEADY = Message(
    "A loss stays finite, does not leap, and ends near its lowest.", "损失保持有限，不突跳，结束时接近最低值。"
)
STEADY_RISK = Message(
    "Small batches stray; a leap is ten times as far as the losses before it do, and a third of their size.",
    "小批量本来就有波动；突跳须为此前波动的十倍以上，且超过其大小的三分之一。",
)
NOT_FINITE = Message(
    "{count} losses are not finite, first at step {first}", "有 {count} 个损失不是有限数，首次在第 {first} 步"
)
DIVERGED = Message(
    "the loss ends at {last:.3f}, after it has been {lowest:.3f}", "损失曾低至 {lowest:.3f}，结束时为 {last:.3f}"
)
SPIKES = Message(
    "{count} losses leap; the largest, {loss:.3f} at step {step}, stands beside {before:.3f} before it",
    "有 {count} 处突跳；最大的在第 {step} 步，为 {loss:.3f}，而此前为 {before:.3f}",
)

RATE = Message("The learning rate is above zero while steps remain.", "只要还有步数，学习率就大于零。")
RATE_RISK = Message(
    "A plan may begin at zero, which is a remark, and end there, which is none.",
    "计划可以从零开始（只作提示），也可以以零结束（不提示）。",
)
RATE_ALL_ZERO = Message("all {total} rates are 0: no weight moves", "全部 {total} 个学习率都是 0：没有权重会变化")
RATE_ZERO = Message(
    "the rate is 0 from step {first} to {last}: {count} of {total} updates move nothing",
    "从第 {first} 步到第 {last} 步学习率为 0：{total} 次更新中有 {count} 次毫无作用",
)
RATE_ZERO_FIRST = Message(
    "the rate is 0 at step {first}: that update moves nothing", "第 {first} 步的学习率为 0：这次更新毫无作用"
)

HOLDS_OUT = Message("What is learnt holds for data that is not trained on.", "学到的东西对未训练的数据也成立。")
HOLDS_OUT_RISK = Message(
    "Held-out losses stray; it takes a tenth above the best while the training loss goes on falling.",
    "留出损失会波动；须高出最佳值一成，且训练损失仍在下降。",
)
OVERFITS = Message(
    "the held-out loss was {best:.3f} at step {step} and is {last:.3f} at step {end}, while the training loss fell to "
    "{trained:.3f}",
    "留出损失在第 {step} 步为 {best:.3f}，到第 {end} 步为 {last:.3f}，而训练损失降到了 {trained:.3f}",
)
TOO_GOOD = Message(
    "the held-out loss is {last:.4f} nats among {choices} tokens: no text is that predictable",
    "在 {choices} 个词元中，留出损失为 {last:.4f} 奈特：没有文本如此可预测",
)

GRADIENTS = Message("Gradients arrive, neither vanished nor exploding.", "梯度能够到达，既不消失也不爆炸。")
GRADIENTS_RISK = Message(
    "Norms differ by model and loss; only a size near nothing, or a growth by hundreds, counts.",
    "范数因模型与损失而异；只有近乎为零，或增长数百倍才算。",
)
NORM_NOT_FINITE = Message(
    "{count} gradient norms are not finite, first at step {first}",
    "有 {count} 个梯度范数不是有限数，首次在第 {first} 步",
)
NORM_ZERO = Message("the gradient norm ends at {last:.1e}", "梯度范数最后为 {last:.1e}")
NORM_GROWS = Message(
    "the gradient norm grew from {first:.3g} to {last:.3g}", "梯度范数从 {first:.3g} 增长到 {last:.3g}"
)

STUCK = Message(
    "Nothing is learnt: the model gives every choice the same chance.", "什么都没有学到：模型给每个选项同样的概率。"
)
STUCK_FIX = Message(
    "Check that the optimizer has model.parameters(), that loss.backward() reaches them, and that blocks add to a residual; run `clearformer doctor` on the model.",
    "请检查优化器得到了 model.parameters()、loss.backward() 能到达它们、各层带有残差；并对模型本身运行 `clearformer doctor`。",
)
FLAT = Message("The loss does not fall.", "损失没有下降。")
FLAT_FIX = Message(
    "Overfit one batch first: if that fails, the fault is in model, loss or optimizer, not in the data.",
    "先让它过拟合一个批次：若做不到，错误在模型、损失或优化器，而不在数据。",
)
SPIKE = Message("The loss leaps and comes back.", "损失突跳后又恢复。")
SPIKE_FIX = Message(
    "Clip gradients (clip_grad_norm_(…, 1.0)), lengthen warm-up, or lower beta2 to 0.95; look at the batch of that step.",
    "裁剪梯度（clip_grad_norm_(…, 1.0)）、延长预热，或把 beta2 降到 0.95；并查看那一步的数据。",
)
PARTED = Message("The training diverged.", "训练发散了。")
PARTED_FIX = Message(
    "Lower the learning rate by three, warm up, clip gradients; go on from a state before the rise.",
    "把学习率降到三分之一，加预热，裁剪梯度；从上升之前的状态继续。",
)
INFINITE = Message("The loss is not finite.", "损失不是有限数。")
INFINITE_FIX = Message(
    "Look for a row without targets, a fully masked row, log(0), or float16 overflow; torch.autograd.set_detect_anomaly names the line.",
    "请查找没有目标的行、被完全遮住的行、log(0) 或 float16 溢出；torch.autograd.set_detect_anomaly 会指出是哪一行。",
)
NO_RATE = Message("The learning rate is zero.", "学习率为零。")
NO_RATE_FIX = Message(
    "Give the schedule as many steps as are made, once an update; lambda step: (step + 1) / warmup begins above zero.",
    "按实际步数设置学习率计划，每次更新走一步；lambda step: (step + 1) / warmup 可从零以上开始。",
)
OVERFIT = Message("The model learns its training data by heart.", "模型在背诵训练数据。")
OVERFIT_FIX = Message(
    "Keep the weights of the best evaluation; more data, dropout or weight decay, or fewer steps.",
    "保留评估最佳时的权重；增加数据、dropout 或权重衰减，或减少步数。",
)
UNTRUE = Message("The loss is too good: the answer is in the input.", "损失好得不真实：答案就在输入里。")
UNTRUE_FIX = Message(
    "Check the causal mask and the shift of the labels: clearformer doctor my_model.py:build --loss my_train.py:loss",
    "请检查因果掩码与标签的移位：clearformer doctor my_model.py:build --loss my_train.py:loss",
)
VANISHED = Message("The gradient has vanished.", "梯度消失了。")
VANISHED_FIX = Message(
    "Look for detach() or no_grad() on the way, blocks without residuals, saturated softmax, or clipping before unscale_.",
    "请查找途中的 detach() 或 no_grad()、没有残差的层、饱和的 softmax，或在 unscale_ 之前的裁剪。",
)
EXPLODES = Message("The gradient explodes.", "梯度爆炸。")
EXPLODES_FIX = Message(
    "Clip it (clip_grad_norm_(model.parameters(), 1.0)), lower the learning rate, and check the scale of scores and initial weights.",
    "裁剪梯度（clip_grad_norm_(model.parameters(), 1.0)），降低学习率，并检查分数与初始权重的尺度。",
)

WATCHED = Message(
    "doctor: {severity} {check}: {evidence}. {cause} Mend: {fix}",
    "诊断：{severity} {check}：{evidence}。{cause}修复：{fix}",
)
STOPPED = failure(
    en=(
        "Training was stopped: {cause}: {evidence}.",
        "Mend it, then go on from the last good state; Watch(stop=False) only tells.",
    ),
    zh=("训练已停止：{cause}：{evidence}。", "请修复后从最近的良好状态继续；Watch(stop=False) 只作提示。"),
)
WATCHING = Message("Watching {path}; Ctrl-C ends it.", "正在跟踪 {path}；按 Ctrl-C 结束。")
WATCHED_END = Message(
    "Nothing new for {seconds:.0f} s: the run has ended, or rests.", "已 {seconds:.0f} 秒没有新内容：训练已结束或暂停。"
)
NO_RUN = failure(
    en=(
        "{path}: expected a run's folder to watch, found none.",
        "Give the folder that the training writes its metrics into.",
    ),
    zh=("{path}：应为要跟踪的训练文件夹，实际没有。", "请给出训练写入指标的文件夹。"),
)
