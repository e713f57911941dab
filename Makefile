# make run: install, then see everything once.  make test: install, then pass the tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: run test check native native-check bench bench-setup bench-doctor test-long clean

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

# Whom we are measured beside, each in an environment of its own under .bench/; minutes, and never in CI.
# llama.cpp compiles itself with all that this processor has; `bench train` beside the others is run from theirs:
# .bench/training/bin/clearformer bench train --vs litgpt,x-transformers
bench-setup: $(READY)
	$(PYTHON) -m venv .bench/llama-cpp
	CMAKE_ARGS="-DGGML_NATIVE=ON -DCMAKE_BUILD_TYPE=Release" .bench/llama-cpp/bin/python -m pip install --quiet \
		--no-binary llama-cpp-python -r benchmarks/llama-cpp.txt
	$(PYTHON) -m venv .bench/training
	.bench/training/bin/python -m pip install --quiet -e ".[bench]" -r benchmarks/training-peers.txt

bench: $(READY)
	for dtype in float32 bfloat16 int8 int4; do \
		$(BIN)/clearformer bench decode --vs hf,llama.cpp --dtype $$dtype && \
		$(BIN)/clearformer bench decode --vs hf,llama.cpp --dtype $$dtype --rows 8 && \
		$(BIN)/clearformer bench prefill --vs hf,llama.cpp --dtype $$dtype && \
		$(BIN)/clearformer bench start --vs llama.cpp --dtype $$dtype || exit 1; \
	done
	$(BIN)/clearformer bench attention
	$(BIN)/clearformer bench cache --backend native --dtype bfloat16 --lengths 128,512,1K,1536,1920 --new 32 --alone
	$(BIN)/clearformer bench taps

# The doctor over its corpus, and torchtest2 and trainproof beside it: CLEARFORMER_DOCTOR_PEERS names the interpreter of
# an environment that has them, or one is made in build/doctor-peers. Seven minutes on two idle cores; broken off, it
# goes on.
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
