"""Conversations to ids: equal to `apply_chat_template` where no special string is said, and safe where one is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.errors import TemplateError, TokenizerError
from clearformer.text.chat import encode_chat, turn_end_id
from clearformer.text.gguf import chat_template_from_gguf, tokenizer_from_gguf

LLAMA2 = (
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}{{ '[INST] ' + m.content + ' [/INST]' }}"
    "{% else %}{{ ' ' + m.content + ' ' + eos_token }}{% endif %}{% endfor %}"
)
TOOLS = "{% for m in messages %}{{ m.role }}:{{ m.content }}<repo_name>{% endfor %}{{ tools | tojson }}"
# What is cut as transformers cuts it (see test_gguf): no digits.
words = st.text("abc é中😀.,!'\n", max_size=30)
marks = st.sampled_from(["<|im_end|>", "<|im_start|>", "<|endoftext|>", "<repo_name>", "<|im_", "end|>", "hi ", "\n"])


@pytest.fixture(scope="module")
def template(smollm2_metadata):
    return chat_template_from_gguf(smollm2_metadata)


@settings(deadline=None)
@given(contents=st.lists(words, min_size=1, max_size=4), prompt=st.booleans())
def test_ids_are_those_of_transformers(smollm2, smollm2_oracle, renderer, template, contents, prompt):
    roles = ["user", "assistant", "system", "user"]
    conversation = [{"role": role, "content": text} for role, text in zip(roles, contents, strict=False)]
    expected = smollm2_oracle.apply_chat_template(conversation, add_generation_prompt=prompt, return_dict=False)
    ids = encode_chat(smollm2, template, conversation, renderer=renderer, add_generation_prompt=prompt)
    assert ids == expected


@settings(deadline=None)
@given(parts=st.lists(marks, min_size=1, max_size=6))
def test_special_strings_are_said_not_obeyed(smollm2, smollm2_oracle, renderer, template, parts):
    conversation = [{"role": "user", "content": "".join(parts)}]
    ids = encode_chat(smollm2, template, conversation, renderer=renderer)
    plain = encode_chat(smollm2, template, [{"role": "user", "content": "x"}], renderer=renderer)
    assert [i for i in ids if i in smollm2.special_ids] == [i for i in plain if i in smollm2.special_ids]
    assert "".join(parts) in smollm2.decode(ids)
    options = {"add_generation_prompt": True, "return_dict": False, "sanitize_control_tokens": True}
    assert ids == smollm2_oracle.apply_chat_template(conversation, **options)


def test_tools_and_variables_are_hidden_too(smollm2, smollm2_oracle, renderer):
    tools = [{"name": "f", "description": "a <|im_end|> <repo_name> b"}]
    conversation = [{"role": "user", "content": "hi"}]
    ids = encode_chat(smollm2, TOOLS, conversation, renderer=renderer, tools=tools)
    options = {"tools": tools, "chat_template": TOOLS, "return_dict": False, "sanitize_control_tokens": True}
    assert ids == smollm2_oracle.apply_chat_template(conversation, **options)
    text = smollm2.decode(ids, skip_special=False)
    assert text == 'user:hi<repo_name>[{"name": "f", "description": "a <|im_end|> <repo_name> b"}]'
    assert sum(i in smollm2.special_ids for i in ids) == 1
    loud = encode_chat(smollm2, "{{ v }}", conversation, renderer=renderer, variables={"v": "<|im_end|>"})
    assert not smollm2.special_ids & set(loud)


def test_sentencepiece_puts_no_space_where_a_message_was_cut(sentencepiece, renderer):
    conversation = [{"role": "user", "content": "the</s>cat"}]
    ids = encode_chat(sentencepiece, LLAMA2, conversation, renderer=renderer, add_generation_prompt=False)
    assert sentencepiece.decode(ids, skip_special=False).replace("<s>", "").strip() == "[INST] the</s>cat [/INST]"
    assert ids.count(sentencepiece.bos_id) == 1
    assert sentencepiece.eos_id not in ids


def test_an_assistants_own_mark_is_left_for_the_template(smollm2_metadata, renderer):
    words = [*smollm2_metadata["tokenizer.ggml.tokens"], "</think>"]
    types = [*smollm2_metadata["tokenizer.ggml.token_type"], 4]
    changed = {"tokenizer.ggml.tokens": words, "tokenizer.ggml.token_type": types}
    tokenizer = tokenizer_from_gguf(smollm2_metadata | changed)
    template = "{% for m in messages %}{{ m.content.split('</think>')[-1] }}|{% endfor %}"
    said = [{"role": "user", "content": "a</think>b"}, {"role": "assistant", "content": "c</think>d"}]
    ids = encode_chat(tokenizer, template, said, renderer=renderer)
    assert tokenizer.decode(ids) == "a</think>b|d|"
    assert len(words) - 1 not in ids


def test_reasoning_and_empty_fields_are_given_as_transformers_gives_them(smollm2, smollm2_oracle, renderer):
    template = "{% for m in messages %}{{ m | tojson }}{% endfor %}"
    said = [{"role": "assistant", "content": None, "thinking": "hm", "tool_calls": None}, {"role": "user"}]
    expected = smollm2_oracle.apply_chat_template(said, chat_template=template, return_dict=False)
    assert encode_chat(smollm2, template, said, renderer=renderer) == expected


def test_the_token_that_ends_a_turn_is_found(smollm2, sentencepiece, renderer, template):
    assert turn_end_id(smollm2, template, renderer=renderer) == smollm2.encode_trusted("<|im_end|>")[0]
    assert turn_end_id(sentencepiece, LLAMA2, renderer=renderer) == sentencepiece.eos_id
    assert turn_end_id(smollm2, "{{ messages[1].content }}\n", renderer=renderer) is None


@pytest.mark.parametrize(
    ("conversation", "message"),
    [
        ([], "at least one message"),
        ([{"content": "no role"}], "message 0"),
        (["text"], "message 0"),
        ([{"role": "user", "content": [{"text": "<|im_"}, {"text": "end|>"}]}], "join into the special token"),
        ([{"role": "user", "content": {1, 2}}], "cannot be given"),
    ],
)
def test_bad_conversations_are_refused(smollm2, renderer, template, conversation, message):
    with pytest.raises(TemplateError, match=message):
        encode_chat(smollm2, template, conversation, renderer=renderer)


def test_a_template_that_breaks_a_nonce_is_refused(smollm2, renderer):
    said = [{"role": "user", "content": "<|im_end|>"}]
    with pytest.raises(TemplateError, match="altered a special string"):
        encode_chat(smollm2, "{{ messages[0].content[:-2] }}", said, renderer=renderer)


def test_a_lone_surrogate_is_refused(smollm2, renderer, template):
    with pytest.raises(TokenizerError, match="surrogate"):
        encode_chat(smollm2, template, [{"role": "user", "content": "\udc80"}], renderer=renderer)
