"""Where a task's tokenizer comes from: the run folder if it has one, else the data, or another model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from clearformer.checkpoint.atomic import write_bytes
from clearformer.errors import TokenizerError
from clearformer.messages import tasks as say
from clearformer.messages.text import VOCABULARY_PAST_TEXT as TOO_FEW
from clearformer.store.resolve import resolve
from clearformer.text.fast import FastTokenizer
from clearformer.text.load import TOKENIZER, tokenizer_from_folder
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.training import tokenizer_files, train_bpe, train_characters

FRAME = ("cls_token", "sep_token")
_UNKNOWN = {"unk_token": "[UNK]"}
_WORDS = 4096


@dataclass(frozen=True)
class Characters:
    """Every character of the text is a token; whatever else is met later becomes the unknown one."""


@dataclass(frozen=True)
class BytePair:
    """Byte-level byte-pair encoding (Sennrich et al. 2016, arXiv 1508.07909) learnt from the training text."""

    vocabulary: int | None = None
    """How many tokens there are, bytes and special ones included; null is 4096, or fewer where the text gives fewer."""
    lowercase: bool = False
    """Read every letter as a small one."""


@dataclass(frozen=True)
class FromModel:
    """The tokenizer of another model: a run, a folder or a built-in name."""

    path: str
    """The model."""


TokenizerChoice = Characters | BytePair | FromModel


def obtain(
    choice: TokenizerChoice, folder: Path, texts: Callable[[], Iterable[str]], specials: Mapping[str, str]
) -> FastTokenizer:
    """The tokenizer of the run in `folder`; made and written there first if it has none yet.

    `texts` gives the training texts, `specials` the marks that the task needs; where FRAME is among them, a tokenizer
    that is made here puts it around each text. Raises TokenizerError.
    """
    tokenizer = kept_tokenizer(folder, TOKENIZER, lambda: _made(choice, texts, specials))
    for token in specials:
        if token not in tokenizer.special_names:
            raise TokenizerError(say.NO_MARK, path=folder, token=token)
    return tokenizer


def _made(choice: TokenizerChoice, texts: Callable[[], Iterable[str]], specials: Mapping[str, str]) -> FastTokenizer:
    match choice:
        case Characters():
            return _framed(train_characters(texts(), {**specials, **_UNKNOWN}), specials)
        case BytePair(vocabulary, lowercase):
            return _framed(byte_pairs(texts, vocabulary, lowercase, specials), specials)
        case FromModel(path):
            located = resolve(path)
            if located.kind != "folder" or not (located.path / TOKENIZER).exists():
                raise TokenizerError(say.NO_TOKENIZER, path=located.path)
            tokenizer = tokenizer_from_folder(located.path)
            return tokenizer if any(Frame.of(tokenizer)) else _framed(tokenizer, specials)


def byte_pairs(
    texts: Callable[[], Iterable[str]], vocabulary: int | None, lowercase: bool, specials: Mapping[str, str]
) -> FastTokenizer:
    """`train_bpe`; without a number of tokens, 4096 or as many as the texts give."""
    try:
        return train_bpe(texts(), vocabulary or _WORDS, specials, lowercase=lowercase)
    except TokenizerError as error:
        if vocabulary is not None or error.failure is not TOO_FEW:
            raise
        return train_bpe(texts(), int(str(error.values["found"])), specials, lowercase=lowercase)


def _framed(tokenizer: FastTokenizer, specials: Mapping[str, str]) -> FastTokenizer:
    """The same tokenizer, which now puts the task's frame around each text."""
    if not all(name in specials and name in tokenizer.special_names for name in FRAME):
        return tokenizer
    first, last = (tokenizer.special_names[name] for name in FRAME)
    return putting(tokenizer, single=f"{first} $A {last}", pair=f"{first} $A {last} $B {last}", marks=(first, last))


def putting(tokenizer: FastTokenizer, *, single: str, pair: str, marks: Sequence[str]) -> FastTokenizer:
    """The same tokenizer, which now puts `marks` around a text ($A) and around two ($A, $B)."""
    import tokenizers
    from tokenizers.processors import TemplateProcessing

    backend = tokenizers.Tokenizer.from_str(tokenizer.to_json())
    backend.post_processor = TemplateProcessing(
        single=single, pair=pair, special_tokens=[(mark, tokenizer.added_tokens[mark]) for mark in marks]
    )
    return FastTokenizer(backend, tokenizer.special_names)


def kept_tokenizer(folder: Path, name: str, make: Callable[[], FastTokenizer]) -> FastTokenizer:
    """The tokenizer in that file of a run; made and written there first if it is not there."""
    if not (folder / name).exists():
        files = tokenizer_files(make())
        tokenizer = files.pop(TOKENIZER)
        for beside, content in files.items():
            write_bytes(folder / beside, content)
        # It comes last: where it stands, all stands.
        write_bytes(folder / name, tokenizer)
    return tokenizer_from_folder(folder, name)


class Frame(NamedTuple):
    """The ids that a tokenizer puts before and behind a text."""

    before: tuple[int, ...]
    after: tuple[int, ...]

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> Frame:
        bare, whole = tokenizer.encode("a", special=False), tokenizer.encode("a")
        at = next(at for at in range(len(whole)) if whole[at : at + len(bare)] == bare)
        return cls(tuple(whole[:at]), tuple(whole[at + len(bare) :]))

    def around(self, ids: Sequence[int], context: int) -> tuple[int, ...]:
        """The ids of a text within the frame, cut at their end so that all fit into the context."""
        return (*self.before, *ids[: max(0, context - len(self.before) - len(self.after))], *self.after)


def marked(tokenizer: FastTokenizer, name: str) -> int:
    """The id of a special token that `obtain` was asked for."""
    return tokenizer.added_tokens[tokenizer.special_names[name]]
