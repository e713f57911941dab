"""`clearformer tour`: everything once, on real input. A station that fails says why; the tour goes on."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from clearformer.cli import attention as attention_verb
from clearformer.cli import tour_lab
from clearformer.cli import tour_training as training
from clearformer.cli import trace as trace_verb
from clearformer.cli.flags import Progressing, Spoken
from clearformer.cli.journey import Journey
from clearformer.cli.screen import Screen
from clearformer.cli.speaking import Computing, loaded, write
from clearformer.messages import Message
from clearformer.messages import tour as say

if TYPE_CHECKING:
    from clearformer.generate.speak import Result
    from clearformer.load import Loaded

LANGUAGE_MODEL, SENTENCE_MODEL = "smollm2-135m", "minilm-l6"
QUESTION = "What is the capital of France, and what is it known for?"
READ = "The cat sat on the mat because it was tired."
SENTENCES = ("A cat sleeps on the sofa.", "The kitten is napping on the couch.", "The bank raised its interest rates.")
LONGEST_ANSWER = 48
PROGRESSING = Progressing()


def tour(*, flags: Progressing = PROGRESSING, language: Spoken = "en") -> int:
    """Show the demonstrations, a real model at work, three models that are trained, an experiment; 1 if one failed."""
    screen = Screen(language, flags)
    journey = Journey(screen, Computing(json=flags.json, quiet=flags.quiet))
    with journey.station("demos", say.DEMOS):
        _demonstrate(journey)
    speaker: Loaded | None = None
    with journey.station("model", say.MODEL):
        speaker = loaded(LANGUAGE_MODEL, journey.flags, screen)
        _introduce(journey, speaker)
    if speaker is not None:
        with journey.station("answer", say.ANSWER):
            _answer(journey, speaker)
        with journey.station("trace", say.TRACE, text=READ):
            _trace(journey, speaker)
        with journey.station("attention", say.ATTENTION):
            _attend(journey, speaker)
        del speaker
    with journey.station("vectors", say.VECTORS, name=SENTENCE_MODEL):
        _compare(journey)
    _train(journey)
    with journey.station("next", say.NEXT):
        rows = [(command, what.text(language)) for command, what in say.NEXT_COMMANDS]
        journey.show(lambda: screen.table(rows))
        if (activate := Path(sys.prefix, "bin", "activate")).is_file() and shutil.which("clearformer") is None:
            journey.say(say.NOT_ON_PATH, activate=shlex.quote(os.path.relpath(activate)))
    return _end(journey)


def _demonstrate(journey: Journey) -> None:
    from clearformer.lab.demos import DEMOS

    outcomes = [demo.run(None, journey.screen.language) for demo in DEMOS.values()]
    for outcome in outcomes:
        if outcome.caught is None:
            journey.say(say.DEMO_HELD, n=outcome.n, name=outcome.name, count=len(outcome.figures))
        else:
            journey.say(say.DEMO_BROKE, n=outcome.n, name=outcome.name, law=outcome.caught.law)
            journey.failed.append(f"demo {outcome.n}")
    journey.told["demos"] = [{"n": each.n, "name": each.name, "passed": each.passed} for each in outcomes]


def _introduce(journey: Journey, speaker: Loaded) -> None:
    from clearformer.generate.speaker import speaking_model
    from clearformer.inspect.subject import first_stack
    from clearformer.spec import Tokens

    model = speaking_model(speaker)
    stack = first_stack(model)
    assert isinstance(stack.input, Tokens)
    attention = stack.blocks[0].attention
    about = {
        "name": speaker.name,
        "layers": len(stack.blocks),
        "width": stack.width,
        "heads": attention.heads,
        "kv_heads": getattr(attention, "kv_heads", attention.heads),
        "vocabulary": stack.input.vocabulary,
    }
    parameters = sum(parameter.numel() for parameter in model.parameters())
    journey.told["model"] = {**about, "parameters": parameters}
    journey.say(say.MODEL_IS, **about, parameters=parameters / 1e6)


def _answer(journey: Journey, speaker: Loaded) -> None:
    journey.say(say.QUESTION, prompt=QUESTION)
    cached = _write(journey, speaker, say.WITH_CACHE, use_cache=True)
    uncached = _write(journey, speaker, say.WITHOUT_CACHE, use_cache=False)
    speeds = {"cached": cached.decode_tok_s or 0.0, "uncached": uncached.decode_tok_s or 0.0}
    journey.say(say.SPEEDS, new=cached.new_tokens, **speeds)
    same = cached.token_ids == uncached.token_ids
    if same:
        journey.say(say.SAME)
    else:
        pairs = enumerate(zip(cached.token_ids, uncached.token_ids, strict=False), start=1)
        shorter = min(cached.new_tokens, uncached.new_tokens)
        journey.say(say.DIFFERENT, first=next((n for n, (a, b) in pairs if a != b), shorter + 1))
        journey.failed.append("answer")
    journey.told["answer"] = {
        "prompt": QUESTION,
        "text": cached.text,
        "token_ids": cached.token_ids,
        "cached_tok_s": cached.decode_tok_s,
        "uncached_tok_s": uncached.decode_tok_s,
        "same_tokens": same,
    }


def _write(journey: Journey, speaker: Loaded, how: Message, *, use_cache: bool) -> Result:
    """One answer, streamed."""
    from clearformer.generate.settings import Options
    from clearformer.generate.speak import Generation
    from clearformer.generate.speaker import chat_ids

    ids = chat_ids(speaker, [{"role": "user", "content": QUESTION}])
    options = Options(max_new_tokens=LONGEST_ANSWER, temperature=0.0, use_cache=use_cache)
    generation = Generation(speaker, [ids], options)
    journey.show(lambda: write(how.text(journey.screen.language)))
    for step in generation.steps():
        if not journey.screen.as_json:
            write(step[0].piece)
    before = len(generation.drafts[0].text)
    (result,) = generation.results()
    journey.show(lambda: write(result.text[before:] + "\n"))
    return result


def _trace(journey: Journey, speaker: Loaded) -> None:
    from clearformer.inspect.trace import Trace, trace

    whole = trace(speaker, READ)
    # The input, the first block, and what leaves the model: the other blocks look alike.
    short = Trace(whole.tokens, tuple(row for row in whole.rows if row.layer in (None, 0)))
    journey.told["trace"] = trace_verb.contents(short, journey.screen)
    journey.show(lambda: trace_verb.show(short, journey.screen))


def _attend(journey: Journey, speaker: Loaded) -> None:
    from clearformer.inspect.attention import attention

    found = attention(speaker, READ)
    layer, head = found.most_backward()
    journey.told["attention"] = {
        "tokens": found.tokens,
        "layer": layer,
        "head": head,
        "values": found.maps[layer][head].tolist(),
    }
    journey.show(lambda: attention_verb.show_map(found, layer, head, journey.screen))


def _compare(journey: Journey) -> None:
    from clearformer.generate import vectors

    speaker = loaded(SENTENCE_MODEL, journey.flags, journey.screen)
    cosines = vectors.cosine_similarity(vectors.embed(speaker, SENTENCES)).tolist()
    journey.told["similarity"] = {"sentences": SENTENCES, "values": cosines}
    journey.say(say.VECTORS_ROW)
    numbers = [str(number) for number in range(1, len(SENTENCES) + 1)]
    rows = [
        (number, sentence, *(f"{cosine:z.2f}" for cosine in row))
        for number, sentence, row in zip(numbers, SENTENCES, cosines, strict=True)
    ]
    journey.show(lambda: journey.screen.table(rows, ["", "", *numbers]))


def _train(journey: Journey) -> None:
    """Three models from nothing, each in a run folder of its own, and beside them an experiment."""
    from clearformer.runs.folder import next_free

    folder = next_free("tour")
    journey.told["training"] = {"folder": str(folder)}
    with journey.station("counting", say.COUNTING):
        journey.say(say.RUNS_LIE_IN, folder=folder)
        training.count(journey, folder / "counting")
    with journey.station("prose", say.PROSE):
        training.write_prose(journey, folder / "prose")
    with journey.station("waves", say.WAVES):
        training.continue_waves(journey, folder / "waves")
    with journey.station("experiment", say.EXPERIMENT):
        tour_lab.ask(journey, folder / "experiment")


def _end(journey: Journey) -> int:
    """The verdict: 1 if a station was left out or a check broke."""
    names = [*journey.failed, *(entry["part"] for entry in journey.left_out)]
    if journey.screen.as_json:
        journey.screen.json({"passed": not names, **journey.told, "left_out": journey.left_out})
        return 1 if names else 0
    print()
    if names:
        journey.screen.say(say.NOT_ALL_SEEN, names=", ".join(names))
    else:
        journey.screen.say(say.ALL_SEEN)
    return 1 if names else 0
