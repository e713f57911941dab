"""What a parameter is for, by its name; and the values put in their places."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import nn

_PATTERNS = {
    "scaler": r"(grad_?)?scaler",
    "scheduler": r"(lr_?)?(scheduler|sched|schedule)",
    "optimizer": r"optim(i[sz]er)?|opt",
    "model": r"model|net(work)?|module|transformer|lm|gpt|decoder|policy",
    "batches": r"(train(ing)?_?)?(batches|(data_?)?loader|dl|dataset|data|iterator|train)",
    "validation": r"(val(id(ation)?)?|eval|test|dev)_?(batches|(data_?)?loader|dl|dataset|data)",
    "batch": r"(mini_?)?batch|inputs_and_targets",
    "get_batch": r"(get|next|sample|make)_?batch|batch_(fn|function)",
    "examples": r"examples|samples|items|features|instances|rows|sequences",
    "logits": r"logits?|outputs?|preds?|predictions?|scores|yhat|y_hat|lm_logits|out",
    "log_probs": r"log_?probs?|lprobs|log_?p|logprobabilities",
    "probs": r"probs?|probabilities|probas?|dist(ribution)?",
    "labels": r"labels?|lm_labels",
    "targets": r"targets?|tgt|y|gold|truth|next_(ids|tokens)|shift(ed)?_labels|y_true",
    "ids": r"(input_?)?(ids|idx)|tokens?|input_tokens|x|inputs?|prompt(_ids)?|context|prev(ious)?(_?(tokens|ids))?|"
    r"generated|history|seq(uence)?|seen",
    "mask": r"(attention|padding|pad|loss|label|target)_?mask|mask|weights?",
    "vocab_size": r"vocab(_?size)?|num_classes|n_vocab|v",
    "temperature": r"temp(erature)?|tau|t",
    "top_k": r"top_?k|k",
    "top_p": r"top_?p|p|nucleus(_p)?|threshold",
    "penalty": r"(repetition_|rep_)?penalty|alpha|theta",
    "generator": r"generator|rng|gen",
    "step": r"step(_fn)?|score(_fn)?|next_log_?probs|log_?prob_fn|fn|f|forward",
    "beams": r"(num_)?beams?|beam_?(size|width)|width",
    "new_tokens": r"max_?(new_?)?(tokens|steps|len(gth)?)|(n|num)_?(new_?)?tokens|length",
    "eos_id": r"(eos|end|stop)(_?(token)?_?(id|idx|index))?",
    "bos_id": r"(bos|start|begin)(_?(token)?_?(id|idx|index))?",
    "pad_id": r"pad(ding)?(_?(token)?_?(id|idx|index|value))?|padding_value",
    "ignore": r"ignore_?(index|id)|label_pad_token_id",
    "tokenizer": r"tok(eni[sz]er)?|processor",
    "longest": r"max_?(seq_?)?len(gth)?|block_?size|seq_?len(gth)?|context_?(length|size)",
    "device": r"device|dev",
    "steps": r"(max_|num_|n_|total_|train_|until_?)?(steps|iters|iterations|updates|step_count)|until|upto",
    "epochs": r"(num_|n_|max_)?epochs",
    "epoch": r"epoch|ep",
    "accumulation": r"(grad(ient)?_?)?acc(um(ulat(e|ion))?)?(_?(steps|grad(ient)?s|batches|every|n))?(_steps)?|"
    r"micro_?(steps|batches)",
    "clip": r"(grad(ient)?_?)?clip(_?(norm|value|grad(_norm)?))?|max_?(grad_?)?norm",
    "lr": r"(base_|max_|peak_)?(lr|learning_?rate)",
    "warmup": r"warm_?up(_?(steps|iters))?",
    "criterion": r"criterion|loss(_?(fn|function|func|f))?",
    "folder": r"folder|path|dir(ectory)?|(ckpt|checkpoint|run|save|output|out|work)_?(dir|path|folder)?|root",
    "rank": r"rank|process_?index|replica|worker|shard",
    "ranks": r"ranks|world(_?size)?|num_?(replicas|shards|workers|processes)|replicas|shards",
    "batch_size": r"batch_?size|bs",
    "split": r"split|subset|phase|mode|stage",
    "training": r"(is_?)?train(ing)?|shuffle",
    "series": r"series|values|history|ts|signal|data|frame|df|x|inputs?|arr(ay)?",
    "cutoff": r"cut_?off|split(_?(at|point|index))?|origin|t0?|now|until|train_?(size|end|len(gth)?)|n_train|end",
    "horizon": r"horizon|pred(iction)?_?len(gth)?|h|n_ahead|steps(_?ahead)?|forecast_?len(gth)?",
    "config": r"config|cfg|args|hparams|params|opts|options|settings",
}  # fmt: skip
ROLES = {role: re.compile(pattern, re.IGNORECASE) for role, pattern in _PATTERNS.items()}


class UnboundError(Exception):
    """A required parameter for which there is nothing to give."""


def role_of(name: str, among: Sequence[str]) -> str | None:
    """The first of the roles that a parameter of this name can have."""
    plain = name.strip("_")
    return next((role for role in among if ROLES[role].fullmatch(plain)), None)


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """None where a function has no signature that could be read."""
    try:
        return list(inspect.signature(function.forward if isinstance(function, nn.Module) else function)
                    .parameters.values())  # fmt: skip
    except (TypeError, ValueError):
        return None


def roles_of(function: Callable[..., Any], among: Sequence[str]) -> dict[str, inspect.Parameter]:
    """Which parameter has which role; each role is given once, in the order of the parameters."""
    found: dict[str, inspect.Parameter] = {}
    for parameter in parameters_of(function) or []:
        role = role_of(parameter.name, [each for each in among if each not in found])
        if role is not None and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            found[role] = parameter
    return found


def called(
    function: Callable[..., Any],
    given: Mapping[str, Any],
    *,
    spare: Mapping[str, Any] | None = None,
    order: Sequence[str] = (),
) -> Any:
    """Call the function with each value at the parameter whose name has its role.

    `spare` values go to required parameters only. A required parameter of another name takes the next role of `order`
    that no name has claimed. Raises UnboundError where a required parameter is left over.
    """
    arguments, named = bound(function, given, spare=spare or {}, order=order)
    return function(*arguments, **named)


def bound(
    function: Callable[..., Any], given: Mapping[str, Any], *, spare: Mapping[str, Any], order: Sequence[str]
) -> tuple[list[Any], dict[str, Any]]:
    """(positional, named) arguments, as `called` passes them."""
    parameters = parameters_of(function)
    if parameters is None:
        return [given[role] for role in order if role in given], {}
    claimed = {parameter.name: role for role, parameter in roles_of(function, [*given, *spare]).items()}
    unclaimed = [role for role in order if role in given and role not in claimed.values()]
    arguments: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            arguments.extend(given[role] for role in unclaimed)
            continue
        required = parameter.default is parameter.empty
        role = claimed.get(parameter.name)
        if role is not None and (role in given or required):
            value = given[role] if role in given else spare[role]
        elif not required:
            continue
        elif unclaimed:
            value = given[unclaimed.pop(0)]
        else:
            raise UnboundError(parameter.name)
        if parameter.kind is parameter.KEYWORD_ONLY or named or len(arguments) < parameters.index(parameter):
            named[parameter.name] = value
        else:
            arguments.append(value)
    return arguments, named


def written(function: Callable[..., Any]) -> Any:
    """The function with the code: of a module its forward, of an object its `__call__`, of a partial what it wraps."""
    target = (
        function.forward if isinstance(function, nn.Module) else inspect.unwrap(getattr(function, "func", function))
    )
    target = getattr(target, "__func__", target)
    return target if inspect.isroutine(target) else vars(type(target)).get("__call__", target)


def source_of(function: Callable[..., Any]) -> str | None:
    """`collate (my_data.py:12)`: where a callable was written, as far as that can be known."""
    code = getattr(written(function), "__code__", None)
    name = getattr(function, "__qualname__", type(function).__qualname__).rpartition("<locals>.")[2]
    return (
        None
        if code is None
        else f"{name} ({code.co_filename.replace(chr(92), '/').rpartition('/')[2]}:{code.co_firstlineno})"
    )
