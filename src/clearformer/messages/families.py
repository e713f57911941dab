"""What is said about configs: families that are unknown, keys that are unknown, contradictory, or beyond the spec."""

from __future__ import annotations

from clearformer.messages import Message, failure

UNKNOWN_TYPE = failure(
    en=("{path}: the model type {found} is not known.{hint}", "Known model types: {expected}."),
    zh=("{path}：未知的模型类型 {found}。{hint}", "已知的模型类型：{expected}。"),
)
NO_TYPE = failure(
    en=(
        "{path}: expected the key model_type, found none.",
        'Add "model_type" to the config; known model types: {expected}.',
    ),
    zh=("{path}：应有键 model_type，但没有找到。", '请在配置中加上 "model_type"；已知的模型类型：{expected}。'),
)
UNKNOWN_ARCHITECTURE = failure(
    en=(
        "{path}: architectures names {found}, which the {family} family cannot say.",
        "Expected one of: {expected}.",
    ),
    zh=("{path}：architectures 中的 {found} 不在 {family} 家族的范围内。", "应为其中之一：{expected}。"),
)
UNKNOWN_KEY = failure(
    en=(
        "{path}: the key {key} (= {found}) is not known, so what it changes would be lost.{hint}",
        "Remove the key if it changes nothing in the computation; otherwise this model cannot be loaded.",
    ),
    zh=(
        "{path}：未知的键 {key}（值为 {found}），它的作用会丢失。{hint}",
        "若该键不影响计算，请将其删除；否则无法加载这个模型。",
    ),
)
MISSING_KEY = failure(
    en=("{path}: expected the key {key}, found none.", "Get the config that belongs to the weights."),
    zh=("{path}：应有键 {key}，但没有找到。", "请获取与权重配套的配置文件。"),
)
BAD_VALUE = failure(
    en=("{path}: {key}: expected {expected}, found {found}.", "Get the config that belongs to the weights."),
    zh=("{path}：{key}：应为 {expected}，实际为 {found}。", "请获取与权重配套的配置文件。"),
)
WHOLE = Message("a whole number from {low} to {high}", "{low} 到 {high} 的整数")
FINITE = Message("a finite number", "number（有限数）")
NUMBERS_ABOVE_0 = Message("a list of numbers above 0", "list（各项为 > 0 的数）")
NUMBERS = Message("{count} numbers, or one for all", "{count} 个数，或代表全部的一个数")
WHOLES = Message("a list of whole numbers from 0", "list（各项为 ≥ 0 的整数）")
LIST = Message("a list", "list（列表）")
TRUE_OR_FALSE = Message("true or false", "true 或 false")
TEXT = Message("text", "string（文本）")
OBJECT = Message("an object", "object（对象）")
CANNOT_SAY = failure(
    en=(
        "{path}: {key} = {found} asks for a computation that is not offered here.",
        "Only this can be loaded: {key} = {expected}.",
    ),
    zh=("{path}：{key} = {found} 所要求的计算在此没有提供。", "只能加载：{key} = {expected}。"),
)
CONTRADICTION = failure(
    en=(
        "{path}: {first} = {first_value} contradicts {second} = {second_value}: {why}.",
        "Correct one of the two, or get the config that belongs to the weights.",
    ),
    zh=(
        "{path}：{first} = {first_value} 与 {second} = {second_value} 相互矛盾：{why}。",
        "请改正其中之一，或获取与权重配套的配置文件。",
    ),
)
# Why two keys contradict each other
HEADS_DO_NOT_DIVIDE_WIDTH = Message("heads do not divide the width", "注意力头数不能整除宽度")
KV_HEADS_DO_NOT_DIVIDE = Message("the second must divide the first", "后者必须整除前者")
SCALED_DIFFERENTLY = Message("they scale differently", "两者的缩放方式不同")
SCALINGS_DIFFER = Message("they name different scalings", "两者指的是不同的缩放方式")
SCALED_TWICE = Message("the frequencies are scaled twice", "频率被缩放了两次")
OUTER_DIFFERS = Message("the config's own {key} is {outer}", "配置自身的 {key} 为 {outer}")
WINDOW_LACKING = Message("layers slide and no window is given", "有滑动窗口层，却没有给出窗口大小")
EXPERTS_COUNTED_TWICE = Message("both count the experts", "两者都是专家的个数")
ACTIVATIONS_DIFFER = Message("they name different activations", "两者指的是不同的激活函数")
ONE_TABLE = Message("{key} keeps one table for both sides", "{key} 使两侧共用一张词表")
SECTIONS_DIFFER = Message("they describe different models", "两者描述的模型不同")
LAYERS_DIFFER = Message("they name different layers", "两者所指的层不同")
LAYERS_NAMED = Message("layer_types names {count} layers", "layer_types 列出了 {count} 层")
WINDOWS_ARE_OFF = Message("no layer has a window", "没有任何层使用窗口")
ROTARY_NAMED = Message("no_rope_layers names {count} layers", "no_rope_layers 列出了 {count} 层")
SYNONYMS_DIFFER = Message("they are two names of one number", "两者是同一个数的两种名称")
LABELS_NAMED = Message("id2label names {count}", "id2label 列出了 {count} 个")

IMPOSSIBLE = failure(
    en=("{path}: the config describes an impossible model: {why}", "{mend}"),
    zh=("{path}：配置描述的模型不可能存在：{why}", "{mend}"),
)
NO_ARITHMETIC = failure(
    en=(
        "{path}: the config's numbers cannot be reckoned with ({detail}).",
        "Get the config from the model's source again.",
    ),
    zh=("{path}：配置中的数值无法用于计算（{detail}）。", "请从模型来源重新获取配置。"),
)
NOT_OF_FAMILY = failure(
    en=(
        "The {family} family cannot say this spec: {field} is {found}, its config can only mean {expected}.",
        "Change the spec, or save it in another family.",
    ),
    zh=(
        "{family} 家族无法表达这个规格：{field} 为 {found}，其配置只能表示 {expected}。",
        "请修改规格，或改存为另一个家族。",
    ),
)
UNREADABLE_BACK = failure(
    en=(
        "The {family} family cannot say this spec ({found}): the config that comes nearest is refused. {why}",
        "Change the spec, or save it in another family.",
    ),
    zh=(
        "{family} 家族无法表达这个规格（{found}）：最接近的配置会被拒绝。{why}",
        "请修改规格，或改存为另一个家族。",
    ),
)
NO_FAMILY = failure(
    en=(
        "No published family can say this spec. What stands in the way: {expected}.",
        "Keep the model in Clearformer's own format.",
    ),
    zh=("没有公开的模型家族能表达这个规格。各家族的障碍：{expected}。", "请用 Clearformer 自己的格式保存模型。"),
)
_AS_FOLDER = (
    "Export it as a folder: leave .gguf out of the name, or give --form own as well.",
    "请导出为文件夹：名称不带 .gguf，也可再加 --form own。",
)
NOT_OF_GGUF = failure(
    en=(
        "llama.cpp's {family} cannot say this spec: {field} is {found}, a GGUF file can only mean {expected}.",
        _AS_FOLDER[0],
    ),
    zh=(
        "llama.cpp 的 {family} 无法表达这个规格：{field} 为 {found}，GGUF 文件只能表示 {expected}。",
        _AS_FOLDER[1],
    ),
)
GGUF_UNREADABLE_BACK = failure(
    en=(
        "llama.cpp's {family} cannot say this spec ({found}): the file that comes nearest is refused. {why}",
        _AS_FOLDER[0],
    ),
    zh=("llama.cpp 的 {family} 无法表达这个规格（{found}）：最接近的文件会被拒绝。{why}", _AS_FOLDER[1]),
)
NO_GGUF_FORM = failure(
    en=(
        "No architecture of llama.cpp can say this spec. What stands in the way: {expected}.",
        _AS_FOLDER[0],
    ),
    zh=("llama.cpp 的任何架构都无法表达这个规格。各架构的障碍：{expected}。", _AS_FOLDER[1]),
)
BAD_MODULES = failure(
    en=(
        "{path}: expected a list of sentence-transformers modules, found {found}.",
        "Get the whole folder of the sentence encoder again.",
    ),
    zh=("{path}：应为 sentence-transformers 的模块列表，实际为 {found}。", "请重新获取该句向量模型的整个文件夹。"),
)
UNKNOWN_MODULE = failure(
    en=(
        "{path}: the module {found} is not offered.",
        "Only Transformer, Pooling and Normalize, in this order, can be loaded.",
    ),
    zh=("{path}：不支持模块 {found}。", "只能加载依次为 Transformer、Pooling、Normalize 的模型。"),
)
