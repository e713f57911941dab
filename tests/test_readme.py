"""What the READMEs say is run: every command that they name, and both languages name the same ones."""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path

import pytest

from clearformer.cli.main import main

ROOT = Path(__file__).parents[1]
LANGUAGES = ("README.md", "README.zh-CN.md")
GUIDES = ("docs/training.md", "docs/training.zh-CN.md")
CODE = re.compile(r"`(clearformer [^`]+)`")
# Minutes of work, a conversation, or the reader's own file; their own tests run them.
ELSEWHERE = ("tour", "lab ", "chat", "bench", "tokenizer train", "pull", "rm", "show", "ls")


def commands(name: str) -> list[str]:
    return CODE.findall((ROOT / name).read_text(encoding="utf-8"))


def runnable() -> list[str]:
    return sorted({each for each in commands("README.md") if not each.split(" ", 1)[1].startswith(ELSEWHERE)})


def needs_no_model(command: str) -> bool:
    starts = ("clearformer demo", "clearformer env", "clearformer cost ", "clearformer card ")
    starts += ("clearformer trace transformer-", "clearformer positions transformer-")
    return command.startswith(starts) and "smollm2" not in command


def test_both_languages_name_the_same_commands_in_the_same_order() -> None:
    english, chinese = (commands(name) for name in LANGUAGES)
    assert english == chinese


def test_both_guides_to_training_name_the_same_commands() -> None:
    spans = re.compile(r"`(clearformer [^`\n]+|--[^`\n]+)`|^\$ (.*?)(?: +#.*)?$", re.MULTILINE)
    english, chinese = (spans.findall((ROOT / name).read_text(encoding="utf-8")) for name in GUIDES)
    assert english == chinese


@pytest.mark.parametrize("name", ["README.md", "docs/training.md"])
def test_every_training_command_is_understood(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As far as its recipe, which is printed; the files that it names are the reader's."""
    monkeypatch.chdir(ROOT)
    named = re.findall(r"clearformer (train [^`\n>]+)", (ROOT / name).read_text(encoding="utf-8"))
    known = [each for each in named if "--resume" not in each and "-c mine.yaml" not in each]
    assert len(known) > 6
    for each in known:
        options = [word for word in shlex.split(each) if word != "--print-config"]
        assert main([*options, "--print-config"]) == 0, each
        assert "type: " in capsys.readouterr().out


def test_every_verb_is_named() -> None:
    from clearformer.cli.main import VERBS

    named = {each.split()[1] for each in commands("README.md")}
    assert named == set(VERBS)


@pytest.mark.parametrize("command", [each for each in runnable() if needs_no_model(each)])
def test_commands_without_a_model(
    command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # Pictures are written where the command is run.
    code = main(shlex.split(command)[1:])
    assert code == (1 if "--break" in command else 0)
    assert capsys.readouterr().out


@pytest.mark.real
@pytest.mark.parametrize("command", [each for each in runnable() if "smollm2" in each or "minilm" in each])
def test_commands_with_a_model(
    command: str,
    smollm2_gguf: Path,
    minilm_folder: Path,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)  # Pictures are written where the command is run.
    monkeypatch.setattr("clearformer.inspect.tuned_lens.STEPS", 4)  # as many as show that it works
    Path("texts.txt").write_text((ROOT / "README.md").read_text(encoding="utf-8"), encoding="utf-8")
    assert main(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize("name", [*LANGUAGES, *GUIDES])
def test_links_lead_somewhere(name: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / name).read_text(encoding="utf-8")):
        assert ((ROOT / name).parent / target).exists(), target


@pytest.mark.real
def test_the_python_of_the_first_screen(smollm2_gguf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    for number, block in enumerate(blocks):
        script = tmp_path / f"block_{number}.py"
        script.write_text(block, encoding="utf-8")
        runpy.run_path(str(script))
    assert "Paris" in capsys.readouterr().out
