# Everything sets itself up: `make demo` and `make test` work on a fresh clone.
#
#   PYTHON           interpreter for the environments (3.11 or newer)
#   TORCH            torch requirement of the extras environment
#   TORCH_PIP_ARGS   more pip arguments for it, e.g. the index of PyTorch's CPU wheels
#   TESTS            what `make test` hands to pytest
#   WORKERS          processes that it runs the tests in, by default one a core

PYTHON ?= python3
TORCH ?= torch==2.13.0
TORCH_PIP_ARGS ?=
TESTS ?=
WORKERS ?= logical

VENV := .venv
EXTRAS := .venv-extras
BIN := $(VENV)/bin
LOCK := requirements
BENCHMARKS := $(sort $(wildcard benchmarks/*.py))
INSTALL := -m pip install --disable-pip-version-check --quiet
CHECKED := benchmarks driftguard_langgraph examples notebooks scripts tests

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-extras notebooks docs bench wheel lint types layers format lock clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

demo: $(VENV)/.base ## a graph that remembers its failure, and one that is brought back from drift
	$(BIN)/driftguard demo

test: lint types layers ## linters, types, layering and all tests but those of the extras
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal $(TESTS)

test-extras: $(EXTRAS)/.ready ## the tests of large extras and of `langgraph dev`, in their own environment
	$(EXTRAS)/bin/python -m pytest tests/extras

notebooks: $(VENV)/.test ## run the notebooks and write their outputs into them
	$(BIN)/python scripts/notebooks.py

docs: $(VENV)/.docs ## build the documentation into build/site; anything dubious is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(VENV)/.test ## the cost of records, reviews, guarded tool calls, drift and the report page
	@for each in $(BENCHMARKS); do echo "== $$each"; $(BIN)/python $$each || exit 1; done

wheel: $(VENV)/.test ## build the wheel and try it in an environment and a folder of its own
	$(BIN)/python scripts/check_wheel.py

lint: $(VENV)/.test ## ruff: rules and formatting
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/ruff format --check $(CHECKED)

types: $(VENV)/.test ## mypy --strict
	$(BIN)/mypy

layers: $(VENV)/.test ## import-linter: who may import whom
	$(BIN)/lint-imports

format: $(VENV)/.test ## let ruff format the code and fix what it can
	$(BIN)/ruff check --fix-only $(CHECKED)
	$(BIN)/ruff format $(CHECKED)

lock: ## resolve the dependencies anew and rewrite requirements/*.txt
	$(PYTHON) scripts/lock.py "$(TORCH)"

clean: ## remove environments, caches and build results
	rm -rf $(VENV) $(EXTRAS) build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.base: $(VENV)/.created $(LOCK)/base.txt pyproject.toml
	@echo "Installing the pinned dependencies into $(VENV)"
	$(BIN)/python $(INSTALL) -r $(LOCK)/base.txt
	$(BIN)/python $(INSTALL) --no-deps -e .
	@touch $@

$(VENV)/.test: $(VENV)/.base $(LOCK)/test.txt
	@echo "Installing the pinned test tools into $(VENV)"
	$(BIN)/python $(INSTALL) -r $(LOCK)/test.txt
	@touch $@

$(VENV)/.docs: $(VENV)/.test $(LOCK)/docs.txt
	@echo "Installing the pinned documentation tools into $(VENV)"
	$(BIN)/python $(INSTALL) -r $(LOCK)/docs.txt
	@touch $@

$(EXTRAS)/.ready: $(EXTRAS)/.created $(LOCK)/base.txt $(LOCK)/extras.txt pyproject.toml
	@echo "Installing the pinned extras into $(EXTRAS)"
	$(EXTRAS)/bin/python scripts/install_cpu_torch.py "$(TORCH)" -c $(LOCK)/extras.txt $(TORCH_PIP_ARGS)
	$(EXTRAS)/bin/python $(INSTALL) -r $(LOCK)/extras.txt
	$(EXTRAS)/bin/python $(INSTALL) --no-deps -e .
	@touch $@

%/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "driftguard-langgraph needs Python 3.11 or newer; '$(PYTHON)' is older or missing." \
	    "Name another one: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(@D)
	@touch $@
