"""Tokenizers of the real models, their oracles, and texts that break tokenizers."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(scope="session")
def smollm2_metadata(smollm2_gguf):
    from gguf import GGUFReader

    fields = GGUFReader(str(smollm2_gguf)).fields
    return {key: field.contents() for key, field in fields.items() if not key.startswith("GGUF.")}


@pytest.fixture(scope="session")
def smollm2(smollm2_metadata):
    from clearformer.text.gguf import tokenizer_from_gguf

    return tokenizer_from_gguf(smollm2_metadata)


@pytest.fixture(scope="session")
def smollm2_oracle(smollm2_gguf):
    os.environ["HF_HUB_OFFLINE"] = "1"
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(str(smollm2_gguf.parent), gguf_file=smollm2_gguf.name)


@pytest.fixture(scope="session")
def minilm(minilm_folder):
    from clearformer.text.load import tokenizer_from_folder

    return tokenizer_from_folder(minilm_folder)


@pytest.fixture(scope="session")
def renderer():
    from clearformer.text.template import TemplateRenderer

    renderer = TemplateRenderer()
    yield renderer
    renderer.close()


@pytest.fixture(scope="session")
def sentencepiece_metadata():
    """A small SentencePiece vocabulary in GGUF's terms: scores fall with the order in which merges were learnt."""
    from clearformer.text.bpe_train import train

    corpus = ["the cat sat on the mat and the dog ran to the cat " * 3, "</s> <s> [INST] no such mark [/INST]"]
    learnt = train(corpus, vocabulary_size=300)
    joined = [learnt.vocabulary[left] + learnt.vocabulary[right] for left, right in learnt.merges]
    merged = [word.replace("Ġ", "▁") for word in joined]
    letters = sorted(set("".join(corpus).replace(" ", "▁")))
    # `</s` is a word and `</s>` a control token: without care the text "</s>" would spell it.
    words = ["<unk>", "<s>", "</s>", "<tool>", *(f"<0x{byte:02X}>" for byte in range(256)), *letters]
    types = [2, 3, 3, 4, *([6] * 256), *([1] * len(letters))]
    further = [word for word in ["</", "s>", "</s", *merged] if word not in words]
    words, types = [*words, *further], [*types, *([1] * len(further))]
    scores = [0.0] * (len(words) - len(further)) + [-float(rank) for rank in range(len(further))]
    return {
        "general.architecture": "llama",
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": words,
        "tokenizer.ggml.token_type": types,
        "tokenizer.ggml.scores": scores,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.unknown_token_id": 0,
    }


@pytest.fixture(scope="session")
def sentencepiece(sentencepiece_metadata):
    from clearformer.text.gguf import tokenizer_from_gguf

    return tokenizer_from_gguf(sentencepiece_metadata)


TEXTS = [
    "",
    " ",
    "The capital of France is Paris.",
    "  two  spaces,\ta tab,\n\n\nthree lines \r\n",
    "注意力就是你所需要的一切。",
    "Emoji 😀👨‍👩‍👧🇫🇷 and accents naïve café",
    "def f(x: int) -> str:\n    return f'{x!r:>10}'  # 42",
    "1234567890 3.14159 1,000 ½ ٣",
    "don't you'll WE'VE I'M",
    "\u00a0no-break\u200bzero\u3000wide",
    "Ελληνικά русский العربية हिन्दी 한국어 日本語",
    "<|im_end|> </s> [SEP] <unk>",
    "https://example.com/a?b=c&d=%20#e",
    "\x00\x01\x7f\ufffd\ue000",
]


@pytest.fixture(params=TEXTS, ids=range(len(TEXTS)))
def sample(request):
    return request.param
