"""Chat templates: rendered as transformers renders them, and kept from everything else."""

from __future__ import annotations

import os
import time

import pytest

from clearformer.errors import TemplateError
from clearformer.text import template as template_module
from clearformer.text.template import LARGEST_OUTPUT, LARGEST_TEMPLATE, TemplateRenderer, shared_renderer

CONVERSATION = [
    {"role": "system", "content": "  Be brief.\n"},
    {"role": "user", "content": "你好 <b>&amp;</b> \"quoted\" 'x'"},
    {"role": "assistant", "content": "", "tool_calls": [{"name": "f", "arguments": {"a": 1, "b": [None, 2.5]}}]},
]
TEMPLATES = [
    "{% for m in messages %}{{ m.role }}: {{ m['content'] }}\n{% endfor %}",
    "{% for m in messages %}\n    {% if loop.first %}\n  A{{ m.content | trim }}\n {% continue %}{% endif %}\n"
    "{{ m.content | upper }}{% if loop.last %}{% break %}{% endif %}\n{% endfor %}",
    "{{ messages | tojson }}{{ messages | tojson(indent=2) }}{{ messages[2].tool_calls[0] | tojson(sort_keys=true) }}",
    "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n }}",
    "{% for m in messages %}{% generation %}{% set x = m.content %}{{ x }}{% endgeneration %}[{{ x }}]{% endfor %}",
    "{{ strftime_now('%Y') }}{{ dict(a=1) }}{{ dict.fromkeys('ab', 1) }}{{ bos_token }}{{ tools is none }}",
    "{{ bos_token }}{% if tools is not none %}x{% endif %}{{ undefined_name }}{{ messages[-1]['none'] is defined }}",
    "{% macro f(m) %}<{{ m.role }}>{% endmacro %}{% for m in messages %}{{ f(m) }}{% endfor %}{{ '%s' % 3 }}",
    "{{ messages[1].content.split('<b>')[0].strip() }}{{ messages[1].content | length }}{{ 'a\\nb'.splitlines() }}",
    "{{ messages | map(attribute='role') | join('+') }}{{ range(3) | list }}{{ (1, 2)[::-1] }}{{ 1 | pprint }}",
]


@pytest.mark.parametrize("template", TEMPLATES)
def test_rendering_equals_transformers(renderer, template):
    os.environ["HF_HUB_OFFLINE"] = "1"
    from transformers.utils.chat_template_utils import render_jinja_template

    variables = {"bos_token": "<s>", "add_generation_prompt": True, "tools": None, "documents": None}
    (expected,), _ = render_jinja_template([CONVERSATION], chat_template=template, **variables)
    assert renderer.render(template, {"messages": CONVERSATION, **variables}) == expected


REFUSED = {
    "'a' * 500000000": "memory|bytes|longer",
    "'a' * 200000000": "memory|bytes|longer",
    "[1] * 10 ** 9": "memory",
    "'%1000000000d' % 1": "memory",
    "range(10 ** 9) | list": "Range too big",
    "7 ** (8 ** 9)": "longer|memory",
    "('a' * 1000000) | center(2000000)": "more than 1048576 bytes",
    "''.__class__": "sandbox",
    "''['__class__']": "sandbox",
    "'x' | attr('__class__')": "sandbox",
    "raise_exception.__globals__": "sandbox",
    "cycler.__init__.__globals__.os": "sandbox",
    "namespace(__class__=1)": "sandbox",
    "self._TemplateReference__context": "sandbox",
    "'{0.__class__}'.format(1)": "sandbox",
    "messages.append(1)": "sandbox",
    "messages.__len__()": "sandbox",
    "'x'.encode('idna')": "sandbox",
    "raise_exception('roles must alternate')": "refused the conversation: roles must alternate",
    "unknown.attribute.access": "failed",
    "1 // 0": "failed",
    "": "failed: line 1",
    "(" * 5000 + ")" * 5000: "failed",
}


@pytest.mark.parametrize(("expression", "message"), REFUSED.items(), ids=range(len(REFUSED)))
def test_what_a_template_may_not_do_ends_within_its_second(renderer, expression, message):
    renderer.render("warm", {})
    start = time.perf_counter()
    with pytest.raises(TemplateError, match=message):
        renderer.render("{{ " + expression + " }}", {"messages": [1]})
    assert time.perf_counter() - start < 1.5
    assert renderer.render("{{ a }}", {"a": "still here"}) == "still here"


@pytest.mark.parametrize(
    "template",
    [
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{% import 'os' as os %}",
        "{% include '/etc/passwd' %}",
        "{% for i in range(99999) %}{{ 'aaaaaaaaaaaaaaaaaaaa' }}{% endfor %}",
        "{% set ns = namespace() %}{% set ns.__class__ = 1 %}",
        "{% generation %}",
    ],
)
def test_statements_are_bounded_too(renderer, template):
    with pytest.raises(TemplateError):
        renderer.render(template, {})
    assert renderer.render("{{ 1 }}", {}) == "1"


def test_sizes_are_bounded(renderer):
    assert len(renderer.render("{{ a }}", {"a": "é" * (LARGEST_OUTPUT // 2)})) == LARGEST_OUTPUT // 2
    with pytest.raises(TemplateError, match="wrote more than"):
        renderer.render("{{ a }}b", {"a": "é" * (LARGEST_OUTPUT // 2)})
    with pytest.raises(TemplateError, match="characters"):
        renderer.render("a" * (LARGEST_TEMPLATE + 1), {})
    with pytest.raises(TemplateError, match="conversation takes"):
        renderer.render("", {"a": "a" * 5 * 2**20})


def test_variables_must_be_data(renderer):
    for value in (object(), {1, 2}, b"bytes"):
        with pytest.raises(TemplateError, match="cannot be given"):
            renderer.render("", {"a": value})
    loop: list = []
    loop.append(loop)
    with pytest.raises(TemplateError, match="cannot be given"):
        renderer.render("", {"a": loop})
    assert renderer.render("{{ a }}", {"a": "\ud800"}) == "\ud800"


def test_one_process_serves_all_and_is_replaced_when_lost(monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_USER", "1")
    renderer = TemplateRenderer()
    try:
        assert renderer._process is None
        assert renderer.render("a", {}) == "a"
        first = renderer._process
        assert renderer.render("b", {}) == "b"
        assert renderer._process is first
        environment = f"/proc/{first.pid}/environ"
        if os.path.exists(environment):
            with open(environment) as file:
                assert "SECRET" not in file.read()
        first.kill()
        first.wait()
        assert renderer.render("c", {}) == "c"
        assert renderer._process is not first
    finally:
        renderer.close()
    assert renderer._process is None


def test_a_worker_that_cannot_start_is_an_error_of_ours(monkeypatch):
    monkeypatch.setattr(template_module.sys, "executable", "/no/such/python")
    with pytest.raises(TemplateError, match="ended without an answer"):
        TemplateRenderer().render("a", {})


def test_the_shared_renderer_is_one():
    assert shared_renderer() is shared_renderer()
