"""What is said about measuring side by side."""

from __future__ import annotations

from clearformer.messages import Message, failure

# Refused
NO_TRANSFORMERS = failure(
    en=(
        "The peer transformers is not installed.",
        "Install it: pip install transformers; or measure alone without --vs.",
    ),
    zh=("没有安装对照软件 transformers。", "请运行 pip install transformers，或去掉 --vs 单独测量。"),
)
NO_ENVIRONMENT = failure(
    en=(
        "The peer's environment {path} is not there.",
        "Run make bench-setup in a checkout of clearformer (CLEARFORMER_BENCH names another folder), or measure without it.",
    ),
    zh=(
        "没有找到对照软件的环境 {path}。",
        "请在 clearformer 的代码目录中运行 make bench-setup（CLEARFORMER_BENCH 可另指文件夹），或不与它比较。",
    ),
)
PEER_DIED = failure(
    en=(
        "The process that runs {name} ended early ({detail}).",
        "Run make bench-setup again if it cannot start, choose another model, or measure without it.",
    ),
    zh=(
        "运行 {name} 的进程提前结束（{detail}）。",
        "若它无法启动，请重新运行 make bench-setup；也可换一个模型，或不与它比较。",
    ),
)
PEER_CANNOT_LOAD = failure(
    en=("transformers {version} cannot load {path}: {detail}.", "Choose another model, or measure alone without --vs."),
    zh=("transformers {version} 无法加载 {path}：{detail}。", "请换一个模型，或去掉 --vs 单独测量。"),
)
BUSY = failure(
    en=(
        "This machine is busy: the same work took {spread:.0%} longer or shorter (at most {most_spread:.0%} is quiet), and this process got {share:.0%} of its {threads} threads (at least {least_share:.0%}).",
        "Close other programs and run it again; --busy-ok measures all the same.",
    ),
    zh=(
        "本机正忙：同样的工作耗时波动 {spread:.0%}（安静时不超过 {most_spread:.0%}），本进程只得到 {threads} 个线程的 {share:.0%}（至少应为 {least_share:.0%}）。",
        "请关闭其他程序后重试；--busy-ok 表示仍然测量。",
    ),
)
TOO_FEW = failure(
    en=("{name}: expected at least {least}, got {found}.", "Give a larger number."),
    zh=("{name}：至少为 {least}，实际为 {found}。", "请给出更大的数。"),
)
TOO_MANY_ROWS = failure(
    en=("--rows: expected at most {most}, got {found}.", "Give a smaller number."),
    zh=("--rows：最多 {most}，实际为 {found}。", "请给出更小的数。"),
)
TOO_LONG = failure(
    en=(
        "{prompt} prompt tokens and {new} new ones are more than the {context} that {name} holds.",
        "Give smaller numbers to --prompt and --new.",
    ),
    zh=("提示 {prompt} 个词元加生成 {new} 个，超出 {name} 的 {context} 个。", "请减小 --prompt 与 --new。"),
)
CANNOT_WRITE = failure(
    en=("{path} cannot be written ({detail}).", "Name a file in a folder that exists and may be written."),
    zh=("无法写入 {path}（{detail}）。", "请指定一个存在且可写的文件夹中的文件。"),
)

# Told
CALIBRATING = Message("Looking whether the machine is quiet …", "正在检查本机是否空闲……")
LOADING = Message("Loading {name} …", "正在加载 {name}……")
RUNNING = Message("Measuring", "测量")
CONTESTANT, UNIT, MEDIAN, LOW, HIGH, RATIO = (
    Message("program", "程序"),
    Message("unit", "单位"),
    Message("median", "中位数"),
    Message("low", "最低"),
    Message("high", "最高"),
    Message("ours by it", "我们/该程序"),
)
ON = Message(
    "{job}, {model}, {dtype}, {backend}, {prompt} prompt tokens, {new} new, rows: {rows}, {runs} alternating runs; {date}",
    "{job}，{model}，{dtype}，{backend}，提示 {prompt} 个词元，生成 {new} 个，行数 {rows}，交替运行 {runs} 次；{date}",
)
MACHINE = Message(
    "{name}, {threads} of {cores} cores; clearformer {clearformer}, torch {torch}, transformers {transformers}, Python {python}",
    "{name}，使用 {threads}/{cores} 核；clearformer {clearformer}，torch {torch}，transformers {transformers}，Python {python}",
)
EXPECTED = Message(
    "clearformer cost expected {expected:.1f} tok/s of ours; it reached {ratio:.2f} of that.",
    "clearformer cost 的预期为 {expected:.1f} tok/s；实测为其 {ratio:.2f} 倍。",
)
WAS_BUSY = Message("The machine was busy: these figures are not to be quoted.", "测量时本机正忙：这些数字不可引用。")
SAME_TOKENS = Message("{name} wrote the same {count} tokens.", "{name} 生成的 {count} 个词元完全相同。")
OTHER_TOKENS = Message(
    "The tokens of {name} differ from number {first} on, of {count}.",
    "{name} 的词元从第 {first} 个起不同，共 {count} 个。",
)
OF_READING = Message(
    "Ours reads weights and cache at {used:.1f} GB/s: {share:.0%} of the {measured:.1f} GB/s that memory is read at, measured now.",
    "我们读取权重与缓存的速度为 {used:.1f} GB/s，是刚测得的内存读取速度 {measured:.1f} GB/s 的 {share:.0%}。",
)
OF_PRODUCTS = Message(
    "Ours computes {used:.0f} GFLOP/s: {share:.0%} of the {measured:.0f} GFLOP/s of a large matrix product in {dtype}, measured now.",
    "我们的计算速度为 {used:.0f} GFLOP/s，是刚测得的 {dtype} 大矩阵乘法 {measured:.0f} GFLOP/s 的 {share:.0%}。",
)

UNKNOWN_PEER = failure(
    en=("Expected a peer among {known}, found {found}.", "Name one or several of those, with commas between."),
    zh=("对手应为 {known} 之一，实际为 {found}。", "请写出其中一个或几个，用逗号分隔。"),
)
NO_PEER = failure(
    en=(
        "Measuring against {name} needs the package {package}, which is not installed.",
        "Install it: pip install {package}, or run make bench-setup and then .bench/training/bin/clearformer bench train.",
    ),
    zh=(
        "与 {name} 比较需要软件包 {package}，但它没有安装。",
        "请安装：pip install {package}；或先 make bench-setup，再运行 .bench/training/bin/clearformer bench train。",
    ),
)
FAR_LOSS = failure(
    en=(
        "{name} starts at a loss of {found:.2f}, expected about {expected:.2f}: it is not set up as the others are.",
        "Measure without it, or update the library.",
    ),
    zh=(
        "{name} 的起始损失为 {found:.2f}，应约为 {expected:.2f}：它的设置与其他对手不同。",
        "请去掉它再测，或更新该库。",
    ),
)

TRAINING_ON = Message(
    "train, {shape}, {dtype}, compiled: {compile}, {runs} alternating runs of {steps} updates; {date}",
    "train，{shape}，{dtype}，编译：{compile}，交替运行 {runs} 次，每次 {steps} 步；{date}",
)

# Over lengths
BAD_LENGTHS = failure(
    en=("Expected lengths such as 1K,4K,500, found {found!r}.", "Give whole numbers of tokens, commas between."),
    zh=("长度应形如 1K,4K,500，实际为 {found!r}。", "请给出词元数（整数），用逗号分隔。"),
)
BAD_PICTURE = failure(
    en=("Expected a picture's name that ends in .png or .svg, found {path}.", "Give --plot such a name."),
    zh=("图片文件名应以 .png 或 .svg 结尾，实际为 {path}。", "请为 --plot 给出这样的文件名。"),
)
UNEVEN_HEADS = failure(
    en=(
        "{groups} heads of keys cannot be shared evenly by {heads} heads of queries.",
        "Give --kv-heads a number that divides --heads.",
    ),
    zh=("{heads} 个查询头无法均分 {groups} 个键头。", "--kv-heads 应能整除 --heads。"),
)
BAD_DROPOUT = failure(
    en=("--dropout: expected a share from 0 up to 1, found {found}.", "Give a share such as 0.1."),
    zh=("--dropout：应为 0 到 1 之间的比例，实际为 {found}。", "请给出例如 0.1 的比例。"),
)
KEEPS_NO_CACHE = failure(
    en=("{name} does not continue a text, so it keeps no cache.", "Choose a decoder with a language head."),
    zh=("{name} 不续写文本，因此没有缓存。", "请选择带语言头的解码器。"),
)
CHILD_DIED = failure(
    en=(
        "The process that measured {way} at {length} tokens ended early ({detail}).",
        "Give smaller --lengths if memory ran out, or measure without --vs.",
    ),
    zh=("在 {length} 个词元处测量 {way} 的进程提前结束（{detail}）。", "若是内存不足，请减小 --lengths；或去掉 --vs。"),
)
ATTENTION_ON = Message(
    "attention, causal, {dtype}, batch {batch}, {heads} heads on {kv_heads} of {width} numbers, window: {window}, dropout: {dropout}, gradients: {training}, {runs} alternating runs; {date}",
    "attention，因果，{dtype}，批大小 {batch}，{heads} 个查询头、{kv_heads} 个键值头、每头 {width} 维，窗口：{window}，dropout：{dropout}，梯度：{training}，交替运行 {runs} 次；{date}",
)
CACHE_ON = Message(
    "cache, {model}, {dtype}, {backend}, {new} new tokens, batch 1, {runs} alternating runs; {date}",
    "cache，{model}，{dtype}，{backend}，生成 {new} 个词元，批大小 1，交替运行 {runs} 次；{date}",
)
KERNEL, WAY, LENGTH, MEDIAN_MS, BY_SDPA, PREDICTED, PEAK, FIRST_MS, EACH_MS, CACHE_SIZE = (
    Message("kernel", "实现"),
    Message("way", "方式"),
    Message("length", "长度"),
    Message("median ms", "中位数（毫秒）"),
    Message("SDPA by it", "SDPA/该实现"),
    Message("predicted MiB", "预测 MiB"),
    Message("peak MiB", "峰值 MiB"),
    Message("first token ms", "首词元（毫秒）"),
    Message("each further ms", "其后每个（毫秒）"),
    Message("cache MiB", "缓存 MiB"),
)
START_ON = Message(
    "start, {model} as a GGUF file, {dtype}, backend {backend}, one new token, {runs} alternating runs; {date}",
    "start，{model} 的 GGUF 文件，{dtype}，后端 {backend}，生成一个词元，交替运行 {runs} 次；{date}",
)
SECONDS_BEYOND = Message(
    "Beyond a bare import torch ours takes {found:.2f} s; llama.cpp's time and one second more are {allowed:.2f} s.",
    "除 import torch 本身外，我们用时 {found:.2f} 秒；llama.cpp 的用时加一秒为 {allowed:.2f} 秒。",
)
BYTES_BEYOND = Message(
    "Beyond a bare import torch ours takes {found:,.0f} MiB at most; weights, cache and 200 MB more are {allowed:,.0f} MiB.",
    "除 import torch 本身外，我们最多占用 {found:,.0f} MiB；权重、缓存再加 200 MB 为 {allowed:,.0f} MiB。",
)
TOO_LARGE = Message("would not fit", "放不下")
FAILED = Message("died", "中途退出")
SECONDS, MEBIBYTES, FIRST_SECONDS, EACH_SECONDS, BEYOND_WEIGHTS, EACH_MILLISECONDS = (
    Message("seconds", "秒"),
    Message("MiB beside the inputs (dotted: predicted)", "输入之外的 MiB（虚线为预测）"),
    Message("seconds to the first token", "到首个词元的秒数"),
    Message("seconds for each further token", "其后每个词元的秒数"),
    Message("MiB beyond the weights (dotted: the cache)", "权重之外的 MiB（虚线为缓存）"),
    Message("ms a token with the cache", "有缓存时每词元毫秒数"),
)
MEASURED_TIMES, FITTED, AT_BANDWIDTH = (
    Message("measured, low to high", "实测，最低到最高"),
    Message("line: {slope:.3f} µs a position", "拟合：每位置 {slope:.3f} 微秒"),
    Message("cache's bytes at the memory's rate: {slope:.3f} µs", "缓存字节按内存速度：{slope:.3f} 微秒"),
)
SAME_TEXT = Message("All ways wrote the same tokens.", "各方式生成的词元完全相同。")
OTHER_TEXT = Message("The ways wrote different tokens.", "各方式生成的词元不同。")
SLOPE = Message(
    "With the cache a position more costs {measured:.3f} µs a token; its {bytes:,} bytes at {bandwidth:.1f} GB/s, measured now, take {expected:.3f} µs: {ratio:.2f} of that.",
    "有缓存时，每多一个位置，每词元多用 {measured:.3f} 微秒；它的 {bytes:,} 字节按刚测得的 {bandwidth:.1f} GB/s 需 {expected:.3f} 微秒，实测为其 {ratio:.2f} 倍。",
)
LINEAR = Message(
    "The time of a token is linear in the length: no length lies further than {apart:.1%} from the line, which starts at {start:.2f} ms.",
    "每词元时间与长度成线性关系：各长度偏离直线不超过 {apart:.1%}，直线起点为 {start:.2f} 毫秒。",
)
NOT_LINEAR = Message(
    "The time of a token is not linear in the length: one length lies {apart:.1%} from the line, which starts at {start:.2f} ms.",
    "每词元时间与长度不成线性关系：有一个长度偏离直线 {apart:.1%}，直线起点为 {start:.2f} 毫秒。",
)

# With taps and without
NO_DECODER = failure(
    en=("{name} is no decoder that reads tokens.", "Choose a language model such as smollm2-135m."),
    zh=("{name} 不是读取词元的解码器。", "请选择语言模型，例如 smollm2-135m。"),
)
PAST_CONTEXT = failure(
    en=("{found} tokens are more than the {context} that {name} holds.", "Give smaller --lengths."),
    zh=("{found} 个词元超出 {name} 的 {context} 个。", "请减小 --lengths。"),
)
TAPS_ON = Message(
    "taps, {model}, {dtype}, PyTorch, one forward pass, {runs} rounds of alternating passes; {date}",
    "taps，{model}，{dtype}，PyTorch，一次前向计算，交替计算 {runs} 轮；{date}",
)
TAPS_OFF_MS, NO_TAPS_MS, TAPS_COST = (
    Message("taps off ms", "观测点关闭（毫秒）"),
    Message("no taps ms", "没有观测点（毫秒）"),
    Message("taps cost", "观测点的代价"),
)
TAPS_WITHIN = Message(
    "Taps that are off cost at most {allowed:.0%} of a forward pass, as they may.",
    "关闭的观测点的代价不超过前向计算的 {allowed:.0%}，符合要求。",
)
TAPS_BEYOND = Message(
    "Taps that are off cost more than the {allowed:.0%} of a forward pass that they may.",
    "关闭的观测点的代价超过前向计算的 {allowed:.0%}，不符合要求。",
)
SAME_ANSWER = Message("Both gave the same numbers, bit for bit.", "两者给出的数值逐位相同。")
OTHER_ANSWER = Message("The two gave different numbers.", "两者给出的数值不同。")
