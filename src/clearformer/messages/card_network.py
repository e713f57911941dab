"""What a card says of each key about what each position computes alone."""

from __future__ import annotations

from clearformer.messages import Message
from clearformer.messages.card import Case, Explained

NETWORK: dict[str, Explained] = {
    "intermediate_size": Explained(
        Message(
            "F, the width of the network that each position runs through alone.",
            "F，每个位置单独经过的前馈网络的宽度。",
        ),
        Message("2,048 = 4·D.", "2,048 = 4·D。"),
        Message(
            "Two thirds of that where a gate adds a third matrix (arXiv 2002.05202); often rounded to what "
            "the hardware likes.",
            "门控多了第三个矩阵，所以取其三分之二（arXiv 2002.05202）；常取整到硬件喜欢的数。",
        ),
    ),
    "expansion_ratio": Explained(
        Message("F over D.", "F 与 D 之比。"),
        Message("4.", "4。"),
        Message("Unchanged in networks without a gate.", "没有门控的网络至今如此。"),
    ),
    "hidden_act": Explained(
        Message("The function between the matrices of the feed-forward network.", "前馈网络两矩阵之间的函数。"),
        Message("ReLU.", "ReLU。"),
        Message(
            "Smooth functions pass gradients for negative numbers too (arXiv 1606.08415).",
            "平滑的函数对负数也传梯度（arXiv 1606.08415）。",
        ),
    ),
    "feed_forward_proj": Explained(
        Message(
            "Whether the network has a gate, and its function: (f(x·W₁) ⊙ x·W₂)·W₃ with, f(x·W₁)·W₃ without.",
            "网络是否有门及其函数：有门为 (f(x·W₁) ⊙ x·W₂)·W₃，无门为 f(x·W₁)·W₃。",
        ),
        Message("No gate; ReLU.", "没有门；ReLU。"),
        Message(
            "Gated networks learn more for the same work (T5 1.1; Shazeer 2020, arXiv 2002.05202).",
            "同样的计算量，门控网络学得更多（T5 1.1；Shazeer 2020，arXiv 2002.05202）。",
        ),
    ),
    "mlp_bias": Explained(
        Message("Whether the matrices of the feed-forward network add biases.", "前馈网络的矩阵是否加偏置。"),
        Message("Yes (§3.3).", "是（§3.3）。"),
        Message(
            "PaLM trained steadier without (arXiv 2204.02311), and Llama followed.",
            "PaLM 去掉后训练更稳（arXiv 2204.02311），Llama 沿用。",
        ),
    ),
    "feedforward": Explained(
        Message(
            "The kind of network each position runs through: dense, gated, or a choice among experts.",
            "每个位置经过的网络：两矩阵、门控，或在专家中选择。",
        ),
        Message("Dense: two matrices and ReLU.", "两矩阵加 ReLU。"),
        Message(
            "Gates (arXiv 2002.05202) and experts (arXiv 1701.06538) learn more for the same work.",
            "同样的计算量，门控（arXiv 2002.05202）与专家（arXiv 1701.06538）学得更多。",
        ),
    ),
}

# Values of a kind of their own: what they mean, and why they came.
NETWORK_CASES: dict[str, Case] = {
    "hidden_act:silu": Case(
        Message(
            "SiLU, x·sigmoid(x); as a gate on a second product, SwiGLU.",
            "SiLU，即 x·sigmoid(x)；用作另一乘积的门时称为 SwiGLU。",
        ),
        Message(
            "Gated networks learn more for the same work (Shazeer 2020, arXiv 2002.05202); PaLM and Llama "
            "made it the standard (arXiv 2204.02311, 2302.13971).",
            "同样的计算量，门控网络学得更多（Shazeer 2020，arXiv 2002.05202）；PaLM 与 Llama 使之成为标准（"
            "arXiv 2204.02311、2302.13971）。",
        ),
    ),
    "hidden_act:gelu": Case(
        Message("GELU, x·Φ(x): smooth where ReLU has a corner.", "GELU，即 x·Φ(x)：在 ReLU 的拐角处是平滑的。"),
        Message(
            "It passes gradients for negative numbers too (Hendrycks and Gimpel 2016, arXiv 1606.08415); "
            "BERT and GPT took it.",
            "对负数也传梯度（Hendrycks 与 Gimpel 2016，arXiv 1606.08415）；BERT 与 GPT 采用。",
        ),
    ),
    "hidden_act:gelu_tanh": Case(
        Message(
            "GELU by its tanh formula; as a gate on a second product, GeGLU.",
            "用 tanh 公式近似的 GELU；用作另一乘积的门时称为 GeGLU。",
        ),
        Message(
            "tanh was faster than erf when GPT-2 was made; the two differ in the fourth digit, so a "
            "checkpoint needs its own (arXiv 1606.08415).",
            "GPT-2 时代 tanh 比 erf 快；两者在第四位小数上有别，所以检查点须用自己的那种（arXiv 1606.08415）。",
        ),
    ),
    "hidden_act:quick_gelu": Case(
        Message("x·sigmoid(1.702·x), a rough GELU.", "x·sigmoid(1.702·x)，粗略的 GELU。"),
        Message("CLIP was trained with it (arXiv 2103.00020), for speed.", "CLIP 为求快用它训练（arXiv 2103.00020）。"),
    ),
    "hidden_act:relu": Case(
        Message("ReLU, max(0, x).", "ReLU，即 max(0, x)。"),
        Message("Unchanged since 2017.", "与 2017 年相同。"),
    ),
    "hidden_act:tanh": Case(
        Message("tanh.", "tanh。"),
        Message(
            "Rare between the matrices; common behind a pooling (arXiv 1810.04805).",
            "很少用于两矩阵之间，常用于池化之后（arXiv 1810.04805）。",
        ),
    ),
}
