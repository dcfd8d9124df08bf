# Overclock: `make demo` shows the main job, `make test` runs the tests. Each target sets up what it needs, once.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint requirements.lock
PONG   := overclock.envs.pong.twin

.DEFAULT_GOAL := setup
.PHONY: help setup demo test verify fuzz bench lint format docs native wheel lock clean

help: ## Show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

# The packages of an extra and the Rust extension: pip takes one core and the compiler, mostly, another.
define installed
@$(MAKE) --no-print-directory --jobs=2 $(VENV)/.$(1) wheel
@$(MAKE) --no-print-directory native
endef

setup: ## Create .venv with the package, its references and the Rust extension
	$(call installed,demo)
	@echo "ready: $(BIN)/overclock (or just overclock, after: source $(BIN)/activate)"

demo: setup ## Translate Gymnasium's CartPole, verify it, time it beside the original, write a page
	@$(BIN)/overclock demo

# Tests start hundreds of Python programs: bytecode is kept, whatever the shell thinks of it, or each compiles ours anew.
test verify: export PYTHONDONTWRITEBYTECODE :=

# Three workers on two cores: a test that waits for a process or a time limit leaves its core to another one.
test: ## Run all tests but the long ones (under 15 minutes on 2 cores)
	$(call installed,test)
	@if [ -f $(VENV)/.native ] && cargo --version >/dev/null 2>&1; then cd native && cargo test --quiet --locked; fi
	@$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m "not long" $(PYTEST_ARGS)

verify: $(VENV)/.test native ## The long comparisons (hours): 10,000 episodes of each game, 100 of each robot, other instruction sets, the red team, the tests that take minutes
	@for twin in pong $(addprefix $(PONG):,frameskip_8 continuous continuous_8); do \
		$(BIN)/overclock verify $$twin --episodes 10000 || exit; done
	@if [ -f $(VENV)/.native ]; then \
		for twin in $(addprefix $(PONG):,rust rust_8 rust_continuous rust_continuous_8); do \
			$(BIN)/overclock verify $$twin --episodes 10000 || exit; done; \
		$(BIN)/overclock verify $(PONG):jax_rust_8 --only 4; fi
	@for robot in halfcheetah walker2d hopper; do $(BIN)/overclock verify $$robot --timeout 600 || exit; \
		$(BIN)/overclock verify overclock.envs.$$robot.twin:exact --level 3 --timeout 600 || exit; done
	@if [ -f $(VENV)/.native ]; then \
		for game in maze paddle; do $(BIN)/overclock verify gameboy-$$game --timeout 1800 || exit; \
			$(BIN)/python -m overclock.gameboy check $$game --episodes 100 || exit; done; fi
	@$(BIN)/python scripts/processors.py
	@sh scripts/native.sh fuzz
	@$(BIN)/overclock verify cartpole --episodes 10000 --output runs/verify
	@$(BIN)/overclock redteam
	@$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m long $(PYTEST_ARGS)

fuzz: ## Random bytes as ROMs and as states of the Game Boy, a minute each; needs cargo-fuzz
	@sh scripts/native.sh fuzz

bench: setup ## Measure throughput beside the peers, write benchmarks/latest.json and a plot
	@$(BIN)/overclock bench cartpole --peers gymnasium,gymnax,envpool --output benchmarks/latest.json --plot benchmarks/latest.png

lint: $(VENV)/.test $(VENV)/.lint ## ruff, pyright and the length of docstrings (and clippy where Rust is installed)
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/pyright
	@$(BIN)/python scripts/short_docstrings.py --check
	@sh scripts/native.sh lint

format: $(VENV)/.lint ## Rewrite the sources in the house style
	@$(BIN)/ruff check --fix . && $(BIN)/ruff format .

docs: $(VENV)/.docs ## Build the HTML documentation into docs/_build
	@$(BIN)/sphinx-build -q -W -b html docs docs/_build && echo "docs/_build/index.html"

native: $(VENV)/.base ## Build the Rust extension; says in one line why not, where it cannot
	@sh scripts/native.sh build

wheel: | $(BIN)/python
	@sh scripts/native.sh wheel

lock: $(VENV)/.base ## Write requirements.lock anew from pyproject.toml
	@sh scripts/lock.sh

clean: ## Remove everything that make built
	rm -rf $(VENV) native/target docs/_build .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Overclock needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	@echo "setting up $(VENV) (once)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.base: pyproject.toml requirements.lock | $(BIN)/python
	@$(PIP) --editable .
	@touch $@

# Extras are installed in layers, so that `make demo` does not wait for the test suite's packages. Bytecode is made on all
# cores, where pip would take one; what no Python can compile (templates, old tests) is left alone.
$(VENV)/.demo $(VENV)/.test $(VENV)/.lint $(VENV)/.docs: $(VENV)/.%: $(VENV)/.base
	@echo "installing the packages for '$*' (once)"
	@$(PIP) --editable '.[$*]'
	@$(BIN)/python -m compileall -q -j 0 $(VENV)/lib >/dev/null 2>&1 || true
	@touch $@
