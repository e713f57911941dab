"""What a card says of each key about rotary positions and how they are stretched."""

from __future__ import annotations

from clearformer.messages import Message
from clearformer.messages.card import NOTHING, Case, Explained

SLOWED = Message(
    "Angles never met in training break a model; slowing them does not (arXiv 2306.15595).",
    "训练中没见过的角度会使模型失效，放慢则不会（arXiv 2306.15595）。",
)
NOT_STRETCHED = Message("Not stretched.", "不拉伸。")
LLAMA_3 = Message("As Llama 3.1 was trained (arXiv 2407.21783).", "同 Llama 3.1 的训练设置（arXiv 2407.21783）。")
SEARCHED = Message(
    "Searched, not reckoned (LongRoPE, arXiv 2402.13753).", "由搜索得到，而非推算（LongRoPE，arXiv 2402.13753）。"
)
IN_THE_INPUT = Message("Positions in the input, for all layers.", "位置在输入里，供所有层使用。")
NOPE = Message(
    "Layers without positions carry over to longer texts (NoPE, arXiv 2305.19466).",
    "没有位置的层更容易推广到更长文本（NoPE，arXiv 2305.19466）。",
)

ROTARY: dict[str, Explained] = {
    "rope_theta": Explained(
        Message(
            "The base of the frequencies: pair i of a head turns by base^(−2i/R) a position.",
            "频率的底数：头中第 i 对数每个位置转动 base^(−2i/R)。",
        ),
        Message("10,000, in sines added to the input.", "10,000，用于加在输入上的正弦。"),
        Message(
            "Rotation puts the distance into the scores (RoFormer, arXiv 2104.09864); longer texts ask for "
            "slower waves, so a larger base (arXiv 2309.16039).",
            "旋转把距离写进分数（RoFormer，arXiv 2104.09864）；文本越长波要越慢，底数就越大（arXiv 2309.16039）。",
        ),
    ),
    "local_rope_theta": Explained(
        Message("The base of the frequencies in layers that see a window.", "窗口层所用的频率底数。"),
        Message("10,000 for every layer, in the input.", "每层都是 10,000，在输入里。"),
        Message(
            "A layer that sees little needs no slow waves (Gemma 3, arXiv 2503.19786; ModernBERT, arXiv 2412.13663).",
            "看得近的层不需要慢波（Gemma 3，arXiv 2503.19786；ModernBERT，arXiv 2412.13663）。",
        ),
    ),
    "rope_scaling": Explained(
        Message(
            "How rotary positions are set, or stretched beyond the length of training; null for not stretched.",
            "旋转位置如何设定，或如何拉伸到超出训练长度；null 表示不拉伸。",
        ),
        Message("Nothing of the kind: sines went on past the longest sentence.", "没有：正弦可以延续到最长句子之后。"),
        SLOWED,
    ),
    "rope_type": Explained(
        Message("How frequencies are stretched to a longer text.", "如何把频率拉伸到更长的文本。"),
        Message("No stretching.", "不拉伸。"),
        SLOWED,
    ),
    "factor": Explained(
        Message("By how much the context is stretched.", "上下文拉伸的倍数。"),
        NOT_STRETCHED,
        Message(
            "As long as the target is against what was trained (arXiv 2306.15595).",
            "目标长度与训练长度之比（arXiv 2306.15595）。",
        ),
    ),
    "original_max_position_embeddings": Explained(
        Message("The length that was trained before positions were stretched.", "位置拉伸之前训练所用的长度。"),
        NOT_STRETCHED,
        Message(
            "Waves longer than it were never seen whole; those are stretched (arXiv 2309.00071).",
            "比它更长的波从未完整见过，需要拉伸的正是这些（arXiv 2309.00071）。",
        ),
    ),
    "low_freq_factor": Explained(
        Message(
            "Waves longer than the trained length over this are stretched in full.",
            "波长大于训练长度除以此数的波全部拉伸。",
        ),
        NOT_STRETCHED,
        LLAMA_3,
    ),
    "high_freq_factor": Explained(
        Message("Waves shorter than the trained length over this are kept.", "波长小于训练长度除以此数的波保持不变。"),
        NOT_STRETCHED,
        LLAMA_3,
    ),
    "beta_fast": Explained(
        Message(
            "Pairs that turn more often than this within the trained length are kept.",
            "在训练长度内转动超过此次数的数对保持不变。",
        ),
        NOT_STRETCHED,
        Message("YaRN's upper end (arXiv 2309.00071).", "YaRN 的上界（arXiv 2309.00071）。"),
    ),
    "beta_slow": Explained(
        Message(
            "Pairs that turn less often than this within the trained length are stretched in full.",
            "在训练长度内转动少于此次数的数对全部拉伸。",
        ),
        NOT_STRETCHED,
        Message("YaRN's lower end (arXiv 2309.00071).", "YaRN 的下界（arXiv 2309.00071）。"),
    ),
    "attention_factor": Explained(
        Message("Sharpens the scores of a stretched text.", "拉伸后的文本用它使分数变尖。"),
        NOT_STRETCHED,
        Message(
            "Over more words softmax grows flat (YaRN, arXiv 2309.00071).",
            "词越多 softmax 越平（YaRN，arXiv 2309.00071）。",
        ),
    ),
    "mscale_all_dim": Explained(
        Message("The same sharpening for the part of a head without position.", "同样的变尖，用于头中不带位置的部分。"),
        NOT_STRETCHED,
        Message(
            "DeepSeek-V2 scales the whole score (arXiv 2405.04434).", "DeepSeek-V2 缩放整个分数（arXiv 2405.04434）。"
        ),
    ),
    "short_factor": Explained(
        Message(
            "A divisor for each pair, for texts up to the trained length.", "每对一个除数，用于不超过训练长度的文本。"
        ),
        NOT_STRETCHED,
        SEARCHED,
    ),
    "long_factor": Explained(
        Message(
            "A divisor for each pair, for texts beyond the trained length.", "每对一个除数，用于超过训练长度的文本。"
        ),
        NOT_STRETCHED,
        SEARCHED,
    ),
    "truncate": Explained(
        Message("Whether the ends of YaRN's ramp are rounded to whole pairs.", "YaRN 斜坡的两端是否取整到整数对。"),
        NOT_STRETCHED,
        Message(
            "The published code rounds (arXiv 2309.00071); gpt-oss does not.",
            "公开的代码取整（arXiv 2309.00071）；gpt-oss 不取整。",
        ),
    ),
    "interpolate_factor": Explained(
        Message("Divides every angle; 1 for not stretched.", "除以所有角度；1 表示不拉伸。"),
        NOT_STRETCHED,
        Message("Position interpolation (arXiv 2306.15595).", "位置插值（arXiv 2306.15595）。"),
    ),
    "rope.scaling.finetuned": Explained(
        Message(
            "How the converter noted the stretching; the file says it otherwise too.",
            "转换程序对拉伸的记录；文件另有表述。",
        ),
        NOT_STRETCHED,
        NOTHING,
    ),
    "partial_rotary_factor": Explained(
        Message("How much of a head is rotated: a share, or R numbers.", "头中旋转的部分：比例，或 R 个数。"),
        Message("Nothing is rotated.", "不旋转。"),
        Message(
            "A quarter does as well and is cheaper (GPT-NeoX, arXiv 2204.06745).",
            "只旋转四分之一效果相当且更省（GPT-NeoX，arXiv 2204.06745）。",
        ),
    ),
    "rope_interleave": Explained(
        Message(
            "Which numbers make a pair: neighbours, or i with i + R/2.", "哪两个数成对：相邻的两个，或 i 与 i + R/2。"
        ),
        Message("Sine and cosine interleaved.", "正弦与余弦交替。"),
        Message(
            "A convention of the code; the wrong one ruins a checkpoint silently (arXiv 2104.09864 has "
            "neighbours, Llama on the Hub halves).",
            "只是代码约定，弄错会悄悄毁掉检查点（arXiv 2104.09864 用相邻，Hub 上的 Llama 用两半）。",
        ),
    ),
    "use_mrope": Explained(
        Message("Positions in three directions, for images and videos.", "三个方向的位置，用于图像和视频。"),
        Message("One direction.", "一个方向。"),
        Message(
            "A picture has height and width (Qwen2-VL, arXiv 2409.12191).",
            "图像有高和宽（Qwen2-VL，arXiv 2409.12191）。",
        ),
    ),
    "no_rope_layers": Explained(
        Message(
            "Which layers rotate: 1 says yes, 0 leaves the layer without positions.",
            "哪些层旋转：1 为是，0 表示该层没有位置。",
        ),
        IN_THE_INPUT,
        NOPE,
    ),
    "no_rope_layer_interval": Explained(
        Message("Every n-th layer goes without positions.", "每 n 层有一层没有位置。"),
        IN_THE_INPUT,
        NOPE,
    ),
}

# Values of a kind of their own: what they mean, and why they came.
ROTARY_CASES: dict[str, Case] = {
    "rope_type:default": Case(
        Message("Rotary positions as they are, not stretched.", "旋转位置原样使用，不拉伸。"),
        Message(
            "Distance stands in the scores themselves (RoFormer, arXiv 2104.09864).",
            "距离直接体现在分数里（RoFormer，arXiv 2104.09864）。",
        ),
    ),
    "rope_type:linear": Case(
        Message("Every angle divided by the factor.", "所有角度都除以该倍数。"),
        Message(
            "A short fine-tuning then suffices for a longer text (Chen et al. 2023, arXiv 2306.15595).",
            "这样只需短暂微调即可用于更长文本（Chen 等 2023，arXiv 2306.15595）。",
        ),
    ),
    "rope_type:dynamic": Case(
        Message(
            "The base grows with the text once it passes the trained length.", "文本超过训练长度后，底数随之增大。"
        ),
        Message(
            "Short texts stay as they were trained (bloc97 2023; arXiv 2309.00071).",
            "短文本保持训练时的样子（bloc97 2023；arXiv 2309.00071）。",
        ),
    ),
    "rope_type:yarn": Case(
        Message(
            "Slow waves stretched, fast ones kept, scores sharpened: YaRN.", "慢波拉伸，快波不变，分数变尖：YaRN。"
        ),
        Message(
            "Fast waves tell neighbours apart and must not be slowed (Peng et al. 2023, arXiv 2309.00071).",
            "快波用来区分近邻，不能放慢（Peng 等 2023，arXiv 2309.00071）。",
        ),
    ),
    "rope_type:llama3": Case(
        Message(
            "Long waves stretched, short ones kept, a smooth band between: Llama 3.1.",
            "长波拉伸，短波不变，中间平滑过渡：Llama 3.1。",
        ),
        Message(
            "From 8,192 to 131,072 tokens with little further training (arXiv 2407.21783).",
            "只需少量继续训练，即可从 8,192 到 131,072 个词元（arXiv 2407.21783）。",
        ),
    ),
    "rope_type:longrope": Case(
        Message(
            "A divisor for each pair, found by search; one list for short texts, one for long: LongRoPE.",
            "每对一个由搜索得到的除数；短文本一组，长文本一组：LongRoPE。",
        ),
        Message(
            "Pairs bear stretching unequally (Ding et al. 2024, arXiv 2402.13753).",
            "各对数能承受的拉伸不同（Ding 等 2024，arXiv 2402.13753）。",
        ),
    ),
    "partial_rotary_factor:whole": Case(
        Message("How much of a head is rotated: here all of it.", "头中旋转的部分：此处为整个头。"),
        Message(
            "As RoFormer does (arXiv 2104.09864); GPT-NeoX turns a quarter (arXiv 2204.06745).",
            "与 RoFormer 相同（arXiv 2104.09864）；GPT-NeoX 只旋转四分之一（arXiv 2204.06745）。",
        ),
    ),
}
