"""The symptom door: words in either language lead to the symptom, and each symptom to something that runs."""

from __future__ import annotations

import shlex

import pytest

from clearformer.cli.main import VERBS
from clearformer.doctor.registry import BY_ID
from clearformer.doctor.symptoms import DOOR, MISCONCEPTIONS, SYMPTOMS, symptom
from clearformer.errors import UsageError

SAID = {
    "1": [
        "loss near zero but output is garbage",
        "training loss is almost 0 yet generation is nonsense",
        "训练 loss 很快到近 0，生成却乱码",
        "损失很低但生成的全是胡言乱语",
        "loss is 0.01 after 100 steps but it just repeats the prompt",
        "训练损失几乎为零，但是输出都是乱码",
    ],
    "2": [
        "loss stuck at ln(V)",
        "my loss does not decrease",
        "the loss is flat at 10.8",
        "loss 卡在 ln(V) 附近不动",
        "损失不下降",
        "loss isn't decreasing",
        "the loss never goes down",
        "loss won't go down",
    ],
    "3": [
        "attention weights are nearly uniform",
        "every row of attention is about the same, uniform",
        "注意力权重每行几乎均匀",
        "all attention weights are the same",
        "attention maps look flat",
        "注意力权重都差不多",
    ],
    "4": ["attention is one-hot and gradients vanish", "softmax saturates", "注意力权重接近 one-hot 且梯度消失"],
    "5": ["NaN after a few steps", "loss becomes inf", "出现 NaN", "训练出现nan"],
    "6": ["RuntimeError: view size is not compatible with input tensor's size and stride", ".view() 报不连续"],
    "7": [
        "generation gets slower and slower",
        "推理越生成越慢、显存涨",
        "generation speed drops as the sequence gets longer",
    ],
    "8": ["with use_cache the output is garbled", "KV cache gives wrong tokens", "增量生成结果错乱"],
    "9": [
        "short sentences in a batch change the long ones",
        "output depends on padding in the batch",
        "batch 内短句影响长句输出",
        "left padding gives wrong outputs",
        "批量推理与单条推理结果不同",
    ],
    "m1": ["attention has parameters", "does attention have parameters?", "注意力有参数", "注意力机制有参数吗"],
    "m2": ["do heads need a loop?", "多头要循环 h 次"],
    "m3": ["softmax over columns", "softmax 对列归一化"],
    "m4": ["fill the mask with zero", "just set masked scores to 0", "mask 填 0 就行", "把掩码位置设为0"],
    "m5": ["are positional encodings optional?", "位置编码可有可无", "不需要位置编码"],
    "m6": ["why divide by sqrt(d_k)", "除以 √d_k 是为了防止数值溢出"],
    "m7": ["the FFN is useless", "FFN 是逐 token 的所以没用"],
    "m8": ["replace LayerNorm by BatchNorm", "用BN代替LN", "LayerNorm 和 BatchNorm 差不多换一下就行"],
    "m9": ["encoder and decoder layers are the same", "Encoder 和 Decoder 层结构一样"],
    "m10": ["is the KV cache an approximation that costs quality?", "KV Cache 是近似优化,会降低质量"],
    "m11": ["FlashAttention is a sparse approximation", "FlashAttention 是稀疏近似"],
    "m12": [
        "the number of parameters is the GPU memory",
        "model size equals gpu memory",
        "7B 模型占多少显存",
        "参数量就是显存占用",
    ],
}


@pytest.mark.parametrize(("number", "text"), [(number, text) for number, texts in SAID.items() for text in texts])
def test_words_lead_to_the_symptom(number: str, text: str) -> None:
    assert symptom(text).number == number


def test_there_are_nine_symptoms_and_twelve_misconceptions_each_with_words_here() -> None:
    assert (len(SYMPTOMS), len(MISCONCEPTIONS)) == (9, 12)
    assert [each.number for each in DOOR] == list(SAID)
    for each in DOOR:
        assert symptom(each.number) is each
        assert symptom(each.name.en) is each
        assert symptom(each.name.zh) is each


def test_every_symptom_resolves_to_checks_that_are_made() -> None:
    for each in SYMPTOMS:
        assert set(each.checks) <= BY_ID.keys(), each.number


def test_every_misconception_resolves_to_checks_or_to_commands_that_exist() -> None:
    for each in DOOR:
        assert set(each.checks) <= BY_ID.keys(), each.number
        assert each.checks or each.commands
        for command in each.commands:
            assert shlex.split(command)[1] in VERBS


@pytest.mark.parametrize("text", ["", "hello", "42", "你好", "m13"])
def test_what_is_no_symptom_lists_those_that_are(text: str) -> None:
    with pytest.raises(UsageError, match="ln V") as raised:
        symptom(text)
    assert "乱码" in raised.value.cause("zh")
