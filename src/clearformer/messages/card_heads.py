"""What a card says of each key about the heads of attention and their widths."""

from __future__ import annotations

from clearformer.messages import Message
from clearformer.messages.card import Case, Explained

HEADS: dict[str, Explained] = {
    "num_attention_heads": Explained(
        Message(
            "H, the query heads: so many patterns of who reads whom, side by side.",
            "H，查询头数：并排的这么多种“谁读谁”的模式。",
        ),
        Message("8 in the base model, 16 in the big one, each 64 wide.", "base 模型 8 个，big 模型 16 个，每个宽 64。"),
        Message(
            "Heads of 64 to 128 stayed, so their number grows with the width (arXiv 2005.14165).",
            "头宽一直是 64 到 128，所以头数随宽度增长（arXiv 2005.14165）。",
        ),
    ),
    "num_key_value_heads": Explained(
        Message(
            "G, the heads of keys and values, each shared by H/G query heads.", "G，键值头数，每个由 H/G 个查询头共用。"
        ),
        Message("As many as query heads.", "与查询头一样多。"),
        Message(
            "Decoding waits for the cache to be read, and fewer heads make it smaller (arXiv 1911.02150, 2305.13245).",
            "解码时间主要花在读缓存上，键值头越少缓存越小（arXiv 1911.02150、2305.13245）。",
        ),
    ),
    "head_dim": Explained(
        Message("K, the width of a head's queries and keys.", "K，每个头的查询与键的宽度。"),
        Message("64 = D/H.", "64 = D/H。"),
        Message(
            "Its own number since T5 (arXiv 1910.10683): H·K need not be D, so heads can stay wide in a narrow model.",
            "自 T5 起单独给出（arXiv 1910.10683）：H·K 不必等于 D，窄模型也能有宽头。",
        ),
    ),
    "v_head_dim": Explained(
        Message("U, the width of a head's values.", "U，每个头的值的宽度。"),
        Message("64, as the keys.", "64，与键相同。"),
        Message(
            "Latent attention gives keys a part for positions, which values have no use for (arXiv 2405.04434).",
            "潜在注意力给键加了表示位置的部分，值不需要它（arXiv 2405.04434）。",
        ),
    ),
    "kv_lora_rank": Explained(
        Message(
            "Z, the width of the latent vector from which all heads' keys and values are rebuilt.",
            "Z，潜向量的宽度，所有头的键和值都由它恢复。",
        ),
        Message("None: keys and values are kept themselves.", "没有：直接保留键和值。"),
        Message(
            "The cache holds the latent in place of 2·H heads (DeepSeek-V2 §2.1, arXiv 2405.04434).",
            "缓存只存潜向量，取代 2·H 个头（DeepSeek-V2 §2.1，arXiv 2405.04434）。",
        ),
    ),
    "q_lora_rank": Explained(
        Message(
            "The width of a latent vector before the queries; null projects them directly.",
            "查询之前的潜向量宽度；null 表示直接投影。",
        ),
        Message("None.", "没有。"),
        Message(
            "Two thin matrices for one thick one: fewer weights and activations in training (arXiv 2405.04434).",
            "用两个窄矩阵代替一个宽矩阵：训练时权重和激活更少（arXiv 2405.04434）。",
        ),
    ),
    "qk_nope_head_dim": Explained(
        Message(
            "K, the part of a head's queries and keys that carries no position.", "K，查询与键中不带位置的部分的宽度。"
        ),
        Message("The whole head, 64: positions were in the input.", "整个头，64：位置在输入里。"),
        Message(
            "Only this part can be rebuilt from a latent, since rotation stands in the way (arXiv 2405.04434).",
            "旋转无法从潜向量中提出，只有这一部分能由它恢复（arXiv 2405.04434）。",
        ),
    ),
    "qk_rope_head_dim": Explained(
        Message(
            "R, the rotated part of a query, and of the one key that all heads share.",
            "R，查询中旋转的部分的宽度，也是各头共用的那个键的宽度。",
        ),
        Message("None: positions were in the input.", "没有：位置在输入里。"),
        Message(
            "Positions apart, in one small key, leave the latent free of them (arXiv 2405.04434).",
            "位置单独放在一个小键里，潜向量就与位置无关（arXiv 2405.04434）。",
        ),
    ),
    "attention_bias": Explained(
        Message(
            "Whether the projections of attention add biases (`no_bias`: whether none does).",
            "注意力的投影是否加偏置（`no_bias` 则为是否都不加）。",
        ),
        Message("The paper writes its four projections without (§3.2.2).", "论文中的四个投影都没有偏置（§3.2.2）。"),
        Message(
            "GPT-2 and BERT added them; PaLM trained steadier without (arXiv 2204.02311). Qwen keeps those "
            "of query, key and value (arXiv 2407.10671).",
            "GPT-2 与 BERT 加上了偏置；PaLM 去掉后训练更稳（arXiv 2204.02311）。Qwen 保留查询、键、值的偏置"
            "（arXiv 2407.10671）。",
        ),
    ),
}

# Values of a kind of their own: what they mean, and why they came.
HEADS_CASES: dict[str, Case] = {
    "num_key_value_heads:one": Case(
        Message(
            "One head of keys and values for all query heads: multi-query attention.",
            "所有查询头共用一个键值头：多查询注意力。",
        ),
        Message(
            "Decoding waits for the cache to be read; one head makes it smallest (Shazeer 2019, arXiv 1911.02150).",
            "解码时间主要花在读缓存上，只留一个头缓存最小（Shazeer 2019，arXiv 1911.02150）。",
        ),
    ),
    "num_key_value_heads:grouped": Case(
        Message(
            "G, the heads of keys and values; groups of query heads share one: grouped-query attention.",
            "G，键值头数，每组查询头共用一个：分组查询注意力。",
        ),
        Message(
            "It keeps nearly the quality of H heads at nearly the cache of one (Ainslie et al. 2023, arXiv "
            "2305.13245).",
            "质量接近 H 个头，缓存接近一个头（Ainslie 等 2023，arXiv 2305.13245）。",
        ),
    ),
    "num_key_value_heads:all": Case(
        Message(
            "G, the heads of keys and values: one for each query head, multi-head attention.",
            "G，键值头数：每个查询头各有一个，即多头注意力。",
        ),
        Message(
            "Unchanged since 2017; smaller models have done without grouping.", "与 2017 年相同；较小的模型往往不分组。"
        ),
    ),
    "num_key_value_heads:latent": Case(
        Message(
            "Keys and values of all heads are rebuilt from one latent vector; the number repeats that of "
            "the query heads.",
            "所有头的键值都由一个潜向量恢复；这个数重复查询头数。",
        ),
        Message(
            "Latent attention keeps no heads in the cache (DeepSeek-V2, arXiv 2405.04434).",
            "潜在注意力的缓存里没有头（DeepSeek-V2，arXiv 2405.04434）。",
        ),
    ),
}
