"""What a choice costs, each sentence with the figures that `cost` gives for the model at hand."""

from __future__ import annotations

from clearformer.messages import Message

A_TOKEN, AN_IMAGE, A_WINDOW = (
    Message("a token", "每词元"),
    Message("an image", "每幅图像"),
    Message("a window", "每个窗口"),
)
PART = Message(
    "{count:,} parameters, {share:.1%} of the model.",
    "{count:,} 个参数，占模型的 {share:.1%}。",
)
TABLE = Message(
    "{count:,} parameters in the table, {share:.1%} of the model; {flops:,} FLOPs a token for the logits.",
    "表中 {count:,} 个参数，占模型的 {share:.1%}；logits 每词元 {flops:,} FLOPs。",
)
WIDTH = Message(
    "{block:,} parameters a block; {stream} a position in the stream between blocks.",
    "每层 {block:,} 个参数；层间残差流每个位置 {stream}。",
)
PRODUCTS = Message("{count:,} multiplications {unit}, no parameters.", "{unit} {count:,} 次乘法，没有参数。")
IMAGE = Message(
    "{positions:,} positions; {flops:,} FLOPs an image, {share:.1%} of them in attention.",
    "{positions:,} 个位置；每幅图像 {flops:,} FLOPs，其中注意力占 {share:.1%}。",
)
HEADS = Message(
    "{pair:,} FLOPs for each pair of positions, all blocks together; one block's table of scores at {length:,} "
    "positions is {table}, if a kernel holds it.",
    "所有层合计每对位置 {pair:,} FLOPs；{length:,} 个位置时单层分数表为 {table}（若内核保存它）。",
)
KEPT_HEADS = Message(
    "{bytes} of cache a token; {other} heads would keep {kept}, with {more:,} more parameters.",
    "每词元缓存 {bytes}；{other} 个头则为 {kept}，参数多 {more:,} 个。",
)
ALL_HEADS = Message(
    "{bytes} of cache a token; one head for all would keep {kept}, with {fewer:,} fewer parameters.",
    "每词元缓存 {bytes}；若只留一个头则为 {kept}，参数少 {fewer:,} 个。",
)
NO_CACHE = Message("No cache is kept; {count:,} parameters in attention.", "不保留缓存；注意力共 {count:,} 个参数。")
HEAD_WIDTH = Message(
    "H·K = {inner:,} beside a width of {width:,}; {count:,} parameters in attention, {share:.1%} of the model.",
    "H·K = {inner:,}，宽度为 {width:,}；注意力共 {count:,} 个参数，占模型的 {share:.1%}。",
)
VALUE_WIDTH = Message(
    "H·U = {inner:,} beside a width of {width:,}; {count:,} parameters in attention, {share:.1%} of the model.",
    "H·U = {inner:,}，宽度为 {width:,}；注意力共 {count:,} 个参数，占模型的 {share:.1%}。",
)
LATENT = Message(
    "{bytes} of cache a token; keys and values of {heads} heads would take {kept}.",
    "每词元缓存 {bytes}；{heads} 个头的键和值则需 {kept}。",
)
QUERY_LATENT = Message(
    "{count:,} parameters in attention; queries projected directly would make it {other:,}.",
    "注意力共 {count:,} 个参数；若直接投影查询则为 {other:,} 个。",
)
WITH_BIASES = Message("{count:,} parameters in these biases.", "这些偏置共 {count:,} 个参数。")
WITHOUT_BIASES = Message("Saves {count:,} parameters of biases.", "省去 {count:,} 个偏置参数。")
WINDOW = Message(
    "At {length:,} positions {within} of the cache's {whole} are read, and {share:.1%} of the pairs of positions seen.",
    "{length:,} 个位置时，缓存 {whole} 中只读 {within}，位置对中只看 {share:.1%}。",
)
SEEN = Message(
    "At {length:,} positions {share:.1%} of the pairs of positions are seen.",
    "{length:,} 个位置时，位置对中看到 {share:.1%}。",
)
CAP = Message(
    "{count:,} tanh for a new token at {length:,} positions.",
    "{length:,} 个位置时，每个新词元 {count:,} 次 tanh。",
)
CONTEXT = Message(
    "{cache} of cache at {length:,} positions; there attention takes {attention:,} FLOPs a new token, the matrices "
    "{linear:,}.",
    "{length:,} 个位置时缓存 {cache}；此时每个新词元注意力需 {attention:,} FLOPs，矩阵需 {linear:,}。",
)
LENGTH = Message(
    "At {length:,} positions attention takes {share:.1%} of the FLOPs.",
    "{length:,} 个位置时，注意力占 FLOPs 的 {share:.1%}。",
)
ROTARY = Message(
    "No parameters, no cache; {flops:,} FLOPs {unit}, beside {linear:,} of the matrices. The slowest pair turns once in "
    "{wave:,.0f} positions.",
    "没有参数，不占缓存；{unit} {flops:,} FLOPs，矩阵为 {linear:,}。最慢的一对转一圈需 {wave:,.0f} 个位置。",
)
ADDED = Message(
    "No parameters; {count:,} additions for a new token at {length:,} positions.",
    "没有参数；{length:,} 个位置时，每个新词元 {count:,} 次加法。",
)
NUMBERS = Message("Parameters: {count:,}.", "参数：{count:,} 个。")
NETWORK = Message(
    "{count:,} parameters in feed-forward networks, {share:.1%} of the model; {flops:,} FLOPs {unit}.",
    "前馈网络共 {count:,} 个参数，占模型的 {share:.1%}；{unit} {flops:,} FLOPs。",
)
DENSE = Message(
    "{count:,} parameters in the {blocks} of {total} blocks that have no experts.",
    "{total} 层中没有专家的 {blocks} 层共 {count:,} 个参数。",
)
ACTIVATION = Message(
    "{count:,} evaluations {unit}, no parameters.",
    "{unit}求值 {count:,} 次，没有参数。",
)
GATE = Message(
    "{count:,} evaluations {unit}; the gate's own matrices hold {gate:,} parameters, {share:.1%} of the model.",
    "{unit}求值 {count:,} 次；门自己的矩阵有 {gate:,} 个参数，占模型的 {share:.1%}。",
)
EXPERTS = Message(
    "{total:,} parameters kept, {active:,} of them used by a token.",
    "共保存 {total:,} 个参数，每个词元用到其中 {active:,} 个。",
)
EXPERT = Message(
    "{count:,} parameters an expert; each more that reads a token costs {flops:,} FLOPs.",
    "每个专家 {count:,} 个参数；每多用一个，每词元多 {flops:,} FLOPs。",
)
SHARED = Message(
    "{count:,} parameters that every token reads.",
    "{count:,} 个每词元都要读的参数。",
)
NORMS = Message(
    "{count:,} parameters in all norms, {share:.2%} of the model; the number itself costs nothing.",
    "所有归一化共 {count:,} 个参数，占模型的 {share:.2%}；这个数本身没有代价。",
)
BLOCK = Message(
    "A block: {count:,} parameters, {flops:,} FLOPs {unit}, {bytes} of cache a token.",
    "每层：{count:,} 个参数，{unit} {flops:,} FLOPs，每词元缓存 {bytes}。",
)
BLOCK_ALONE = Message(
    "A block: {count:,} parameters, {flops:,} FLOPs {unit}.",
    "每层：{count:,} 个参数，{unit} {flops:,} FLOPs。",
)
SAME = Message(
    "The same {count:,} parameters and {flops:,} FLOPs {unit} either way.",
    "两种选择都是 {count:,} 个参数，{unit} {flops:,} FLOPs。",
)
TWO_SIDES = Message(
    "{source:,} parameters in the encoder, {across:,} in the attention that reads it, together {share:.1%} of the model.",
    "编码器 {source:,} 个参数，读取它的注意力 {across:,} 个，合占模型的 {share:.1%}。",
)
TIED = Message(
    "Saves {count:,} parameters; a head of its own would make the model {share:.1%} larger.",
    "省去 {count:,} 个参数；若有自己的输出头，模型会大 {share:.1%}。",
)
UNTIED = Message(
    "{count:,} parameters in the head, {share:.1%} of the model, which tying would save.",
    "输出头有 {count:,} 个参数，占模型的 {share:.1%}，共用即可省去。",
)
NO_DROPOUT = Message(
    "Nothing; at 0.1, training would hold {bytes} more for {length:,} positions.",
    "无；若为 0.1，训练 {length:,} 个位置需多存 {bytes}。",
)
DROPOUT = Message(
    "Training holds {bytes} more for {length:,} positions; nothing when the model answers.",
    "训练 {length:,} 个位置需多存 {bytes}；推理时没有代价。",
)
DRAWN = Message(
    "{count:,} numbers drawn once, before training; nothing afterwards.",
    "训练前抽取一次，共 {count:,} 个数；此后没有代价。",
)
ONCE_A_PASS = Message(
    "{count:,} numbers a position in training; nothing when the model answers.",
    "训练时每个位置 {count:,} 个数；推理时没有代价。",
)
FREE = Message("No parameters, no cache, no FLOPs of matrices.", "没有参数，不占缓存，没有矩阵 FLOPs。")
