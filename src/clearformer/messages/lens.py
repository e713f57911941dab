"""What is said about the logit lens: what each layer would say next, and the tuned lens that is trained to hear it."""

from __future__ import annotations

from clearformer.messages import Message, counted, failure

NO_WORDS = failure(
    en=("A lens needs a head that gives a score to every token; this model has {found}.", "Use a language model."),
    zh=("透镜需要能给每个词元打分的输出头；该模型的输出头是 {found}。", "请使用语言模型。"),
)
TOO_LITTLE_TEXT = failure(
    en=(
        "Tuning a lens needs at least {least} tokens of text; {path} has {found}.",
        "Give a longer text, of the kind that the model reads.",
    ),
    zh=("调校透镜至少需要 {least} 个词元的文本；{path} 只有 {found} 个。", "请给出更长的、模型常读的那类文本。"),
)
NO_TARGET_HERE = failure(
    en=("--target is what an encoder-decoder should write; this is {found}.", "Put the whole text into TEXT."),
    zh=("--target 是编码器-解码器应写出的内容；这里是 {found}。", "请把全文放进 TEXT。"),
)
STEPS_WITHOUT_TEXT = failure(
    en=("--tune-steps says how long to tune, and no --tune names a text.", "Add --tune FILE."),
    zh=("--tune-steps 指定调校步数，但没有用 --tune 指定文本。", "请加上 --tune FILE。"),
)
BAD_STEPS = failure(
    en=("--tune-steps: expected a whole number from 1, found {found}.", "Give such a number."),
    zh=("--tune-steps：应为 1 以上的整数，实际为 {found}。", "请给出这样的数。"),
)
OTHER_SIZE = failure(
    en=("{path} has maps of the shape {expected}; this model needs {found}.", "Tune a lens for this model by --tune."),
    zh=("{path} 中映射的形状是 {expected}；该模型需要 {found}。", "请用 --tune 为这个模型重新调校。"),
)
OTHER_WEIGHTS = failure(
    en=("{path} was tuned for {name} with other weights than this model's.", "Tune a lens for this model by --tune."),
    zh=("{path} 是为 {name} 调校的，其权重与该模型不同。", "请用 --tune 为这个模型重新调校。"),
)
NO_LENS = failure(
    en=("{path} is a safetensors file, but holds no tuned lens.", "Give a file that --save wrote."),
    zh=("{path} 是 safetensors 文件，但不是调校透镜。", "请给出由 --save 写出的文件。"),
)
NOT_FINITE = failure(
    en=("{path}: {name} holds infinity or not-a-number.", "Tune a lens anew by --tune."),
    zh=("{path}：{name} 含有无穷大或 NaN。", "请用 --tune 重新调校。"),
)
OTHER_FILE = failure(
    en=("{path} is there and is no tuned lens: writing would lose it.", "Give --save another name."),
    zh=("{path} 已存在且不是调校透镜，写入会覆盖它。", "请给 --save 另一个文件名。"),
)
SAVE_WITHOUT_TUNE = failure(
    en=("--save writes the lens that --tune makes, and no --tune names a text.", "Add --tune FILE."),
    zh=("--save 保存 --tune 得到的透镜，但没有用 --tune 指定文本。", "请加上 --tune FILE。"),
)
TUNE_OR_TUNED = failure(
    en=("--tuned reads a lens and --tune makes one; found both.", "Leave one of the two out."),
    zh=("--tuned 读取透镜，--tune 现做透镜；两者同时给出。", "请去掉其中一个。"),
)

LIKELIEST = Message(
    "The likeliest token of each layer, the last layer at the top; * where it is the true one.",
    "每一层最可能的词元，最后一层在最上；* 表示与真实词元一致。",
)
RANKS = Message("Rank of the true token, 1 is first.", "真实词元的名次，1 为第一。")
ONLY_LAST = Message(
    "The last {shown} of {count} positions; --json and --out have all.",
    "{count} 个位置中的最后 {shown} 个；--json 与 --out 有全部。",
)
READS, TRUE = Message("reads", "读入"), Message("true", "真实")
EMBED = Message("embed", "嵌入")
LAYER = Message("layer", "层")
TUNING = Message("Tuning the lens", "调校透镜")
SAVED = Message("The lens lies in {path}; --tuned {path} reads it.", "透镜已存入 {path}；用 --tuned {path} 读取。")
TUNED = Message(
    "Tuned in {steps} on {tokens:,} tokens; divergence from the model's own answer, mean over layers: {before:.2f} before, {after:.2f} after (nats, on text held out).",
    "在 {tokens:,} 个词元上调校 {steps}；各层与模型自身答案的平均散度：调校前 {before:.2f}，调校后 {after:.2f}（nat，留出文本）。",
)


def steps_of(count: int) -> Message:
    return counted(count, "step", "steps", "步")
