"""`clearformer generate MODEL [PROMPT]`: what the model writes next, as it writes it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from clearformer.cli import boundary
from clearformer.cli.flags import Spoken
from clearformer.cli.screen import Screen, aligned, visible
from clearformer.cli.source import text_or_stdin
from clearformer.cli.speaking import SPEAKING, WRITING, Model, Speaking, Writing, ready_to_write, write
from clearformer.messages import generate as say

if TYPE_CHECKING:
    from clearformer.generate.decode import Token
    from clearformer.generate.speak import Result
    from clearformer.text.tokenizer import Tokenizer

Prompt = Annotated[str | None, Parameter(help="The text to continue; without it, standard input.")]
AsMessage = Annotated[
    bool, Parameter(help="Answer the prompt as a message, through the model's chat template; else continue it as text.")
]


def generate(
    model: Model,
    prompt: Prompt = None,
    /,
    *,
    chat: AsMessage = False,
    options: Writing = WRITING,
    flags: Speaking = SPEAKING,
    language: Spoken = "en",
) -> int:
    """Stream the continuation to standard output; Ctrl-C keeps what has been written."""
    text = text_or_stdin(prompt, "PROMPT")
    screen = Screen(language, flags)
    speaker = ready_to_write(model, flags, screen, cached=options.use_cache)

    from clearformer.generate.speak import Generation
    from clearformer.generate.speaker import chat_ids, prompt_ids, tokenizer_of

    ids = chat_ids(speaker, [{"role": "user", "content": text}]) if chat else prompt_ids(speaker, text)
    if unknown := unknown_in(ids, tokenizer_of(speaker)):
        screen.note(say.UNKNOWN_IN_PROMPT, count=unknown, total=len(ids))
    generation = Generation(speaker, [ids], options)
    interrupted, shown = False, 0
    try:
        for (token,) in generation.steps():
            if not screen.as_json:
                write(token.piece)
                shown += len(token.piece)
    except KeyboardInterrupt:
        interrupted = True
    (result,) = generation.results()
    tokenizer = tokenizer_of(speaker)
    if screen.as_json:
        screen.json(contents(result, tokenizer, top_logprobs=options.top_logprobs > 0))
    else:
        write(result.text[shown:] + "\n")
        _tell(result, tokenizer, screen)
        if interrupted:
            raise KeyboardInterrupt
    return boundary.INTERRUPTED if interrupted else 0


def unknown_in(ids: Sequence[int], tokenizer: Tokenizer) -> int:
    """How many tokens stand for what the tokenizer has no token for; where its mark for that has another use, none."""
    mark = tokenizer.unk_id
    return 0 if mark is None or mark in (tokenizer.bos_id, tokenizer.eos_id) else list(ids).count(mark)


def contents(result: Result, tokenizer: Tokenizer, *, top_logprobs: bool) -> dict[str, Any]:
    """The object that `--json` prints."""
    told = asdict(result)
    del told["tokens"]
    if top_logprobs:
        told["top_logprobs"] = [
            {
                "id": token.id,
                "token": tokenizer.token(token.id),
                "logprob": token.logprob,
                "top": [{**asdict(likely), "token": tokenizer.token(likely.id)} for likely in token.top],
            }
            for token in result.tokens
        ]
    return told


def _tell(result: Result, tokenizer: Tokenizer, screen: Screen) -> None:
    """The table of likely tokens where it was asked for, and the speed; on standard error, as neither is the text."""
    for line in _table(result, tokenizer):
        print(line, file=sys.stderr)
    screen.note(
        say.WRITTEN if result.decode_tok_s else say.WRITTEN_AT_ONCE,
        prompt=result.prompt_tokens,
        prefill=result.prefill_tok_s or 0.0,
        new=result.new_tokens,
        decode=result.decode_tok_s or 0.0,
        reason=result.stop_reason,
    )


def _row(number: int, token: Token, tokenizer: Tokenizer) -> list[str]:
    def shown(token_id: int, logprob: float | None) -> str:
        return f"|{visible(tokenizer.token(token_id))}| {logprob:.3f}"

    return [str(number), shown(token.id, token.logprob), *(shown(likely.id, likely.logprob) for likely in token.top)]


def _table(result: Result, tokenizer: Tokenizer) -> list[str]:
    rows = [_row(number, token, tokenizer) for number, token in enumerate(result.tokens, start=1)]
    return aligned(rows, [True] + [False] * (len(rows[0]) - 1)) if rows else []
