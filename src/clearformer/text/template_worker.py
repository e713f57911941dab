"""The process in which chat templates run: JSON lines in, JSON lines out, nothing else.

It is started as a script, apart from the package, with an empty environment. The Jinja environment is that of
transformers' `apply_chat_template`; a template is untrusted code: no files, and no memory or time to spare.
"""

from __future__ import annotations

import json
import sys
import time
from datetime import datetime
from typing import Any

import jinja2
import jinja2.ext
import jinja2.nodes
import jinja2.sandbox
from jinja2.exceptions import SecurityError

try:
    import resource
except ImportError:  # Windows has no such limits; the parent's clock and the sandbox remain.
    resource = None  # type: ignore[assignment]

MEMORY_BYTES = 256 * 2**20
CPU_SECONDS = 3
_REFUSED_EVENTS = ("open", "os.", "subprocess.", "socket.", "ctypes.", "shutil.", "pty.", "mmap.", "import", "signal.")


class RefusalError(jinja2.TemplateError):
    """What the template itself says by `raise_exception`."""


class OutputTooLargeError(Exception):
    pass


class Environment(jinja2.sandbox.ImmutableSandboxedEnvironment):
    def unsafe_undefined(self, obj: Any, attribute: str) -> Any:
        """Jinja prints a forbidden attribute as nothing; here the attempt is an error."""
        raise SecurityError(f"{type(obj).__name__}.{attribute}")


class Generation(jinja2.ext.Extension):
    """`{% generation %}` marks the assistant's words for a training mask; the text is the same with and without it."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Any) -> Any:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return jinja2.nodes.Scope(body).set_lineno(line)


class Namespace(jinja2.utils.Namespace):
    """A namespace that stores no underscored name, so that no way leads to the interpreter's own attributes."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        self, args = args[0], args[1:]
        values = dict(*args, **kwargs)
        for name in values:
            _refuse_underscore(name)
        jinja2.utils.Namespace.__init__(self, values)

    def __setitem__(self, name: str, value: Any) -> None:
        _refuse_underscore(name)
        super().__setitem__(name, value)


class Dictionary:
    """`dict` without the type's own attributes."""

    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict(*args, **kwargs)

    def fromkeys(self, *args: Any) -> dict[Any, Any]:
        return dict.fromkeys(*args)


def _refuse_underscore(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise SecurityError(f"namespace.{name}")


def _raise_exception(message: str) -> None:
    raise RefusalError(message)


def _tojson(
    value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, sort_keys: bool = False
) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _strftime_now(pattern: str) -> str:
    return datetime.now().strftime(pattern)


def make_environment() -> Environment:
    environment = Environment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    environment.filters["tojson"] = _tojson
    environment.globals |= {
        "raise_exception": _raise_exception,
        "strftime_now": _strftime_now,
        "dict": Dictionary(),
        "namespace": Namespace,
    }
    return environment


def render(environment: Environment, template: str, variables: dict[str, Any], limit: int) -> str:
    """The rendered text, given up as soon as it exceeds `limit` bytes of UTF-8."""
    pieces: list[str] = []
    size = 0
    for piece in environment.from_string(template).generate(variables):
        size += len(piece) if len(piece) > limit else len(piece.encode("utf-8", "surrogatepass"))
        if size > limit:
            raise OutputTooLargeError
        pieces.append(piece)
    return "".join(pieces)


def answer(environment: Environment, request: dict[str, Any]) -> dict[str, str]:
    """`{"text": …}`, or `{"error": kind, "detail": …}`."""
    try:
        return {"text": render(environment, request["template"], request["variables"], request["limit"])}
    except OutputTooLargeError:
        return {"error": "large"}
    except MemoryError:
        return {"error": "memory"}
    except SecurityError as error:
        return {"error": "unsafe", "detail": str(error)[:500]}
    except RefusalError as error:
        return {"error": "refused", "detail": str(error)[:500]}
    except jinja2.TemplateSyntaxError as error:
        return {"error": "failed", "detail": f"line {error.lineno}: {error.message}"[:500]}
    except Exception as error:
        return {"error": "failed", "detail": (str(error) or type(error).__name__)[:500]}


def limit_process() -> None:
    """No more memory than `MEMORY_BYTES`; no file, process, socket or import from here on."""
    if resource is not None:
        for name in ("RLIMIT_AS", "RLIMIT_DATA"):
            try:
                resource.setrlimit(getattr(resource, name), (MEMORY_BYTES, MEMORY_BYTES))
            except (AttributeError, ValueError, OSError):
                continue  # macOS knows the name and refuses the call.

    def refuse(event: str, _: Any) -> None:
        if event.startswith(_REFUSED_EVENTS):
            raise SecurityError(event)

    sys.addaudithook(refuse)


def grant_seconds() -> None:
    """Processor time for one rendering, should the parent that watches the clock be gone."""
    if resource is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        wanted = int(time.process_time()) + CPU_SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def serve() -> None:
    environment = make_environment()
    # Whatever Jinja imports late is imported now, as imports end with `limit_process`.
    warm_up = "{{ strftime_now('%d %b %Y') }}{{ 1 | pprint }}{{ lipsum(n=1) }}{{ [1] | tojson }}"
    for template in (warm_up, "{% if %}", "{{ 1 // 0 }}"):
        answer(environment, {"template": template, "variables": {}, "limit": 2**20})
    limit_process()
    # The first line says that the start is over; the parent's clock runs from the request, not from the start.
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        grant_seconds()
        print(json.dumps(answer(environment, json.loads(line))), flush=True)


if __name__ == "__main__":
    serve()
