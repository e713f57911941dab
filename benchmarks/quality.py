"""What the recipes reach: each row trains from scratch and judges once, on data that no choice was made on.

    python benchmarks/quality.py cyclic
    python benchmarks/quality.py sine
    python benchmarks/quality.py shakespeare-nanogpt      both models at nanoGPT's CPU setting
    python benchmarks/quality.py shakespeare              our recipe, in the seconds that the peer took
    python benchmarks/quality.py digits --seeds 0 1 2
    python benchmarks/quality.py sst2 --seeds 0 1 2
    python benchmarks/quality.py etth1
    python benchmarks/quality.py multi30k

Each prints one JSON object: the row, date, versions, machine, and per seed the wall time of training and the figures.
`--split validation` judges there instead: for whoever tunes a recipe. CLEARFORMER_DATA names the folder of the data.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from running import clearformer, train

from clearformer.train.metrics import read_metrics

# Row → task, recipe, metric, and the split that no choice is made on.
ROWS = {
    "cyclic": ("language", "language-cyclic", "accuracy", "validation"),
    "sine": ("forecasting", "forecasting-sine", "mse", "test"),
    "shakespeare-nanogpt": ("language", "language-shakespeare-nanogpt", "loss", "validation"),
    "shakespeare": ("language", "language-shakespeare", "loss", "validation"),
    "digits": ("vision", "vision-digits", "accuracy", "test"),
    "sst2": ("classification", "classification-sst2", "accuracy", "test"),
    "etth1": ("forecasting", "forecasting-etth1", "mse", "test"),
    "multi30k": ("translation", "translation-multi30k", "bleu", "test"),
}
IN_THE_PEERS_TIME = "shakespeare"
WITH_PEER = ("shakespeare-nanogpt", IN_THE_PEERS_TIME)


def main() -> None:
    arguments = _arguments()
    _, recipe, metric, split = ROWS[arguments.row]
    split, budget = arguments.split or split, []
    told: dict[str, Any] = {"row": arguments.row, "recipe": f"recipes/{recipe}.yaml", "split": split, **_where()}
    if arguments.row in WITH_PEER:
        from shakespeare_peer import train_peer

        told["peers"] = [train_peer(arguments.threads, seed) for seed in arguments.seeds]
        told["peers' mean loss"] = statistics.fmean(each["loss"] for each in told["peers"])
    if arguments.row == IN_THE_PEERS_TIME:
        # Nothing is judged on the way: all of the time is for training.
        seconds = min(each["seconds"] for each in told["peers"])
        budget = ["--budget", f"{seconds:.0f}s", "--watch.evaluate", "1000000"]
    told["seeds"] = [_run(arguments.row, seed, split, budget, arguments) for seed in arguments.seeds]
    values = [each["metrics"][metric] for each in told["seeds"]]
    told["mean"] = {metric: statistics.fmean(values)}
    print(json.dumps(told, indent=1))
    if arguments.out is not None:
        arguments.out.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def _run(row: str, seed: int, split: str, budget: Sequence[str], arguments: argparse.Namespace) -> dict[str, Any]:
    """One seed: train as a user does, then judge. `seconds` is all of `train`; `training_seconds` ends with the last
    update, evaluations during training included, the last one not."""
    task, recipe, _, _ = ROWS[row]
    run = arguments.runs / f"{recipe}-{seed}"
    threads = [] if arguments.threads is None else ["--threads", str(arguments.threads)]
    began = time.perf_counter()
    trained = train(task, recipe, seed, run, *threads, *budget, *arguments.rest)
    seconds = time.perf_counter() - began
    last = [record for record in read_metrics(run / "metrics.jsonl") if "loss" in record][-1]
    judged = clearformer("evaluate", str(run), "--split", split, *threads)
    figures = {"steps": trained["steps"], "best": trained["best"], "units_per_s": trained["tokens_per_s"]}
    spent = {"seconds": seconds, "training_seconds": last["seconds"]}
    return {"seed": seed, **spent, **figures, "n": judged["n"], "metrics": judged["metrics"]}


def _where() -> dict[str, Any]:
    import clearformer.machine as machine

    return {
        "date": datetime.now(UTC).isoformat(timespec="minutes"),
        "machine": f"{machine.cpu_name()}, {machine.cores()} cores",
        "python": platform.python_version(),
        "clearformer": metadata.version("clearformer"),
        "torch": metadata.version("torch"),
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("row", choices=ROWS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--split", choices=("validation", "test"))
    parser.add_argument("--threads", type=int)
    parser.add_argument("--runs", type=Path, default=Path("runs/quality"), help="where the run folders go")
    parser.add_argument("--out", type=Path, help="write the JSON object into this file as well")
    arguments, arguments_rest = parser.parse_known_args()
    arguments.rest = arguments_rest
    return arguments


if __name__ == "__main__":
    main()
