# Everything runs in .venv, which the targets make and keep up to date by themselves.
VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
ROOT_FLAG := $(if $(filter 0,$(shell id -u)),--allow-root)

# A Python that starts, is new enough and can make environments: a name on PATH alone proves none of it.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; \
	done)

# False for an environment that was moved here, or whose Python is gone or too old: it is made anew.
USABLE = grep -qsF "$(CURDIR)/$(VENV)" $(VENV)/bin/activate && \
	$(PY) -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null

.PHONY: help venv test demo bench lab lint format captions clean
.DELETE_ON_ERROR:

help: ## list the targets
	@sed -nE 's/^([a-z]+):.*## (.*)/make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

venv: $(STAMP) ## set up the environment

ifneq ($(shell $(USABLE) && echo yes),yes)
.PHONY: $(STAMP)
endif
$(STAMP): pyproject.toml
	@$(USABLE) || { \
		test -n "$(PYTHON)" || { echo "No Python >= 3.11 with venv found: make PYTHON=/path/to/python" >&2; exit 1; }; \
		echo "Making $(VENV) with $(PYTHON)"; \
		rm -rf $(VENV) && $(PYTHON) -m venv $(VENV); \
	}
	$(PY) -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	@touch $@

test: venv ## run all tests
	$(PY) -m pytest -n auto

demo: venv ## see the tools at work
	$(PY) -m tests.demo

bench: venv ## compare with the peers; never fails on time (make bench IDS="E2 R1")
	$(PY) -m tests.benchmarks $(IDS)

lab: venv ## start JupyterLab with the extension
	$(VENV)/bin/jupyter lab $(ROOT_FLAG)

lint: venv ## check style, types, floors and spelling
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports
	$(VENV)/bin/codespell

format: venv ## put the code into shape
	$(PY) -m ruff check --fix-only .
	$(PY) -m ruff format .

captions: venv ## write the modules' captions into the README
	$(PY) tests/test_captions.py --write

clean: ## remove the environment and everything built
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find jupyter_fstools tests -name __pycache__ -type d -prune -exec rm -rf {} +
