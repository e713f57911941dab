"""Causes in a training loop: what is wrong, and the mend in one line."""

from __future__ import annotations

from clearformer.messages import Message

MEAN_OF_MEANS = Message(
    "Accumulation averages the means of micro-batches: with unequal numbers of targets the gradient is not the batch's.",
    "梯度累积对各微批的均值再取平均：目标数不等时，梯度不同于整批的梯度。",
)
MEAN_OF_MEANS_FIX = Message(
    "loss = cross_entropy(…, reduction='sum') / targets of all micro-batches",
    "loss = cross_entropy(…, reduction='sum') / 所有微批的目标总数",
)
NOT_DIVIDED = Message("Accumulated losses are not divided by their number.", "累积的损失没有除以微批数。")
NOT_DIVIDED_FIX = Message(
    "Sum the losses and divide by the targets of all micro-batches.", "对损失求和，再除以所有微批的目标总数。"
)
NOT_ZEROED = Message(
    "Gradients are never zeroed: each update adds to all before it.", "梯度从不清零：每次更新都叠加此前所有的梯度。"
)
NOT_ZEROED_FIX = Message(
    "optimizer.zero_grad() after each optimizer.step()", "每次 optimizer.step() 之后 optimizer.zero_grad()"
)
ZEROED_EARLY = Message("Gradients are zeroed between the backward pass and the step.", "梯度在反传与更新之间被清零。")
ZEROED_EARLY_FIX = Message("zero_grad(); loss.backward(); step()", "zero_grad(); loss.backward(); step()")
CLIP_SCALED = Message(
    "Gradients are clipped before they are unscaled: nearly nothing is left of them.",
    "梯度在还原缩放之前就被裁剪：几乎所剩无几。",
)
CLIP_SCALED_FIX = Message(
    "scaler.unscale_(optimizer) before clip_grad_norm_", "在 clip_grad_norm_ 之前 scaler.unscale_(optimizer)"
)
CLIP_LATE = Message(
    "Gradients are clipped after the step: the clip does nothing.", "更新之后才裁剪梯度：裁剪不起作用。"
)
CLIP_LATE_FIX = Message(
    "clip_grad_norm_ between backward() and step()", "clip_grad_norm_ 放在 backward() 与 step() 之间"
)
CLIP_INSIDE = Message(
    "Gradients are clipped at every micro-batch, not once per update.", "每个微批都裁剪梯度，而非每次更新裁剪一次。"
)
CLIP_INSIDE_FIX = Message("Clip once, after the last micro-batch.", "在最后一个微批之后裁剪一次。")
STEPPED_N = Message(
    "The scheduler is stepped more than once per update: the learning rate runs out early.",
    "每次更新调度器走了不止一步：学习率过早走完。",
)
STEPPED_N_FIX = Message(
    "scheduler.step() once after each optimizer.step()", "每次 optimizer.step() 之后只调用一次 scheduler.step()"
)
SCHEDULER_FIRST = Message("The scheduler is stepped before the optimizer.", "调度器先于优化器走步。")
SCHEDULER_FIRST_FIX = Message(
    "optimizer.step() first, then scheduler.step()", "先 optimizer.step()，再 scheduler.step()"
)
SCHEDULER_IDLE = Message("A scheduler was made and is never stepped.", "建立了调度器却从不走步。")
SCHEDULER_IDLE_FIX = Message(
    "scheduler.step() after each optimizer.step()", "每次 optimizer.step() 之后 scheduler.step()"
)
RATE_ZERO = Message("The learning rate is zero throughout.", "学习率始终为零。")
RATE_ZERO_FIX = Message(
    "Look at the schedule: warm-up length, total steps, integer division.", "检查调度：预热长度、总步数、整数除法。"
)
RATE_ZERO_FIRST = Message(
    "The first update has learning rate zero and changes nothing.", "第一次更新的学习率为零，什么也没改变。"
)
RATE_ZERO_FIRST_FIX = Message("warm up with (step + 1) / warmup", "预热用 (step + 1) / warmup")
LACKS = Message(
    "The optimizer lacks parameters of the model: they are never trained.", "优化器缺少模型的部分参数：它们从不被训练。"
)
LACKS_FIX = Message(
    "Build the optimizer from model.parameters(), or set requires_grad_(False) on what is frozen.",
    "用 model.parameters() 建立优化器，或对冻结的部分设 requires_grad_(False)。",
)
NOT_MOVED = Message("Training changes no weight of the model.", "训练没有改变模型的任何权重。")
NOT_MOVED_FIX = Message(
    "Build the optimizer from this model's own parameters, after it was moved or wrapped.",
    "用这个模型自身的参数建立优化器，且在移动或包装之后。",
)
EVALUATING = Message(
    "The model is trained in evaluation mode: dropout never acts.", "模型在评估模式下训练：dropout 从不生效。"
)
EVALUATING_FIX = Message(
    "model.train() before each epoch, and after every validation", "每轮开始前及每次验证后 model.train()"
)
NO_UPDATE = Message("The gradient scaler is never updated.", "梯度缩放器从不更新。")
NO_UPDATE_FIX = Message(
    "scaler.update() after scaler.step(optimizer)", "在 scaler.step(optimizer) 之后 scaler.update()"
)
WARM_UP = Message(
    "The rate does not rise over as many updates as the warm-up says.", "学习率没有按预热所说的更新次数上升。"
)
WARM_UP_FIX = Message(
    "Step the scheduler once after each optimizer step, and count warm-up in updates, not in micro-batches or epochs.",
    "每次优化器更新后让调度器走一步；预热按更新次数计，不按微批或轮数计。",
)
ANEW = Message(
    "The optimizer is made anew inside the loop: its moments are lost at each step.",
    "优化器在循环内反复新建：每一步都丢掉了动量。",
)
ANEW_FIX = Message("Make the optimizer once, before the loop.", "在循环之前只建立一次优化器。")
