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

VECTORS = Message("Sentences as vectors, by {name}", "句子变成向量，由 {name} 完成")
VECTORS_ROW = Message(
    "Cosines: 1 is the same direction, 0 has nothing in common.", "余弦：1 表示方向相同，0 表示毫无共同之处。"
)

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
