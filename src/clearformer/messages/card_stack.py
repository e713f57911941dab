"""What a card says of each key about norms and about how blocks are stacked."""

from __future__ import annotations

from clearformer.messages import Message
from clearformer.messages.card import NOTHING, Case, Explained

NORMS: dict[str, Explained] = {
    "rms_norm_eps": Explained(
        Message(
            "What keeps the root of a norm from zero, in RMSNorm: x/√(mean(x²) + eps)·weight, without mean and bias.",
            "RMSNorm 中防止根号为零的小数：x/√(mean(x²) + eps)·weight，不减均值，不加偏置。",
        ),
        Message(
            "LayerNorm, behind each sublayer's sum; its eps is not given.",
            "LayerNorm，位于每个子层求和之后；eps 未给出。",
        ),
        Message(
            "RMSNorm does as well and is cheaper (arXiv 1910.07467); before the sublayer, it lets deep "
            "stacks train without warm-up (arXiv 2002.04745).",
            "RMSNorm 效果相当且更省（arXiv 1910.07467）；放在子层之前，深层无需预热即可训练（arXiv 2002.04745）。",
        ),
    ),
    "layer_norm_eps": Explained(
        Message(
            "What keeps the root of a norm from zero, in LayerNorm: (x − mean)/√(variance + eps)·weight + bias.",
            "LayerNorm 中防止根号为零的小数：(x − mean)/√(variance + eps)·weight + bias。",
        ),
        Message("LayerNorm (arXiv 1607.06450); its eps is not given.", "LayerNorm（arXiv 1607.06450）；eps 未给出。"),
        Message(
            "A convention of each code base: 1e-12 in BERT, 1e-5 in GPT-2, and a model keeps the one it "
            "was trained with.",
            "各代码库的约定：BERT 为 1e-12，GPT-2 为 1e-5，模型须沿用训练时的值。",
        ),
    ),
    "norm_bias": Explained(
        Message("Whether a norm adds a bias behind its weight.", "归一化在权重之后是否加偏置。"),
        Message("Yes.", "是。"),
        Message(
            "Modern models do without biases everywhere (PaLM, arXiv 2204.02311; ModernBERT, arXiv 2412.13663).",
            "现代模型处处不用偏置（PaLM，arXiv 2204.02311；ModernBERT，arXiv 2412.13663）。",
        ),
    ),
    "LayerNorm.weight": Explained(
        Message("Whether a norm has weights.", "归一化是否有权重。"),
        Message("Yes.", "是。"),
        Message(
            "OLMo leaves them out for speed and safety (arXiv 2402.00838).",
            "OLMo 为了速度与稳定省去（arXiv 2402.00838）。",
        ),
    ),
    "RMSNorm.unit_offset": Explained(
        Message("Whether the norm multiplies by 1 + weight.", "归一化是否乘以 1 + weight。"),
        Message("By the weight.", "乘以 weight。"),
        Message(
            "Weights then start at 0, where weight decay pulls them (Gemma, arXiv 2403.08295).",
            "权重从 0 开始，权重衰减也拉向 0（Gemma，arXiv 2403.08295）。",
        ),
    ),
    "RMSNorm.scale_first": Explained(
        Message(
            "Whether the weight multiplies before the number is rounded to the model's type.",
            "是否在舍入到模型数值类型之前乘权重。",
        ),
        Message("No such question: training was in float32.", "当时用 float32 训练，没有这个问题。"),
        Message(
            "Gemma and OLMo 2 round last (arXiv 2403.08295), Llama first.",
            "Gemma 与 OLMo 2 最后舍入（arXiv 2403.08295），Llama 先舍入。",
        ),
    ),
    "norm_type": Explained(
        Message("The kind of norm at this place.", "此处归一化的种类。"),
        Message("LayerNorm (arXiv 1607.06450).", "LayerNorm（arXiv 1607.06450）。"),
        Message(
            "RMSNorm does as well and is cheaper (arXiv 1910.07467).", "RMSNorm 效果相当且更省（arXiv 1910.07467）。"
        ),
    ),
    "normalize_before": Explained(
        Message(
            "Where the norm stands: before the sublayer, behind its sum, or around it.",
            "归一化的位置：子层之前、求和之后，或前后都有。",
        ),
        Message("Behind the sum: norm(x + f(x)).", "求和之后：norm(x + f(x))。"),
        Message(
            "Before the sublayer the stream stays free, and deep stacks train without warm-up (Xiong et "
            "al. 2020, arXiv 2002.04745).",
            "放在子层之前，残差流保持畅通，深层无需预热即可训练（Xiong 等 2020，arXiv 2002.04745）。",
        ),
    ),
    "add_final_layer_norm": Explained(
        Message("Whether a norm stands behind the last block.", "最后一层之后是否有归一化。"),
        Message("No: each sublayer ends in one.", "否：每个子层都以归一化结束。"),
        Message(
            "It comes with norms that stand before their sublayers (arXiv 2002.04745).",
            "它与放在子层之前的归一化配套（arXiv 2002.04745）。",
        ),
    ),
}

# Values of a kind of their own: what they mean, and why they came.
NORMS_CASES: dict[str, Case] = {
    "layer_norm_eps:rms": Case(
        Message(
            "What keeps the root of a norm from zero; here the norm is RMSNorm: x/√(mean(x²) + eps)·weight.",
            "防止根号为零的小数；此处的归一化是 RMSNorm：x/√(mean(x²) + eps)·weight。",
        ),
        Message(
            "T5 left mean and bias out, as RMSNorm does (arXiv 1910.10683, 1910.07467).",
            "T5 不减均值也不加偏置，与 RMSNorm 相同（arXiv 1910.10683、1910.07467）。",
        ),
    ),
}

DEPTH: dict[str, Explained] = {
    "num_hidden_layers": Explained(
        Message(
            "L, the blocks of the stack, or of the encoder where there are two.",
            "L，栈的层数；有两栈时为编码器的层数。",
        ),
        Message("6, encoder and decoder each.", "编码器和解码器各 6 层。"),
        Message(
            "Norms before the sublayers made deep stacks trainable (arXiv 2002.04745); in small models "
            "depth pays more than width (arXiv 2402.14905).",
            "前置归一化使深层可以训练（arXiv 2002.04745）；小模型中深度比宽度更值得（arXiv 2402.14905）。",
        ),
    ),
    "decoder_layers": Explained(
        Message("L of the decoder.", "解码器的层数 L。"),
        Message("6.", "6。"),
        Message(
            "Decoding pays for the decoder at every token; a shallow one behind a deep encoder translates "
            "as well (arXiv 2006.10369).",
            "每生成一个词元都要付解码器的代价；深编码器配浅解码器翻译效果相当（arXiv 2006.10369）。",
        ),
    ),
    "blocks": Explained(
        Message("L, the blocks of the stack.", "L，栈的层数。"),
        Message("6, encoder and decoder each.", "编码器和解码器各 6 层。"),
        Message(
            "Norms before the sublayers made deep stacks trainable (arXiv 2002.04745).",
            "前置归一化使深层可以训练（arXiv 2002.04745）。",
        ),
    ),
    "is_encoder_decoder": Explained(
        Message("Whether an encoder reads a source in front of the decoder.", "解码器之前是否有读源文的编码器。"),
        Message("Yes.", "是。"),
        Message(
            "One stack does both for language models (GPT; arXiv 1801.10198); translation keeps two (arXiv "
            "1910.10683).",
            "语言模型用一栈即可（GPT；arXiv 1801.10198）；翻译仍用两栈（arXiv 1910.10683）。",
        ),
    ),
    "use_parallel_residual": Explained(
        Message(
            "Whether attention and feed-forward read the same input side by side.", "注意力与前馈是否并行读取同一输入。"
        ),
        Message("One after the other.", "一个接一个。"),
        Message(
            "Both run at once, at little loss in large models (GPT-J; GPT-NeoX, arXiv 2204.06745; PaLM, "
            "arXiv 2204.02311).",
            "两者可同时计算，大模型几乎无损（GPT-J；GPT-NeoX，arXiv 2204.06745；PaLM，arXiv 2204.02311）。",
        ),
    ),
    "share_encoder_decoder_embeddings": Explained(
        Message(
            "Whether encoder and decoder share their tables, or their weights.", "编码器与解码器是否共用词元表或权重。"
        ),
        Message("One token table for both (§3.4).", "共用一张词元表（§3.4）。"),
        Message(
            "Unchanged where both sides share a vocabulary (arXiv 1608.05859).",
            "两侧共用词表时至今如此（arXiv 1608.05859）。",
        ),
    ),
    "num_nextn_predict_layers": Explained(
        Message(
            "Layers behind the last that guess tokens further ahead; they are not read here.",
            "最后一层之后用来预测更远词元的层；此处不读取。",
        ),
        Message("None: the next token alone.", "没有：只预测下一个词元。"),
        Message(
            "They teach more at each position, and draft when decoding (arXiv 2404.19737; DeepSeek-V3, "
            "arXiv 2412.19437).",
            "让每个位置学到更多，解码时可用来起草（arXiv 2404.19737；DeepSeek-V3，arXiv 2412.19437）。",
        ),
    ),
    "stack": Explained(
        Message("A stack of blocks with its input.", "一栈层及其输入。"),
        Message("An encoder and a decoder.", "一个编码器和一个解码器。"),
        NOTHING,
    ),
}
