"""The laws of who sees whom: what each says, when an alarm is false, and the evidence."""

from __future__ import annotations

from clearformer.messages import Message

DETERMINISM = Message("In evaluation the same input gives the same output.", "评估模式下，同样的输入给出同样的输出。")
DETERMINISM_RISK = Message(
    "Kernels that add in any order differ by rounding; the noise floor allows for it.",
    "求和次序不定的内核只相差舍入误差，噪声下限已把它计入。",
)
NOT_DETERMINED = Message(
    "two evaluations of one input differ by {size:.2g}, {floors:.0f} times the noise floor",
    "同一输入的两次评估相差 {size:.2g}，是噪声下限的 {floors:.0f} 倍",
)
CAUSALITY = Message("What comes later changes nothing before it.", "后面的内容不改变前面的输出。")
CAUSALITY_RISK = Message(
    "A bidirectional or prefix model must be declared as such: --kind encoder.",
    "双向模型或前缀模型须如实声明：--kind encoder。",
)
READS_AHEAD = Message(
    "another token at position {at} moves {count} earlier outputs, from position {first} on, by {floors:.0f} times the "
    "noise floor",
    "改变位置 {at} 的词元，会使从位置 {first} 起的 {count} 个更早的输出变动，幅度为噪声下限的 {floors:.0f} 倍",
)
RAISES_LATER = Message(
    "the module answers once and then raises {kind}: {detail}",
    "模块第一次能作答，之后引发 {kind}：{detail}",
)
OTHER_SHAPE = Message(
    "one input is answered with the shape {one}, and later with {other}",
    "同一输入先得到形状 {one}，后来得到 {other}",
)
READS_AHEAD_MASKED = Message(
    "only with a padding mask, and one that hides nothing", "仅在传入填充掩码（且它不遮任何内容）时如此"
)
READS_AHEAD_BARE = Message(
    "with a padding mask that hides nothing it does not",
    "传入一个不遮任何内容的填充掩码时则不会",
)
NO_POSITIONS = Message(
    "The module answers whole rows, or rows of one length, and not each position.",
    "模块只对整行（或固定长度的行）作答，没有逐位置的输出。",
)
VISIBILITY = Message(
    "A position sees itself, what comes just before it and the first token; in an encoder the last too.",
    "一个位置能看到自身、紧邻的前一个与最前的词元；编码器中还能看到最后一个。",
)
VISIBILITY_RISK = Message(
    "A saturated model moves less than rounding; a window that is not declared hides the first token.",
    "饱和的模型变动小于舍入误差；未声明的窗口会遮住最前的词元。",
)
SEES_BACK = Message(
    "position {at} reads {back} positions back and no further: if that is a window, declare it (--window, {window} with one "
    "layer)",
    "位置 {at} 只能向前看到 {back} 个位置：若这是窗口，请声明（--window，单层时为 {window}）",
)
UNSEEN = Message(
    "position {at} does not react to other tokens at {unseen}",
    "位置 {at} 对位置 {unseen} 处的词元变化没有反应",
)
WINDOW = Message(
    "A window of w shows the query itself and w - 1 positions before it.",
    "宽为 w 的窗口可见查询自身与之前的 w - 1 个位置。",
)
WINDOW_RISK = Message(
    "Families count a window differently; where only a config states it this is a warning.",
    "各家对窗口的计法不同；仅由配置给出时只作警告。",
)
NO_WINDOW = Message(
    "No window is declared (--window).",
    "没有声明窗口（--window）。",
)
WINDOW_TOO_WIDE = Message(
    "A window of {window} reaches further than the {longest} tokens of a probe.",
    "宽为 {window} 的窗口超出了检查所用的 {longest} 个词元。",
)
NOT_ALL_WINDOWED = Message(
    "Some layers see beyond the window, so that its edge does not show from outside.",
    "有些层能看到窗口之外，从外部看不出窗口边界。",
)
WINDOW_EDGE = Message(
    "a window of {window} in {layers} layers reaches {reach} positions back; the last answer reacts to {seen} positions back and no further",
    "{layers} 层、窗口宽 {window} 应回看 {reach} 个位置；最后一个输出实际只对至多 {seen} 个位置之前有反应",
)
PREFIX = Message(
    "A prefix alone is answered as the same prefix of a longer input.",
    "单独输入前缀，与它作为更长输入的前缀，输出相同。",
)
PREFIX_RISK = Message(
    "Dynamic NTK scaling changes its angles beyond the trained length; the probes stay below it.",
    "动态 NTK 缩放在超过训练长度后改变角度；检查所用长度在其之下。",
)
PREFIX_DIFFERS = Message(
    "the first {part} positions alone and as part of {length} differ by {floors:.0f} times the noise floor",
    "前 {part} 个位置单独输入与作为 {length} 个位置的一部分输入，相差噪声下限的 {floors:.0f} 倍",
)
ROWS = Message(
    "A row of a batch is answered as if it were alone, wherever it stands.",
    "批中每一行的输出与它单独输入、处于哪一行无关。",
)
ROWS_RISK = Message(
    "Experts with a capacity drop tokens by what else is in the batch; batch statistics are frozen in evaluation.",
    "带容量上限的专家会因批中其他内容而丢弃词元；评估时批统计量是固定的。",
)
ROWS_MIX = Message(
    "other tokens in rows 1 and 2 move row 0 by {floors:.0f} times the noise floor",
    "改变第 1、2 行的词元使第 0 行变动，幅度为噪声下限的 {floors:.0f} 倍",
)
ROWS_BY_PLACE = Message(
    "the same row three times gets three answers, {floors:.0f} times the noise floor apart",
    "同一行重复三次得到三个不同的输出，相差噪声下限的 {floors:.0f} 倍",
)
ROW_ALONE = Message(
    "a row alone and in a batch of three differ by {floors:.0f} times the noise floor",
    "一行单独输入与放在三行的批中，相差噪声下限的 {floors:.0f} 倍",
)
SOURCE = Message(
    "Every target position reads the whole source, and nothing of its padding.",
    "每个目标位置都读到整个源序列，而读不到其填充。",
)
SOURCE_RISK = Message(
    "A decoder that starts from a prefix of the source reads it in another way; the probes only ask that it reads it.",
    "以源序列为前缀的解码器读法不同；检查只要求它读到。",
)
NO_SOURCE = Message(
    "The module takes no source.",
    "模块不接收源序列。",
)
SOURCE_UNREAD = Message(
    "a wholly different source moves no answer",
    "换成完全不同的源序列，输出毫无变化",
)
SOURCE_PARTLY = Message(
    "the first target position does not react to the source at {unread}",
    "第一个目标位置对源序列位置 {unread} 没有反应",
)
DOCUMENTS = Message(
    "Documents packed into one row are answered as if each were alone.",
    "打包在一行中的各篇文档，与各自单独输入时输出相同。",
)
DOCUMENTS_RISK = Message(
    "Pretraining may pack on purpose; only a module that takes document numbers is asked.",
    "预训练可能有意打包；只检查接收文档编号的模块。",
)
NO_DOCUMENTS = Message(
    "The module takes no document numbers.",
    "模块不接收文档编号。",
)
TOKEN_TYPES = Message(
    "The argument takes token types and no document numbers.",
    "该参数接收词元类型，而不是文档编号。",
)
DOCUMENTS_MIX = Message(
    "other tokens in the first document move the second by {floors:.0f} times the noise floor",
    "改变第一篇文档的词元使第二篇变动，幅度为噪声下限的 {floors:.0f} 倍",
)
POSITIONS_RUN_ON = Message(
    "the second document alone and behind the first differ by {floors:.0f} times the noise floor",
    "第二篇文档单独输入与接在第一篇之后，相差噪声下限的 {floors:.0f} 倍",
)
