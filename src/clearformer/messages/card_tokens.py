"""What a card says of each key about which model it is and about what enters the stack."""

from __future__ import annotations

from clearformer.messages import Message
from clearformer.messages.card import NOTHING, Explained

NO_SERIES = Message("No series.", "没有时间序列。")

MODEL: dict[str, Explained] = {
    "model_type": Explained(
        Message(
            "The family: which code reads this config, and what the keys mean that it leaves out.",
            "家族：由哪段代码读取这个配置，以及省略的键是什么意思。",
        ),
        NOTHING,
        NOTHING,
    ),
    "architectures": Explained(
        Message("The class that was saved: the stack, with which head.", "保存的类：这栈配哪种输出头。"),
        NOTHING,
        NOTHING,
    ),
    "spec": Explained(
        Message(
            "A whole model in Clearformer's own words; each of its choices stands below.",
            "用 Clearformer 自己的方式写出的整个模型；各项选择列在下面。",
        ),
        NOTHING,
        NOTHING,
    ),
}

TOKENS: dict[str, Explained] = {
    "vocab_size": Explained(
        Message(
            "Tokens that the model knows: rows of the table that turns an id into a vector.",
            "模型认识的词元数：把编号变成向量的词元表有这么多行。",
        ),
        Message(
            "Some 37,000 byte pairs, shared by English and German; 32,000 word pieces for French.",
            "英德共用约 37,000 个字节对编码单元；英法为 32,000 个 word piece。",
        ),
        Message(
            "Subwords stayed (arXiv 1508.07909). Many languages and code want more of them, and larger "
            "models gain from larger vocabularies (arXiv 2407.13623).",
            "子词沿用至今（arXiv 1508.07909）。多语言和代码需要更多子词，大模型也受益于更大的词表（arXiv "
            "2407.13623）。",
        ),
    ),
    "decoder_vocab_size": Explained(
        Message(
            "Tokens of the written language, where they are not those of the one that is read.",
            "目标语言的词元数，当它与源语言不同时给出。",
        ),
        Message("One vocabulary for both languages (§5.1).", "两种语言共用一个词表（§5.1）。"),
        Message(
            "Two scripts share few subwords; a table each wastes no rows (Marian, arXiv 1804.00344).",
            "文字不同的两种语言很少共用子词，各用一张表不浪费行（Marian，arXiv 1804.00344）。",
        ),
    ),
    "hidden_size": Explained(
        Message(
            "D, the width of the residual stream: the numbers that stand for a token between blocks.",
            "D，残差流的宽度：层与层之间用这么多个数表示一个词元。",
        ),
        Message("512 in the base model, 1,024 in the big one.", "base 模型 512，big 模型 1,024。"),
        Message(
            "Width grows with the number of parameters; its ratio to depth matters little (arXiv 2001.08361).",
            "宽度随参数量增长；它与深度之比影响不大（arXiv 2001.08361）。",
        ),
    ),
    "type_vocab_size": Explained(
        Message(
            "Kinds of segment: a learnt vector that tells a first text from a second.",
            "句段种类数：用一个学到的向量区分第一段与第二段文本。",
        ),
        Message("None: each text has a stack of its own.", "没有：两段文本各有自己的一栈。"),
        Message(
            "BERT reads two sentences in one stack (arXiv 1810.04805); RoBERTa found that it needs no such "
            "mark (arXiv 1907.11692).",
            "BERT 用一栈读两个句子（arXiv 1810.04805）；RoBERTa 发现并不需要这种标记（arXiv 1907.11692）。",
        ),
    ),
    "scale_embedding": Explained(
        Message(
            "What a token's vector is multiplied by before positions are added: √D, or 1 for nothing.",
            "加上位置之前词元向量所乘的数：√D，或 1（不缩放）。",
        ),
        Message("√D (§3.4).", "√D（§3.4）。"),
        Message(
            "Models that learn the table alone have no need of it; Gemma kept √D (arXiv 2403.08295).",
            "只学词元表的模型不需要它；Gemma 保留了 √D（arXiv 2403.08295）。",
        ),
    ),
    "Tokens.round_scale": Explained(
        Message(
            "Whether √D is rounded to the model's number type before it multiplies.",
            "√D 在相乘之前是否先舍入到模型的数值类型。",
        ),
        Message("No such question: training was in float32.", "当时用 float32 训练，没有这个问题。"),
        Message(
            "Gemma was trained with the rounded number, and computes differently with the exact one (arXiv "
            "2403.08295).",
            "Gemma 训练时用的是舍入后的数，换成精确值结果就不同（arXiv 2403.08295）。",
        ),
    ),
    "normalize_embedding": Explained(
        Message(
            "Whether the sum of token and position is normalised before the first block.",
            "词元与位置之和在进入第一层之前是否归一化。",
        ),
        Message("No norm there, dropout alone.", "此处没有归一化，只有丢弃。"),
        Message(
            "It steadies the start of training (BERT, arXiv 1810.04805; BLOOM, arXiv 2211.05100).",
            "它使训练初期更稳定（BERT，arXiv 1810.04805；BLOOM，arXiv 2211.05100）。",
        ),
    ),
    "stack_input": Explained(
        Message(
            "What enters the stack: tokens, patches of an image, or patches of a series.",
            "进入栈的内容：词元、图像块或序列块。",
        ),
        Message("Tokens of a sentence.", "句子的词元。"),
        Message(
            "A patch is a word to a Transformer (ViT, arXiv 2010.11929; PatchTST, arXiv 2211.14730).",
            "对 Transformer 来说一个块就是一个词（ViT，arXiv 2010.11929；PatchTST，arXiv 2211.14730）。",
        ),
    ),
    "image_size": Explained(
        Message("Height and width of the images, in pixels.", "图像的高和宽，以像素计。"),
        Message("No images.", "没有图像。"),
        Message(
            "The Transformer reads images cut into patches (ViT, arXiv 2010.11929).",
            "Transformer 可以读切成块的图像（ViT，arXiv 2010.11929）。",
        ),
    ),
    "patch_size": Explained(
        Message(
            "Side of a patch: one position of the stack stands for so many pixels across and down, or "
            "steps of a series.",
            "块的边长：栈中一个位置对应这么多像素（横与竖），或这么多个时间步。",
        ),
        Message("No patches: a position is a token.", "没有块：一个位置就是一个词元。"),
        Message(
            "Attention over single pixels would cost the square of their number (arXiv 2010.11929).",
            "若对单个像素做注意力，代价是像素数的平方（arXiv 2010.11929）。",
        ),
    ),
    "num_channels": Explained(
        Message(
            "Channels: the colours of a pixel, or the columns of a series.", "通道数：像素的颜色数，或序列的列数。"
        ),
        Message("No such input.", "没有这种输入。"),
        Message("It follows from the data (arXiv 2010.11929).", "由数据决定（arXiv 2010.11929）。"),
    ),
    "Patches.class_token": Explained(
        Message(
            "Whether one learnt vector stands before the patches, to be read as the image's.",
            "块之前是否放一个学到的向量，用来代表整幅图像。",
        ),
        Message("None.", "没有。"),
        Message("BERT's [CLS] for images (ViT, arXiv 2010.11929).", "相当于图像的 [CLS]（ViT，arXiv 2010.11929）。"),
    ),
    "Series.stride": Explained(
        Message("Steps between the starts of two patches of a series.", "相邻两个序列块起点之间的步数。"),
        NO_SERIES,
        Message(
            "Patches that overlap lose nothing at their edges (PatchTST, arXiv 2211.14730).",
            "相互重叠的块不会在边界处丢失信息（PatchTST，arXiv 2211.14730）。",
        ),
    ),
    "Series.normalise": Explained(
        Message(
            "Whether each channel's mean and deviation are taken out, and put back on the forecast.",
            "是否去掉每个通道的均值与标准差，再加回到预测上。",
        ),
        NO_SERIES,
        Message(
            "Levels drift between training and use (RevIN, Kim et al. 2022).",
            "训练与使用之间水平会漂移（RevIN，Kim 等 2022）。",
        ),
    ),
    "ReversibleNorm.affine": Explained(
        Message(
            "Whether a scale and a shift a channel are learnt between the two.",
            "两步之间是否为每个通道学习一个缩放和一个平移。",
        ),
        NO_SERIES,
        Message("As in RevIN (Kim et al. 2022).", "同 RevIN（Kim 等 2022）。"),
    ),
    "Series.independent": Explained(
        Message("Whether each channel runs alone through the same weights.", "是否让各通道单独通过同一套权重。"),
        NO_SERIES,
        Message(
            "Channels that are mixed overfit sooner (PatchTST, arXiv 2211.14730).",
            "混合通道更容易过拟合（PatchTST，arXiv 2211.14730）。",
        ),
    ),
    "Patches.bias": Explained(
        Message("Whether the projection of patches adds a bias.", "块的投影是否加偏置。"),
        Message("No patches.", "没有块。"),
        Message(
            "ViT has it (arXiv 2010.11929), CLIP leaves it out (arXiv 2103.00020).",
            "ViT 有（arXiv 2010.11929），CLIP 省去（arXiv 2103.00020）。",
        ),
    ),
}
