"""The loss curve that a recipe gives, as a band: recipes/bands/NAME.json, which `train -c` holds a run against.

    python benchmarks/bands.py language-cyclic --seeds 0 1 2
    python benchmarks/bands.py translation-multi30k --seeds 0

Recipes that take less than five minutes have three seeds, longer ones one. Runs that lie under --runs already, as
NAME-SEED, are taken as they are. CLEARFORMER_DATA names the folder of the data.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from running import RECIPES, train

from clearformer.tasks.registry import recipe_types, task_name
from clearformer.train.band import make_band, write_band
from clearformer.train.recipe_file import read_recipe


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", help="its name under recipes/, without .yaml")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--runs", type=Path, default=Path("runs/bands"), help="where the run folders go")
    arguments = parser.parse_args()
    name, seeds = arguments.recipe, arguments.seeds
    recipe = read_recipe(recipe_types(), RECIPES / f"{name}.yaml")
    runs = [arguments.runs / f"{name}-{seed}" for seed in seeds]
    for seed, run in zip(seeds, runs, strict=True):
        if not (run / "metrics.jsonl").exists():
            train(task_name(recipe), name, seed, run)
    command = f"python benchmarks/bands.py {name} --seeds {' '.join(map(str, seeds))}"
    path = RECIPES / "bands" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    write_band(make_band([run / "metrics.jsonl" for run in runs], seeds, command), path)
    print(path)


if __name__ == "__main__":
    main()
