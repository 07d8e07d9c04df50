# Everything a contributor runs. `make test` and `make demo` set up what they need themselves.
# `make test` takes a few minutes; `make check` adds the long tests and all that is no test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WORKERS ?= 2
# The tests start hundreds of processes: what is compiled once is kept.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: setup test check coverage demo format lint types layers docs lock bench agents browser screenshots clean

setup: $(READY)

$(READY): requirements/dev.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Whet needs Python 3.11 or later; set PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(READY)

test: $(READY)
	$(BIN)/python -m pytest -q -n $(WORKERS) -m "not long"

check: $(READY) lint types layers docs
	$(BIN)/python -m pytest -q -n $(WORKERS)

# Counting every line of every process that the tests start takes three times as long.
coverage: $(READY)
	$(BIN)/python -m pytest -q -n $(WORKERS) --cov --cov-report=term --cov-fail-under=90

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/python -m whet.cli.document docs/cli.md docs/api.md

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY)
	$(BIN)/mypy

layers: $(READY)
	$(BIN)/lint-imports

docs: $(READY)
	$(BIN)/python -m whet.cli.document --check docs/cli.md docs/api.md

demo: $(READY)
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash examples/demo.sh
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash examples/demo_improve.sh

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

# The pictures in the README and in docs/page.md, from the example sessions.
screenshots: $(READY)
	PYTHONPATH=tests $(BIN)/python -m page_pictures docs/images

lock:
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	    --group dev --extra work --extra postgres --extra local --extra mcp --extra web --output-file requirements/dev.lock pyproject.toml

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*
