"""A user's own experiment: what it may say, and every way in which a file of a stranger is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from clearformer.errors import ClearformerError, SpecError, UsageError
from clearformer.lab.own import MOST_BYTES, parse_own, read_own
from clearformer.lab.rewritten import rewritten
from clearformer.lab.training_arm import TrainingArm
from clearformer.spec import ALiBi, DecoderOnly, LayerNorm, RMSNorm
from clearformer.spec.presets import tiny_gpt
from clearformer.tasks.language import LanguageRecipe

RECIPE = "recipe: {type: LanguageRecipe, steps: 6, data: {path: cyclic, context: 16}, model: {type: Gpt, width: 16}}\n"
ARMS = "arms:\n  tied: {}\n  untied: {spec.head.tied: false, optimizer.lr: 3e-4}\n"


def own(text: str) -> object:
    return parse_own(text, Path("mine.yaml"))


def test_a_recipe_and_its_changes() -> None:
    found = parse_own(
        f"name: ties\nmetric: accuracy\nhigher_is_better: true\nequal: []\n{RECIPE}{ARMS}", Path("a.yaml")
    )
    assert (found.name, found.figure.name, found.figure.higher_is_better, found.steps) == ("ties", "accuracy", True, 6)
    tied, untied = found.arms
    assert isinstance(tied, TrainingArm)
    assert isinstance(untied, TrainingArm)
    assert isinstance(tied.recipe, LanguageRecipe)
    assert (tied.recipe.optimizer.lr, untied.recipe.optimizer.lr) == (1e-3, 3e-4)
    spec = tiny_gpt(width=16, layers=2)
    assert tied.rebuild(spec) == spec
    changed = untied.rebuild(spec)
    assert isinstance(changed, DecoderOnly)
    assert not changed.head.tied
    assert tied.described() != untied.described()


def test_it_is_called_by_its_file_and_may_name_a_recipe_beside_it(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("type: LanguageRecipe\ndata: {path: cyclic}\n")
    (tmp_path / "ties.yaml").write_text(f"recipe: base.yaml\n{ARMS}")
    found = read_own(tmp_path / "ties.yaml")
    assert (found.name, found.steps, found.figure.name) == ("ties", None, "loss")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"seed: 3\n{RECIPE}{ARMS}", "no field seed. Did you mean seeds?"),
        (f"{ARMS}", "recipe must be a recipe"),
        (f"{RECIPE}", "arms must be names with values; found None"),
        (f"{RECIPE}arms: {{one: {{}}}}", "has 1 arm; expected 2 to 16"),
        (f"{RECIPE}arms: {{a: {{}}, b: 3}}", "arms.b must be names with values"),
        (f"{RECIPE}arms: {{../../evil: {{}}, b: {{}}}}", "found '../../evil'"),
        (f"{RECIPE}arms: {{a--1: {{}}, b: {{}}}}", "found 'a--1'"),
        (f"name: ../x\n{RECIPE}{ARMS}", "found '../x'"),
        (f"metric: [loss]\n{RECIPE}{ARMS}", "metric must be a word"),
        (f"seeds: many\n{RECIPE}{ARMS}", "seeds must be a whole number"),
        (f"equal: [parametres]\n{RECIPE}{ARMS}", "Did you mean parameters?"),
        (f"{RECIPE}arms: {{a: {{}}, b: {{optimizer.lrr: 1}}}}", "lr"),
        (f"{RECIPE}arms: {{a: {{}}, b: {{seed: 4}}}}", "sets seed, which must be the same"),
        (f"{RECIPE}arms: {{a: {{}}, b: {{watch.evaluate: 4}}}}", "sets watch.evaluate"),
        (f"recipe: ../../etc/passwd\n{ARMS}", "outside its own folder"),
        (f"recipe: /etc/passwd\n{ARMS}", "outside its own folder"),
        (f'recipe: "a\\0b"\n{ARMS}', "recipe must be a recipe"),
        ("recipe: {type: NoRecipe}\n" + ARMS, "NoRecipe"),
        (f"equal: [[parameters]]\n{RECIPE}{ARMS}", "cannot be held to equal ['parameters']"),
        (f"equal: [{{parameters: 1}}]\n{RECIPE}{ARMS}", "cannot be held to equal {'parameters': 1}"),
        (f"{RECIPE}arms: {{a: {{}}, b: {{}}, A: {{}}}}", "the arms a and A differ in case alone"),
        (f"a: &x [1]\nb: *x\n{RECIPE}{ARMS}", "line 2: expected values written out"),
        ("[" * 4000, "nested more than 24 deep"),
        ("name: [unclosed", "is no YAML"),
        ("name: !!python/object/apply:os.system [touch hacked]\n" + RECIPE + ARMS, "could not determine a constructor"),
        ("name: a\nname: b\n" + RECIPE + ARMS, "name stands twice"),
        ("\x00", "is no YAML"),
        ("just words", "found 'just words'"),
    ],
)
def test_what_is_refused(text: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        own(text)
    assert words in f"{caught.value}"
    assert "\n" not in caught.value.cause()
    assert caught.value.cause("zh")
    assert caught.value.remedy("zh")


def test_what_is_no_file_of_ours(tmp_path: Path) -> None:
    for content in (b"\xff\xfe", b"#" * (MOST_BYTES + 1)):
        (tmp_path / "x.yaml").write_bytes(content)
        with pytest.raises(ClearformerError):
            read_own(tmp_path / "x.yaml")
    with pytest.raises(ClearformerError):
        read_own(tmp_path / "absent.yaml")
    with pytest.raises(ClearformerError):
        read_own(tmp_path)


def test_a_link_does_not_lead_outside(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.yaml").write_text("type: LanguageRecipe\n")
    (inside / "base.yaml").symlink_to(tmp_path / "secret.yaml")
    (inside / "mine.yaml").write_text(f"recipe: base.yaml\n{ARMS}")
    with pytest.raises(UsageError, match="outside its own folder"):
        read_own(inside / "mine.yaml")


SPEC = tiny_gpt(width=16, heads=2, layers=3, vocabulary=16)


def test_a_star_means_every_block_and_a_number_one() -> None:
    every = rewritten(SPEC, {"decoder.blocks.*.attention.scale": 1.0})
    one = rewritten(SPEC, {"decoder.blocks.1.attention.scale": 1.0})
    assert isinstance(every, DecoderOnly)
    assert isinstance(one, DecoderOnly)
    assert [block.attention.scale for block in every.decoder.blocks] == [1.0, 1.0, 1.0]
    assert [block.attention.scale for block in one.decoder.blocks] == [None, 1.0, None]


def test_another_type_takes_its_own_defaults() -> None:
    changes = {"decoder.blocks.*.attention_norm": {"type": "RMSNorm"}, "decoder.final_norm.type": "RMSNorm"}
    found = rewritten(SPEC, {**changes, "decoder.blocks.*.attention.position": {"type": "ALiBi"}})
    assert isinstance(found, DecoderOnly)
    assert {(block.attention_norm, block.feedforward_norm) for block in found.decoder.blocks} == {
        (RMSNorm(), LayerNorm())
    }
    assert found.decoder.final_norm == RMSNorm()
    assert found.decoder.blocks[2].attention.position == ALiBi()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("decoder.block.0", "no block in that place. Did you mean blocks?"),
        ("decoder.blocks.7.dropout", "7 is no place in that list. Give 0 to 2"),
        ("decoder.blocks.-1.dropout", "-1 is no place"),
        ("decoder.width.x", "no x in that place"),
        ("", "in that place"),
    ],
)
def test_a_name_that_leads_nowhere(name: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        rewritten(SPEC, {name: 1})
    assert words in str(caught.value)


def test_a_value_that_does_not_go_there() -> None:
    with pytest.raises(SpecError):
        rewritten(SPEC, {"decoder.width": "wide"})
    with pytest.raises(SpecError):
        rewritten(SPEC, {"decoder.blocks.*.attention.kv_heads": 3})
