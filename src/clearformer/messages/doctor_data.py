"""The laws of resuming, of loaders and of forecasts: what each says, when an alarm is false, and the evidence."""

from __future__ import annotations

from clearformer.messages import Message

# K34
RESUME = Message(
    "Training that is broken off and taken up again goes on as if it had not been.",
    "训练中断后继续，应与未中断时完全一致。",
)
RESUME_RISK = Message(
    "Kernels that are not deterministic, and schedules that depend on the number of steps asked for, are left out.",
    "非确定性的内核，以及取决于请求步数的调度，不在比较之列。",
)
NOT_REPEATABLE = Message(
    "Two trainings from the beginning differ already: nothing can be compared.", "从头训练两次就已不同：无法比较。"
)
OTHER_COUNT = Message("Asked for {asked} steps, it made {made}.", "要求 {asked} 步，实际走了 {made} 步。")
STARTS_OVER = Message("after {cut} steps, taken up again, it trains from the beginning", "{cut} 步后继续，却从头训练")
OTHER_WEIGHTS = Message(
    "after {cut} steps, taken up again, the weights are not those that were saved",
    "{cut} 步后继续，权重不是保存时的权重",
)
NO_MOMENTS = Message(
    "after {cut} steps, taken up again, the optimizer has no moments", "{cut} 步后继续，优化器没有任何动量"
)
OTHER_MOMENTS = Message(
    "after {cut} steps, taken up again, the optimizer's moments are others", "{cut} 步后继续，优化器的动量已不同"
)
OTHER_RATE = Message(
    "after {cut} steps, taken up again, the learning rate of step {step} is {rate:.4g} instead of {right:.4g}",
    "{cut} 步后继续，第 {step} 步的学习率为 {rate:.4g}，应为 {right:.4g}",
)
OTHER_BATCH = Message(
    "after {cut} steps, taken up again, step {step} reads another batch", "{cut} 步后继续，第 {step} 步读到的是另一批"
)
OTHER_GRADIENTS = Message(
    "after {cut} steps, taken up again, the same batch and weights give other gradients: other random draws",
    "{cut} 步后继续，同样的批与权重给出不同的梯度：随机数不同",
)

# K35
COVERAGE = Message(
    "An epoch reads every sample once over all ranks; training changes the order; evaluation leaves nothing out.",
    "每轮在所有进程上把每个样本恰好读一次；训练改变次序；评估不遗漏。",
)
COVERAGE_RISK = Message(
    "Samplers fill up the last round with repeats; training may drop a short batch: noted only.",
    "采样器会用重复样本补齐最后一轮；训练可丢弃不足的一批：仅作提示。",
)
SAME_SAMPLES = Message(
    "two ranks read {both} of {of} samples both, in one epoch", "同一轮中两个进程共同读了 {of} 个样本中的 {both} 个"
)
SAME_ORDER = Message(
    "two epochs read {count} samples in the same shuffled order", "两轮以相同的乱序读取 {count} 个样本"
)
LEFT_OUT = Message("an epoch leaves out {left} of {total} samples", "一轮遗漏了 {total} 个样本中的 {left} 个")
REPEATED = Message("an epoch reads {count} of {of} samples again", "一轮中有 {of} 个样本的 {count} 个被重复读取")

# K36
FUTURE = Message(
    "A forecast does not change with what lies behind its cutoff, scaling included.",
    "预测不随截止点之后的内容改变，缩放也不例外。",
)
FUTURE_RISK = Message(
    "Covariates that are known in advance must not be part of the series handed in.",
    "预先已知的协变量不应放进交入的序列。",
)
FORECAST_DRAWS = Message("The same series gives two forecasts: it draws.", "同一序列给出两种预测：含有随机。")
SEES_FUTURE = Message(
    "other values from {cutoff} on, in columns {columns}, move the forecast by {size:.2g} of its size; the latest that is "
    "felt is {reach} after the cutoff",
    "改变 {cutoff} 之后（列 {columns}）的取值，预测变动为其大小的 {size:.2g}；受影响的最远处在截止点后 {reach}",
)
