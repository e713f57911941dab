"""The doctor's corpus through torchtest2 and trainproof, in an environment of their own: JSON lines on stdout.

Run by `diagnosis.py` with the peers' interpreter, and tests/ and src/ on its path.
Each peer gets its default settings and all that it can take: torchtest2 a batch, targets and a loss; trainproof the
labels from the collator with what the loss does to them, the tokenizer, and the log of a run.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import warnings
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import torch
import torchtest2
from torch import Tensor
from trainproof import objective, preflight

from doctor.corpus import CASES, Case
from doctor.corpus.case import Parts, Unavailable
from doctor.corpus.losses import IGNORED, aligned, of_model, shifting

SECONDS = 60
"""For one tool and one case; what takes longer has hung."""
Alarms = list[str] | None
"""What was said; None where the tool has nothing that it could look at."""


def main() -> None:
    told = sys.stdout
    for name in sys.argv[1:] or CASES:
        with warnings.catch_warnings(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            warnings.simplefilter("ignore")
            answer = _asked(CASES[name])
        print(json.dumps({"case": name, **answer}), file=told, flush=True)


def _asked(case: Case) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        try:
            parts = case.parts(Path(folder))
        except Unavailable as error:
            return {"unavailable": str(error)}
        return {"torchtest2": _guarded(_torchtest2, parts), "trainproof": _guarded(_trainproof, parts)}


def _late(signum: int, frame: object) -> None:
    raise TimeoutError(f"no answer within {SECONDS} s")


def _guarded(ask: Any, parts: Parts) -> Alarms:
    signal.signal(signal.SIGALRM, _late)
    signal.alarm(SECONDS)
    try:
        return ask(parts)
    except TimeoutError as error:
        return [str(error)]
    except Exception as error:  # the peer fell over the case: that is its answer
        return [f"raised {type(error).__name__}: {error}"[:200]]
    finally:
        signal.alarm(0)


def _torchtest2(parts: Parts) -> Alarms:
    model = parts.get("model")
    if model is None or parts.get("kind") == "forecaster":
        return None
    ids = torch.randint(4, parts["vocab_size"], (4, 12), generator=torch.Generator().manual_seed(5))
    inputs: Any = ids
    if parts["kind"] == "encoder-decoder":
        ours = "decoder_input_ids" not in model.forward.__code__.co_varnames
        inputs = (ids.flip(1), ids) if ours else {"input_ids": ids.flip(1), "decoder_input_ids": ids}
    loss = _same if parts["kind"] == "encoder" else _next
    report = torchtest2.check_model(model, inputs, ids, loss_fn=lambda output, to: loss(_logits(output), to))
    return [f"{each.name} {each.status}" for each in report.results if str(each.status) in ("FAIL", "WARN")]


def _logits(output: Any) -> Tensor:
    output = output[0] if isinstance(output, tuple) else output
    return getattr(output, "logits", output)


def _next(logits: Tensor, ids: Tensor) -> Tensor:
    return shifting(logits, ids)


def _same(logits: Tensor, ids: Tensor) -> Tensor:
    return aligned(logits, ids)


def _trainproof(parts: Parts) -> Alarms:
    if "collate" in parts:
        ends = torch.tensor([1]), torch.tensor([2])
        rows = [torch.cat([ends[0], torch.randint(4, 60, (length,)), ends[1]]) for length in (20, 9, 14, 30) * 16]
        batch = parts["collate"]([{"input_ids": row} for row in rows])
        shifts = True if parts.get("loss") in (shifting, of_model) else None
        found = objective.check_objective(60, IGNORED, batch["labels"], batch["input_ids"], loss_shifts=shifts)
        return [each["id"] for each in found if each["level"] in ("FAIL", "WARN")]
    if "tokenizer" in parts:
        found = preflight.check_tokenizer(parts["tokenizer"])
        return [each["id"] for each in found if each["level"] in ("FAIL", "WARN")]
    log = parts["folder"] / "metrics.jsonl" if "folder" in parts else None
    if log is None or not log.exists():
        return None
    command = [sys.executable, "-m", "trainproof", "doctor", str(log), "--json"]
    answer = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout or "{}")
    return sorted(_failing(answer))


def _failing(answer: Any) -> set[str]:
    """The ids of findings that failed or warn, wherever in the answer they stand."""
    if isinstance(answer, list):
        return set().union(*map(_failing, answer))
    if not isinstance(answer, dict):
        return set()
    own = {str(answer["id"])} if answer.get("level") in ("FAIL", "WARN") and "id" in answer else set()
    return own.union(*map(_failing, answer.values()))


if __name__ == "__main__":
    main()
