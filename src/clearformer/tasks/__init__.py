"""One file a task: its data, spec, loss, metric and prediction. The loop in `train` knows none of them."""
