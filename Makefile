# Everything a fresh machine needs: `make demo` and `make test` set up what they use.
# Another interpreter: make PYTHON=python3.13 VENV=.venv313 test

PYTHON ?= python3
VENV ?= .venv
UV ?= uv
DEMO ?= demo-results
REPRODUCED ?= reproduced
REPRODUCE_ARGS ?=
PYTEST_ARGS ?=
SEED ?= $(shell date +%s)

BIN := $(VENV)/bin
# Of the base, of abilities, and of what abilities have in folders of their own.
C_SOURCES := $(foreach folder,native abilities/*/native abilities/*/*/native,$(wildcard schedulers/batdispatch/$(folder)/*.[ch]))
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check --no-input

.DEFAULT_GOAL := help
.PHONY: help setup demo reproduce test fresh lint docs serve-docs pictures lock clean

help:
	@echo "make demo    compare dispatchers on the built-in example; prints the path of the report"
	@echo "make reproduce   run the papers' experiments, quick versions, and hold the papers' claims against them"
	@echo "make test    run the tests"
	@echo "make fresh   run the property tests with 20 times as many examples, of a seed that is printed (SEED=N: of this one)"
	@echo "make lint    check style, types and which file imports which"
	@echo "make docs    build the manual into site/"
	@echo "make pictures    take the manual's screenshots anew (needs Chromium)"
	@echo "make lock    pin the newest versions that work together (needs uv)"
	@echo "make clean   remove what these made"

setup: $(VENV)/.project-installed
	@:

# The environment and what is pinned; made again when the pins change.
$(VENV)/.pins-installed: requirements.lock
	@command -v $(PYTHON) >/dev/null || { \
		echo "$(PYTHON) is not installed; batdispatch needs Python 3.11 or newer: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "$(PYTHON) is `$(PYTHON) -V 2>&1`, batdispatch needs 3.11 or newer: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "$(PYTHON) cannot make virtual environments; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@echo "setting up $(VENV) (a minute or two, once)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install --no-deps --use-pep517 --require-hashes -r requirements.lock
	@touch $@

# The package itself, editable; installed again when its metadata (entry points) changes, or what is built of C.
$(VENV)/.project-installed: $(VENV)/.pins-installed pyproject.toml hatch_build.py $(C_SOURCES)
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

demo: setup
	@$(BIN)/batdispatch demo --out $(DEMO)

reproduce: setup
	@$(BIN)/python -m expe --quick --out $(REPRODUCED) $(REPRODUCE_ARGS)

# One worker more than there are processors: tests that wait for another process leave theirs idle.
test: setup
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $$(($$(nproc) + 1)) --dist worksteal $(PYTEST_ARGS)

# Other examples than those of `make test`, which are the same everywhere. It takes hours.
fresh: SEED := $(SEED)
fresh: setup
	@echo "examples of seed $(SEED); to draw them again: make fresh SEED=$(SEED)"
	@BATDISPATCH_FRESH=20 $(BIN)/python -m pytest -n $$(nproc) --dist worksteal -m 'hypothesis and not slow' \
		--hypothesis-seed=$(SEED) $(PYTEST_ARGS)

lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy --strict
	@$(BIN)/lint-imports --no-cache --no-logo

docs: setup
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo site/index.html

serve-docs: setup
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

# A build of the manual takes its own where there is Chromium; these stand in for them elsewhere.
pictures: setup
	@$(BIN)/python docs/hooks/screenshots.py

# One file for 3.11 and later, with hashes and without addresses. The header names the command, not its paths.
lock:
	@$(UV) pip compile pyproject.toml requirements/dev.in --extra dev --extra docs --upgrade \
		--universal --python-version 3.11 --override requirements/overrides.txt --generate-hashes \
		--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" --quiet --output-file requirements.lock
	@! grep -nE '://|^-|(^|[ =])/' requirements.lock || { echo "requirements.lock holds an address or a path" >&2; exit 1; }

clean:
	rm -rf $(VENV) site $(DEMO) $(REPRODUCED) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
