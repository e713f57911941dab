"""What a card says of each key about what only training knows and about keys that change nothing in what is computed."""

from __future__ import annotations

from clearformer.messages import Message
from clearformer.messages.card import NOTHING, Explained

SEEN_ONCE = Message(
    "Models that see each text once leave it at 0 (arXiv 2204.02311).",
    "每段文本只看一次的模型设为 0（arXiv 2204.02311）。",
)
NOT_GIVEN = Message("Not given in the paper.", "论文未给出。")
NO_EXPERTS = Message("No experts.", "没有专家。")

TRAINING: dict[str, Explained] = {
    "dropout": Explained(
        Message(
            "The share of numbers set to zero in training, behind each sublayer.", "训练时每个子层之后置零的比例。"
        ),
        Message("0.1 in the base model, 0.3 in the big one (§5.4).", "base 模型 0.1，big 模型 0.3（§5.4）。"),
        Message(
            "It guards against learning by heart (arXiv 1207.0580); models that see each text once leave "
            "it at 0 (arXiv 2204.02311).",
            "防止死记硬背（arXiv 1207.0580）；每段文本只看一次的大模型设为 0（arXiv 2204.02311）。",
        ),
    ),
    "attention_dropout": Explained(
        Message("The share of attention weights set to zero in training.", "训练时注意力权重置零的比例。"),
        Message("Not on the weights in the paper; in its code, 0.1.", "论文未提；其代码为 0.1。"),
        SEEN_ONCE,
    ),
    "embd_pdrop": Explained(
        Message("The share of numbers set to zero in training, behind the embedding.", "训练时嵌入之后置零的比例。"),
        Message("0.1, on the sum of token and position (§5.4).", "0.1，作用于词元与位置之和（§5.4）。"),
        SEEN_ONCE,
    ),
    "activation_dropout": Explained(
        Message(
            "The share of numbers set to zero in training, inside the feed-forward network.",
            "训练时前馈网络内部置零的比例。",
        ),
        Message("Not in the paper; in its code, 0.1.", "论文未提；其代码为 0.1。"),
        SEEN_ONCE,
    ),
    "classifier_dropout": Explained(
        Message("The share of numbers set to zero in training, before a classifier.", "训练时分类器之前置零的比例。"),
        Message("No classifier.", "没有分类器。"),
        Message(
            "Fine-tuning sees few examples many times (arXiv 1810.04805).",
            "微调时少量样例要看很多遍（arXiv 1810.04805）。",
        ),
    ),
    "encoder_layerdrop": Explained(
        Message("The share of layers left out at random in training.", "训练时随机跳过的层的比例。"),
        Message("None.", "没有。"),
        Message(
            "The model can then be cut shallower (arXiv 1909.11556).", "之后可以把模型裁得更浅（arXiv 1909.11556）。"
        ),
    ),
    "initializer_range": Explained(
        Message(
            "The deviation of the normal distribution from which weights are drawn before training.",
            "训练前抽取权重的正态分布的标准差。",
        ),
        NOT_GIVEN,
        Message(
            "0.02 since GPT and BERT (arXiv 1810.04805); PaLM and others scale it with 1/√D (arXiv 2204.02311).",
            "自 GPT 与 BERT 起为 0.02（arXiv 1810.04805）；PaLM 等按 1/√D 缩放（arXiv 2204.02311）。",
        ),
    ),
    "initializer_factor": Explained(
        Message(
            "Multiplies the deviations from which weights are drawn before training.", "乘在训练前抽取权重的标准差上。"
        ),
        NOT_GIVEN,
        Message(
            "T5 draws each matrix by its own width (arXiv 1910.10683).",
            "T5 按各矩阵自己的宽度抽取（arXiv 1910.10683）。",
        ),
    ),
    "initializer_cutoff_factor": Explained(
        Message("How many deviations away a drawn weight is drawn again.", "抽到超过多少个标准差的权重要重抽。"),
        NOT_GIVEN,
        Message(
            "A truncated normal has no outliers (ModernBERT, arXiv 2412.13663).",
            "截断正态没有离群值（ModernBERT，arXiv 2412.13663）。",
        ),
    ),
    "initial": Explained(
        Message("How weights are drawn before training.", "训练前如何抽取权重。"),
        NOT_GIVEN,
        NOTHING,
    ),
    "Normal.residual_scaled": Explained(
        Message(
            "Whether matrices that write to the stream are drawn smaller by √(2L).",
            "写入残差流的矩阵是否按 √(2L) 抽得更小。",
        ),
        NOT_GIVEN,
        Message(
            "The stream then keeps its size in deep stacks (GPT-2, Radford et al. 2019).",
            "这样深层的残差流大小不变（GPT-2，Radford 等 2019）。",
        ),
    ),
    "router_aux_loss_coef": Explained(
        Message("The weight of the loss that spreads tokens over the experts.", "使词元均匀分给各专家的损失的权重。"),
        NO_EXPERTS,
        Message(
            "Without it a few experts take all (Switch, arXiv 2101.03961).",
            "没有它，少数专家会包揽一切（Switch，arXiv 2101.03961）。",
        ),
    ),
    "router_jitter_noise": Explained(
        Message("Noise on a router's input in training.", "训练时路由输入上的噪声。"),
        NO_EXPERTS,
        Message(
            "It lets experts be tried out (Switch, arXiv 2101.03961).",
            "让各专家都有机会被尝试（Switch，arXiv 2101.03961）。",
        ),
    ),
    "seq_aux": Explained(
        Message("Whether the balance of the experts is reckoned sequence by sequence.", "专家的均衡是否按序列计算。"),
        NO_EXPERTS,
        Message("As DeepSeek-V2 was trained (arXiv 2405.04434).", "同 DeepSeek-V2 的训练（arXiv 2405.04434）。"),
    ),
    "gradient_checkpointing": Explained(
        Message(
            "Whether activations are computed again in training in place of being kept.", "训练时是否重算激活而不保存。"
        ),
        Message("No.", "否。"),
        Message(
            "A third more work for far less memory (arXiv 1604.06174).",
            "多三分之一的计算换来少得多的内存（arXiv 1604.06174）。",
        ),
    ),
    "embedding_fraction": Explained(
        Message("The share of the gradient that reaches the token table.", "到达词元表的梯度比例。"),
        Message("All of it.", "全部。"),
        Message("It steadies training (GLM-130B, arXiv 2210.02414).", "使训练更稳定（GLM-130B，arXiv 2210.02414）。"),
    ),
    "sparse_prediction": Explained(
        Message(
            "Whether training computes logits at the hidden words alone, and how they are laid out.",
            "训练时是否只计算被遮词的 logits，以及其排布。",
        ),
        Message("At every position.", "每个位置都计算。"),
        Message(
            "It saves the head's work at all other words (ModernBERT, arXiv 2412.13663).",
            "省去其他位置的输出头计算（ModernBERT，arXiv 2412.13663）。",
        ),
    ),
    "replacing_rate": Explained(
        Message("How a smaller model was distilled from a larger one.", "小模型如何由大模型蒸馏得到。"),
        Message("Nothing was distilled.", "没有蒸馏。"),
        Message(
            "A student keeps most of its teacher's quality (DistilBERT, arXiv 1910.01108).",
            "学生模型能保留教师的大部分质量（DistilBERT，arXiv 1910.01108）。",
        ),
    ),
    "init_config": Explained(
        Message("How the makers' trainer drew the weights.", "原作者的训练程序如何抽取权重。"),
        NOT_GIVEN,
        NOTHING,
    ),
}

BOOKKEEPING: dict[str, Message] = {
    "_name_or_path": Message(
        "Where the model comes from, and which code and tokenizer went with it.", "模型的来源，以及配套的代码和分词器。"
    ),
    "torch_dtype": Message("The number type of the saved weights.", "所存权重的数值类型。"),
    "attn_implementation": Message(
        "Which kernel or machine computes the same thing.", "由哪种内核或机器计算同样的结果。"
    ),
    "output_attentions": Message(
        "What the library returns or keeps beside the answer.", "库在结果之外返回或保留什么。"
    ),
    "label2id": Message("The classes' names, the other way round.", "类别名称的反向表。"),
    "bos_token_id": Message(
        "The id of a special token, for the tokenizer and for writing.", "特殊词元的编号，供分词器和生成使用。"
    ),
    "bad_words_ids": Message(
        "A default of writing, as old configs carried them; generation_config.json rules.",
        "生成的默认值，旧配置中的写法；以 generation_config.json 为准。",
    ),
    "pooler_fc_size": Message(
        "Of a head that this model does not have, or of one that no code reads.",
        "属于此模型没有的头，或没有代码读取的头。",
    ),
    "general.name": Message("What the converter wrote about the file.", "转换程序对文件的记录。"),
    "tokenizer.ggml.model": Message("The tokenizer, which GGUF files carry inside.", "分词器，GGUF 文件自带。"),
}
