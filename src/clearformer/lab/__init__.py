"""Where a Transformer is tried out: seven demonstrations in NumPy alone (`demos`), and experiments (`experiments`).

An experiment asks what one change does. Its arms get the same data, the same seeds and equally many steps; what the
budget allows is timed once and written down. Reading order: `experiment` (what one is) → `training_arm` (an arm that
learns) → `running` (planned, run, gone on with) → `team` and `worker` (processes) → `interval`, `report`, `picture`.

To add one, write three things:

1. `experiments/NAME.py`, which ends in `EXPERIMENT = Experiment(name=…, arms=…, figure=…, …)`. An arm that is a
   training run is a `TrainingArm`: a recipe (`ground.characters()` needs no network), `rebuild` for a change that a
   spec can say (`edits`), `fault` for one that it cannot (`faults`: hooks and taps on the built model), `before` and
   `look` for figures and curves of the model before and after. A `ReadingArm` looks into a published model. Any other
   arm is a dataclass with the methods of `experiment.Arm`, such as the one in `experiments/no_cache.py`, which times. A
   `Claim` says what a source asserts; whether it is so is measured and printed.
2. Its sentences in a file of `messages/` (title, about, labels, claims), both languages.
3. Its lines in `experiments/__init__.py`.

`tests/lab/test_experiments.py` then checks it: names, promises of equality, claims, and one trial of one step an arm.
"""
