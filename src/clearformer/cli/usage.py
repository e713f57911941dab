"""What cyclopts found wrong with a call, said as our own UsageError in both languages."""

from __future__ import annotations

import difflib
from typing import Literal, get_args, get_origin

from cyclopts import CycloptsError
from cyclopts.exceptions import (
    CoercionError,
    MissingArgumentError,
    RepeatArgumentError,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)

from clearformer.errors import UsageError
from clearformer.messages import cli as say

_PROGRAM = "clearformer"


def usage_error(error: CycloptsError) -> UsageError:
    """The same fault as a UsageError."""
    command = " ".join([_PROGRAM, *(error.command_chain or ())])
    match error:
        case UnknownCommandError():
            return _unknown_verb(error, command)
        case UnknownOptionError():
            return _unknown_option(error, command)
        case CoercionError():
            return _bad_value(error, command)
        case MissingArgumentError():
            name = error.keyword or (error.argument.name if error.argument else "")
            failure = say.MISSING_VALUE if name.startswith("-") else say.MISSING_ARGUMENT
            return UsageError(failure, command=command, name=name)
        case RepeatArgumentError():
            return UsageError(say.TWICE, name=error.token.keyword)
        case UnusedCliTokensError():
            return UsageError(say.TOO_MANY, command=command, value=" ".join(error.unused_tokens or ()))
    error.verbose = False
    return UsageError(say.BAD_CALL, command=command, detail=" ".join(str(error).split()))


def _unknown_verb(error: UnknownCommandError, command: str) -> UsageError:
    verb = (error.unused_tokens or [""])[0]
    if verb.startswith("-"):
        return UsageError(say.OPTION_FIRST, option=verb)
    known = [name for name in error.app or () if not name.startswith("-")]
    nearest = difflib.get_close_matches(verb, known, n=1, cutoff=0.5)
    if command != _PROGRAM:
        # `train` has tasks behind it, `tokenizer` steps, `bench` jobs.
        failure = say.NEAR_CHOICE if nearest else say.UNKNOWN_CHOICE
        return UsageError(failure, command=command, found=verb, known=", ".join(known), nearest="".join(nearest))
    if nearest:
        return UsageError(say.NEAR_VERB, verb=verb, nearest=nearest[0])
    return UsageError(say.UNKNOWN_VERB, verb=verb, known=", ".join(known))


def _unknown_option(error: UnknownOptionError, command: str) -> UsageError:
    option = (error.token.keyword or error.token.value).partition("=")[0]
    known = [name for argument in error.argument_collection if argument.parse for name in argument.names]
    if nearest := difflib.get_close_matches(option, known, n=1):
        return UsageError(say.NEAR_OPTION, command=command, option=option, nearest=nearest[0])
    return UsageError(say.UNKNOWN_OPTION, command=command, option=option)


def _bad_value(error: CoercionError, command: str) -> UsageError:
    name = (error.token and error.token.keyword) or (error.argument.name if error.argument else command)
    value = error.token.value if error.token else ""
    wanted = error.target_type
    if get_origin(wanted) is Literal:
        return UsageError(say.NOT_CHOICE, name=name, value=value, choices=", ".join(map(str, get_args(wanted))))
    failure = say.NOT_WHOLE if wanted is int else say.NOT_NUMBER if wanted is float else say.NOT_VALUE
    return UsageError(failure, command=command, name=name, value=value)
