# Each target works on a fresh machine with Python 3.11, git and make: what is missing is installed first.
PYTHON ?= python3
BIN := .venv/bin
# The core alone is enough for the demo; everything else needs the development environment.
CORE := .venv/.core
DEV := .venv/.dev
DOCS := .venv/.docs
# What the environment is made of; a new native core is compiled when the package is installed.
SOURCES := pyproject.toml constraints.txt scripts/environment scripts/build_core.py $(wildcard src/untemplate/native/*.p[yx]*)

# pip compiles nothing, so Python keeps what it compiles, also where that is switched off.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo check test lint docs screenshots bench profile clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "%-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(CORE)  ## make up a site and go from its pages to records, in seconds
	@$(BIN)/untemplate demo

check: lint  ## lint, types and the fast tests: two minutes
	@$(BIN)/pytest -n 2 -m "not (slow or spark or browser or postgres or data)"

test: lint  ## everything that CI runs
	@scripts/system-packages
	@$(BIN)/pytest -n 2

lint: $(DEV)  ## ruff, mypy --strict and codespell
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/codespell

docs: $(DOCS)  ## write docs/commands.md, check every link, build the site in site/
	@$(BIN)/python scripts/docs.py
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

screenshots: $(DEV)  ## take the pictures of the web pages again
	@scripts/system-packages
	@$(BIN)/python -m scripts.screenshots

bench: $(DEV)  ## accuracy and speed; some need the data sets
	@$(BIN)/python -m benchmarks

profile: $(DEV)  ## where the time of extraction goes; needs SWDE
	@$(BIN)/python -m benchmarks.measure.profile

clean:  ## remove the environment and all caches
	@rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis site

$(CORE): $(SOURCES)
	@PYTHON=$(PYTHON) scripts/environment core
	@touch $@

$(DEV): $(SOURCES)
	@PYTHON=$(PYTHON) scripts/environment dev
	@touch $(CORE) $@

$(DOCS): $(SOURCES)
	@PYTHON=$(PYTHON) scripts/environment docs
	@touch $(CORE) $(DEV) $@
