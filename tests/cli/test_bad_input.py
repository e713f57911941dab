"""Each kind of bad input, against a real model on disk: its code, its two lines, and nothing lost."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from drawing.folders import llama_folder

REFUSING = (
    "{% for m in messages %}{% if m.content == 'no' %}{{ raise_exception('not so') }}{% endif %}"
    "{{ m.content }}{% endfor %}"
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    threads = torch.get_num_threads()
    folder = tmp_path_factory.mktemp("models") / "toy"
    llama_folder(folder, max_position_embeddings=64)
    yield folder
    torch.set_num_threads(threads)


@pytest.fixture
def toy(whole: Path, tmp_path: Path) -> Path:
    return shutil.copytree(whole, tmp_path / "toy")


def cut(toy: Path) -> None:
    content = (toy / "model.safetensors").read_bytes()
    (toy / "model.safetensors").write_bytes(content[: len(content) // 2])


def shard(toy: Path) -> None:
    names = load_file(toy / "model.safetensors")
    (toy / "model.safetensors").unlink()
    index = {"weight_map": dict.fromkeys(names, "model-00001-of-00001.safetensors")}
    (toy / "model.safetensors.index.json").write_text(json.dumps(index))


def configured(**changes: object) -> Callable[[Path], None]:
    def change(toy: Path) -> None:
        config = json.loads((toy / "config.json").read_text())
        (toy / "config.json").write_text(json.dumps({**config, **changes}))

    return change


def defaults(**settings: object) -> Callable[[Path], None]:
    return lambda toy: (toy / "generation_config.json").write_text(json.dumps(settings)) and None


def absent(name: str) -> Callable[[Path], None]:
    return lambda toy: (toy / name).unlink()


def damaged(toy: Path) -> None:
    tensors = load_file(toy / "model.safetensors")
    tensors["model.norm.weight"].fill_(torch.nan)
    save_file(tensors, toy / "model.safetensors", {"format": "pt"})


FILES = [
    (absent("model.safetensors"), "checkpoint", 1, "expected model.safetensors or its index"),
    (absent("config.json"), "usage", 2, "expected a folder with config.json"),
    (cut, "checkpoint", 1, "model.safetensors"),
    (shard, "checkpoint", 1, "model-00001-of-00001.safetensors"),
    (configured(hiden_size=3), "checkpoint", 1, "hiden_size"),
    (configured(num_key_value_heads=3), "checkpoint", 1, "num_key_value_heads"),
    (configured(vocab_size=299), "checkpoint", 1, "300 ids"),
    (configured(model_type="\x1b[31m[red]"), "checkpoint", 1, r"\x1b[31m[red]"),
    (defaults(temperature=-1.0, do_sample=True), "generation", 1, "temperature"),
    (damaged, "generation", 1, "NaN"),
]


@pytest.mark.parametrize(("change", "kind", "code", "named"), FILES)
def test_a_bad_model_is_refused_by_name_and_left_as_it_was(clearformer, toy, change, kind, code, named) -> None:
    change(toy)
    before = fingerprints(toy)
    told = clearformer("generate", str(toy), "the cat", "--json")
    assert (told.code, told.err, told.json["error"]["kind"]) == (code, "", kind)
    assert named in told.json["error"]["message"]
    two_lines_in_both_languages(clearformer, code, "generate", str(toy), "the cat")
    assert fingerprints(toy) == before


def test_a_begin_token_past_the_table_matters_where_a_text_must_begin(clearformer, toy) -> None:
    defaults(bos_token_id=300)(toy)
    assert clearformer("generate", str(toy), "the cat", "--json", "--max-new-tokens", "1").code == 0
    told = clearformer("generate", str(toy), "", "--json")
    assert (told.code, told.json["error"]["kind"]) == (1, "checkpoint")
    assert "token 300" in told.json["error"]["message"]


CALLS: list[tuple[list[str], str, int, str]] = [
    (["generate", "smollm", "x"], "usage", 2, "Did you mean smollm2-135m?"),
    (["generat", "toy", "x"], "usage", 2, "Did you mean generate?"),
    (["generate", "./nothing", "x"], "usage", 2, "found nothing there"),
    (["generate", "~no-such-user/x", "x"], "store", 1, "~no-such-user/x"),
    (["generate", "toy", "the cat " * 40], "generation", 1, "64 in all"),
    (["generate", "toy", "x", "--temperature", "-1"], "usage", 2, "temperature"),
    (["generate", "toy", "x", "--temperature", "nan"], "usage", 2, "temperature"),
    (["generate", "toy", "x", "--top-p", "0"], "usage", 2, "top_p"),
    (["generate", "toy", "x", "--repetition-penalty", "1e-300"], "usage", 2, "repetition_penalty"),
    (["generate", "toy", "x", "--stop", "\udcff"], "usage", 2, "stop"),
    (["generate", "toy", "\udcff"], "usage", 2, "0xff"),
    (["chat", "toy", "--system", "a\udcff"], "usage", 2, "0xff at position 1"),
    (["generate", "toy", "x", "--threads", "100000"], "machine", 1, "1024 threads"),
    (["generate", "toy", "x", "--threads", "99999999999999999999"], "machine", 1, "1024 threads"),
    (["generate", "toy", "x", "--device", "\x1b[2J"], "machine", 1, r"\x1b[2J"),
]


@pytest.mark.parametrize(("arguments", "kind", "code", "named"), CALLS)
def test_a_bad_call_is_refused_by_name(clearformer, toy, arguments, kind, code, named) -> None:
    told = clearformer(*arguments, "--json")
    assert (told.code, told.err, told.json["error"]["kind"]) == (code, "", kind)
    assert named in told.json["error"]["message"]
    two_lines_in_both_languages(clearformer, code, *arguments)


def test_an_empty_prompt_needs_a_begin_token(clearformer, toy) -> None:
    assert clearformer("generate", "toy", "", "--max-new-tokens", "2").code == 0  # Llama's config names one
    defaults()(toy)
    configured(bos_token_id=None)(toy)
    told = clearformer("generate", "toy", "", "--json")
    assert (told.code, told.json["error"]["kind"]) == (1, "generation")
    two_lines_in_both_languages(clearformer, 1, "generate", "toy", "")


def test_stdin_that_is_not_utf8(clearformer, toy, monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"caf\xe9"), encoding="utf-8"))
    told = clearformer("generate", "toy", "--json")
    assert (told.code, told.json["error"]["kind"]) == (2, "usage")
    assert "0xe9 at position 3" in told.json["error"]["message"]


@pytest.mark.parametrize("verb", ["generate", "chat"])
def test_a_template_that_writes_nothing(clearformer, toy, monkeypatch, verb) -> None:
    (toy / "chat_template.jinja").write_text("")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"hi\n"), encoding="utf-8"))
    arguments = ["generate", "toy", "hi", "--chat"] if verb == "generate" else ["chat", "toy"]
    ended = clearformer(*arguments)
    assert (ended.code, len(ended.err.splitlines())) == (1, 2)
    assert "no token" in ended.err


def test_what_goes_wrong_in_a_typed_conversation_does_not_end_it(clearformer, toy, monkeypatch) -> None:
    """A byte that is no text, a question past the context, a template that refuses: told, and the next is answered."""
    (toy / "chat_template.jinja").write_text(REFUSING)
    typed = iter(["a\udcff", "no", "word " * 60, "hi", "/exit"])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b""), encoding="utf-8"))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda prompt: next(typed))
    ended = clearformer("chat", "toy", "--max-new-tokens", "3")
    causes = [line for line in ended.err.splitlines() if line.startswith("Error: ")]
    assert ended.code == 0
    assert [("0xff" in causes[0]), ("not so" in causes[1]), ("64 in all" in causes[2])] == [True] * 3
    assert len(causes) == 3
    assert ended.out.strip()


@pytest.mark.parametrize("verb", ["attention", "embed"])
@pytest.mark.parametrize("as_json", [False, True])
def test_damaged_weights_show_no_nan(clearformer, toy, verb, as_json) -> None:
    tensors = load_file(toy / "model.safetensors")
    tensors["model.embed_tokens.weight"].fill_(torch.nan)
    save_file(tensors, toy / "model.safetensors", {"format": "pt"})
    if verb == "embed":
        configured(architectures=["LlamaModel"])(toy)
        save_file({name: each for name, each in tensors.items() if "lm_head" not in name}, toy / "model.safetensors")
        for name, content in sentence_head().items():
            (toy / name).parent.mkdir(exist_ok=True)
            (toy / name).write_text(json.dumps(content))
    ended = clearformer(verb, "toy", "the cat", *(["--json"] if as_json else []))
    said = ended.out if as_json else ended.err
    assert ended.code == 1
    assert "NaN" in said
    assert "Internal" not in said
    if as_json:
        assert ended.json["error"]["kind"] == "generation"


def sentence_head() -> dict[str, Any]:
    """What makes a decoder's last state a sentence vector."""
    kind = "sentence_transformers.models."
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": f"{kind}Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{kind}Pooling"},
    ]
    pooling = {"word_embedding_dimension": 32, "pooling_mode_lasttoken": True}
    return {"modules.json": modules, "1_Pooling/config.json": pooling}


def fingerprints(folder: Path) -> dict[str, str]:
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def two_lines_in_both_languages(clearformer: Any, code: int, *arguments: str) -> None:
    for language, cause, remedy in (("en", "Error: ", "What to do: "), ("zh", "错误：", "怎么办：")):
        ended = clearformer(*arguments, "--lang", language)
        first, second = ended.err.splitlines()
        assert (ended.code, ended.out) == (code, "")
        assert (first.startswith(cause), second.startswith(remedy)) == (True, True)
        assert len(second) > len(remedy)
        assert "\x1b" not in ended.err
