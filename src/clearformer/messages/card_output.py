"""What a card says of each key about what leaves the stack."""

from __future__ import annotations

from clearformer.messages import Message
from clearformer.messages.card import NOTHING, Explained

NO_LAYER = Message("No such layer.", "没有这一层。")
FEW_EXAMPLES = Message(
    "A head on a pretrained stack learns a task from few examples (BERT, arXiv 1810.04805).",
    "预训练的栈加一个头，少量样例即可学会任务（BERT，arXiv 1810.04805）。",
)
ALL_ANSWER = Message("Nothing does: every position answers.", "没有：每个位置都作答。")
NOT_COMPARED = Message("Nothing is compared.", "没有比较。")

OUTPUT: dict[str, Explained] = {
    "tie_word_embeddings": Explained(
        Message(
            "Whether the head is the token table once more, in place of a matrix of its own.",
            "输出头是否再次使用词元表，而不用自己的矩阵。",
        ),
        Message("Tied: one table for source, target and head (§3.4).", "共用：源、目标与输出头用同一张表（§3.4）。"),
        Message(
            "It saves a table and learns better in small models (arXiv 1608.05859); in large ones the "
            "table weighs little, and a head of its own is freer.",
            "省一张表，小模型学得更好（arXiv 1608.05859）；大模型里这张表占比很小，独立的输出头更自由。",
        ),
    ),
    "final_logit_softcapping": Explained(
        Message(
            "c: logits are bent to c·tanh(logit/c); null for no cap.", "c：logits 变为 c·tanh(logit/c)；null 表示不限。"
        ),
        Message("No cap.", "不限。"),
        Message(
            "It keeps the loss from driving logits up without end (Gemma 2, arXiv 2408.00118).",
            "防止损失把 logits 无限推高（Gemma 2，arXiv 2408.00118）。",
        ),
    ),
    "scale_decoder_outputs": Explained(
        Message(
            "What multiplies the last hidden states before the head: D^−½ in T5 1.0.",
            "输出头之前乘在最后隐状态上的数：T5 1.0 为 D^−½。",
        ),
        Message("Nothing there; the input is scaled by √D.", "此处没有；输入乘以 √D。"),
        Message(
            "A tied table without √D at the input asks for it at the output (T5, arXiv 1910.10683).",
            "输入不乘 √D 的共用表，须在输出处缩放（T5，arXiv 1910.10683）。",
        ),
    ),
    "lm_head_bias": Explained(
        Message("Whether the logits have a bias a token.", "logits 是否为每个词元加偏置。"),
        Message("None is written (§3.4).", "论文没有写偏置（§3.4）。"),
        Message(
            "A bias learns how frequent a token is (BERT, arXiv 1810.04805).",
            "偏置学习词元的频率（BERT，arXiv 1810.04805）。",
        ),
    ),
    "logit_scale": Explained(
        Message("Multiplies the logits; null for nothing.", "乘在 logits 上；null 表示不乘。"),
        Message("Nothing there.", "没有。"),
        Message(
            "It makes up for how large the weights were drawn (MPT, MosaicML 2023).",
            "弥补权重初始大小（MPT，MosaicML 2023）。",
        ),
    ),
    "head": Explained(
        Message(
            "What answers: logits over words or classes, numbers, a vector, or the hidden states.",
            "由什么作答：词或类别的 logits、数值、向量，或隐状态。",
        ),
        Message("Logits over words, at every position.", "每个位置上对词的 logits。"),
        Message(
            "One stack serves many tasks with a head each (BERT, arXiv 1810.04805).",
            "一栈配不同的头即可用于多种任务（BERT，arXiv 1810.04805）。",
        ),
    ),
    "Language.transform": Explained(
        Message("A layer before the head: norm(activation(x·W + b)).", "输出头之前的一层：norm(activation(x·W + b))。"),
        Message("None.", "没有。"),
        Message(
            "BERT guesses hidden words through one (arXiv 1810.04805).", "BERT 用它预测被遮的词（arXiv 1810.04805）。"
        ),
    ),
    "classifier_activation": Explained(
        Message("The function of the layer before the head.", "输出头之前那一层的函数。"),
        NO_LAYER,
        Message(
            "tanh behind BERT's pooling (arXiv 1810.04805), GELU in ModernBERT (arXiv 2412.13663).",
            "BERT 池化之后用 tanh（arXiv 1810.04805），ModernBERT 用 GELU（arXiv 2412.13663）。",
        ),
    ),
    "classifier_bias": Explained(
        Message("Whether the layer before the head, or the head, adds a bias.", "输出头之前的层或输出头是否加偏置。"),
        NO_LAYER,
        Message(
            "BERT has it (arXiv 1810.04805), ModernBERT leaves it out (arXiv 2412.13663).",
            "BERT 有（arXiv 1810.04805），ModernBERT 省去（arXiv 2412.13663）。",
        ),
    ),
    "num_labels": Explained(
        Message(
            "The classes to choose from, by number or by name; one is a number to predict.",
            "类别，按个数或名称给出；只有一个时为要预测的数。",
        ),
        Message("No classes: words alone.", "没有类别，只有词。"),
        FEW_EXAMPLES,
    ),
    "problem_type": Explained(
        Message("Whether the labels are classes or numbers to predict.", "标签是类别还是要预测的数。"),
        Message("Words alone.", "只有词。"),
        FEW_EXAMPLES,
    ),
    "classifier_pooling": Explained(
        Message(
            "What stands for the whole text: its first position, the mean, the last.",
            "用什么代表整段文本：首位置、均值或末位置。",
        ),
        ALL_ANSWER,
        Message(
            "A classifier needs one vector (BERT, arXiv 1810.04805); the mean serves for meaning (arXiv 1908.10084).",
            "分类器需要一个向量（BERT，arXiv 1810.04805）；表示语义用均值（arXiv 1908.10084）。",
        ),
    ),
    "special_token": Explained(
        Message(
            "The id of a token that the computation depends on: CLIP reads a text at its end mark, RoBERTa "
            "counts positions from the padding's id.",
            "计算所依赖的特殊词元编号：CLIP 在结束标记处读取文本，RoBERTa 从填充编号起数位置。",
        ),
        Message("No id mattered.", "与编号无关。"),
        Message(
            "As they were trained (arXiv 2103.00020, 1907.11692).", "沿用训练时的做法（arXiv 2103.00020、1907.11692）。"
        ),
    ),
    "EndToken.id": Explained(
        Message("The id of the token whose position stands for the text.", "代表整段文本的那个位置的词元编号。"),
        ALL_ANSWER,
        Message("CLIP reads the end mark (arXiv 2103.00020).", "CLIP 读取结束标记（arXiv 2103.00020）。"),
    ),
    "Flatten.length": Explained(
        Message("Positions laid side by side before the head.", "输出头之前并排的位置数。"),
        Message("Nothing is: every position answers.", "没有：每个位置都作答。"),
        Message(
            "PatchTST forecasts from all patches (arXiv 2211.14730).", "PatchTST 用所有块来预测（arXiv 2211.14730）。"
        ),
    ),
    "Forecast.horizon": Explained(
        Message("Steps that are forecast at once.", "一次预测的步数。"),
        Message("No series.", "没有时间序列。"),
        Message(
            "Steps at once do not pile up their errors (PatchTST, arXiv 2211.14730).",
            "一次预测多步，误差不会累积（PatchTST，arXiv 2211.14730）。",
        ),
    ),
    "projection_dim": Explained(
        Message(
            "The width of the space in which a text and an image, or two texts, are compared.",
            "文本与图像（或两段文本）进行比较的空间的宽度。",
        ),
        NOT_COMPARED,
        Message(
            "Both towers end in one space (CLIP, arXiv 2103.00020).", "两塔的输出在同一空间（CLIP，arXiv 2103.00020）。"
        ),
    ),
    "Vector.normalise": Explained(
        Message(
            "Whether vectors have length one, so that a product is a cosine.", "向量长度是否为一，使乘积即为余弦。"
        ),
        NOT_COMPARED,
        Message("As CLIP compares (arXiv 2103.00020).", "CLIP 的比较方式（arXiv 2103.00020）。"),
    ),
    "logit_scale_init_value": Explained(
        Message("The logarithm at which the learnt scale of the cosines starts.", "学到的余弦缩放的初始对数值。"),
        NOT_COMPARED,
        Message(
            "ln(1/0.07): softmax over cosines needs them stretched (CLIP, arXiv 2103.00020).",
            "ln(1/0.07)：对余弦做 softmax 须先放大（CLIP，arXiv 2103.00020）。",
        ),
    ),
    "text_config": Explained(
        Message("The section about the text tower.", "关于文本塔的部分。"),
        NOTHING,
        NOTHING,
    ),
    "vision_config": Explained(
        Message("The section about the image tower.", "关于图像塔的部分。"),
        NOTHING,
        NOTHING,
    ),
    "text_config_dict": Explained(
        Message("LAION's configs have the text tower's section a second time.", "LAION 的配置把文本塔的部分写了两遍。"),
        NOTHING,
        NOTHING,
    ),
    "vision_config_dict": Explained(
        Message(
            "LAION's configs have the image tower's section a second time.", "LAION 的配置把图像塔的部分写了两遍。"
        ),
        NOTHING,
        NOTHING,
    ),
}
