# Every target builds what it needs: python3.11 or newer, make and a package index are enough.
#
#   make demo     a curve, a table and a plot from the bundled trace, from nothing, within a minute
#   make test     the whole test suite
#   make check    lint, format, types, layers, freshness of the generated docs
#   make docs     regenerate what the docs take from the code: pages, tables, shown outputs, pictures
#   make bench    all benchmarks, results under benchmarks/results/
#   make clean    remove what the other targets made
#
# PYTHON=/path/to/python3.12 chooses another interpreter, VENV=dir another place for the environment.

VENV    ?= .venv
WORKERS ?= 2
BIN     := $(VENV)/bin

# The first interpreter that is new enough and can make environments.
NEW_ENOUGH = import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 15))
FIND_PYTHON = for python in $(PYTHON) python3 python3.11 python3.12 python3.13 python3.14; do \
	  if "$$python" -c '$(NEW_ENOUGH)' 2>/dev/null; then echo "$$python"; exit 0; fi; \
	done; echo "make: no python3.11 or newer (with venv) found; name one: make PYTHON=/path/to/python3.11" >&2; exit 1

# Modules that are not compiled on installation are compiled on first import, once, unless this forbids to keep it.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test check docs bench clean

demo: $(VENV)/.has-plot
	$(BIN)/hitcurve demo

test: $(VENV)/.has-test
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

check: $(VENV)/.has-check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_layers.py tests/test_docs.py

docs: $(VENV)/.has-test
	$(BIN)/python docs/make.py

bench: $(VENV)/.has-bench
	for file in benchmarks/*.py; do echo "== $$file" && $(BIN)/python "$$file" || exit 1; done

clean:
	rm -rf $(VENV) build dist src/*.egg-info hitcurve-demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@python=$$($(FIND_PYTHON)) && echo "creating $(VENV) with $$($$python --version)" && "$$python" -m venv $(VENV)

INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

$(VENV)/.has-plot: EXTRAS = plot
$(VENV)/.has-test: EXTRAS = test
$(VENV)/.has-check: EXTRAS = test,check
$(VENV)/.has-bench: EXTRAS = bench
$(VENV)/.has-%: pyproject.toml | $(VENV)/bin/python
	@echo "installing hitcurve[$(EXTRAS)] into $(VENV)"
	@$(INSTALL) -e '.[$(EXTRAS)]'
	@touch $@
