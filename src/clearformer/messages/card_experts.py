"""What a card says of each key about experts and their choice."""

from __future__ import annotations

from clearformer.messages import Message
from clearformer.messages.card import NOTHING, Explained

ONE_NETWORK = Message("The one network.", "唯一的网络。")
NO_EXPERTS = Message("No experts.", "没有专家。")
SIGMOIDS = Message(
    "Sigmoids do not compete, so many can be high (DeepSeek-V3, arXiv 2412.19437).",
    "sigmoid 之间不竞争，多个可以同时高（DeepSeek-V3，arXiv 2412.19437）。",
)

EXPERTS: dict[str, Explained] = {
    "num_local_experts": Explained(
        Message("E, the feed-forward networks to choose from in a block.", "E，一层中可供选择的前馈网络数。"),
        Message("One, for every token.", "一个，供所有词元使用。"),
        Message(
            "Parameters grow and the work of a token does not (Shazeer et al. 2017, arXiv 1701.06538; "
            "Mixtral, arXiv 2401.04088).",
            "参数增多，每个词元的计算量不变（Shazeer 等 2017，arXiv 1701.06538；Mixtral，arXiv 2401.04088）。",
        ),
    ),
    "num_experts_per_tok": Explained(
        Message("How many of the experts read a token.", "每个词元由几个专家处理。"),
        ONE_NETWORK,
        Message(
            "Switch takes one (arXiv 2101.03961), Mixtral two (arXiv 2401.04088), DeepSeek many small ones "
            "(arXiv 2401.06066).",
            "Switch 取一个（arXiv 2101.03961），Mixtral 取两个（arXiv 2401.04088），DeepSeek 取多个小专家（"
            "arXiv 2401.06066）。",
        ),
    ),
    "Experts.expert": Explained(
        Message("The network of one expert.", "单个专家的网络。"),
        ONE_NETWORK,
        NOTHING,
    ),
    "moe_intermediate_size": Explained(
        Message("F of one expert.", "单个专家的 F。"),
        NO_EXPERTS,
        Message(
            "Many thin experts combine in more ways than few thick ones (DeepSeekMoE, arXiv 2401.06066).",
            "许多窄专家的组合方式多于少数宽专家（DeepSeekMoE，arXiv 2401.06066）。",
        ),
    ),
    "shared_expert_intermediate_size": Explained(
        Message(
            "An expert beside the others that reads every token: its width, or how many experts wide it is.",
            "处理所有词元的共享专家：其宽度，或相当于几个专家。",
        ),
        NO_EXPERTS,
        Message(
            "What all tokens need is learnt once (DeepSeekMoE, arXiv 2401.06066; Qwen2-MoE, arXiv 2407.10671).",
            "所有词元都需要的内容只学一次（DeepSeekMoE，arXiv 2401.06066；Qwen2-MoE，arXiv 2407.10671）。",
        ),
    ),
    "Experts.shared_gate": Explained(
        Message("Whether the shared expert stands behind a gate.", "共享专家之后是否有门。"),
        NO_EXPERTS,
        Message("As in Qwen2-MoE (arXiv 2407.10671).", "同 Qwen2-MoE（arXiv 2407.10671）。"),
    ),
    "router": Explained(
        Message(
            "What chooses the experts: softmax or sigmoid over a product with the token.",
            "由什么选择专家：词元乘积上的 softmax 或 sigmoid。",
        ),
        NO_EXPERTS,
        SIGMOIDS,
    ),
    "norm_topk_prob": Explained(
        Message("Whether the chosen experts' weights are divided by their sum.", "所选专家的权重是否除以它们之和。"),
        NO_EXPERTS,
        Message(
            "The sum of the outputs then keeps its size whoever is chosen (arXiv 2401.04088).",
            "这样无论选谁，输出之和大小不变（arXiv 2401.04088）。",
        ),
    ),
    "routed_scaling_factor": Explained(
        Message("Multiplies the chosen experts' weights.", "乘在所选专家的权重上。"),
        NO_EXPERTS,
        Message(
            "It makes up for weights that are small among many experts (arXiv 2405.04434).",
            "弥补专家众多时权重偏小（arXiv 2405.04434）。",
        ),
    ),
    "scoring_func": Explained(
        Message(
            "How a router's numbers become weights: softmax or sigmoid, over all experts or over the chosen.",
            "路由分数如何变成权重：softmax 或 sigmoid，对所有专家或只对所选的。",
        ),
        NO_EXPERTS,
        SIGMOIDS,
    ),
    "topk_method": Explained(
        Message(
            "Whether experts are chosen freely, among the best groups, or with a learnt bias on the choice (noaux_tc).",
            "专家是自由选择、只在最佳的组里选，还是选择时加学到的偏置（noaux_tc）。",
        ),
        NO_EXPERTS,
        Message(
            "Groups bound the machines a token travels to (arXiv 2405.04434); the bias balances without a "
            "loss (arXiv 2408.15664).",
            "分组限制词元要去的机器数（arXiv 2405.04434）；偏置不用损失即可均衡（arXiv 2408.15664）。",
        ),
    ),
    "SigmoidRouter.selection_bias": Explained(
        Message(
            "Whether a learnt bias sways the choice of experts, not their weights.",
            "是否有学到的偏置影响选择而不影响权重。",
        ),
        NO_EXPERTS,
        Message("It balances without a loss (arXiv 2408.15664).", "不用损失即可均衡（arXiv 2408.15664）。"),
    ),
    "n_group": Explained(
        Message("Groups that the experts lie in.", "专家所分的组数。"),
        NO_EXPERTS,
        Message(
            "A group lies on one machine (DeepSeek-V2, arXiv 2405.04434).",
            "一组位于一台机器上（DeepSeek-V2，arXiv 2405.04434）。",
        ),
    ),
    "topk_group": Explained(
        Message("Groups among which a token's experts are chosen.", "一个词元的专家在几组之中选择。"),
        NO_EXPERTS,
        Message(
            "It bounds the machines a token travels to (arXiv 2405.04434).",
            "限制词元要去的机器数（arXiv 2405.04434）。",
        ),
    ),
    "RouterGroups.judged_by": Explained(
        Message(
            "By what a group is judged: its best expert, or its best two.",
            "按什么评价一组：最好的一个专家，或最好的两个。",
        ),
        NO_EXPERTS,
        Message(
            "V2 takes the best (arXiv 2405.04434), V3 the best two (arXiv 2412.19437).",
            "V2 取最好的一个（arXiv 2405.04434），V3 取最好的两个（arXiv 2412.19437）。",
        ),
    ),
    "decoder_sparse_step": Explained(
        Message("Every n-th block has experts.", "每 n 层有一层使用专家。"),
        NO_EXPERTS,
        Message(
            "Switch has them in every second block (arXiv 2101.03961).", "Switch 每两层用一次（arXiv 2101.03961）。"
        ),
    ),
    "mlp_only_layers": Explained(
        Message(
            "Blocks that keep one dense network: listed, or so many from the first.",
            "仍用单个网络的层：逐一列出，或从第一层起的层数。",
        ),
        Message("All of them.", "所有层。"),
        Message(
            "In the first layers the load of experts evens out slowest (DeepSeekMoE, arXiv 2401.06066).",
            "最初几层的专家负载最难均衡（DeepSeekMoE，arXiv 2401.06066）。",
        ),
    ),
}
