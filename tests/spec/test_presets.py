"""The presets have exactly the parameters that the papers' formulas give, or that another library builds."""

from __future__ import annotations

import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from clearformer import spec as s
from clearformer.build import empty
from clearformer.errors import SpecError, UsageError
from clearformer.spec.presets import PRESETS, modern_decoder, paper, preset, tiny_gpt


def sizes(spec: s.Spec) -> tuple[int, int]:
    """Numbers in matrices and tables, and in biases and norms."""
    parameters = list(empty(spec).parameters())
    matrices = sum(each.numel() for each in parameters if each.dim() == 2)
    return matrices, sum(each.numel() for each in parameters) - matrices


@pytest.mark.parametrize(
    ("name", "width", "hidden", "total"),
    [("transformer-base", 512, 2048, 62_984_192), ("transformer-big", 1024, 4096, 214_048_768)],
)
def test_the_paper_counts(name: str, width: int, hidden: int, total: int) -> None:
    """Table 3 by its own arithmetic: 4·D² an attention, 2·D·F a feed-forward network, one table of 37,000 rows."""
    attention, feedforward = 4 * width**2, 2 * width * hidden
    encoder, decoder = 6 * (attention + feedforward), 6 * (2 * attention + feedforward)
    norms = (6 * 2 + 6 * 3) * 2 * width
    biases = 12 * (hidden + width)
    assert sizes(preset(name)) == (encoder + decoder + 37_000 * width, norms + biases)
    assert encoder + decoder + 37_000 * width == total


def test_the_papers_layers_one_by_one() -> None:
    """The figures of the base model: six encoder layers, six decoder layers, what one more layer adds."""

    def matrices(layers: int) -> int:
        return sizes(paper(layers=layers))[0]

    assert matrices(0) == 18_944_000
    assert matrices(6) - matrices(0) == 18_874_368 + 25_165_824
    assert matrices(1) - matrices(0) == 3 * 1_048_576 + 2 * 2_097_152


def test_tiny_gpt_counts_as_gpt2_does() -> None:
    config = GPT2Config(vocab_size=256, n_positions=256, n_embd=128, n_layer=4, n_head=4)
    with torch.device("meta"):
        original = GPT2LMHeadModel(config)
    assert sum(sizes(tiny_gpt())) == original.num_parameters()


def test_the_modern_decoder_counts_as_llama_does() -> None:
    config = LlamaConfig(
        vocab_size=49152,
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        tie_word_embeddings=True,
    )
    with torch.device("meta"):
        original = LlamaForCausalLM(config)
    assert sum(sizes(modern_decoder())) == original.num_parameters() == 134_515_008


def test_every_preset_is_found_by_its_name() -> None:
    for name, make in PRESETS.items():
        assert preset(name) == make()


def test_an_unknown_preset_is_told_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"No preset is called tiny-gtp\. Did you mean tiny-gpt\?") as caught:
        preset("tiny-gtp")
    assert "transformer-base, transformer-big, tiny-gpt, modern-decoder" in caught.value.remedy()
    assert "tiny-gpt" in caught.value.cause("zh")


def test_heads_that_do_not_divide_the_width_are_refused() -> None:
    with pytest.raises(SpecError, match="512 does not split into 7 heads"):
        paper(heads=7)
