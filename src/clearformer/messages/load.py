"""What is said while a model is put together: its number type, its device, its memory, its tokenizer."""

from __future__ import annotations

from clearformer.messages import failure

BAD_DTYPE = failure(
    en=("dtype: expected one of {expected}, found {found}.", "float32 is exact and always works."),
    zh=("dtype：应为 {expected} 之一，实际为 {found}。", "float32 精确且总是可用。"),
)
NO_DEVICE = failure(
    en=("The device {found} cannot be used here ({detail}).", 'Use device="cpu".'),
    zh=("此处无法使用设备 {found}（{detail}）。", '请使用 device="cpu"。'),
)
CLAIMS_MORE = failure(
    en=(
        "{path}: the config describes a model of {needed} numbers, and the weights hold {held}.",
        "Check that config and weights belong together, and that no file of weights is missing.",
    ),
    zh=(
        "{path}：配置描述的模型有 {needed} 个数，而权重文件只有 {held} 个。",
        "请确认配置与权重属于同一模型，且没有缺少权重文件。",
    ),
)
NO_MEMORY = failure(
    en=(
        "{name}: the weights need {needed} GB on {device} in {dtype}, and there is not enough memory.",
        "Close other programs, load with a narrower dtype such as bfloat16, or take a smaller model.",
    ),
    zh=(
        "{name}：权重以 {dtype} 放入 {device} 需要 {needed} GB，内存不足。",
        "请关闭其他程序，改用更窄的类型（如 bfloat16），或选择较小的模型。",
    ),
)
VOCABULARY_TOO_LARGE = failure(
    en=(
        "{name}: the tokenizer knows {found} ids, the embedding has only {expected} rows.",
        "Use the tokenizer that belongs to this model.",
    ),
    zh=("{name}：分词器有 {found} 个编号，而词嵌入只有 {expected} 行。", "请使用与该模型配套的分词器。"),
)
