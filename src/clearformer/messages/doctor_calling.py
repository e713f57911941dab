"""How the doctor found out to call a module, and what it says where it could not."""

from __future__ import annotations

from clearformer.messages import Message, failure

CALLED = Message("{how}: {kind}, answering {answers}.", "{how}：{kind}，{answers}。")
CALLED_AT = Message(
    "{how}: {kind}, answering {answers}. Lengths that it takes: {lengths}.",
    "{how}：{kind}，{answers}。可接受的长度：{lengths}。",
)
MULTIPLES = Message("multiples of {step}", "{step} 的倍数")
AND_MORE = Message("{least} and more", "不小于 {least}")
RAISES = Message("{how} fits the signature, but the module raises {error}.", "{how} 与签名相符，但模块引发了 {error}。")
KINDS = {
    "decoder": Message("a decoder", "解码器"),
    "encoder": Message("an encoder", "编码器"),
    "encoder-decoder": Message("an encoder-decoder", "编码器-解码器"),
    "forecaster": Message("a forecaster", "预测模型"),
}
ANSWERS = {
    "positions": Message("each position", "逐位置作答"),
    "channels": Message("each position, the vocabulary before the positions", "逐位置作答（词表维在位置维之前）"),
    "flat": Message("each position, rows and positions as one axis", "逐位置作答（行与位置合为一维）"),
    "last": Message("the last position only", "只答最后一个位置"),
    "whole": Message("a whole row at once", "每行作一个整体的答复"),
}

NO_CALL = failure(
    en=(
        "No way of calling {module} gave a tensor with a place for each input. Tried: {tried}.",
        'Say how it is called: --call "ids=NAME mask=NAME:keep output=logits" (keys: {keys}); --kind and --vocab too.',
    ),
    zh=(
        "试过的调用都没有让 {module} 给出与输入逐一对应的张量。已试：{tried}。",
        '请说明调用方式：--call "ids=参数名 mask=参数名:keep output=logits"（可用的键：{keys}）；也可加 --kind 与 --vocab。',
    ),
)
NO_VOCABULARY = failure(
    en=(
        "Only embeddings of {rows} rows were found in {module}, while the vocabulary is said to be {vocab}: id {last} raises.",
        "Give the size of the table, --vocab {rows}, or enlarge the table.",
    ),
    zh=(
        "{module} 的嵌入表只有 {rows} 行，而所给词表大小是 {vocab}：编号 {last} 会引发错误。",
        "请给出嵌入表的大小 --vocab {rows}，或扩大嵌入表。",
    ),
)
NO_WEIGHTS = failure(
    en=(
        "{module} is on the meta device: its tensors hold no numbers.",
        "Build it on cpu or an accelerator, with weights.",
    ),
    zh=("{module} 位于 meta 设备，张量里没有数值。", "请在 cpu 或加速器上连同权重一起建立。"),
)
UNKNOWN_KEY = failure(
    en=("--call has no form {found}.{near}", "Write KEY=NAME, with one of the keys: {known}."),
    zh=("--call 没有 {found} 这种写法。{near}", "请写 键=参数名，可用的键：{known}。"),
)
UNKNOWN_FORM = failure(
    en=("--call {key}: {found} is no form.", "Choose one of: {known}."),
    zh=("--call {key}：没有 {found} 这种形式。", "请选其一：{known}。"),
)
