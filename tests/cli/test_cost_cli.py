"""`clearformer cost`: any description of a model, in both languages, without torch and at once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from clearformer.cost import cost
from clearformer.machine import BackendSpeed, Speed, remember_backends, save
from clearformer.machine.speed import identity
from clearformer.spec.codec import to_json
from clearformer.spec.presets import PRESETS, tiny_gpt
from drawing.folders import bert_folder, llama_folder

LLAMA_7B = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "vocab_size": 32000,
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "max_position_embeddings": 4096,
    "rms_norm_eps": 1e-5,
    "tie_word_embeddings": False,
    "torch_dtype": "float16",
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA_7B))
    return path


@pytest.fixture
def measured(home: Path) -> None:
    save(Speed(identity(), 2, 100.0, 200.0, 20.0), home)
    rates = [BackendSpeed(identity(), 2, "torch", "float32", 1e-4, 50.0, 10.0, 10.0)]
    remember_backends(rates, home)


def test_a_large_config_is_priced_without_torch(config: Path) -> None:
    code = (
        "import sys; from clearformer.cli.main import main;"
        f"code = main(['cost', {str(config)!r}, '--dtype', 'float16', '--json']);"
        "sys.exit(code or 'torch' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert found["parameters"]["total"] == 6_738_415_616
    assert found["kv_cache"] == {
        "bytes_per_token": 524_288,
        "bytes": 2 * 2**30,
        "within_windows": 2 * 2**30,
        "source": 0,
    }
    assert found["memory"]["scores"] == 2**30
    assert found["time"]["prefill_s"] is None


def test_every_preset_has_a_table_in_both_languages(clearformer) -> None:
    for name in PRESETS:
        for language, word in (("en", "Parameters"), ("zh", "参数量")):
            ended = clearformer("--lang", language, "cost", name)
            assert ended.code == 0
            assert word in ended.out


def test_a_written_spec_and_a_folder_are_priced_as_what_they_are(clearformer, tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text(json.dumps(to_json(tiny_gpt())))
    found = clearformer("cost", "own.json", "--json").json
    assert found["parameters"]["total"] == cost(tiny_gpt()).parameters.total
    original = llama_folder(tmp_path / "toy")
    held = sum(weight.numel() for weight in original.parameters())
    assert clearformer("cost", "toy", "--json").json["parameters"]["total"] == held
    # Without its weights it is still a model to be priced.
    (tmp_path / "toy" / "model.safetensors").unlink()
    assert clearformer("cost", "toy", "--json").json["parameters"]["total"] == held
    bert_folder(tmp_path / "sentences")
    assert clearformer("cost", "sentences", "--json").json["kv_cache"]["bytes"] == 0


def test_the_flags_are_those_of_the_function(clearformer) -> None:
    given = ["--batch", "3", "--length", "9", "--source-length", "7", "--dtype", "bfloat16"]
    given += ["--optimizer", "muon", "--kernel", "plain", "--recompute"]
    found = clearformer("cost", "transformer-base", *given, "--json").json
    expected = cost(
        PRESETS["transformer-base"](),
        batch=3,
        length=9,
        source=7,
        dtype="bfloat16",
        optimizer="muon",
        kernel="plain",
        recompute=True,
    )
    assert found["work"]["lengths"] == expected.lengths == {"encoder": 7, "decoder": 9}
    assert found["memory"]["total"] == expected.memory.total
    assert found["memory"]["activations"] == found["memory"]["activations_by"]["plain_recomputed"]
    assert found["flops"]["training"] == expected.flops.training


def test_times_come_from_what_was_measured(clearformer, measured) -> None:
    exact = clearformer("cost", "modern-decoder", "--length", "64", "--json").json["time"]
    assert (exact["basis"], exact["backend"]) == ("backend", "torch")
    best = clearformer("cost", "modern-decoder", "--length", "64", "--dtype", "bfloat16", "--json").json["time"]
    assert (best["basis"], best["backend"]) == ("roofline", None)
    assert exact["decode_s_per_token"] > best["decode_s_per_token"] > 0


def test_a_machine_that_was_not_measured_says_what_to_do(clearformer, measured, home: Path) -> None:
    assert clearformer("cost", "tiny-gpt").err == ""
    for file in home.glob("*-speed.json"):
        file.unlink()
    ended = clearformer("cost", "tiny-gpt")
    assert "env --measure" in ended.err
    assert clearformer("cost", "tiny-gpt", "--quiet").err == ""


def test_models_stand_side_by_side(clearformer) -> None:
    ended = clearformer("cost", "tiny-gpt", "--compare", "vit", "transformer-base")
    heading, *rows = ended.out.splitlines()
    assert heading.split()[:2] == ["model", "parameters"]
    assert [row.split()[0] for row in rows] == ["tiny-gpt", "vit", "transformer-base"]
    found = clearformer("cost", "tiny-gpt", "--compare", "vit", "transformer-base", "--json").json["compared"]
    assert [each["parameters"] for each in found] == [
        cost(PRESETS[name]()).parameters.total for name in ("tiny-gpt", "vit", "transformer-base")
    ]


def test_a_table_side_by_side_leaves_out_nothing_that_was_asked_for(clearformer) -> None:
    """A length goes to those that can take one; what is asked of the first alone stands below."""
    ended = clearformer("cost", "tiny-gpt", "--compare", "vit", "--length", "20", "--fit", "1GB", "--generate", "3+2")
    table, below = ended.out.split("\n\n", 1)
    assert len(table.splitlines()) == 3
    assert "T = 20" in below
    assert "The most that fits" in below
    assert "Writing 2 tokens" in below


def test_what_fits_says_why_there_is_no_number(clearformer, tmp_path: Path) -> None:
    assert "the input fixes them" in clearformer("cost", "vit", "--fit", "1GB").out
    assert "not even 1" in clearformer("cost", "tiny-gpt", "--fit", "1KB").out
    assert "or more: nobody looked further" in clearformer("cost", "tiny-gpt", "--fit", "90000TB").out
    bare = to_json(tiny_gpt())
    bare["decoder"]["blocks"] = []
    (tmp_path / "bare.json").write_text(json.dumps(bare))
    assert "none to repeat" in clearformer("cost", "bare.json", "--fit", "1GB").out
    found = clearformer("cost", "bare.json", "--fit", "1GB", "--json").json["fit"]
    assert [(each["layers"], each["parameters"]) for each in found] == [(None, None)] * 2


def test_sizes_without_end_are_no_spec(clearformer, tmp_path: Path) -> None:
    endless = to_json(tiny_gpt())
    endless["decoder"]["input"]["vocabulary"] = 10**400
    (tmp_path / "endless.json").write_text(json.dumps(endless))
    ended = clearformer("cost", "endless.json")
    assert (ended.code, len(ended.err.splitlines())) == (1, 2)
    assert "vocabulary" in ended.err


def test_chinese_rows_have_chinese_colons(clearformer) -> None:
    out = clearformer("--lang", "zh", "cost", "transformer-base", "--fit", "1GB", "--generate", "3+2").out
    assert "编码器：" in out
    assert ": " not in out


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["tiny-gpt", "--length", "257"], "256"),
        (["tiny-gpt", "--batch", "0"], "batch"),
        (["tiny-gpt", "--batch", "1.5"], "1.5"),
        (["tiny-gpt", "--batch", "9" * 400], "1099511627776"),
        (["modern-decoder", "--length", "9" * 400], "1099511627776"),
        (["tiny-gpt", "--source-length", "5"], "DecoderOnly"),
        (["vit", "--length", "5"], "EncoderOnly"),
        (["patch-forecaster", "--length", "5"], "EncoderOnly"),
        (["tiny-gpt", "--compare"], "--compare"),
        (["tiny-gpt", "--generate", "5"], "512+128"),
        (["tiny-gpt", "--generate", "200+100"], "256"),
        (["vit", "--generate", "5+5"], "EncoderOnly"),
        (["tiny-gpt", "--fit", "much"], "24GB"),
        (["tiny-gpt", "--fit", "9" * 400 + "GB"], "24GB"),
        (["tiny-gpt", "--fit", "0.5B"], "24GB"),
        (["nothing-of-that-name"], "nothing-of-that-name"),
    ],
)
def test_what_cannot_be_reckoned_is_a_wrong_call(clearformer, arguments: list[str], word: str) -> None:
    ended = clearformer("cost", *arguments)
    assert ended.code == 2
    assert word in ended.err
    assert len(ended.err.splitlines()) == 2


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"model_type": "unheard"}', '{"type": "DecoderOnly"}'])
def test_a_file_that_describes_no_model_is_an_error(clearformer, tmp_path: Path, content: str) -> None:
    (tmp_path / "odd.json").write_text(content)
    ended = clearformer("cost", "odd.json")
    assert ended.code == 1
    assert len(ended.err.splitlines()) == 2
    assert clearformer("cost", "missing.json").code == 1
