"""Sentences about how a run computes, and what was measured to choose it."""

from __future__ import annotations

from clearformer.messages import Message, failure

SWITCHED = Message(
    en="float32 products go to oneDNN: {times:.2f} times as fast here, relative error {error:.1e}.",
    zh="float32 矩阵乘交给 oneDNN：在本机快至 {times:.2f} 倍，相对误差 {error:.1e}。",
)
NOT_SWITCHED = Message(
    en="float32 products stay with torch's default: oneDNN runs at {times:.2f} times its speed here.",
    zh="float32 矩阵乘沿用 torch 的默认实现：oneDNN 在本机的速度是它的 {times:.2f} 倍。",
)
SWITCH_NOT_FLOAT32 = Message(
    en="float32 products stay with torch's default: on this processor oneDNN rounds them, relative error {error:.1e}.",
    zh="float32 矩阵乘沿用 torch 的默认实现：在此处理器上 oneDNN 会舍入，相对误差 {error:.1e}。",
)
TYPE_CHOSEN = Message(
    en="Products are computed in {dtype}: bfloat16 runs at {times:.2f} times float32's speed here.",
    zh="矩阵乘以 {dtype} 计算：bfloat16 在本机的速度是 float32 的 {times:.2f} 倍。",
)
KERNEL_CHOSEN = Message(
    en="Attention kernel: {kernel}; a step's attention takes: {times}.",
    zh="注意力实现：{kernel}；每步的注意力用时：{times}。",
)
TABLES_TOO_LARGE = Message(
    en="The plain attention kernel is not tried: it would keep {size:.1f} GiB of scores.",
    zh="不试 plain 注意力实现：它需保留 {size:.1f} GiB 的分数。",
)
COMPILED = Message(
    en="Compiled: a step takes {compiled:.1f} ms instead of {eager:.1f} ms, after {compiling:.0f} s of compiling.",
    zh="已编译：每步由 {eager:.1f} 毫秒降至 {compiled:.1f} 毫秒，编译用时 {compiling:.0f} 秒。",
)
NOT_COMPILED = Message(
    en="Not compiled: a step takes {eager:.1f} ms, compiled {compiled:.1f} ms; compiling takes {compiling:.0f} s.",
    zh="不编译：每步 {eager:.1f} 毫秒，编译后 {compiled:.1f} 毫秒；编译需 {compiling:.0f} 秒。",
)
SWITCH_CPU_ONLY = failure(
    en=("The switch sends products to oneDNN on a CPU; this run computes on {device}.", "Leave switch at auto."),
    zh=("switch 把 CPU 上的矩阵乘交给 oneDNN；此运行使用 {device}。", "请将 switch 保持为 auto。"),
)
COMPILED_RECOMPUTED = failure(
    en=(
        "A compiled block chooses itself what to keep, so activations cannot be recomputed as well.",
        "Ask for one of compile and checkpoint_activations.",
    ),
    zh=("编译后的块自行决定保留什么，不能同时重算激活。", "compile 与 checkpoint_activations 请只选其一。"),
)
SWITCH_INEXACT = failure(
    en=(
        "With the switch, float32 products here have a relative error of {error}; at most {most} is float32.",
        "Leave switch at auto, or ask for bfloat16 by its name (dtype bfloat16).",
    ),
    zh=(
        "打开 switch 后，本机 float32 矩阵乘的相对误差为 {error}；不超过 {most} 才算 float32。",
        "请将 switch 保持为 auto，或直接选用 bfloat16（dtype bfloat16）。",
    ),
)
