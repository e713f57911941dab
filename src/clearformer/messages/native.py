"""Sentences about the compiled kernels: why they are not there, and what they cannot do."""

from __future__ import annotations

from clearformer.messages import Message, failure, verbatim

# Why there is no library
NO_COMPILER = Message(
    en="the compiled kernels are not there, and no C++ compiler was found to build them",
    zh="没有编译好的内核，也未找到可用来编译的 C++ 编译器",
)
NOT_BUILT = Message(
    en="the compiled kernels have not been built; a C++ compiler is there: run make native",
    zh="内核尚未编译；已有 C++ 编译器，请运行 make native",
)
OTHER_ABI = Message(
    en="the compiled kernels have interface {found}, this program expects {expected}; run make native",
    zh="编译好的内核的接口版本为 {found}，本程序需要 {expected}；请运行 make native",
)
OTHER_MACHINE = Message(
    en="the compiled kernels were built for {found}, this machine is {expected}; run make native",
    zh="编译好的内核面向 {found}，本机为 {expected}；请运行 make native",
)
OTHER_SOURCES = Message(
    en="the compiled kernels were built from other sources; run make native",
    zh="编译好的内核与当前源码不符；请运行 make native",
)
NOT_LOADED = Message(
    en="the compiled kernels cannot be loaded ({detail}); run make native",
    zh="无法加载编译好的内核（{detail}）；请运行 make native",
)
NO_LIBRARY = failure(
    en=("The native backend cannot be used: {why}.", "Use --backend torch, with --dtype float32 or bfloat16."),
    zh=("无法使用 native 后端：{why}。", "请改用 --backend torch，并配合 --dtype float32 或 bfloat16。"),
)
NO_MEMORY = failure(
    en=(
        "There is not enough memory for the packed weights or the cache ({detail}).",
        "Use --dtype int4, or a shorter text.",
    ),
    zh=("内存不足以容纳打包的权重或缓存（{detail}）。", "请用 --dtype int4，或缩短文本。"),
)
REFUSED = failure(
    en=(
        "The compiled kernels refused a call: {detail}.",
        "This is a fault of Clearformer; use --backend torch meanwhile.",
    ),
    zh=("编译好的内核拒绝了一次调用：{detail}。", "这是 Clearformer 的缺陷；可暂用 --backend torch。"),
)

# What the kernels lack
NOT_A_DECODER = Message(en="a model that is not a decoder alone", zh="并非纯解码器的模型")
NO_LOGITS = Message(en="a head that gives no next token", zh="不预测下一词元的输出层")
LATENT = Message(en="latent attention (block {block})", zh="潜在注意力（第 {block} 层）")
PREFIX = Message(en="a prefix that is read both ways (block {block})", zh="双向读取的前缀（第 {block} 层）")
DEVICE = Message(en="computing on {device}", zh="在 {device} 上计算")
DTYPE = Message(en="computing in {dtype}", zh="以 {dtype} 计算")
NO_CACHE = Message(en="reading the whole text again at every step (--no-cache)", zh="每步重读全文（--no-cache）")
FALLS_BACK = Message(
    en="Computing with PyTorch: the native backend does not do {why}.",
    zh="使用 PyTorch 计算：native 后端不支持{why}。",
)
NOT_THERE = Message(en="Computing with PyTorch: {why}.", zh="使用 PyTorch 计算：{why}。")
UNSUPPORTED = failure(
    en=("The native backend does not do {why}.", "Use --backend torch, or auto, which chooses it here."),
    zh=("native 后端不支持{why}。", "请用 --backend torch，或用会在此选择它的 auto。"),
)
NATIVE_ONLY = failure(
    en=(
        "{dtype} is computed by the native backend alone, which does not do {why}.",
        "Use --dtype bfloat16 or float32.",
    ),
    zh=("{dtype} 只能由 native 后端计算，而它不支持{why}。", "请用 --dtype bfloat16 或 float32。"),
)
NATIVE_ONLY_TORCH = failure(
    en=(
        "{dtype} is computed by the native backend alone, and --backend torch was given.",
        "Leave --backend out, or use --dtype bfloat16.",
    ),
    zh=("{dtype} 只能由 native 后端计算，而给出的是 --backend torch。", "请省略 --backend，或用 --dtype bfloat16。"),
)
FEWER_THREADS = Message(
    en="{found} threads compute instead of {wanted}: more than the processor's cores would wait for each other.",
    zh="以 {found} 个线程计算，而非 {wanted} 个：多于处理器核数的线程只会互相等待。",
)


def filled(message: Message, **values: object) -> Message:
    """A part of a sentence with its values in place, to be put into another."""
    return verbatim(message.text("en", **values), message.text("zh", **values))
