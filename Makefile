# make run: install, then see everything once.  make test: install, then pass the tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: run test check native native-check bench bench-doctor test-long clean

run: $(READY)
	$(BIN)/clearformer tour

test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not long"

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The compiled kernels, for a checkout whose sources are newer than what was installed.
native: $(READY)
	$(BIN)/python src/clearformer/native/building.py

# Shapes drawn at random through the kernels, under the address, undefined-behaviour and thread sanitizers: minutes.
native-check: $(READY)
	$(BIN)/python tests/native/sanitized.py

bench: $(READY)
	$(BIN)/clearformer bench decode --vs hf --dtype float32
	$(BIN)/clearformer bench decode --vs hf --dtype bfloat16
	$(BIN)/clearformer bench prefill --vs hf --prompt 512 --dtype float32
	$(BIN)/clearformer bench prefill --vs hf --prompt 512 --dtype bfloat16

# The doctor over its corpus, and torchtest2 and trainproof beside it: CLEARFORMER_DOCTOR_PEERS names the interpreter of
# an environment that has them, or one is made in build/doctor-peers. About half an hour.
bench-doctor: $(READY)
	PYTHONPATH=tests $(BIN)/python benchmarks/diagnosis.py --out docs/doctor-results.md

test-long: $(READY)
	HYPOTHESIS_PROFILE=random $(BIN)/python -m pytest -n 2 -m long --timeout 5400

$(READY): pyproject.toml constraints.txt
	@echo "Installing into $(VENV); a few minutes on a slow line."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[test]"
	touch $@

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
