"""The two built-in models against transformers reading the same files."""

from __future__ import annotations

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, BertModel

from clearformer.generate.settings import Options
from clearformer.generate.speak import Generation
from clearformer.load import load

pytestmark = [pytest.mark.real, pytest.mark.filterwarnings("ignore")]

NEW_TOKENS = 128
TEXT = """
The Transformer reads a sentence all at once. Each word asks a question of every other word and listens to the answers
in proportion to how well they fit. Nothing in this step knows which word came first, so the order is written into the
words themselves, or into the way in which they are compared. After a few such layers the word at the end has gathered
what it needs from the rest: the subject of its verb, the noun behind its pronoun, the line that it is about to rhyme
with. Then a single matrix turns the gathered numbers into a guess at the next word, and the machine writes it down and
begins again. It is a patient reader and a forgetful one: what left the window is gone. Engineers have therefore taught
it to keep the keys and values of the words that it has read, so that each new word costs one question and not all of
them again. That is the whole of the cache, and most of the speed. The rest is arithmetic: large tables of numbers,
multiplied as fast as the memory can deliver them, on machines that were built to draw pictures.
"""


@pytest.fixture(scope="module")
def smol(smollm2_gguf):
    """Ours and the original; the original is the slow one to load."""
    path = smollm2_gguf
    theirs = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
    return load(path), theirs.eval()


def test_smollm2_logits(smol):
    ours, theirs = smol
    ids = torch.tensor([ours.tokenizer.encode(TEXT)[:200]])
    assert ids.shape == (1, 200)
    with torch.no_grad():
        difference = (ours.model(ids) - theirs(ids).logits).abs().max()
    assert float(difference) <= 1e-3


def test_smollm2_greedy_tokens(smol):
    ours, theirs = smol
    ids = torch.tensor([ours.tokenizer.encode("Once upon a time, in a village by the sea,")])
    expected = theirs.generate(ids, do_sample=False, max_new_tokens=NEW_TOKENS)[0, ids.shape[1] :].tolist()
    assert len(expected) == NEW_TOKENS
    generation = Generation(ours, [ids[0].tolist()], Options(max_new_tokens=NEW_TOKENS, temperature=0.0))
    for _ in generation.steps():
        pass
    assert generation.results()[0].token_ids == expected


def test_minilm_sentence_vectors(minilm_folder):
    folder = minilm_folder
    ours, theirs = load(folder), BertModel.from_pretrained(folder).eval()
    sentences = ["A cat sat on the mat.", "猫", "Attention is all you need, said the paper, and it was nearly right."]
    rows = [ours.tokenizer.encode(sentence) for sentence in sentences]
    width = max(map(len, rows))
    ids = torch.tensor([row + [0] * (width - len(row)) for row in rows])
    real = torch.tensor([[True] * len(row) + [False] * (width - len(row)) for row in rows])
    assert AutoTokenizer.from_pretrained(folder)(sentences)["input_ids"] == rows
    with torch.no_grad():
        hidden = theirs(input_ids=ids, attention_mask=real.long()).last_hidden_state
        vectors = ours.model(ids, real=real)
    mean = (hidden * real[..., None]).sum(1) / real.sum(1, keepdim=True)
    expected = torch.nn.functional.normalize(mean, dim=-1)
    assert float((vectors - expected).abs().max()) <= 1e-5
