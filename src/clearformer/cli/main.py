"""`clearformer VERB …`: read what belongs to the program, find the verb, run it inside the boundary.

A verb is registered by its import path: only the one that is run is imported, and `--help` imports none.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, get_args

from clearformer.cli import boundary
from clearformer.errors import UsageError
from clearformer.messages import Language, language_of
from clearformer.messages import cli as say
from clearformer.messages import help as help_messages

if TYPE_CHECKING:
    from cyclopts import App

VERBS = {
    "tour": "clearformer.cli.tour:tour",
    "demo": "clearformer.cli.demo:demo",
    "trace": "clearformer.cli.trace:trace",
    "attention": "clearformer.cli.attention:attention",
    "lens": "clearformer.cli.lens:lens",
    "positions": "clearformer.cli.positions:positions",
    "lab": "clearformer.cli.lab:lab",
    "generate": "clearformer.cli.generate:generate",
    "chat": "clearformer.cli.chat:chat",
    "embed": "clearformer.cli.embed:embed",
    "tokenizer": "clearformer.cli.tokenizer:tokenizer",
    "pull": "clearformer.cli.pull:pull",
    "ls": "clearformer.cli.ls:ls",
    "show": "clearformer.cli.show:show",
    "rm": "clearformer.cli.rm:rm",
    "train": "clearformer.cli.train:train",
    "evaluate": "clearformer.cli.evaluate:evaluate",
    "translate": "clearformer.cli.translate:translate",
    "forecast": "clearformer.cli.forecast:forecast",
    "classify": "clearformer.cli.classify:classify",
    "fill": "clearformer.cli.fill:fill",
    "export": "clearformer.cli.export:export",
    "cost": "clearformer.cli.cost:cost",
    "card": "clearformer.cli.card:card",
    "verify": "clearformer.cli.verify:verify",
    "doctor": "clearformer.cli.doctor:doctor",
    "bench": "clearformer.cli.bench:bench",
    "env": "clearformer.cli.env:env",
}

_DOTTED = re.compile(r"--[a-z_]+(\.[a-z_0-9]+)+")


@dataclass(frozen=True)
class Call:
    """A command line with what belongs to the program taken out of it: `--lang` and `--debug`, which every verb has,
    and dotted options, which name fields of a recipe (`--optimizer.lr 3e-4`)."""

    arguments: tuple[str, ...] = ()
    overrides: tuple[tuple[str, str], ...] = ()
    language: Language = field(default_factory=language_of)
    debug: bool = False
    json: bool = False


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line, `sys.argv`'s if none is given, and return the exit code."""
    _replace_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        # A locale without Chinese, or half a character from a file name, is no reason to fail.
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")
    call = Call(tuple(sys.argv[1:] if arguments is None else arguments))
    call = replace(call, json="--json" in _options(call.arguments))
    try:
        call = read_call(call)
    except UsageError as error:
        report = boundary.explain(error, call.language)
        boundary.tell(report, call.language, as_json=call.json)
        return report.exit_code
    return boundary.run(lambda: run_verb(call), call.language, as_json=call.json, debug=call.debug)


def read_call(call: Call) -> Call:
    """Take what belongs to the program out of the arguments before `--`. Raises UsageError for a language we lack, and
    for an option without its value."""
    options = list(_options(call.arguments))
    rest = call.arguments[len(options) :]
    kept: list[str] = []
    while options:
        word = options.pop(0)
        name, equals, value = word.partition("=")
        if word == "--debug":
            call = replace(call, debug=True)
        elif name == "--lang" or _DOTTED.fullmatch(name):
            if not equals and not options:
                raise UsageError(say.MISSING_VALUE, command="clearformer", name=name)
            value = value if equals else options.pop(0)
            if name == "--lang":
                call = replace(call, language=_language(value))
            else:
                call = replace(call, overrides=(*call.overrides, (name.removeprefix("--"), value)))
        else:
            kept.append(word)
    return replace(call, arguments=(*kept, *rest))


def run_verb(call: Call) -> int | None:
    """Find the verb and run it. Raises UsageError for a call that no verb understands."""
    # Imported here, where Ctrl-C already has its sentence: these take a fifth of a second.
    from cyclopts import CycloptsError

    from clearformer.cli.usage import usage_error

    try:
        os.getcwd()
    except FileNotFoundError:
        # Relative names lead nowhere, and the mathematical library under torch ends the process.
        raise UsageError(say.NO_FOLDER) from None
    program = build_app(call.language)
    try:
        verb, bound, injected = program.parse_args(call.arguments, print_error=False, exit_on_error=False)
    except CycloptsError as error:
        raise usage_error(error) from error
    if "language" in injected:
        bound.arguments["language"] = call.language
    if "overrides" in injected:
        bound.arguments["overrides"] = call.overrides
    elif call.overrides:
        raise UsageError(say.UNKNOWN_OPTION, command="clearformer", option=f"--{call.overrides[0][0]}")
    result: int | None = verb(*bound.args, **bound.kwargs)
    return result


def build_app(language: Language) -> App:
    """The program with every verb registered and none imported."""
    from cyclopts import App, Parameter

    from clearformer.cli.help import HelpPages

    program = App(
        name="clearformer",
        help=help_messages.PROGRAM.text(language),
        help_epilogue=help_messages.EVERYWHERE.text(language),
        help_format="plaintext",
        help_formatter=HelpPages(language),
        version=lambda: version("clearformer"),
        default_parameter=Parameter(negative=()),
    )
    for order, (verb, path) in enumerate(VERBS.items()):
        program.command(path, name=verb, help=help_messages.VERBS[verb].text(language), sort_key=order)
    return program


def _replace_closed_streams() -> None:
    """Python has None for a stream that the caller closed (`>&-`); nobody reads it, so it leads nowhere."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - the process's own


def _options(arguments: Sequence[str]) -> Sequence[str]:
    """The arguments before `--`."""
    return arguments[: arguments.index("--")] if "--" in arguments else arguments


def _language(value: str) -> Language:
    for known in get_args(Language):
        if value == known:
            return known
    raise UsageError(say.NOT_CHOICE, name="--lang", value=value, choices=", ".join(get_args(Language)))
