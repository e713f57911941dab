"""The laws of a training loop: what each says, when an alarm is false, and the evidence."""

from __future__ import annotations

from clearformer.messages import Message

LOOP = Message(
    "Each update zeroes, goes back, unscales, clips, steps and schedules once, in this order; its gradient does not depend "
    "on how the batch is cut.",
    "每次更新依次且仅一次地清零、反传、还原缩放、裁剪、更新、调度；梯度不取决于批如何切分。",
)
LOOP_RISK = Message(
    "A schedule may begin at 0, and micro-batches may all hold equally many targets on purpose: warnings.",
    "调度有意从 0 开始、各微批目标数有意相等时不算错，故只作警告。",
)
STALE = Message(
    "at {count} of {of} updates the gradients of the update before were still there when the next backward pass began",
    "{of} 次更新中有 {count} 次在下一次反传开始时仍留有上一次更新的梯度",
)
DROPPED = Message(
    "at {count} steps no parameter had a gradient, though a backward pass had come before",
    "有 {count} 次更新时没有任何参数带梯度，而此前已做过反传",
)
NOT_REACHED = Message(
    "{count} backward passes came to no parameter: the loss is cut off from the model (.item(), .detach(), torch.tensor)",
    "{count} 次反传都没有到达任何参数：损失已与模型断开（.item()、.detach()、torch.tensor）",
)
ANEW = Message(
    "at each of {steps} steps the optimizer remembers nothing of the steps before",
    "{steps} 次更新的每一次，优化器都不记得先前的更新",
)
OFF_PLAN = Message(
    "the rate is to rise for {planned} updates and is highest at update {reached}",
    "学习率应在 {planned} 次更新内升到最高，实际在第 {reached} 次更新时最高",
)
CLIP_LATE = Message(
    "{count} times the gradients were clipped when the step had already used them",
    "有 {count} 次在更新已用完梯度之后才裁剪",
)
CLIP_SCALED = Message(
    "{count} times the gradients were clipped while still multiplied by the scale ({scale:.0f})",
    "有 {count} 次在梯度仍乘着缩放系数（{scale:.0f}）时就做了裁剪",
)
CLIP_INSIDE = Message(
    "in {count} updates the gradients were clipped before the last micro-batch was added",
    "有 {count} 次更新在最后一个微批累加之前就做了裁剪",
)
NO_UPDATE = Message(
    "scaler.update() is never called: the scale never adapts", "从未调用 scaler.update()：缩放系数不会调整"
)
RATE_ZERO = Message("the learning rate was 0 at each of {count} steps", "{count} 次更新的学习率全为 0")
RATE_ZERO_FIRST = Message(
    "the learning rate was 0 at the first step ({count} steps in all), soon after {next:.3g}",
    "第一次更新的学习率为 0（共 {count} 次为 0），随后为 {next:.3g}",
)
NOT_MOVED = Message("after {steps} steps every weight is what it was", "{steps} 次更新后所有权重都没有变化")
LACKING = Message(
    "{count} of {of} parameters with a gradient are in no optimizer, first {first}",
    "{of} 个有梯度的参数中有 {count} 个不在任何优化器内，首个为 {first}",
)
TOO_MANY_TURNS = Message(
    "the scheduler was stepped {turns} times in {steps} updates: {times:.3g} times too fast",
    "{steps} 次更新中调度器走了 {turns} 步：快了 {times:.3g} 倍",
)
NO_TURN = Message("the scheduler was not stepped once in {steps} updates", "{steps} 次更新中调度器一步未走")
TURN_FIRST = Message(
    "the scheduler was stepped before the first update: its first learning rate is never used",
    "调度器在第一次更新之前就走了一步：其首个学习率从未使用",
)
NOT_DIVIDED = Message(
    "the losses of {micro} micro-batches are added up undivided: the gradient is {total:.2g} times that of their mean",
    "{micro} 个微批的损失直接相加而未除：梯度是均值的 {total:.2g} 倍",
)
MEAN_OF_MEANS = Message(
    "a target in the shortest of {micro} micro-batches weighs {ratio:.2g} times one in the longest",
    "{micro} 个微批中，最短者的目标权重是最长者的 {ratio:.2g} 倍",
)
EVALUATING = Message(
    "{count} of {of} forward passes with gradients were made in evaluation mode",
    "{of} 次带梯度的前向中有 {count} 次处于评估模式",
)
