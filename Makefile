# make demo   a render server on a small real model, one chat shown token by token   (ARGS=--once: stop after it)
# make test   the tests that need no network and no recorded answers
# make check  ruff, mypy --strict, import-linter
# make nightly  the long fuzzing, ten minutes of schemathesis
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
PYTEST ?= $(BIN)/python -m pytest

.PHONY: demo test check nightly clean

$(BIN)/python:
	@if command -v uv >/dev/null 2>&1; then uv venv --quiet --python $(PYTHON) $(VENV); else $(PYTHON) -m venv $(VENV); fi

# One stamp per set of packages, renewed when the project's requirements change.
$(VENV)/.ready-base: pyproject.toml | $(BIN)/python
	@sh tools/install.sh $(BIN)/python -e .
	@touch $@

$(VENV)/.ready-test: pyproject.toml | $(BIN)/python
	@sh tools/install.sh $(BIN)/python -e '.[test]'
	@touch $@ $(VENV)/.ready-base

demo: $(VENV)/.ready-base
	@$(BIN)/python tools/demo.py $(ARGS)

test: $(VENV)/.ready-test
	@$(PYTEST) -n auto -m "not network and not nightly" $(ARGS)

check: $(VENV)/.ready-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

nightly: $(VENV)/.ready-test
	@$(PYTEST) -n auto -m nightly $(ARGS)

clean:
	rm -rf $(VENV) build dist .cache
