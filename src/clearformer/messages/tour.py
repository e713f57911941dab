"""What the tour says between its stations."""

from __future__ import annotations

from clearformer.messages import Message

STATION = Message("\n── {number}. {title}", "\n── {number}. {title}")

DEMOS = Message("Seven demonstrations, worked in NumPy and checked", "七个演示：用 NumPy 计算并逐项检查")
DEMO_HELD = Message("  ✓ {n}. {name} ({count} figures checked)", "  ✓ {n}. {name}（核对 {count} 项数值）")
DEMO_BROKE = Message("  ✗ {n}. {name}: {law}", "  ✗ {n}. {name}：{law}")

MODEL = Message("A real model", "一个真实的模型")
MODEL_IS = Message(
    "{name}: {parameters:.1f} million parameters, {layers} layers {width} wide, {heads} query and {kv_heads} key/value heads, {vocabulary} tokens.",
    "{name}：{parameters:.1f}M 参数，{layers} 层，宽 {width}，{heads} 个查询头与 {kv_heads} 个键值头，词表 {vocabulary}。",
)

ANSWER = Message("It answers, with and without its cache of keys and values", "它来回答：使用键值缓存，以及不使用")
QUESTION = Message("Asked: {prompt}", "提问：{prompt}")
WITH_CACHE = Message("With the cache: ", "使用缓存：")
WITHOUT_CACHE = Message("Without it: ", "不用缓存：")
SPEEDS = Message(
    "{new} tokens: {cached:.1f} tok/s with the cache, {uncached:.1f} without.",
    "{new} 个词元：使用缓存 {cached:.1f} 词元/秒，不用 {uncached:.1f}。",
)
SAME = Message(
    "✓ Both wrote the same tokens: the cache changes the work, not the answer.",
    "✓ 两次词元完全相同：缓存只改变计算量，不改变答案。",
)
DIFFERENT = Message("✗ The two texts differ from token {first} on.", "✗ 两段文本从第 {first} 个词元起不同。")

TRACE = Message("Every tensor of its first block, while it reads: {text}", "它读取下文时第一层的每个张量：{text}")
ATTENTION = Message("Who reads whom, in the head that looks back the most", "最爱回看的那个头里，谁在读谁")

EXPERIMENT = Message("An experiment: the causal mask taken away", "一个实验：去掉因果掩码")

VECTORS = Message("Sentences as vectors, by {name}", "句子变成向量，由 {name} 完成")
VECTORS_ROW = Message(
    "Cosines: 1 is the same direction, 0 has nothing in common.", "余弦：1 表示方向相同，0 表示毫无共同之处。"
)

COUNTING = Message("A model learns to count", "一个模型学数数")
RUNS_LIE_IN = Message(
    "From nothing to a model that any verb loads; this run and the next two stay in {folder}.",
    "从零训练出一个任何命令都能加载的模型；这次与随后两次运行都留在 {folder}。",
)
TRAINING = Message("Training", "正在训练")
COUNTED = Message(
    "step {step}: loss {loss:.3f}, {share:.1%} of the next tokens right",
    "第 {step} 步：损失 {loss:.3f}，下一个词元答对 {share:.1%}",
)
COUNTED_RIGHT = Message(
    "✓ {accuracy:.1%} right, more than {least:.0%}. The rest nobody can know: where a text starts counting, and where it ends.",
    "✓ 答对 {accuracy:.1%}，超过 {least:.0%}。其余无从得知：一段文本从哪个数字数起，到哪里结束。",
)
COUNTED_WRONG = Message(
    "✗ {accuracy:.1%} right; more than {least:.0%} was expected.", "✗ 答对 {accuracy:.1%}；应超过 {least:.0%}。"
)
TAKEN = Message("{steps} steps in {seconds:.0f} s: {run}", "{steps} 步，用时 {seconds:.0f} 秒：{run}")

PROSE = Message("A small language model reads Python's own handbook", "一个小语言模型读 Python 自带的手册")
READ_PROSE = Message(
    "step {step}: loss {loss:.3f}, {bits_per_byte:.2f} bits a byte, {accuracy:.1%} of the next tokens right",
    "第 {step} 步：损失 {loss:.3f}，每字节 {bits_per_byte:.2f} 比特，下一个词元答对 {accuracy:.1%}",
)
BEFORE = Message("Before, it wrote: {text}", "训练之前，它写道：{text}")
AFTER = Message("Now it writes:", "现在它写道：")

WAVES = Message("A forecaster continues sine waves", "一个预测模型续写正弦波")
FORECAST = Message("step {step}: mean squared error {mse:.5f}", "第 {step} 步：均方误差 {mse:.5f}")
TRUE_WAVE = Message("truth     {past} {line}", "真值  {past} {line}")
FORECAST_WAVE = Message("forecast  {past} {line}", "预测  {past} {line}")
WAVES_MET = Message(
    "✓ Mean squared error on rows never seen: {mse:.5f}; repeating the last value gives {persistence_mse:.3f}, {ratio:,.0f} times as much.",
    "✓ 在从未见过的行上，均方误差为 {mse:.5f}；重复最后一个值的误差是 {persistence_mse:.3f}，为前者的 {ratio:,.0f} 倍。",
)
WAVES_MISSED = Message(
    "✗ Mean squared error on rows never seen: {mse:.5f}; expected less than 1/{least:,} of the {persistence_mse:.3f} that repeating the last value gives.",
    "✗ 在从未见过的行上，均方误差为 {mse:.5f}；应小于重复最后一个值之误差 {persistence_mse:.3f} 的 1/{least:,}。",
)
PICTURE = Message("The picture: {path}", "图：{path}")

NEXT = Message("Where to go from here", "接下来可以做什么")
NEXT_COMMANDS = (
    ("clearformer chat smollm2-135m", Message("talk to it", "与它对话")),
    ("clearformer demo 1", Message("attention by hand, every step printed", "手算注意力，逐步打印")),
    (
        "clearformer demo --break no-scale",
        Message("plant a fault and see which check catches it", "植入一个错误，看哪项检查会发现"),
    ),
    ('clearformer trace smollm2-135m "hello" --layer all', Message("every tensor of every block", "每一层的每个张量")),
    ('clearformer attention smollm2-135m "a text of yours"', Message("how each head reads it", "每个头怎样读它")),
    (
        "clearformer train language --data a-text.txt --budget 5m",
        Message("train on a text of yours", "用你自己的文本训练"),
    ),
    ("clearformer bench decode --vs hf", Message("our speed beside Hugging Face's", "与 Hugging Face 并排测速")),
)

NOT_ON_PATH = Message(
    "The shell does not know clearformer yet; tell it once with: . {activate}",
    "此终端还不认识 clearformer；先运行一次：. {activate}",
)

LEFT_OUT = Message("✗ Left out: {cause}", "✗ 略过：{cause}")
WHAT_TO_DO = Message("  What to do: {remedy}", "  怎么办：{remedy}")
ALL_SEEN = Message("Everything was shown, and every check held.", "全部展示完毕，所有检查均通过。")
NOT_ALL_SEEN = Message("Not everything was shown or held: {names}.", "以下部分未能展示或未通过：{names}。")
