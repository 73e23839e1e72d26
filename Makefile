# framewatt's commands; `make help` lists them. Each sets up what it needs.
# What is given on the command line (ARCHIVE=…) is text: make does not expand it, to which $(shell …) in it would be a
# call, and no shell reads it as code, since recipes take it from the environment between quotes: "$$ARCHIVE".
$(foreach name,$(.VARIABLES),$(if $(findstring command,$(origin $(name))),\
	$(eval override export $(name) := $$(value $(name)))))

# What a target cannot do without, told in one line.
override needed = @for name in $(1); do [ -n "$$(printenv $$name)" ] || \
	{ echo "framewatt: make $@: found no $$name; allowed: make $@ $(patsubst %,%=…,$(1))" >&2; exit 1; }; done

# What is on or off: CONFIRM=0 is not to upload, so anything but 1 is refused.
override switches = @for name in $(1); do case "$$(printenv $$name)" in ""|1) ;; *) \
	echo "framewatt: make $@: found $$name=$$(printenv $$name); allowed: $$name=1, or without it" >&2; exit 1;; esac; done

override VENV := .venv
override BIN := $(VENV)/bin
# What builds a package that has no wheel is held to hashes too.
override INSTALL := --quiet --require-hashes --build-constraints envs/build/build-requirements.txt --compile-bytecode
# The shell gives way to the script, so that what ends make ends the script, and not just the shell.
override SCRIPTS := exec env PYTHONPATH=src $(BIN)/python -P scripts
override CHECKED := src scripts tests docs/site
# Tests whose outcome depends on the load of the machine, see tests/README.md: one after the other, and no other tests at the same time.
override MEASURING := tests/measured
# Four, since a test waits half of its time; files begin in their order, see tests/conftest.py, and not those first that have the most tests.
override PARALLEL := --numprocesses 4 --dist loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help setup demo deploy gpu gpu-collect wheels test test-busy test-containers test-images test-thorough test-slurm occupancy parity lint format docs schemas preflight characterise bench coverage simulate soak scale images verify sign rebuild deposit merge compare fetch lock clean

help: ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | column -t -s '|'

setup: $(VENV)/ready ## make .venv, in which snakemake runs
	@echo "set up; now: source $(BIN)/activate"

demo: $(VENV)/ready ## run the demo study, end to end, on this machine
	$(BIN)/snakemake --cores 1 --config study=demo

test: $(VENV)/ready-development ## run the tests, with every real framework (STRICT=1: what a busy machine kept from being judged fails)
	$(call switches,STRICT)
	$(BIN)/python -m pytest $(PARALLEL) --ignore=$(MEASURING)
	$(BIN)/python -m pytest $(MEASURING)

test-containers: $(VENV)/ready-development ## run a study in containers, on images built here (needs Apptainer)
	$(BIN)/python -m pytest -m "containers and not every_image" tests/workflow

test-images: $(VENV)/ready-development ## run the smoke study too, in the images of every framework (25 GB, 20 minutes)
	$(BIN)/python -m pytest -m containers tests/workflow

test-busy: $(VENV)/ready-development ## run the tests under load: 3 times in random order, once on one processor; MEASURED=20: the measured ones next to a browser; DEMOS=10: the demo next to it
	@PYTHONPATH=src:tests exec $(BIN)/python -m loaded $${MEASURED:+--measured="$$MEASURED"} $${DEMOS:+--demos="$$DEMOS"}

test-thorough: $(VENV)/ready-development ## what make test leaves out for its time: packages of further studies, training with every option, what BERT-base does (PART=3/7: every seventh test)
	$(BIN)/python -m pytest --numprocesses 2 --dist loadgroup -m thorough $${PART:+--part="$$PART"} tests

test-slurm: $(VENV)/ready-development ## run a study on a Slurm of two nodes that it starts here (needs root, and Debian's slurmctld slurmd slurm-client munge; with accounting slurmdbd mariadb-server)
	$(BIN)/python -m pytest -m slurm tests/slurm

occupancy: $(VENV)/ready ## when each node of a study measured, and that no two runs overlapped on one (RESULTS=results/x PICTURE=occupancy.svg)
	$(call needed,RESULTS)
	@$(SCRIPTS)/occupancy.py --results="$$RESULTS" --picture="$${PICTURE:-occupancy.svg}"

parity: $(VENV)/ready-development ## hold own models to independent implementations (builds an environment of its own, 6 GB)
	$(BIN)/snakemake --cores 1 resources/environments/locked/oracles/environment.json
	$(BIN)/python -m pytest -m oracles tests/oracles

lint: $(VENV)/ready-development ## ruff, snakefmt, mypy, import-linter, snakemake --lint, spelling, plain English, and whether every test can be collected
	@# 11 s here; what cannot be imported is told only at the end of a run of all tests.
	@found="$$($(BIN)/python -m pytest --collect-only -qqq 2>&1)" || { echo "$$found"; exit 1; }
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/ruff format --check $(CHECKED)
	$(BIN)/snakefmt --check workflow/Snakefile workflow/rebuild.smk rules
	$(BIN)/mypy
	PYTHONPATH=src $(BIN)/lint-imports --no-cache
	$(BIN)/snakemake --lint
	$(BIN)/codespell src scripts rules workflow config docs envs/*.sh .ci Makefile *.md tests/README.md
	$(BIN)/python tests/project/plain_english.py

format: $(VENV)/ready-development ## put code and rules in their form, and lower the counts of what plain English still lacks
	$(BIN)/ruff check --fix $(CHECKED)
	$(BIN)/ruff format $(CHECKED)
	$(BIN)/snakefmt workflow/Snakefile workflow/rebuild.smk rules
	$(BIN)/python tests/project/plain_english.py --update

schemas: $(VENV)/ready ## write config/schemas/run.schema.json anew, from the types in src/framewatt/study/records.py
	$(SCRIPTS)/schemas.py

docs: $(VENV)/ready-development ## build docs/ as a site in site/, with its links checked
	@# Not --quiet, by which warnings would end no build.
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "built; open site/index.html, or to search in it: python3 -m http.server --directory site"

deploy: $(VENV)/ready ## which provider, batch and threads costs least for a model (MODEL=x.onnx BATCH=1,8 PROVIDERS=… THREADS=… MINUTES=5 DATA=x.npz AXES=… STUDY=…)
	$(call needed,MODEL)
	@$(SCRIPTS)/deploy.py --model="$$MODEL" $${STUDY:+--study="$$STUDY"} $${BATCH:+--batch="$$BATCH"} \
		$${PROVIDERS:+--providers="$$PROVIDERS"} $${THREADS:+--threads="$$THREADS"} $${MINUTES:+--minutes="$$MINUTES"} \
		$${DATA:+--data="$$DATA"} $${AXES:+--axes="$$AXES"} $${FRAMEWORK:+--framework="$$FRAMEWORK"} \
		$${FOLDER:+--folder="$$FOLDER"} $${INPUTS:+--inputs="$$INPUTS"} $${READS:+--reads="$$READS"}

gpu: $(if $(filter undefined,$(origin WHEELS)),$(if $(wildcard $(VENV)/from-wheels),,$(VENV)/ready)) ## measure the studies for one NVIDIA GPU with the interpreter at hand (SLICE=8m GPU_PYTHON=python3 CARRY=dir DIRS=… PLAN=1 SHARED=1; without a network WHEELS="part-1 part-2")
	$(call switches,PLAN SHARED)
	@[ -z "$$WHEELS" ] || "$${GPU_PYTHON:-python3}" scripts/from_wheels.py --wheels="$$WHEELS" --venv=$(VENV)
	@# Carried wheels are on top of the interpreter's packages, and are measured too.
	@[ ! -e $(VENV)/from-wheels ] || export GPU_PYTHON=$(BIN)/python; \
	$(SCRIPTS)/gpu.py --python="$${GPU_PYTHON:-python3}" $${SLICE:+--slice="$$SLICE"} $${CARRY:+--carry="$$CARRY"} \
		$${DIRS:+--dirs="$$DIRS"} $${PLAN:+--plan} $${SHARED:+--shared}

gpu-collect: $(VENV)/ready ## join what make gpu carried away from GPU machines, and write the reports (DIRS="a b")
	$(call needed,DIRS)
	@$(SCRIPTS)/gpu_collect.py --dirs="$$DIRS"

wheels: $(VENV)/ready ## a folder of wheels for a machine without a network (WHEELS=dir SIZE=60MB PARTS=2 PYTHON_VERSION=3.12 WITHOUT="numpy scipy" EXTRA=onnxruntime-gpu)
	$(call needed,WHEELS)
	@$(SCRIPTS)/wheels.py --wheels="$$WHEELS" $${SIZE:+--size="$$SIZE"} $${PARTS:+--parts="$$PARTS"} \
		$${PYTHON_VERSION:+--python-version="$$PYTHON_VERSION"} $${WITHOUT:+--without="$$WITHOUT"} $${EXTRA:+--extra="$$EXTRA"}

preflight: $(VENV)/ready ## say which meters this machine has, and what disturbs a measurement (STRICT=1: fail then; METERS=1: try the meters under load)
	$(call switches,STRICT METERS)
	$(SCRIPTS)/preflight.py $${STRICT:+--strict} $${METERS:+--meters}

characterise: $(VENV)/ready ## put the machine and its GPU under known loads, and see what each meter shows (GPU_PYTHON=an interpreter with PyTorch)
	$(SCRIPTS)/characterise.py $${GPU_PYTHON:+--gpu-python="$$GPU_PYTHON"}

bench: $(VENV)/ready-development ## measure what framewatt costs and how right it is, beside targets and other tools
	$(BIN)/snakemake --cores 1 $(foreach name,torch tensorflow/cpu mxnet/cpu peers,resources/environments/locked/$(name)/environment.json)
	PYTHONPATH=src:tests $(BIN)/python -m bench

coverage: $(VENV)/ready-development ## how often twice the uncertainty of a window holds its error, by meter and shape of load
	PYTHONPATH=src:tests $(BIN)/python -m simulated

simulate: $(VENV)/ready-development ## how often answers, verdicts and joules of operators are wrong, cover and find, and after how many blocks studies stop, where the truth is known
	PYTHONPATH=src:tests $(BIN)/python -m simulated.answers
	PYTHONPATH=src:tests $(BIN)/python -m simulated.stop
	PYTHONPATH=src:tests $(BIN)/python -m simulated.disturbed
	PYTHONPATH=src:tests $(BIN)/python -m simulated.claims
	PYTHONPATH=src:tests $(BIN)/python -m simulated.joules
	PYTHONPATH=src:tests $(BIN)/python -m simulated.machines
	PYTHONPATH=src:tests $(BIN)/python -m simulated.compared

soak: $(VENV)/ready-development ## run a small study over and over beside one sampling process (MINUTES=60); or strike it with faults (FAULTS=200 SEED=1; ON=slurm: on a Slurm of two nodes, as test-slurm, or ON=slurm-accounting)
	@with=; case "$$ON" in "") strike=soak.faults;; slurm) strike=soak.on_slurm;; \
		slurm-accounting) strike=soak.on_slurm; with=--accounting;; \
		*) echo "framewatt: make soak: found ON=$$ON; allowed: ON=slurm, ON=slurm-accounting, or none" >&2; exit 1;; esac; \
	if [ -n "$$FAULTS" ]; then \
		PYTHONPATH=src:tests exec $(BIN)/python -m "$$strike" --faults="$$FAULTS" --seed="$${SEED:-1}" \
			$${MINUTES:+--minutes="$$MINUTES"} $$with; \
	else \
		PYTHONPATH=src:tests exec $(BIN)/python -m soak --minutes="$${MINUTES:-60}"; \
	fi

scale: $(VENV)/ready-development ## what every stage takes for synthetic studies of many runs (RUNS="100 1000 10000" FOLDER=where they stay), or one trace of many readings (TRACE=100000000)
	@if [ -n "$$TRACE" ]; then PYTHONPATH=src:tests exec $(BIN)/python -m scale.long_trace --readings "$$TRACE"; else \
		PYTHONPATH=src:tests exec $(BIN)/python -m scale --runs $${RUNS:-100 1000 10000} $${FOLDER:+--folder="$$FOLDER"}; fi

images: $(VENV)/ready ## build the container images of a study ahead (STUDY=demo, BASE=… as container_base)
	$(BIN)/snakemake --cores 1 images --sdm apptainer \
		--config "study=$${STUDY:-demo}" $${BASE:+"container_base=$$BASE"}

verify: $(VENV)/ready ## recount all that follows from what a package holds (ARCHIVE=x.zip REBUILD=1 SIGNERS=…)
	$(call needed,ARCHIVE)
	$(call switches,REBUILD)
	$(SCRIPTS)/verify.py --archive="$$ARCHIVE" $${REBUILD:+--rebuild} \
		$${SIGNERS:+--signers="$$SIGNERS"} $${TIME_S:+--seconds="$$TIME_S"} \
		$${MEMORY_GB:+--memory-gb="$$MEMORY_GB"} $${DISK_GB:+--disk-gb="$$DISK_GB"}

sign: $(VENV)/ready ## sign a package with a key of OpenSSH (ARCHIVE=x.zip KEY=~/.ssh/id_ed25519)
	$(call needed,ARCHIVE KEY)
	$(SCRIPTS)/sign.py --archive="$$ARCHIVE" --key="$$KEY"

rebuild: $(VENV)/ready ## make a package's tables, figures and report again from its raw traces (ARCHIVE=x.zip TARGET=…)
	$(call needed,ARCHIVE)
	$(SCRIPTS)/rebuild.py --archive="$$ARCHIVE" --target="$${TARGET:-$${ARCHIVE%.*}-rebuilt}" \
		$${TIME_S:+--seconds="$$TIME_S"} $${MEMORY_GB:+--memory-gb="$$MEMORY_GB"} $${DISK_GB:+--disk-gb="$$DISK_GB"}

deposit: $(VENV)/ready ## upload a package to Zenodo's sandbox (ARCHIVE=x.zip SERVER=… ALLOW_HOST=… CONFIRM=1; else a dry run)
	$(call needed,ARCHIVE)
	$(call switches,CONFIRM)
	$(SCRIPTS)/deposit.py --archive="$$ARCHIVE" \
		$${SERVER:+--server="$$SERVER"} $${CONFIRM:+--confirm}

merge: $(VENV)/ready ## join packages of one study from several machines, with the machine as a factor (ARCHIVES="a.zip b.zip" STUDY=…)
	$(call needed,ARCHIVES)
	@$(SCRIPTS)/merge.py --archives="$$ARCHIVES" $${STUDY:+--study="$$STUDY"} \
		$${TIME_S:+--seconds="$$TIME_S"} $${MEMORY_GB:+--memory-gb="$$MEMORY_GB"} $${DISK_GB:+--disk-gb="$$DISK_GB"}

compare: $(VENV)/ready ## which cells cost other than before, and fail where one costs more (ARCHIVES="old.zip new.zip" FAIL_ABOVE=5% QUANTITY=time STRICT=1 TABLE=x.csv)
	$(call needed,ARCHIVES)
	$(call switches,STRICT)
	@# What is given and empty, as by a variable with a typo, is refused.
	@$(SCRIPTS)/compare.py --archives="$$ARCHIVES" $${FAIL_ABOVE+--fail-above="$$FAIL_ABOVE"} $${STRICT:+--strict} \
		$${QUANTITY+--quantity="$$QUANTITY"} $${TABLE+--table="$$TABLE"} $${TIME_S:+--seconds="$$TIME_S"} $${MEMORY_GB:+--memory-gb="$$MEMORY_GB"} \
		$${DISK_GB:+--disk-gb="$$DISK_GB"}

fetch: $(VENV)/ready ## download a paper's raw results by checksum (PAPER=itu2023 URL=… CHECKSUM=sha256:… SIZE_B=…)
	$(call needed,PAPER URL CHECKSUM SIZE_B)
	$(SCRIPTS)/fetch.py --paper="$$PAPER" --url="$$URL" \
		--checksum="$$CHECKSUM" --size-b="$$SIZE_B"

lock: $(VENV)/ready ## compile every environment's requirements.txt from its pyproject.toml
	PATH="$$PWD/$(BIN):$$PATH" envs/lock.sh

clean: ## remove environments and everything downloaded or built, but no results
	rm -rf $(VENV) resources/environments resources/images resources/data resources/sources resources/weights .snakemake site

# Older Pythons write a checkout's path into `activate` as code, which uv writes anew.
$(BIN)/uv:
	@"$${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "framewatt: found $$("$${PYTHON:-python3}" --version 2>&1); allowed: Python 3.11 or newer; name one with PYTHON=…" >&2; exit 1; }
	"$${PYTHON:-python3}" -m venv $(VENV)
	sed -n '/^uv==/,/[^\\]$$/p' envs/orchestrator/requirements.txt | $(BIN)/python -m pip install --quiet \
		--disable-pip-version-check --require-hashes --no-deps --only-binary=:all: --requirement /dev/stdin
	$(BIN)/uv venv --quiet --no-config --allow-existing --python $(BIN)/python $(VENV)

$(VENV)/ready: envs/orchestrator/requirements.txt | $(BIN)/uv
	$(BIN)/uv pip install $(INSTALL) --python $(BIN)/python --requirement $<
	@touch $@

$(VENV)/ready-development: envs/development/requirements.txt $(VENV)/ready
	$(BIN)/uv pip install $(INSTALL) --python $(BIN)/python --requirement $<
	@touch $@
