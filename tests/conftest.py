"""Shared by all tests: shape checks on, hypothesis profiles, the real models' files."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings
from jaxtyping import install_import_hook

# Signatures with shapes are checked while the tests run; compile tests start their own processes without it.
install_import_hook(["clearformer.layers", "clearformer.model", "clearformer.reference"], "beartype.beartype")

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile("ci", derandomize=True, deadline=None, database=None, suppress_health_check=SLOW)
settings.register_profile("random", deadline=None, suppress_health_check=SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(scope="session", autouse=True)
def two_threads() -> None:
    """Small matrices gain nothing from more threads, and results stay the same on every machine."""
    import torch

    torch.set_num_threads(min(2, os.cpu_count() or 1))
