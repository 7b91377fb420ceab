# Each target works on a fresh machine with Python 3.11, git and make: what is missing is installed first.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test lint docs screenshots bench profile clean

demo: $(READY)  ## a made-up site, from pages to records, in seconds
	@$(BIN)/untemplate demo

test: lint  ## everything that CI runs
	@scripts/system-packages
	@$(BIN)/pytest -n 2

lint: $(READY)
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy --no-error-summary

docs: $(READY)  ## write docs/commands.md anew, check every link
	@$(BIN)/python scripts/docs.py

screenshots: $(READY)  ## take the pictures of the web pages anew
	@scripts/system-packages
	@$(BIN)/python -m scripts.screenshots

bench: $(READY)  ## accuracy and speed; some need the data sets
	@$(BIN)/python -m benchmarks

profile: $(READY)  ## where the time of extraction goes; needs SWDE
	@$(BIN)/python -m benchmarks.measure.profile

clean:
	@rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(READY): pyproject.toml scripts/environment
	@PYTHON=$(PYTHON) scripts/environment
	@touch $@
