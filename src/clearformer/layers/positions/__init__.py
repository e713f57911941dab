"""Where a token stands: one file for each way of telling the model."""
