"""A command called wrongly: exit code 2, one line of cause, one of remedy, in both languages and as JSON."""

from __future__ import annotations

import pytest

CALLS = [
    (["envv"], "no verb envv. Did you mean env?", "没有命令 envv。您是否想用 env？"),
    (["zzzzz"], "expected one of: ", "应为以下之一："),
    (["tokenizer", "trian"], "Did you mean train?", "您是否想用 train？"),
    (["env", "--mesure"], "Did you mean --measure?", "您是否想用 --measure？"),
    (["env", "--zzz=1"], "clearformer env has no option --zzz.", "clearformer env 没有选项 --zzz。"),
    (
        ["tokenizer", "train", "x", "--vocab-size", "many"],
        "--vocab-size: expected a whole number, got many",
        "应为整数",
    ),
    (["pull", "--from", "moon", "x"], "--from: expected one of wheel, hub, got moon", "应为 wheel, hub 之一"),
    (["env", "--json=maybe"], "--json: the value maybe cannot be read", "无法识别值 maybe"),
    (["pull"], "clearformer pull: expected MODEL", "缺少 MODEL"),
    (["pull", "x", "--from"], "expected a value after --from", "--from 之后缺少值"),
    (["env", "--measure", "--measure"], "--measure is given twice", "--measure 给出了两次"),
    (["show", "a", "b"], "clearformer show does not take this: b", "clearformer show 不接受：b"),
    (["--quiet", "env"], "The option --quiet stands before the verb", "选项 --quiet 写在了命令之前"),
    (["tokenizer", "train"], "Expected at least one text file", "至少应有一个文本文件"),
]


@pytest.mark.parametrize(("arguments", "english", "chinese"), CALLS)
def test_wrong_calls_are_told_in_two_lines_and_both_languages(clearformer, arguments, english, chinese) -> None:
    labels_of = {"en": ("Error: ", "What to do: "), "zh": ("错误：", "怎么办：")}
    for language, expected in (("en", english), ("zh", chinese)):
        labels = labels_of[language]
        ended = clearformer("--lang", language, *arguments)
        assert (ended.code, ended.out) == (2, "")
        cause, remedy = ended.err.splitlines()
        assert expected in cause
        assert (cause.startswith(labels[0]), remedy.startswith(labels[1])) == (True, True)
        assert len(remedy) > len(labels[1])


@pytest.mark.parametrize("arguments", [["envv", "--json"], ["show", "--json"], ["ls", "--json", "--no"]])
def test_a_wrong_call_with_json_is_one_object_on_stdout(clearformer, arguments) -> None:
    ended = clearformer(*arguments)
    assert (ended.code, ended.err) == (2, "")
    assert list(ended.json) == ["error"]
    assert list(ended.json["error"]) == ["kind", "message", "remedy"]
    assert ended.json["error"]["kind"] == "usage"


@pytest.mark.parametrize("arguments", [["--lang", "fr", "ls"], ["ls", "--lang=fr"], ["ls", "--lang"]])
def test_a_language_that_we_lack_is_refused(clearformer, arguments) -> None:
    ended = clearformer(*arguments)
    assert ended.code == 2
    assert "--lang" in ended.err


def test_the_language_follows_the_locale_and_the_flag_goes_before_it(clearformer, monkeypatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert clearformer("envv").err.startswith("错误：")
    assert clearformer("envv", "--lang=en").err.startswith("Error: ")


def test_what_stands_after_two_dashes_is_text(clearformer, tokenizer_folder) -> None:
    ended = clearformer("tokenizer", "encode", "--json", str(tokenizer_folder), "--", "--lang")
    assert ended.code == 0
    assert "".join(ended.json["tokens"]) == "--lang"


@pytest.mark.parametrize("name", ["a\x1b[31mb", "[bold]a[/bold]", "a\nb", "\udcff"])
def test_what_the_user_typed_cannot_steer_the_terminal(clearformer, name) -> None:
    ended = clearformer(name)
    assert len(ended.err.splitlines()) == 2
    assert "\x1b" not in ended.err
    assert name.replace("\x1b", r"\x1b").replace("\n", r"\n").replace("\udcff", r"\udcff") in ended.err


@pytest.mark.parametrize(
    ("arguments", "kind", "code"), [(["show", "nothing"], "store", 1), (["show", "../x"], "usage", 2)]
)
def test_errors_of_the_library_keep_their_kind_and_code(clearformer, arguments, kind, code) -> None:
    assert clearformer(*arguments).code == code
    assert clearformer(*arguments, "--json").json["error"]["kind"] == kind
