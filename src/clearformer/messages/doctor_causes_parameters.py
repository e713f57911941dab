"""Causes that lie in a module's parameters and blocks: what is wrong, and the mend in one line."""

from __future__ import annotations

from clearformer.messages import Message

UNREGISTERED = Message(
    "Layers stand in a plain list or dictionary, where the module does not know of them.",
    "层放在普通的列表或字典里，模块并不知道它们。",
)
UNREGISTERED_FIX = Message("self.layers = nn.ModuleList(layers)", "self.layers = nn.ModuleList(layers)")
CLONED = Message(
    "All layers are copies of one and begin with its numbers.", "所有层都由同一层复制而来，以相同的数值开始。"
)
CLONED_FIX = Message(
    "nn.ModuleList(Block() for _ in range(n)), or draw the weights anew after copying",
    "nn.ModuleList(Block() for _ in range(n))，或复制后重新初始化",
)
SHARED = Message("All layers are one and the same.", "所有层其实是同一个层。")
SHARED_FIX = Message("nn.ModuleList(Block() for _ in range(n))", "nn.ModuleList(Block() for _ in range(n))")
UNUSED = Message("Parameters are never read in the forward pass.", "有参数在前向计算中从未用到。")
UNUSED_FIX = Message("use the module in forward, or delete it", "在 forward 中使用该模块，或将其删去")
CUT = Message(
    "The graph is cut between parameters and output: detach(), no_grad() or .data.",
    "参数与输出之间的计算图被切断：detach()、no_grad() 或 .data。",
)
CUT_FIX = Message("remove detach() or no_grad() from forward", "去掉 forward 中的 detach() 或 no_grad()")
NOT_FINITE = Message(
    "Weights hold NaN or infinite numbers: training has diverged, or a file was read wrongly.",
    "权重中含有 NaN 或无穷大：训练已经发散，或文件读取有误。",
)
NOT_FINITE_FIX = Message(
    "go back to the last sound checkpoint; clip gradients, lower the learning rate, stop on a loss that is not finite",
    "退回最近的完好检查点；裁剪梯度、降低学习率，损失不是有限数时停止训练",
)
NO_GRADIENT = Message(
    "No gradient reaches any parameter: no_grad(), inference_mode() or a detach() of the output.",
    "没有任何参数得到梯度：no_grad()、inference_mode()，或对输出做了 detach()。",
)
NO_GRADIENT_FIX = Message(
    "take @torch.no_grad(), @torch.inference_mode() or .detach() out of forward; put them around generate() instead",
    "去掉 forward 上的 @torch.no_grad()、@torch.inference_mode() 或 .detach()，改放在 generate() 外面",
)
FROZEN = Message("Every parameter is frozen.", "所有参数都已冻结。")
FROZEN_FIX = Message(
    "if it is to be trained: model.requires_grad_(True), or a trainable adapter",
    "若要训练：model.requires_grad_(True)，或加上可训练的适配器",
)
CARRIES_NORM = Message(
    "The residual stream itself is normalised: x = norm(x); x = x + f(x).",
    "残差流本身被归一化：x = norm(x)；x = x + f(x)。",
)
CARRIES_NORM_FIX = Message("x = x + f(norm(x))", "x = x + f(norm(x))")
NO_RESIDUAL = Message("A block has no residual connection.", "块没有残差连接。")
NO_RESIDUAL_FIX = Message("x = x + f(norm(x))", "x = x + f(norm(x))")
