# framewatt's commands; `make help` lists them. Each sets up what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV_VERSION := $(shell sed -n 's/^uv==\([0-9.]*\).*/\1/p' envs/orchestrator/requirements.txt)
CHECKED := src scripts tests
# Tests in which real meters sample real programs: beside others they would find a busy machine.
TIMED := tests/meters tests/faults $(foreach name,smoke training_study your_model,tests/workflow/test_$(name).py)

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-containers test-images lint format preflight bench soak images verify rebuild deposit fetch lock clean

help: ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

setup: $(VENV)/ready ## make .venv, in which snakemake runs
	@echo "set up; now: source $(BIN)/activate"

demo: $(VENV)/ready ## run the demo study, end to end, on this machine
	$(BIN)/snakemake --cores 1 --config study=demo

test: $(VENV)/ready-development ## run the tests, with every real framework
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile $(addprefix --ignore=,$(TIMED))
	$(BIN)/python -m pytest $(TIMED)

test-containers: $(VENV)/ready-development ## run a study in containers, on images built here (needs Apptainer)
	$(BIN)/python -m pytest -m "containers and not every_image" tests/workflow

test-images: $(VENV)/ready-development ## run the smoke study too, in the images of every framework (25 GB, 20 minutes)
	$(BIN)/python -m pytest -m containers tests/workflow

lint: $(VENV)/ready-development ## ruff, snakefmt, mypy and snakemake --lint
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/ruff format --check $(CHECKED)
	$(BIN)/snakefmt --check workflow/Snakefile rules
	$(BIN)/mypy
	$(BIN)/snakemake --lint

format: $(VENV)/ready-development ## put code and rules in their form
	$(BIN)/ruff check --fix $(CHECKED)
	$(BIN)/ruff format $(CHECKED)
	$(BIN)/snakefmt workflow/Snakefile rules

preflight: $(VENV)/ready ## say which meters this machine has, and what disturbs a measurement (STRICT=1: fail then)
	PYTHONPATH=src $(BIN)/python -P scripts/preflight.py $(if $(STRICT),--strict)

bench: $(VENV)/ready-development ## measure what framewatt costs and how right it is, beside targets and other tools
	$(BIN)/snakemake --cores 1 $(foreach name,torch tensorflow/cpu mxnet/cpu peers,resources/environments/locked/$(name)/environment.json)
	PYTHONPATH=src:tests $(BIN)/python -m bench

soak: $(VENV)/ready-development ## run a small study over and over beside one sampling process (MINUTES=60); nothing may fail or grow
	PYTHONPATH=src:tests $(BIN)/python -m soak --minutes $(or $(MINUTES),60)

images: $(VENV)/ready ## build the container images of a study ahead (STUDY=demo, BASE=… as container_base)
	$(BIN)/snakemake --cores 1 images --sdm apptainer \
		--config study=$(or $(STUDY),demo) $(if $(BASE),container_base=$(BASE))

verify: $(VENV)/ready ## check every hash, schema and joule of a package (ARCHIVE=x.zip)
	PYTHONPATH=src $(BIN)/python -P scripts/verify.py --archive $(ARCHIVE)

rebuild: $(VENV)/ready ## make a package's tables, figures and report again from its raw traces (ARCHIVE=x.zip TARGET=…)
	PYTHONPATH=src $(BIN)/python -P scripts/rebuild.py --archive $(ARCHIVE) --target $(or $(TARGET),$(basename $(ARCHIVE))-rebuilt)

deposit: $(VENV)/ready ## upload a package to Zenodo's sandbox (ARCHIVE=x.zip SERVER=… CONFIRM=1; else a dry run)
	PYTHONPATH=src $(BIN)/python -P scripts/deposit.py --archive $(ARCHIVE) \
		$(if $(SERVER),--server $(SERVER)) $(if $(CONFIRM),--confirm)

fetch: $(VENV)/ready ## download a paper's raw results by checksum (PAPER=itu2023 URL=… CHECKSUM=sha256:… SIZE_B=…)
	PYTHONPATH=src $(BIN)/python -P scripts/fetch.py --paper $(PAPER) --url $(URL) --checksum $(CHECKSUM) --size-b $(SIZE_B)

lock: $(VENV)/ready ## compile every environment's requirements.txt from its pyproject.toml
	PATH=$(abspath $(BIN)):$$PATH envs/lock.sh

clean: ## remove environments and everything downloaded or built, but no results
	rm -rf $(VENV) resources/environments resources/images resources/data resources/sources resources/weights .snakemake

$(VENV)/bin/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "framewatt: found $$($(PYTHON) --version 2>&1); allowed: Python 3.11 or newer; name one with PYTHON=…" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

$(VENV)/ready: envs/orchestrator/requirements.txt | $(VENV)/bin/uv
	$(BIN)/uv pip install --quiet --require-hashes --compile-bytecode --python $(BIN)/python -r $<
	@touch $@

$(VENV)/ready-development: envs/development/requirements.txt $(VENV)/ready
	$(BIN)/uv pip install --quiet --require-hashes --compile-bytecode --python $(BIN)/python -r $<
	@touch $@
