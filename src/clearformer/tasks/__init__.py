"""The six tasks: data, spec, loss, metric and prediction of each. The loop in `train` knows none of them.

A task is a file (`language`, `masked`, `translation`, `forecasting`, `classification`, `vision`). Beside it stand what
it reads (`corpus`, `parallel_text`, `series_data`, `labelled_texts`) and what uses its model once it is trained
(`filling`, `translator`, `forecaster`, `classifier`, `image_classifier`). Reading order: `tokenizing` and `models`
(what a recipe chooses), `language` with `objective` and `scoring`, then any other; `registry` finds a task by its name
and `evaluation` opens a finished run.
"""
