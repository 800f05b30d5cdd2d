# Every target sets up its own virtual environment in .venv; only Python 3.11 or newer is needed.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# One BLAS thread per process: the test workers already use the cores.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

# An environment of its own for each Python, with the lowest version of everything that pyproject.toml allows.
LOWEST := .venv-lowest-$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')

.PHONY: demo example test test-processors test-lowest check release-check bench docs format clean

demo: $(VENV)/.cli
	$(BIN)/recuse compare --out demo

example: $(VENV)/.core
	$(BIN)/python examples/breast_cancer.py

test: check
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

# The numerical part on the kernels of a newer and of an older processor, with one BLAS thread and with two; as many
# test workers as leave each thread a core. OpenMP, which no BLAS here uses, keeps one: on a busy machine its threads wait
# for each other most of the time.
PROCESSORS ?= Haswell:1 Haswell:2 Prescott:1 Prescott:2
test-processors: $(VENV)/.test
	@set -e; for processor in $(PROCESSORS); do core=$${processor%:*}; threads=$${processor#*:}; \
	  echo "OpenBLAS kernels of $$core, $$threads BLAS thread(s)"; \
	  $(ONE_THREAD) OPENBLAS_CORETYPE=$$core OPENBLAS_NUM_THREADS=$$threads MKL_NUM_THREADS=$$threads \
	    $(BIN)/python -m pytest -m numerical -q -n $$((3 - threads)) --dist loadfile $(OPTIONS) tests; \
	done

# A cache of compiled code of its own: where two versions of the compiler share one, a worker may find in it what another
# worker has announced and not written yet, and reads the other version's code.
test-lowest: $(LOWEST)/.test
	$(ONE_THREAD) NUMBA_CACHE_DIR=$(CURDIR)/$(LOWEST)/compiled $(LOWEST)/bin/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder $(OPTIONS)

check: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# What would be published: built, looked at, installed into an empty environment and used there.
release-check: $(VENV)/.release
	$(BIN)/python .ci/release_check.py

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

# The examples of the gallery are run, and draw their pictures, before the pages are built.
docs: $(VENV)/.docs
	$(ONE_THREAD) $(BIN)/python examples/gallery.py docs/gallery
	$(BIN)/zensical build --strict

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .venv-lowest-* site

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "recuse needs Python 3.11 or newer; $(PYTHON) is older. Run: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.cli: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[cli,report]'
	@touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

# A version that has no wheel for this Python does not count as allowed: nothing is compiled.
$(LOWEST)/.test: pyproject.toml .ci/lowest.txt
	rm -rf $(LOWEST)
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct --only-binary :all: \
	  --constraints .ci/lowest.txt --requirements pyproject.toml --all-extras
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --no-deps --editable .
	@touch $@

$(VENV)/.bench: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,bench]'
	@touch $@

$(VENV)/.release: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[release]'
	@touch $@

$(VENV)/.docs: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs,cli,plot]'
	@touch $@
