"""Sentences about the machine: memory, number types, devices."""

from __future__ import annotations

from clearformer.messages import failure

NOT_ENOUGH_MEMORY = failure(
    en=(
        "{purpose} needs {needed} of memory on {device}; {available} is free.",
        "Use a smaller model, a narrower number type (--dtype bfloat16), a shorter context, or close other programs.",
    ),
    zh=(
        "{purpose}需要 {device} 上的 {needed} 内存，可用的只有 {available}。",
        "请改用更小的模型、更窄的数值类型（--dtype bfloat16）或更短的上下文，或关闭其他程序。",
    ),
)
NO_DEVICE = failure(
    en=("Expected a device that this machine has ({known}), got {device}.", "Choose one of those with --device."),
    zh=("应为本机具有的设备（{known}），实际为 {device}。", "请用 --device 选择其中之一。"),
)
NO_DTYPE = failure(
    en=("{device} does not compute in {dtype}; it does in {known}.", "Choose one of those with --dtype."),
    zh=("{device} 不支持以 {dtype} 计算；支持的有 {known}。", "请用 --dtype 选择其中之一。"),
)
TOO_MANY_THREADS = failure(
    en=("Expected at most {most} threads, got {threads}.", "Leave --threads out to use every core."),
    zh=("线程数至多为 {most}，实际为 {threads}。", "省略 --threads 即使用全部核心。"),
)
BAD_THREADS = failure(
    en=("Expected at least 1 thread, got {threads}.", "Leave --threads out to use every core."),
    zh=("线程数至少为 1，实际为 {threads}。", "省略 --threads 即使用全部核心。"),
)
