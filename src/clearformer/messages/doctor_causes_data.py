"""Causes in resuming, loaders and forecasts: what is wrong, and the mend in one line."""

from __future__ import annotations

from clearformer.messages import Message

STARTS_OVER = Message("The checkpoint is not read: training starts over.", "没有读取检查点：训练从头开始。")
STARTS_OVER_FIX = Message(
    "Load model, optimizer, scheduler and step before the loop.", "在循环之前载入模型、优化器、调度器与步数。"
)
WEIGHTS = Message("Resuming loses the weights.", "续训丢失了权重。")
WEIGHTS_FIX = Message(
    "model.load_state_dict(state['model']), strict", "model.load_state_dict(state['model'])，严格匹配"
)
OPTIMIZER = Message("Resuming loses the optimizer's moments.", "续训丢失了优化器的动量。")
OPTIMIZER_FIX = Message(
    "optimizer.load_state_dict(state['optimizer']), after the model is loaded",
    "载入模型之后 optimizer.load_state_dict(state['optimizer'])",
)
SCHEDULER = Message("Resuming loses the place in the learning-rate schedule.", "续训丢失了学习率调度的位置。")
SCHEDULER_FIX = Message(
    "scheduler.load_state_dict(state['scheduler'])", "scheduler.load_state_dict(state['scheduler'])"
)
GENERATOR = Message("Resuming loses the state of the random generators.", "续训丢失了随机数生成器的状态。")
GENERATOR_FIX = Message("torch.set_rng_state(state['generator']), last", "最后 torch.set_rng_state(state['generator'])")
ORDER = Message(
    "After resuming, the data come in another order: epoch or place in it is not restored.",
    "续训后数据次序不同：轮次或轮内位置没有恢复。",
)
ORDER_FIX = Message(
    "sampler.set_epoch(epoch), then skip the batches of this epoch that were read",
    "sampler.set_epoch(epoch)，再跳过本轮已读的批",
)
SAME_ORDER = Message("Every epoch has the same order.", "每轮的次序都相同。")
SAME_ORDER_FIX = Message("sampler.set_epoch(epoch) at the start of each epoch", "每轮开始时 sampler.set_epoch(epoch)")
SAME_SAMPLES = Message("Ranks read the same samples.", "各进程读取相同的样本。")
SAME_SAMPLES_FIX = Message(
    "DistributedSampler(dataset, ranks, rank, seed=…) with one seed for all ranks",
    "DistributedSampler(dataset, ranks, rank, seed=…)，各进程用同一种子",
)
LEFT_OUT = Message("Some samples are never read.", "有些样本从未被读取。")
LEFT_OUT_FIX = Message("Keep the last short batch.", "保留最后不足的一批。")
DROPS = Message(
    "Evaluation drops its last batch: the score depends on the batch size.", "评估丢弃了最后一批：得分取决于批大小。"
)
DROPS_FIX = Message("drop_last=False in evaluation", "评估时 drop_last=False")
REPEATED = Message("An epoch reads samples more than once.", "一轮中有样本被读取多次。")
REPEATED_FIX = Message("Sample without replacement.", "不放回地采样。")
SCALER = Message(
    "The scaler is fitted on the future: statistics of the whole series.", "缩放器用未来数据拟合：统计量取自整个序列。"
)
SCALER_FIX = Message("scaler.fit(series[:cutoff])", "scaler.fit(series[:cutoff])")
TARGET = Message("The target after the cutoff is among the inputs.", "截止点之后的目标出现在输入中。")
TARGET_FIX = Message(
    "Give the decoder zeros or its own forecasts after the cutoff.", "截止点之后给解码器零或其自身的预测。"
)
WINDOW = Message("A window reaches past the cutoff.", "窗口越过了截止点。")
WINDOW_FIX = Message(
    "Use trailing windows: series[cutoff - n : cutoff], no centred averages, no back-filling.",
    "用后视窗口：series[cutoff - n : cutoff]，不用居中平均，不向后填充。",
)
OFF_BY_ONE = Message(
    "The cutoff is off by one: the first value to forecast is read.", "截止点差一位：读到了第一个待预测的值。"
)
OFF_BY_ONE_FIX = Message("series[:cutoff], not series[:cutoff + 1]", "应为 series[:cutoff]，而非 series[:cutoff + 1]")
TEACHER = Message(
    "With a teacher the batch is known by heart, alone the model does not say it: what it reads while it trains it does not "
    "have when it speaks.",
    "有教师输入时已能背出整批，自由生成却说不出：训练时读到的东西，生成时并不存在。",
)
TEACHER_FIX = Message(
    "Look for a leak of the future (K01, K02) or labels that are not shifted (K22).",
    "查找未来泄漏（K01、K02）或未移位的标签（K22）。",
)
