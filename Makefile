# The one door: `make help` lists what there is. Needs Python 3.11 or newer, make and git; the network only for pip.
# A target sets up .venv from the pinned requirements when they changed, and says so.
PYTHON ?= python3
WORKERS ?= 3
BENCH ?= all
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench clean

help:  ## list the targets
	@echo "storebot: what make does here"
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile
	@echo "Variables: PYTHON=python3.12 (who makes .venv), WORKERS=0 (tests in one process), BENCH='crawl --quick'"

.venv/runtime: requirements.txt
	@echo "==> .venv: installing the pinned runtime packages with $$($(PYTHON) --version)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "storebot needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

.venv/dev: .venv/runtime requirements-dev.txt
	@echo "==> .venv: installing the pinned test and lint tools"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

.venv/bench: .venv/runtime bench/requirements.txt
	@echo "==> .venv: installing the crawlers to measure beside"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r bench/requirements.txt \
		|| echo "==> some of them don't install here: the table will say which were skipped"
	@touch $@

demo: .venv/runtime  ## crawl a local demo store: backfill, then three refreshes, and a table of what each cost
	@echo "==> demo: a local store of 500 products, a backfill and three refreshes"
	@$(BIN)/python -m storebot.demo.tour

test: .venv/dev  ## run the tests (a test whose service is absent is skipped, with a sentence)
	@echo "==> test: pytest with $(WORKERS) workers"
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder

lint: .venv/dev  ## check style, types and who imports whom: ruff, mypy --strict, import-linter
	@echo "==> lint: ruff"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@echo "==> lint: mypy --strict"
	@$(BIN)/mypy
	@echo "==> lint: import-linter"
	@$(BIN)/lint-imports

bench: .venv/bench  ## measure speed and memory beside other crawlers (about an hour); writes docs/benchmarks.md
	@echo "==> bench: python -m bench $(BENCH)"
	@$(BIN)/python -m bench $(BENCH)

clean:  ## remove what make and the tests made: .venv, caches, build folders (never a database)
	@echo "==> clean: .venv, caches, build folders"
	@rm -rf .venv build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
