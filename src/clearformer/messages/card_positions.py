"""What a card says of each key about where a word stands."""

from __future__ import annotations

from clearformer.messages import Message
from clearformer.messages.card import Case, Explained

SINES = Message("Sines in the input.", "输入里的正弦。")
FAR_APART = Message(
    "Distances far away need no telling apart (T5 §2.1, arXiv 1910.10683).",
    "远距离不必细分（T5 §2.1，arXiv 1910.10683）。",
)

POSITIONS: dict[str, Explained] = {
    "max_position_embeddings": Explained(
        Message("The context: the most positions that the model is made for.", "上下文：模型所支持的最多位置数。"),
        Message(
            "No limit was set; the sentences had some tens of tokens, a batch 25,000.",
            "没有限制；句子通常几十个词元，一批约 25,000 个。",
        ),
        Message(
            "Positions that turn with distance, and kernels that hold no table of scores (arXiv "
            "2205.14135), made long texts affordable.",
            "随距离旋转的位置编码，加上不保存分数表的内核（arXiv 2205.14135），使长文本可以承受。",
        ),
    ),
    "position_embedding_type": Explained(
        Message(
            "How a position is known: sines or a learnt row added to the input, a rotation of queries and "
            "keys, or a bias on the scores.",
            "位置如何表示：在输入上加正弦或学到的行，旋转查询与键，或在分数上加偏置。",
        ),
        Message("Sines and cosines added to the input (§3.5).", "在输入上加正弦和余弦（§3.5）。"),
        Message(
            "What counts is the distance of two words: rotations (arXiv 2104.09864) and biases (arXiv "
            "2108.12409) say it in the scores themselves.",
            "重要的是两个词的距离：旋转（arXiv 2104.09864）和偏置（arXiv 2108.12409）直接在分数里表达它。",
        ),
    ),
    "extra_pos_embeddings": Explained(
        Message(
            "Rows that the table of positions keeps in reserve before the first.", "位置表在第一个位置之前保留的行数。"
        ),
        Message("No table.", "没有位置表。"),
        Message(
            "An inheritance of fairseq, where padding had a row (BART, arXiv 1910.13461).",
            "沿袭自 fairseq，填充也占一行（BART，arXiv 1910.13461）。",
        ),
    ),
    "Learned.length": Explained(
        Message("Rows of the learnt table of positions.", "学到的位置表的行数。"),
        Message(
            "Sines, which need no table; a learnt one did as well (table 3, row E).",
            "正弦，不需要表；学到的表效果相当（表 3 的 E 行）。",
        ),
        Message(
            "BERT and GPT took the table (arXiv 1810.04805); it cannot grow past its end.",
            "BERT 与 GPT 采用位置表（arXiv 1810.04805）；它不能超出末行。",
        ),
    ),
    "alibi": Explained(
        Message(
            "Whether scores fall with the distance, by a slope of each head's own: ALiBi.",
            "分数是否按各头自己的斜率随距离下降：ALiBi。",
        ),
        SINES,
        Message(
            "A model trained on short texts then reads longer ones (Press et al. 2021, arXiv 2108.12409).",
            "用短文本训练的模型因此能读更长文本（Press 等 2021，arXiv 2108.12409）。",
        ),
    ),
    "alibi_bias_max": Explained(
        Message(
            "The range of the slopes: head h of H has 2^(−this·h/H).", "斜率的范围：H 个头中第 h 个为 2^(−此数·h/H)。"
        ),
        SINES,
        Message("8 in the paper of ALiBi (arXiv 2108.12409).", "ALiBi 论文中为 8（arXiv 2108.12409）。"),
    ),
    "relative_attention_num_buckets": Explained(
        Message("Buckets of distance, each with a learnt bias a head.", "距离分桶数，每桶每头有一个学到的偏置。"),
        SINES,
        FAR_APART,
    ),
    "relative_attention_max_distance": Explained(
        Message("From this distance on, all share the last bucket.", "从此距离起都归入最后一桶。"),
        SINES,
        FAR_APART,
    ),
    "RelativeBias.two_sided": Explained(
        Message("Whether keys behind the query have buckets of their own.", "查询之后的键是否有自己的桶。"),
        SINES,
        Message("An encoder sees both ways (arXiv 1910.10683).", "编码器双向可见（arXiv 1910.10683）。"),
    ),
    "RelativeBias.shared": Explained(
        Message("Whether all blocks share one table.", "所有层是否共用一张表。"),
        Message("Sines in the input, once for all.", "输入里的正弦，所有层共用。"),
        Message(
            "T5 saves the tables of all layers but the first (arXiv 1910.10683).",
            "T5 只保留第一层的表（arXiv 1910.10683）。",
        ),
    ),
}

# Values of a kind of their own: what they mean, and why they came.
POSITIONS_CASES: dict[str, Case] = {
    "max_position_embeddings:learned": Case(
        Message(
            "The context, and the rows of the learnt table of positions: past the last there is nothing.",
            "上下文，也是学到的位置表的行数：超出最后一行就没有了。",
        ),
        Message(
            "A learnt table did as well as the paper's sines (arXiv 1706.03762, table 3, row E), and BERT "
            "and GPT took it; it cannot grow.",
            "学到的表与论文的正弦效果相当（arXiv 1706.03762 表 3 的 E 行），BERT 与 GPT 采用了它；但它不能变长。",
        ),
    ),
}
