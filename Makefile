# Two commands do all the set-up: `make demo` and `make test`. `make test-all` is what continuous integration adds.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CARGO := cargo
# Programs that are recorded and judged as a whole, with every framework that they use.
WHOLE := python/tests/test_advice.py python/tests/test_cases.py
SOURCES := $(shell find crates python/breakeven python/breakeven.pth pyproject.toml setup.py Cargo.toml Cargo.lock \
	-type f -not -path '*/target/*' -not -name '*.pyc' -not -name '*.so')

.PHONY: help demo test test-rust test-python test-all matrix digits wasm page numpy-own asan frameworks api accuracy fuzz

help:
	@sed -n 's/^## //p' Makefile

## make demo      set up .venv, then one answer from numbers and one from a real script
demo: $(VENV)/.released
	$(BIN)/breakeven estimate --matmul 8000 --gpu l4
	$(BIN)/breakeven run examples/black_scholes.py

## make test      Rust and Python tests on one Python, and a short fuzz
test: test-rust test-python
	$(MAKE) fuzz SECONDS_EACH=10

test-rust:
	$(CARGO) test --workspace

test-python: $(VENV)/.installed
	$(BIN)/python -m mypy python/breakeven
	$(BIN)/python -m mypy.stubtest breakeven._native
	$(BIN)/python accuracy/tables.py --check
	.ci/pytest $(BIN)/python $(WHOLE:%=--ignore=%)

## make test-all  the other pairs of Python and NumPy, the engine on wasm, the page in a browser, NumPy's own tests
##                recorded, the hooks under AddressSanitizer, PyTorch, whole programs, the API against its document, the fitting
##                tools' own tests, a longer fuzz
test-all: matrix digits wasm page numpy-own asan frameworks api accuracy
	$(MAKE) fuzz SECONDS_EACH=30

matrix:
	.ci/matrix

digits:
	$(CARGO) xtask wasm-digits
	$(CARGO) xtask web --check

# The engine's own tests on wasm; the digits above compare its answers.
wasm: export CARGO_TARGET_WASM32_WASIP1_RUNNER = $(CURDIR)/$(BIN)/python $(CURDIR)/.ci/wasi.py
wasm: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet "wasmtime>=50"
	$(CARGO) test -p breakeven --target wasm32-wasip1 --lib --tests

page: digits $(VENV)/.installed
	@if command -v "$${CHROMIUM:-/usr/bin/chromium}" >/dev/null; then cd web && npm test; \
	else echo "page: SKIPPED, there is no Chromium at /usr/bin/chromium; CHROMIUM=… names another"; fi

numpy-own: $(VENV)/.installed
	$(BIN)/python .ci/numpy_own.py

asan: $(VENV)/.installed
	.ci/asan $(BIN)/python

# Some gigabytes, so `make test` skips these tests visibly where a framework is not there.
frameworks: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet torch torchvision transformers pandas numexpr
	.ci/pytest $(BIN)/python python/tests/test_torch_*.py $(WHOLE)
	$(BIN)/python -m pip install --quiet jax numba scikit-learn xgboost lightgbm polars pyarrow tensorflow
	.ci/pytest $(BIN)/python python/tests/recorders

# Needs schemathesis, which it installs into a place of its own.
api: $(VENV)/.installed
	.ci/api 60

# A workspace of its own; what holds the model to its ledger is in `make test`.
accuracy:
	$(CARGO) test --release --manifest-path accuracy/Cargo.toml

fuzz:
	.ci/fuzz $(SECONDS_EACH)

define install
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet ".[test]"
endef

# What is released will do for the tests, too.
$(VENV)/.released: $(SOURCES)
	$(install)
	touch $@ $(VENV)/.installed

$(VENV)/.installed: export SETUPTOOLS_RUST_CARGO_PROFILE = tested
$(VENV)/.installed: $(SOURCES)
	$(install)
	rm -f $(VENV)/.released
	touch $@
