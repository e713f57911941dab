"""The operations inside a forward pass: recorded, and, for an experiment, mended in place."""
