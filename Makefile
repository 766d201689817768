# PYTHON=python3.12 and DEVICE=cpu|gpu choose what .venv is made from (see scripts/setup.sh);
# ARGS=... goes to the program that a target runs. MINUTES=... (whole ones) is how long the chaos
# of `make test-long` lasts. The soak after it takes twice as long: Ray still grows in its first hour.

bin := .venv/bin
MINUTES ?= 60

.DEFAULT_GOAL := help
.PHONY: help setup demo check test test-long coverage goldens lint format perf gpu-check lock audit clean

help:    ## what there is (this)
	@awk -F ' *## *' '/^[a-z-]+:.*##/ { sub(":.*", "", $$1); printf "  make %-10s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo '  PYTHON=python3.12 and DEVICE=cpu|gpu choose what .venv is made from; ARGS="..." is handed on,'
	@echo '  as in: make demo ARGS="dry_run=true", make test ARGS=--durations-report, make lock ARGS=--upgrade'

setup:   ## .venv from the pinned lists (nothing to do when it is there)
	@scripts/setup.sh

demo: setup   ## a peer assessment of the embedded models, to its leaderboard
	$(bin)/python -m raybench +experiment=autobench $(ARGS)

# Several files run at once: threads of linear algebra would only slow each other down. Hundreds of
# processes import the same files: keep their bytecode, whatever the machine's own setting is.
pytest := OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= PYTHONHASHSEED=0 $(bin)/python -m pytest \
	-n auto --dist loadfile --no-loadscope-reorder

check: lint   ## lint, types, layers and pure tests
	$(pytest) -m "pure and not long" $(ARGS)

test: lint   ## everything that guards a release; what CI runs
	$(pytest) -m "not long" $(ARGS)

test-long: setup   ## long forms: all attacks and faults, fresh examples of properties, then MINUTES=60 of chaos and twice as many of soak
	failed=0; \
	$(pytest) -m "long or pure or slow" --hypothesis-profile=thorough $(ARGS) || failed=1; \
	$(bin)/python -m tests.chaos --minutes $(MINUTES) || failed=1; \
	$(bin)/python -m perf.soak --minutes $$((2 * $(MINUTES))) --out runs/soak || failed=1; \
	exit $$failed

coverage: setup   ## line and branch coverage of make test per package (BEFORE=FILE: against a copy of an earlier coverage.json)
	rm -f .coverage .coverage.*
	OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= PYTHONHASHSEED=0 $(bin)/coverage run -m pytest \
		-n auto --dist loadfile --no-loadscope-reorder -m "not long" $(ARGS); tests=$$?; \
	$(bin)/coverage combine --quiet && $(bin)/coverage json --quiet && \
	$(bin)/python scripts/coverage_by_package.py coverage.json $(BEFORE) && exit $$tests

goldens: setup   ## rewrite the texts that tests compare word for word; review the difference
	$(bin)/python tests/goldens.py

lint: setup   ## style, format, types, import layers
	$(bin)/ruff check
	$(bin)/ruff format --check
	$(bin)/mypy
	$(bin)/lint-imports

format: setup   ## rewrite the code in its style
	$(bin)/ruff check --fix
	$(bin)/ruff format

perf: setup   ## hold raybench against peers and limits; writes perf/RESULTS.md (ARGS="static": only that)
	$(bin)/python -m perf $(ARGS)

gpu-check: setup   ## what is claimed of GPUs, measured on this machine's in ten minutes; without one it exits with 3
	$(bin)/python -m perf.gpu_check $(ARGS)

lock:    ## resolve the pinned lists anew from pyproject.toml (ARGS=--upgrade: the newest versions)
	@scripts/lock.sh $(ARGS)

audit: setup   ## known vulnerabilities in the pinned lists, where the package index tells of them
	@$(bin)/python scripts/audit.py $(ARGS)

clean:   ## remove what can be made again (runs/ stays)
	rm -rf .venv build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find raybench tests -name __pycache__ -prune -exec rm -rf {} +
