"""`clearformer tokenizer train|encode|decode`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from clearformer.cli.flags import Printing, Progressing, Spoken
from clearformer.cli.screen import Screen
from clearformer.cli.source import text_file, text_or_stdin
from clearformer.errors import UsageError
from clearformer.messages import cli as say

if TYPE_CHECKING:
    from clearformer.text.tokenizer import Tokenizer as TokenizerProtocol

tokenizer = App(name="tokenizer")

Files = Annotated[Path, Parameter(help="Text files to learn from, UTF-8.")]
Tokenizer = Annotated[
    str, Parameter(help="A tokenizer.json, a folder that holds one, or a model whose tokenizer to use.")
]
Text = Annotated[str | None, Parameter(help="The text; without it, standard input.")]
Ids = Annotated[int, Parameter(help="Token ids; without them, standard input.")]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Training(Progressing):
    """What to learn and where to put it."""

    out: Path = Path("tokenizer")
    """The folder to write tokenizer.json into."""
    vocab_size: int = 8192
    """Tokens in the vocabulary: the special ones, 256 bytes, then merges."""
    min_frequency: int = 2
    """Learn a pair only if it occurs this many times."""
    special: tuple[str, ...] = ()
    """A special token, such as '<|end|>'; may be given several times."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Encoding(Printing):
    """How a text is encoded."""

    special: Annotated[bool, Parameter(negative="--no-special")] = True
    """Add what the model expects around a text, such as a begin mark."""
    ids: bool = False
    """Print only the ids, on one line."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Decoding(Printing):
    """How ids are decoded."""

    keep_special: bool = False
    """Keep special tokens in the text."""


@tokenizer.command
def train(*files: Files, flags: Training = Training(), language: Spoken = "en") -> None:
    """Learn a byte-level BPE from text files."""
    from clearformer.text.bpe_train import train as learn

    if not files:
        raise UsageError(say.NO_TEXT_FILE)
    screen = Screen(language, flags)
    texts = []
    with screen.progress(say.READING) as advance:
        for number, file in enumerate(files, start=1):
            texts.append(text_file(file))
            advance(number, len(files))
    with screen.progress(say.LEARNING) as advance:
        learnt = learn(
            texts,
            vocabulary_size=flags.vocab_size,
            special_tokens=flags.special,
            min_frequency=flags.min_frequency,
            progress=advance,
        )
    flags.out.mkdir(parents=True, exist_ok=True)
    path = flags.out / "tokenizer.json"
    learnt.save(path)
    counts = {"vocabulary": len(learnt.vocabulary), "merges": len(learnt.merges), "special": len(learnt.special_tokens)}
    size, tokens = sum(len(text.encode()) for text in texts), sum(len(learnt.encode(text)) for text in texts)
    if screen.as_json:
        screen.json({"path": str(path), **counts, "text_bytes": size, "text_tokens": tokens})
    else:
        screen.say(say.TRAINED, **counts, ratio=size / max(1, tokens))
        screen.text(str(path))


@tokenizer.command
def encode(
    source: Tokenizer,
    text: Text = None,
    /,
    *,
    flags: Encoding = Encoding(),
    language: Spoken = "en",
) -> None:
    """Turn text into token ids."""
    screen = Screen(language, flags)
    chosen = tokenizer_of(source, screen)
    ids = chosen.encode(text_or_stdin(text, "TEXT"), special=flags.special)
    tokens = [chosen.token(token_id) for token_id in ids]
    if screen.as_json:
        screen.json({"ids": ids, "tokens": tokens})
    elif flags.ids:
        screen.text(" ".join(map(str, ids)))
    else:
        screen.table([(token_id, f"|{token}|") for token_id, token in zip(ids, tokens, strict=True)])


@tokenizer.command
def decode(
    source: Tokenizer,
    /,
    *ids: Ids,
    flags: Decoding = Decoding(),
    language: Spoken = "en",
) -> None:
    """Turn token ids into text."""
    screen = Screen(language, flags)
    chosen = tokenizer_of(source, screen)
    numbers = list(ids) or [_id(word) for word in text_or_stdin(None, "IDS").replace(",", " ").split()]
    text = chosen.decode(numbers, skip_special=not flags.keep_special)
    if screen.as_json:
        screen.json({"ids": numbers, "text": text})
    else:
        screen.text(text)


def tokenizer_of(source: str, screen: Screen) -> TokenizerProtocol:
    """The tokenizer of a tokenizer.json, of a folder that holds one, or of a model, fetched if it must be."""
    from clearformer.text.load import tokenizer_from_folder

    path = Path(source)
    folder = path.parent if path.name == "tokenizer.json" else path
    if (folder / "tokenizer.json").is_file():
        return tokenizer_from_folder(folder)

    from clearformer.store import resolve

    with screen.progress(say.LOADING, in_bytes=True, name=source) as advance:
        located = resolve(source, progress=advance)
    if located.kind == "folder":
        return tokenizer_from_folder(located.path)

    from clearformer.checkpoint.gguf_header import read_header
    from clearformer.text.gguf import tokenizer_from_gguf

    return tokenizer_from_gguf(read_header(located.path).metadata)


def _id(word: str) -> int:
    if not word.isascii() or not word.isdigit():
        raise UsageError(say.NOT_IDS, value=word)
    return int(word)
