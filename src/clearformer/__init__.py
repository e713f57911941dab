"""Clearformer: a Transformer to read, measure, run, train, price and debug."""
