"""The laws of a checkpoint's files: what each says, when an alarm is false, the evidence, the causes and their mends."""

from __future__ import annotations

from clearformer.messages import Message

NO_CONFIG = Message("The folder holds no config.json.", "文件夹中没有 config.json。")
NO_WEIGHTS = Message("The folder holds no safetensors.", "文件夹中没有 safetensors 权重。")
OTHER_FAMILY = Message("{why}", "{why}")

INTEGRITY = Message(
    "The files are whole, hold every tensor that the config calls for, and finite, trained numbers.",
    "文件完整，含有配置要求的每个张量，数值有限且经过训练。",
)
INTEGRITY_RISK = Message(
    "A head that is meant to be new, and a model before training, are as drawn: a warning and a remark, no errors.",
    "有意新建的输出头和尚未训练的模型都是初始值：只作警告与提示，不算错误。",
)
KEYS = Message(
    "{found} of the {expected} names that the config calls for are among the {present} in the file",
    "配置要求的 {expected} 个名称中，文件的 {present} 个里只有 {found} 个",
)
PREFIX = Message(
    "with {theirs} in front replaced by {ours}, {count} more would match",
    "若把前缀 {theirs} 换成 {ours}，还能对上 {count} 个",
)
NOT_FINITE = Message(
    "{count} tensors hold numbers that are not finite, {first} the first",
    "有 {count} 个张量含有非有限数，首个为 {first}",
)
ALL_ZERO = Message("{count} matrices are all zeros, {first} the first", "有 {count} 个矩阵全为零，首个为 {first}")
DRAWN = Message(
    "{first} is as drawn from a normal distribution of spread {spread:g}, while {trained} other matrices are not",
    "{first} 与标准差为 {spread:g} 的正态随机初值无异，而另外 {trained} 个矩阵不是",
)
ALL_DRAWN = Message(
    "all {count} matrices are as drawn from a normal distribution of spread {spread:g}",
    "全部 {count} 个矩阵都与标准差为 {spread:g} 的正态随机初值无异",
)

CONSISTENT = Message(
    "The config is possible in itself and agrees with the weights and the tokenizer.",
    "配置自身可行，并与权重和分词器一致。",
)
CONSISTENT_RISK = Message(
    "Sizes are compared where every family has them; of families that are not known here, only those.",
    "只比较各家族共有的尺寸；对此处不认识的家族，也只比较这些。",
)
ID_BEYOND = Message("{name} is {found}, the vocabulary has {rows}", "{name} 为 {found}，而词表只有 {rows}")
ROWS = Message(
    "{name} has {found} rows, the config's vocab_size is {rows}", "{name} 有 {found} 行，而配置的 vocab_size 为 {rows}"
)
WIDTH = Message("{name} is {found} wide, the config says {width}", "{name} 宽 {found}，而配置为 {width}")
LAYERS = Message("the file has {found} layers, the config says {layers}", "文件有 {found} 层，而配置为 {layers}")
TOKENIZER_LARGER = Message(
    "the tokenizer has {found} ids, the model's table {rows} rows",
    "分词器有 {found} 个编号，而模型的词表只有 {rows} 行",
)

WITHOUT_SCALES = Message(
    "{count} weights are quantised and no scale lies beside them, such as {name}",
    "{count} 个权重是量化的，旁边却没有缩放系数，例如 {name}",
)
SCALES_UNSAID = Message(
    "a model of the kind {kind} has its own {names}, and the config does not say it",
    "{kind} 类模型有自己的 {names}，配置中却没有写",
)
BARE = Message(
    "Quantised weights came without their scales: as they stand, they are off by a factor.",
    "量化权重缺少缩放系数：照此读取，数值会差一个倍数。",
)
BARE_FIX = Message(
    "Save the scales beside each weight, such as weight_scale, with quantization_config in the config.",
    "请把缩放系数（如 weight_scale）与权重一并保存，并在配置中写明 quantization_config。",
)
SCALE_UNSAID = Message(
    "The config leaves a scale out that the family has: whoever reads it takes a default, and the answers are off.",
    "配置缺少该系列特有的缩放：读取者会取默认值，输出随之有偏差。",
)
SCALE_UNSAID_FIX = Message(
    "Write the number that the model was trained with into config.json.", "请把训练时所用的数值写入 config.json。"
)

SHARD_MISSING = Message("A shard of the weights is missing.", "缺少一个权重分片。")
SHARD_MISSING_FIX = Message(
    "Fetch that file again, index and shards of one version.", "请重新下载该文件，索引与分片须为同一版本。"
)
TRUNCATED = Message("The file of weights ends too early.", "权重文件不完整。")
TRUNCATED_FIX = Message(
    "Fetch it again; compare its size and SHA-256 with the source.", "请重新下载，并与来源比对大小和 SHA-256。"
)
UNREADABLE = Message("The file of weights cannot be read.", "权重文件无法读取。")
UNREADABLE_FIX = Message(
    "Save it again with safetensors.torch.save_file.", "请用 safetensors.torch.save_file 重新保存。"
)
UNMATCHED = Message(
    "The names in the file are not those of the model: loading with strict=False leaves it random.",
    "文件中的名称与模型不符：用 strict=False 载入会使模型保持随机。",
)
UNMATCHED_FIX = Message(
    "model.load_state_dict({k.removeprefix(PREFIX): v for k, v in state.items()}, strict=True)",
    "model.load_state_dict({k.removeprefix(PREFIX): v for k, v in state.items()}, strict=True)",
)
UNTIED = Message("Embedding and head are meant to be one matrix and differ.", "嵌入与输出头本应是同一矩阵，实际不同。")
UNTIED_FIX = Message(
    "head.weight = embedding.weight before training (no clone()); or tie_word_embeddings: false",
    "训练前写 head.weight = embedding.weight（不要 clone()）；或设 tie_word_embeddings: false",
)
LOST = Message("Weights are not finite.", "权重含有非有限数。")
LOST_FIX = Message(
    "Take the checkpoint before; look at that step's loss and gradient norm.",
    "请用更早的检查点；并查看那一步的损失与梯度范数。",
)
UNTRAINED = Message("Tensors were never trained or never loaded.", "有张量从未训练或从未载入。")
UNTRAINED_FIX = Message(
    "Check that they are registered, in the optimizer, and in the file that was loaded.",
    "请检查它们已注册、已交给优化器，并在所载入的文件中。",
)
OVERWRITTEN = Message(
    "The head is random: it was drawn anew after the weights were loaded.",
    "输出头是随机的：载入权重之后又被重新初始化。",
)
OVERWRITTEN_FIX = Message(
    "Resize before loading, or copy the old rows back after it; then save and compare logits.",
    "先调整词表大小再载入，或之后把旧行复制回来；保存后比较 logits。",
)
AS_DRAWN = Message("The model was not trained.", "模型尚未训练。")
AS_DRAWN_FIX = Message("Train it, or load the weights that were.", "请训练它，或载入训练好的权重。")
OTHER_VOCABULARY = Message("Vocabulary, config and tokenizer do not agree.", "词表、配置与分词器不一致。")
OTHER_VOCABULARY_FIX = Message(
    "model.resize_token_embeddings(len(tokenizer)), then save both together.",
    "model.resize_token_embeddings(len(tokenizer))，然后一起保存。",
)
DISAGREES = Message("The config is not that of these weights.", "配置与这些权重不配套。")
DISAGREES_FIX = Message("Use the config.json that was saved with the weights.", "请使用与权重一同保存的 config.json。")
IMPOSSIBLE = Message("The config describes a model that cannot be.", "配置描述的模型不可能存在。")
IMPOSSIBLE_FIX = Message(
    "Correct that key; `clearformer card` explains each.", "请更正该键；`clearformer card` 逐项解释。"
)
