"""What a card says of each key about who may see whom and about how scores are made."""

from __future__ import annotations

from clearformer.messages import Message
from clearformer.messages.card import NOTHING, Explained

NO_WINDOWS = Message("No windows.", "没有窗口。")
SEES_ALL = Message("Every layer sees everything.", "每层都看到全部。")
NO_NORM = Message("No norm there.", "此处没有归一化。")

SIGHT: dict[str, Explained] = {
    "sliding_window": Explained(
        Message(
            "How many of the latest positions a query sees, itself included; null for all.",
            "一个查询能看到的最近位置数，含自身；null 表示全部。",
        ),
        Message("Every earlier position.", "之前的所有位置。"),
        Message(
            "A window bounds work and cache; far words arrive through the layers (arXiv 2004.05150; "
            "Mistral, arXiv 2310.06825).",
            "窗口限制了计算量与缓存；远处的词经由多层传来（arXiv 2004.05150；Mistral，arXiv 2310.06825）。",
        ),
    ),
    "local_attention": Explained(
        Message(
            "How many positions a local layer sees, half of them to either side.", "局部层能看到的位置数，两侧各半。"
        ),
        Message("Every position.", "所有位置。"),
        Message(
            "Most layers can be local if some see everything (Longformer, arXiv 2004.05150; ModernBERT, "
            "arXiv 2412.13663).",
            "只要有些层看到全部，多数层可以只看局部（Longformer，arXiv 2004.05150；ModernBERT，arXiv 2412.13663）。",
        ),
    ),
    "use_sliding_window": Explained(
        Message(
            "Whether the window counts; otherwise every position sees its whole past.",
            "窗口是否生效；否则每个位置看到全部过去。",
        ),
        NO_WINDOWS,
        Message(
            "Qwen names a window and leaves it off where the text fits (arXiv 2407.10671).",
            "Qwen 给出窗口，文本放得下时不启用（arXiv 2407.10671）。",
        ),
    ),
    "max_window_layers": Explained(
        Message(
            "Layers below this number see everything, where windows are on.", "启用窗口时，编号小于此数的层看到全部。"
        ),
        NO_WINDOWS,
        Message(
            "Some layers must see far for a fact to cross the text (arXiv 2407.10671).",
            "总要有些层看得远，事实才能传遍全文（arXiv 2407.10671）。",
        ),
    ),
    "layer_types": Explained(
        Message("What each layer sees: everything, or its window.", "每一层看到什么：全部，或只看窗口。"),
        SEES_ALL,
        Message(
            "Local layers between global ones save cache at nearly no loss (Gemma 2, arXiv 2408.00118; "
            "Gemma 3, arXiv 2503.19786).",
            "在全局层之间放局部层，几乎无损地节省缓存（Gemma 2，arXiv 2408.00118；Gemma 3，arXiv 2503.19786）。",
        ),
    ),
    "sliding_window_pattern": Explained(
        Message("Every n-th layer sees everything, the others their window.", "每 n 层有一层看到全部，其余只看窗口。"),
        SEES_ALL,
        Message(
            "Gemma 3 has five local layers to a global one (arXiv 2503.19786), ModernBERT two (arXiv 2412.13663).",
            "Gemma 3 每个全局层配五个局部层（arXiv 2503.19786），ModernBERT 配两个（arXiv 2412.13663）。",
        ),
    ),
    "full_attn_mod": Explained(
        Message("Every n-th layer sees everything; 1 for every layer.", "每 n 层有一层看到全部；1 表示每一层。"),
        SEES_ALL,
        Message(
            "A key of Phi-3's makers; every published size has 1 (arXiv 2404.14219).",
            "Phi-3 作者的键；公开的各规模均为 1（arXiv 2404.14219）。",
        ),
    ),
    "prefix_lm": Explained(
        Message("Whether the first tokens see each other both ways.", "开头的词元是否双向可见。"),
        Message("No: encoder both ways, decoder one way.", "否：编码器双向，解码器单向。"),
        Message(
            "One stack can then do an encoder's work too (T5 §3.2, arXiv 1910.10683).",
            "一栈即可兼做编码器（T5 §3.2，arXiv 1910.10683）。",
        ),
    ),
    "attn_type": Explained(
        Message(
            "The kind of attention: many heads, or many query heads with one of keys and values.",
            "注意力的种类：多头，或多查询。",
        ),
        Message("Many heads.", "多头。"),
        Message(
            "A name for what the head counts say (arXiv 1911.02150).", "头数所表达的内容的名称（arXiv 1911.02150）。"
        ),
    ),
    "attn_uses_sequence_id": Explained(
        Message("Whether packed texts are kept from seeing each other.", "打包在一起的文本是否互不可见。"),
        Message("Each row held one sentence.", "每行一个句子。"),
        Message(
            "Packing fills a batch without padding (arXiv 2107.02027).",
            "打包可以不用填充就装满一批（arXiv 2107.02027）。",
        ),
    ),
    "is_decoder": Explained(
        Message(
            "Who sees whom: positions before alone (causal), or both ways.", "谁能看到谁：只看前面（因果），或双向。"
        ),
        Message("Encoder both ways, decoder positions before alone.", "编码器双向，解码器只看前面。"),
        Message(
            "GPT kept the decoder alone, BERT the encoder alone (arXiv 1810.04805).",
            "GPT 只留解码器，BERT 只留编码器（arXiv 1810.04805）。",
        ),
    ),
    "add_cross_attention": Explained(
        Message("Whether a decoder's blocks also read an encoder's output.", "解码器各层是否还读取编码器的输出。"),
        Message("Yes, in every decoder block.", "是，解码器每层都读。"),
        Message(
            "A decoder alone has its source in the same text (GPT; arXiv 1801.10198).",
            "单独的解码器把源文放在同一段文本里（GPT；arXiv 1801.10198）。",
        ),
    ),
    "cross_attention_hidden_size": Explained(
        Message(
            "The width of what cross-attention reads, where it is not the model's own.",
            "交叉注意力所读内容的宽度，当它与模型宽度不同时给出。",
        ),
        Message("The same width on both sides.", "两侧宽度相同。"),
        Message(
            "It joins two models that were trained apart (arXiv 1907.12461).",
            "用来连接两个分别训练的模型（arXiv 1907.12461）。",
        ),
    ),
    "pruned_heads": Explained(
        Message("Heads cut out after training, layer by layer.", "训练后逐层剪掉的头。"),
        Message("None.", "没有。"),
        Message("Many heads can go with little loss (arXiv 1905.10650).", "许多头去掉后损失很小（arXiv 1905.10650）。"),
    ),
    "attn_config": Explained(
        Message("MPT's section about attention.", "MPT 关于注意力的部分。"),
        NOTHING,
        NOTHING,
    ),
    "attention": Explained(
        Message(
            "The kind of attention: heads with keys of their own, or heads rebuilt from a latent.",
            "注意力的种类：各头有自己的键，或由潜向量恢复。",
        ),
        Message("Heads with keys and values of their own.", "各头有自己的键和值。"),
        Message(
            "A latent shrinks the cache (DeepSeek-V2, arXiv 2405.04434).",
            "潜向量使缓存变小（DeepSeek-V2，arXiv 2405.04434）。",
        ),
    ),
}

SCORES: dict[str, Explained] = {
    "attn_logit_softcapping": Explained(
        Message(
            "c: scores are bent to c·tanh(score/c), so that none passes c; null for no cap.",
            "c：分数变为 c·tanh(score/c)，不会超过 c；null 表示不限。",
        ),
        Message("No cap.", "不限。"),
        Message(
            "It keeps large models from scores that run away (Gemma 2, arXiv 2408.00118); Gemma 3 "
            "normalises queries and keys instead (arXiv 2503.19786).",
            "防止大模型的分数失控（Gemma 2，arXiv 2408.00118）；Gemma 3 改为归一化查询和键（arXiv 2503.19786）。",
        ),
    ),
    "query_pre_attn_scalar": Explained(
        Message(
            "What scales the scores before softmax: the number itself (`softmax_scale`), or one over its "
            "root (`query_pre_attn_scalar`).",
            "softmax 之前对分数的缩放：该数本身（`softmax_scale`），或其平方根的倒数（`query_pre_attn_scalar`）。",
        ),
        Message("1/√K (§3.2.1).", "1/√K（§3.2.1）。"),
        Message(
            "Gemma 2 27B takes D/H in place of the head's own width (arXiv 2408.00118); T5 scales nothing "
            "and draws its weights smaller (arXiv 1910.10683).",
            "Gemma 2 27B 用 D/H 代替头宽（arXiv 2408.00118）；T5 不缩放，而把权重初始化得更小（arXiv 1910.10683）。",
        ),
    ),
    "scale_attn_weights": Explained(
        Message("Whether scores are divided by √K.", "分数是否除以 √K。"),
        Message("Yes (§3.2.1).", "是（§3.2.1）。"),
        Message(
            "Unchanged: without it softmax saturates and learns nothing.", "未变：不除的话 softmax 饱和，学不到东西。"
        ),
    ),
    "scale_attn_by_inverse_layer_idx": Explained(
        Message("Whether scores are further divided by the layer's number.", "分数是否再除以层的编号。"),
        Message("No.", "否。"),
        Message(
            "It kept small GPT-2s from diverging in half precision (Mistral project, Stanford CRFM 2021).",
            "用于防止小型 GPT-2 在半精度下发散（斯坦福 CRFM 的 Mistral 项目，2021）。",
        ),
    ),
    "qk_ln": Explained(
        Message(
            "Whether queries and keys, or the latents before them, are normalised before they meet.",
            "查询和键（或其之前的潜向量）在相遇之前是否归一化。",
        ),
        NO_NORM,
        Message(
            "Scores then cannot grow with the weights (arXiv 2010.04245; ViT-22B, arXiv 2302.05442).",
            "这样分数不会随权重变大（arXiv 2010.04245；ViT-22B，arXiv 2302.05442）。",
        ),
    ),
    "QKNorm.over": Explained(
        Message(
            "Over what the norm runs: each head alone, or the whole projection.",
            "归一化的范围：每个头单独，或整个投影。",
        ),
        NO_NORM,
        Message(
            "Qwen3 takes each head (arXiv 2505.09388), OLMo 2 the projection (arXiv 2501.00656).",
            "Qwen3 按头（arXiv 2505.09388），OLMo 2 按整个投影（arXiv 2501.00656）。",
        ),
    ),
    "clip_qkv": Explained(
        Message(
            "Bounds queries, keys and values to ± this; null for no bound.",
            "把查询、键、值限制在 ± 此数之内；null 表示不限。",
        ),
        Message("No bound.", "不限。"),
        Message(
            "A crude guard against outliers in training (MPT, MosaicML 2023).",
            "训练中对离群值的简单防护（MPT，MosaicML 2023）。",
        ),
    ),
}
