"""A recipe written is read back; options go before the file, the file before the defaults; mistakes are named."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as some

from clearformer import spec as s
from clearformer.errors import UsageError
from clearformer.messages import train as say
from clearformer.spec.presets import tiny_gpt
from clearformer.train import recipe as r
from clearformer.train.recipe_docs import field_docs
from clearformer.train.recipe_file import differences, parse_recipe, read_recipe, write_recipe


@dataclass(frozen=True)
class Files:
    """Where the text lies."""

    path: str = "text.txt"
    """The file to learn from."""
    also: tuple[str, ...] = ()
    shape: tuple[int, float] = (1, 2.0)


@dataclass(frozen=True)
class Own:
    """A model said in full."""

    spec: s.Spec = field(default_factory=tiny_gpt)


@dataclass(frozen=True)
class Small:
    """A model by its width."""

    width: int = 8
    name: str | None = None


@dataclass(frozen=True, kw_only=True)
class ReadingRecipe(r.Recipe):
    """A recipe for tests."""

    data: Files = field(default_factory=Files)
    model: Small | Own = field(default_factory=Small)
    optimizer: r.Optimizer = field(default_factory=lambda: r.AdamW(lr=0.5, beta2=0.7))


def parse(text: str = "", *options: tuple[str, str]) -> ReadingRecipe:
    return parse_recipe(ReadingRecipe, text, options)


rates = some.floats(1e-9, 1e3)
optimizers = some.one_of(
    some.builds(r.AdamW, lr=rates, weight_decay=some.floats(0, 1)),
    some.builds(r.Adam, lr=rates, eps=rates),
    some.builds(r.Muon, lr=rates, adamw=some.builds(r.AdamW, lr=rates)),
)
schedules = some.one_of(*(some.builds(kind, warmup=some.integers(1, 9)) for kind in r.Schedule.__args__))
# No file's name has a NUL or half a character, and a recipe that asks for one is refused.
paths = some.text(some.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=9)
recipes = some.builds(
    ReadingRecipe,
    seed=some.integers(0, 10**12),
    steps=some.none() | some.integers(1, 10**9),
    clip=some.none() | rates,
    optimizer=optimizers,
    schedule=schedules,
    average=some.none() | some.builds(r.EMA, decay=some.floats(0, 0.99)) | some.builds(r.Checkpoints),
    compute=some.builds(r.Compute, compile=some.sampled_from(["auto", "yes", "no"]), threads=some.none()),
    data=some.builds(Files, path=paths, also=some.lists(paths).map(tuple)),
    model=some.sampled_from([Small(3, "3"), Small(3, "on"), Own(tiny_gpt(layers=2)), Small()]),
)


@given(recipes)
def test_what_is_written_is_read_back(recipe: ReadingRecipe) -> None:
    assert parse(write_recipe(recipe)) == recipe


def test_the_file_says_what_each_field_means() -> None:
    text = write_recipe(ReadingRecipe())
    assert "  # The file to learn from.\n  path: text.txt\n" in text
    assert "# One of AdamW, Adam, Muon." in text
    assert "# Updates to make.\nsteps: null\n" in text
    assert yaml.safe_load(text)["type"] == "ReadingRecipe"
    assert field_docs(ReadingRecipe)["budget"].startswith("Seconds")


def test_options_before_file_before_defaults() -> None:
    found = parse("optimizer: {lr: 3e-4}\nseed: 4\naccumulate: 2", ("seed", "5"), ("data.path", "123"))
    assert found.optimizer == r.AdamW(lr=3e-4, beta2=0.7)
    assert (found.seed, found.accumulate, found.data.path) == (5, 2, "123")


def test_another_type_starts_from_its_own_defaults_whatever_the_order() -> None:
    expected = r.Adam(lr=2.0)
    assert parse("optimizer: {type: Adam, lr: 2}").optimizer == expected
    assert parse("", ("optimizer.lr", "2"), ("optimizer.type", "Adam")).optimizer == expected
    assert parse("", ("optimizer", "Adam"), ("optimizer.lr", "2.0")).optimizer == expected
    assert parse("average: {type: EMA, decay: 0.5}", ("average", "null")).average is None
    assert parse("", ("average", "EMA")).average == r.EMA()


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("10m", 600), ("1.5h", 5400), ("1e2", 100), ("null", None)]
)
def test_budgets(text: str, seconds: float | None) -> None:
    assert parse("", ("budget", text)).budget == seconds
    assert parse(f"budget: {text}").budget == seconds


def test_words_that_yaml_takes_for_truth() -> None:
    assert parse("compute: {compile: no, switch: yes}").compute == r.Compute(compile="no", switch="yes")
    assert parse("", ("compute.checkpoint_activations", "true")).compute.checkpoint_activations
    assert parse("data: {also: [a, b], shape: [3, 4]}").data == Files(also=("a", "b"), shape=(3, 4.0))
    assert parse("", ("data.also", "a,b"), ("data.shape", "[3, 4e0]")).data == Files(also=("a", "b"), shape=(3, 4.0))


WRONG = [
    ("optimzer: {lr: 1}", "Did you mean optimizer?"),
    ("optimizer: {type: Adam, weight_decay: 1}", "Adam has no field 'weight_decay'"),
    ("optimizer: {type: AdamX}", "Did you mean Adam"),
    ("optimizer: {type: Cosine}", "must be AdamW, Adam, Muon"),
    ("average: {decay: 0.5}", "average does not say which type it is"),
    ("steps: many", "steps must be int, null; found 'many'"),
    ("steps: 2.5", "found 2.5"),
    ("steps: true", "found True"),
    ("seed: {x: 1}", "seed"),
    ("compute: {compile: perhaps}", "compile must be auto, yes, no; found 'perhaps'"),
    ("compute: {compile: 3}", "found 3"),
    ("data: {shape: [1]}", "2 values"),
    ("steps: 0", "steps must be at least 1; found 0"),
    ("optimizer: {lr: -1}", "optimizer.lr must be more than 0; found -1"),
    ("optimizer: {lr: .nan}", "found nan"),
    ("optimizer: {lr: 1e400}", "found inf"),
    ("schedule: {type: Noam, warmup: 0}", "schedule.warmup must be at least 1"),
    ("optimizer: {type: Muon, adamw: {beta1: 1}}", "optimizer.adamw.beta1 must be from 0 to below 1"),
    ("steps: 3\nbudget: 4", "found both"),
    ("budget: ten", "90s, 3m or 1h"),
    ("seed: 1\nseed: 2", "seed stands twice"),
    ("seed: [", "no recipe"),
    ("- 3", "no recipe"),
    ("seed: 9223372036854775808", "seed must be from 0 to 2^63"),
    ("seed: 1" + "0" * 400, "seed must be from 0 to 2^63"),
    ("name: 2020-13-45", "month must be in 1..12"),
    (
        "a: &a [1]\n" + "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in pairwise("abcdefg")),
        "unfold",
    ),
    ("data: " + "[" * 5000, "too deep"),
    ('data: {path: "a\\0b"}', "path must be str"),
    ('data: {path: "\\ud800"}', "path must be str"),
    ("type: Recipe", "expected ReadingRecipe"),
]


@pytest.mark.parametrize(("text", "said"), WRONG, ids=[text.replace("\n", " ") for text, _ in WRONG])
def test_what_is_wrong_is_named(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert said in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_file_says_which_recipe_it_is(tmp_path: Path) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_text(write_recipe(ReadingRecipe(steps=3)), encoding="utf-8")
    assert read_recipe((r.Recipe, ReadingRecipe), path) == ReadingRecipe(steps=3)
    with pytest.raises(UsageError) as caught:
        read_recipe(ReadingRecipe, tmp_path / "absent.yaml")
    assert caught.value.failure is say.RECIPE_UNREADABLE


def test_differences_are_named_field_by_field() -> None:
    one = ReadingRecipe(steps=3)
    assert differences(one, one) == []
    assert differences(one, replace(one, steps=4)) == [("steps", 3, 4)]
    found = differences(one, replace(one, optimizer=r.Adam(lr=0.5, beta2=0.7)))
    assert ("optimizer.type", "AdamW", "Adam") in found
    assert ("optimizer.weight_decay", 0.1, "–") in found
