"""A user's own experiment: a small YAML with a recipe and, for each arm, what it changes.

    name: tied-or-not
    recipe: {type: LanguageRecipe, data: {path: pydoc, context: 64}, model: {type: Gpt, width: 128}}
    metric: loss
    arms:
      tied: {}
      untied: {spec.head.tied: false}
      slower: {optimizer.lr: 3e-4}

`recipe` may also name a recipe file beside the experiment; its `steps`, if it has some, are made where no --budget is
given. A change names a field of the recipe by its dotted name, or, behind `spec.`, one of the model's spec, where `*`
stands for every item of a list: `spec.decoder.blocks.*.attention.scale`.

Such files come from others: they are bounded, hold no aliases, name no recipe outside their folder, execute nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from clearformer.checkpoint.reading import read_bounded
from clearformer.errors import UsageError
from clearformer.lab.experiment import SEEDS, Experiment, Figure
from clearformer.lab.ground import LEARNING_CURVE
from clearformer.lab.rewritten import rewritten
from clearformer.lab.training_arm import TrainingArm
from clearformer.messages import Message, did_you_mean, verbatim
from clearformer.messages import lab_machine as machine
from clearformer.messages import lab_own as say
from clearformer.tasks.registry import recipe_types
from clearformer.train.recipe import Recipe
from clearformer.train.recipe_file import mapping_of, parse_recipe

MOST_BYTES, DEEPEST, MOST_ARMS = 100_000, 24, 16
SPEC = "spec."
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
_FIELDS = ("name", "recipe", "arms", "metric", "higher_is_better", "equal", "seeds")


def read_own(path: Path) -> Experiment:
    """The experiment of a file. Raises UsageError, naming what is not understood, and CheckpointError for a file that
    cannot be read."""
    return parse_own(_text(path), path)


def parse_own(text: str, path: Path) -> Experiment:
    """The experiment that a YAML text describes; `path` is where it lies, and recipes beside it."""
    _require_plain(text, path)
    given = mapping_of(text, path)
    for name in given:
        if name not in _FIELDS:
            hint = did_you_mean(name, _FIELDS)
            raise UsageError(say.UNKNOWN_FIELD, path=path, found=name, expected=", ".join(_FIELDS), hint=hint)
    name = _named(given.get("name", path.stem), path)
    arms = _kind(given, "arms", dict, say.MAPPING, path)
    if not 2 <= len(arms) <= MOST_ARMS:
        raise UsageError(say.ARMS_COUNT, path=path, most=MOST_ARMS, found=machine.arms_of(len(arms)))
    seen: dict[str, object] = {}
    for each in arms:
        if (other := seen.setdefault(str(each).lower(), each)) is not each:
            raise UsageError(say.SAME_NAMES, path=path, one=other, other=each)
    recipe = _recipe_text(given.get("recipe"), path)
    built = tuple(_arm(_named(each, path), changes, recipe, path) for each, changes in arms.items())
    metric = _kind(given, "metric", str, say.WORD, path, "loss")
    higher = _kind(given, "higher_is_better", bool, say.YES_OR_NO, path, False)
    return Experiment(
        name=name,
        title=verbatim(f"{name}: {', '.join(arms)}", f"{name}：{'、'.join(arms)}"),
        about=Message(
            *(say.ABOUT.text(language, path=path).replace("{", "{{").replace("}", "}}") for language in ("en", "zh"))
        ),
        arms=built,
        figure=Figure(metric, verbatim(metric, metric), higher),
        curves=(LEARNING_CURVE,),
        equal=_equal(given, path),
        seeds=_kind(given, "seeds", int, say.WHOLE, path, SEEDS),
        steps=built[0].recipe.steps,
    )


def _arm(name: str, changes: object, recipe: str, path: Path) -> TrainingArm:
    """The recipe with the arm's changes, and what they say of the spec kept for when the data have made one."""
    if not isinstance(changes, dict | None):
        raise UsageError(say.WRONG_KIND, path=path, field=f"arms.{name}", expected=say.MAPPING, found=repr(changes))
    told = {str(field): value for field, value in (changes or {}).items()}
    for field in ("seed", "steps", "budget", "watch", "compute.threads"):
        if wrong := next((each for each in told if each == field or each.startswith(f"{field}.")), None):
            raise UsageError(say.LAB_DECIDES, path=path, arm=name, found=wrong)
    of_spec = {field.removeprefix(SPEC): value for field, value in told.items() if field.startswith(SPEC)}
    of_recipe: Any = [(field, value) for field, value in told.items() if not field.startswith(SPEC)]
    found: Recipe = parse_recipe(recipe_types(), recipe, of_recipe, path)
    rebuild = partial(rewritten, changes=of_spec)
    return TrainingArm(name=name, label=verbatim(name, name), recipe=found, rebuild=rebuild, warmup=None)


def _recipe_text(given: object, path: Path) -> str:
    """The recipe as YAML: written out, or that of a file in the experiment's folder."""
    if isinstance(given, dict):
        return yaml.safe_dump(given, allow_unicode=True)
    if not isinstance(given, str):
        raise UsageError(say.WRONG_KIND, path=path, field="recipe", expected=say.RECIPE, found=repr(given))
    beside = path.parent / given
    if "\0" in given:
        raise UsageError(say.WRONG_KIND, path=path, field="recipe", expected=say.RECIPE, found=repr(given))
    if not beside.resolve().is_relative_to(path.parent.resolve()):
        raise UsageError(say.OUTSIDE, path=path, found=given)
    text = _text(beside)
    _require_plain(text, beside)
    return text


def _text(path: Path) -> str:
    try:
        return read_bounded(path, MOST_BYTES).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(say.NOT_TEXT, path=path, at=error.start) from None


def _require_plain(text: str, path: Path) -> None:
    """Raises UsageError for YAML that would grow when it is read: aliases, and nesting without end."""
    deep = 0
    try:
        for event in yaml.parse(text, yaml.SafeLoader):
            opens = isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent)
            deep += opens - isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent)
            line = event.start_mark.line + 1 if event.start_mark else 1
            if isinstance(event, yaml.AliasEvent):
                raise UsageError(say.ALIAS, path=path, line=line)
            if deep > DEEPEST:
                raise UsageError(say.TOO_DEEP, path=path, line=line, most=DEEPEST)
    except yaml.YAMLError as error:
        raise UsageError(say.NOT_YAML, path=path, detail=" ".join(str(error).split())) from error


def _named(name: object, path: Path) -> str:
    """A name that may stand in a file's name."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or "--" in name:
        raise UsageError(say.BAD_NAME, path=path, found=repr(name))
    return name


def _equal(given: Mapping[str, Any], path: Path) -> tuple[str, ...]:
    named = _kind(given, "equal", list, say.LIST, path, [])
    for each in named:
        if not isinstance(each, str) or each not in machine.FACTS:
            known, hint = ", ".join(machine.FACTS), did_you_mean(each, machine.FACTS)
            raise UsageError(say.UNKNOWN_FACT, path=path, found=each, expected=known, hint=hint)
    return tuple(named)


def _kind(given: Mapping[str, Any], field: str, kind: type, expected: Message, path: Path, default: Any = None) -> Any:
    value = given.get(field, default)
    if type(value) is not kind:
        raise UsageError(say.WRONG_KIND, path=path, field=field, expected=expected, found=repr(value))
    return value
