"""Help sentences of `train` and of the verbs that use what was trained."""

from __future__ import annotations

from clearformer.messages import Message

TRAINING = (
    # train
    Message("Train a model that continues text.", "训练续写文本的模型。"),
    Message("Train a model that fills gaps in text, as BERT does.", "训练像 BERT 那样填补文本空缺的模型。"),
    Message(
        "Train a model that translates: the paper's encoder and decoder.", "训练翻译模型：论文中的编码器与解码器。"
    ),
    Message("Train a model that forecasts series of numbers.", "训练预测数值序列的模型。"),
    Message("Train a model that sorts texts into classes.", "训练文本分类模型。"),
    Message(
        "Train a model that sorts images into classes: the Vision Transformer.",
        "训练图像分类模型：Vision Transformer。",
    ),
    Message(
        "Text to learn: a .txt or .jsonl file, a folder, or tinyshakespeare, pydoc, cyclic, chance.",
        "要学习的文本：.txt 或 .jsonl 文件、文件夹，或 tinyshakespeare、pydoc、cyclic、chance。",
    ),
    Message(
        "Text to learn: a .txt or .jsonl file, a folder, or a named set.",
        "要学习的文本：.txt 或 .jsonl 文件、文件夹，或命名数据集。",
    ),
    Message("A named set of parallel text: multi30k.", "平行文本的命名数据集：multi30k。"),
    Message("Sentences to translate, one a line.", "待翻译的句子，每行一句。"),
    Message("Their translations, line by line.", "逐行对应的译文。"),
    Message("One vocabulary for both languages, or one for each.", "两种语言共用一个词表，或各用一个。"),
    Message(
        "The share of the target's words that the decoder reads as it would put them.",
        "目标句中由解码器自己的预测代替真实词的比例。",
    ),
    Message("The share of the tokens to guess; 0.15 if left out.", "要猜测的词元所占比例；省略时为 0.15。"),
    Message("A CSV file with a column of dates, or ett, sine.", "带日期列的 CSV 文件，或 ett、sine。"),
    Message("Forecast this column alone; every column if left out.", "只预测这一列；省略时预测每一列。"),
    Message("Steps to forecast.", "要预测的步数。"),
    Message(
        "A TSV, CSV or JSONL file of texts and labels, or sst2.", "含文本和标签的 TSV、CSV 或 JSONL 文件，或 sst2。"
    ),
    Message(
        "A folder with one folder of images a class, an .npz file, or digits.",
        "每个类别一个图像子文件夹的文件夹、.npz 文件，或 digits。",
    ),
    Message(
        "A recipe file (YAML). Flags and dotted options such as --optimizer.lr 3e-4 go before environment variables such as CLEARFORMER__OPTIMIZER__LR=3e-4, and these before the file.",
        "配方文件（YAML）。命令行选项以及 --optimizer.lr 3e-4 这样的点号选项优先于 CLEARFORMER__OPTIMIZER__LR=3e-4 这样的环境变量，环境变量又优先于该文件。",
    ),
    Message("Updates to make.", "更新次数。"),
    Message(
        "Train for about this long instead of --steps, such as 90s, 10m or 1h.",
        "代替 --steps：大约训练这么久，例如 90s、10m 或 1h。",
    ),
    Message(
        "Batches that make one update together, weighed by their real tokens.",
        "合成一次更新的批次数，按真实词元数加权。",
    ),
    Message("The longest gradient; a longer one is shortened to it.", "梯度的最大范数；更长的梯度会缩短到此值。"),
    Message("The run folder; runs/TASK-1, -2, … if left out.", "运行文件夹；省略时为 runs/任务-1、-2……"),
    Message("Go on with the run in --out from its last saved state.", "从最近保存的状态继续 --out 中的运行。"),
    Message("Start of the random numbers.", "随机数种子。"),
    Message("Compute in this number type; weights stay float32.", "计算使用的数值类型；权重保持 float32。"),
    Message("Send the figures to this program as well; it must be installed.", "同时把数据发送到该程序；它须已安装。"),
    Message(
        "Reckon parameters, memory, data and time, and train nothing.", "只估算参数量、内存、数据量与时间，不训练。"
    ),
    Message("Print the whole recipe as YAML, and train nothing.", "以 YAML 打印完整配方，不训练。"),
    # evaluate, translate, forecast, classify, fill, export
    Message("A run folder, or its name under runs/.", "运行文件夹，或它在 runs/ 下的名称。"),
    Message(
        "Which part of the data to judge on; no choice is made on test.", "在哪部分数据上评估；test 不用于任何选择。"
    ),
    Message("How much to read at once; the figures are the same for every size.", "一次读取多少；结果与此无关。"),
    Message(
        "How many beginnings to keep at each step; 1 takes the likeliest word.",
        "每一步保留多少个开头；1 表示总取最可能的词。",
    ),
    Message(
        "The exponent of the length penalty ((5 + n) / 6)^α; a larger one favours longer texts.",
        "长度惩罚 ((5 + n) / 6)^α 的指数；越大越偏向较长的文本。",
    ),
    Message(
        "A file with the true translation of each text, line by line: print BLEU and chrF.",
        "逐行给出每段文本正确译文的文件：打印 BLEU 与 chrF。",
    ),
    Message("Take small and large letters for the same as translations are scored.", "为译文计分时不区分大小写。"),
    Message(
        "Texts, or image files for a vision model; without them, the lines of standard input.",
        "文本；对视觉模型则为图像文件；省略时读取标准输入的各行。",
    ),
    Message(
        "A text with [MASK] for each gap; without it, standard input.",
        "每个空缺写作 [MASK] 的文本；省略时读取标准输入。",
    ),
    Message("How many of the likeliest tokens to show for each gap.", "每个空缺显示多少个最可能的词元。"),
    Message("A CSV file with the columns that the model was trained on.", "含有模型训练所用各列的 CSV 文件。"),
    Message(
        "Steps to forecast; as many as the model forecasts at once if left out.",
        "要预测的步数；省略时为模型一次预测的步数。",
    ),
    Message(
        "Forecast the table's own last steps, and say how far the forecast is from them.",
        "预测表格自身的最后几步，并说明与之相差多少。",
    ),
    Message(
        "Draw which classes are taken for which into this file (.png or .svg).",
        "把各类别的混淆矩阵画入此文件（.png 或 .svg）。",
    ),
    Message(
        "Draw history, truth and forecast into this file (.png or .svg).",
        "把历史、真值与预测画入此文件（.png 或 .svg）。",
    ),
    Message(
        "The folder to write, or a file whose name ends in .gguf; it must not exist.",
        "要写入的文件夹，或以 .gguf 结尾的文件；不能已存在。",
    ),
    Message(
        "A folder's form. hf: as transformers reads it; own: with the whole spec, for this library alone [hf].",
        "文件夹的形式。hf：供 transformers 读取；own：含完整规格，仅供本库使用 [hf]。",
    ),
    Message(
        "How a GGUF file stores matrices: in 32, 16, 16, 8.5 or 4.5 bits a weight [f16].",
        "GGUF 文件存储矩阵的方式：每个权重 32、16、16、8.5 或 4.5 位 [f16]。",
    ),
)
