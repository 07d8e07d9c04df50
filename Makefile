# Everything a contributor runs. `make test` and `make demo` set up what they need themselves.
# `make test` takes a few minutes; `make check` adds the long tests and all that is no test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Three times the usual two cores: tests of workers wait for their polls, and other tests use the time.
WORKERS ?= 6
DEMO := .demo/venv
DEMO_BIN = $(CURDIR)/$(if $(wildcard $(READY)),$(VENV),$(DEMO))/bin
PYTHON_CHECK := import sys; sys.exit(sys.version_info < (3, 11) and "Whet needs Python 3.11 or later; set PYTHON=python3.11")
# The tests start hundreds of processes: what is compiled once is kept.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: setup test check coverage demo demo-larger format lint types layers docs collected lock bench agents browser screenshots clean

setup: $(READY)

# The lock names everything, so pip need not look for more: an older one would refuse once psycopg has a newer release.
$(READY): requirements/dev.lock pyproject.toml
	@$(PYTHON) -c '$(PYTHON_CHECK)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(READY)

test: $(READY)
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal -m "not long"

# What needs one core runs side by side; tests that are collected once are compiled for every worker.
check: $(READY)
	@$(MAKE) --no-print-directory --jobs 2 --output-sync lint types layers docs collected
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal

# Counting every line of every process that the tests start takes three times as long.
coverage: $(READY)
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal --cov --cov-report=term --cov-fail-under=90

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/python tests/documents.py docs/cli.md docs/api.md

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY)
	$(BIN)/mypy

layers: $(READY)
	$(BIN)/lint-imports

collected: $(READY)
	@found=$$($(BIN)/python -m pytest -q --collect-only 2>&1) || { echo "$$found"; exit 1; }

docs: $(READY)
	$(BIN)/python tests/documents.py --check docs/cli.md docs/api.md

# The demonstration needs what users need, and pytest for the project that it plays. Where contributors have set up, it
# uses that; else it has an environment of its own. Model files are kept in .demo/models: they are downloaded once.
demo: $(if $(wildcard $(READY)),,$(DEMO)/.ready)
	@PATH="$(DEMO_BIN):$$PATH" bash examples/demo.sh

# Its second act by itself, with a model of 1.1 GB from a hub, or from the file WHET_WEIGHTS.
demo-larger: $(if $(wildcard $(READY)),,$(DEMO)/.ready)
	@PATH="$(DEMO_BIN):$$PATH" bash examples/demo_improve.sh

$(DEMO)/.ready: pyproject.toml
	@echo "Installing Whet, and what runs a model on this machine, into $(DEMO) (once; 50 MB from PyPI) …"
	@$(PYTHON) -c '$(PYTHON_CHECK)'
	@$(PYTHON) -m venv $(DEMO)
	@$(DEMO)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[local]' pytest
	@touch $@

# The programs of other agents, pinned, for the tests that run them for real; nothing else needs them.
agents:
	npm install --no-audit --no-fund --prefix .agents \
	    @anthropic-ai/claude-code@2.1.197 @openai/codex@0.166.0 opencode-ai@1.18.33 @google/gemini-cli@0.61.0
	python3 -m venv .agents/hermes
	.agents/hermes/bin/pip install --quiet hermes-agent==0.19.0

# A browser for the tests of the page, from Debian, and axe, which finds what screen readers stumble over.
browser: $(READY)
	@command -v chromium chromedriver >/dev/null || apt-get install -y --no-install-recommends chromium chromium-driver
	@test -d .browser/node_modules/axe-core || npm install --no-audit --no-fund --prefix .browser axe-core@4.14.0
	$(BIN)/python -m pytest -q tests/web/test_page_browser.py

# The pictures in the README and in docs/platforms.md, from the example sessions.
screenshots: $(READY)
	PYTHONPATH=tests $(BIN)/python -m page_pictures docs/images

lock:
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	    --group dev --extra work --extra postgres --extra local --extra mcp --extra web --output-file requirements/dev.lock pyproject.toml

clean:
	rm -rf $(VENV) .demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*
