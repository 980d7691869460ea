# Everything a contributor does. `make help` lists it. Each target works from a fresh checkout: it makes the environments that it needs.
# PYTHON=… and COLAB_PYTHON=… name the interpreters, where those that are found do not suit.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help book html test programs test-fast test-colab test-frameworks test-gpu lint format snapshots views frontend figures exercises pairs address bench lock clean

VENV := .venv
COLAB := .venv-colab
FRAMEWORKS := .venv-frameworks
BIN := $(VENV)/bin
BOOK_READY := $(VENV)/.book-ready
READY := $(VENV)/.ready
COLAB_READY := $(COLAB)/.ready
FRAMEWORKS_READY := $(FRAMEWORKS)/.ready
NODE_READY := frontend/node_modules/.ready
# Tests of one file stay together: they share what they made. Files keep the order that tests/conftest.py gives them.
# Three processes keep two processors busy: those that drive a browser or a kernel mostly wait.
WORKERS := -n 3 --dist loadfile --no-loadscope-reorder
# Threads that wait for work give the processor to the other processes. (Alone on a machine, waiting busily is faster.)
export TVM_THREAD_POOL_SPIN_COUNT := 0
export OMP_WAIT_POLICY := PASSIVE
PIP := tools/install_packages.py

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "  make %-11s %s\n", $$1, $$2 }'

book: $(BOOK_READY)  ## execute and build the book, and open it (BOOK_OPEN=0: do not open)
	@tools/install_system.sh --optional $(NATIVE)
	@$(BIN)/python tools/build_book.py --open

html: $(BOOK_READY)
	@tools/install_system.sh --optional $(NATIVE)
	@$(BIN)/python tools/build_book.py

# Programs are compiled ahead of time for this machine and for ARM, and the latter run under qemu; a GPU is emulated.
# Graphviz lays out the graphs that relay_explorer.interop draws.
NATIVE := cc=gcc g++=g++ objcopy=binutils "aarch64-linux-gnu-gcc=gcc-aarch64-linux-gnu libc6-dev-arm64-cross" qemu-aarch64=qemu-user dot=graphviz

# Building the book runs its pages, and test_environments_notebooks.py runs notebooks and solutions with Colab's versions: once is enough.
# Notebooks that import PyTorch run here instead: it has no small build for Colab's version of Python.
IN_COLAB := --deselect tests/notebooks/test_book_notebooks.py::test_runs --deselect tests/exercises/test_notebooks.py::test_solution_notebook_runs

# The environments and the programs are got beside each other: that is mostly downloading and unpacking. (git first: apt-get runs once at a time.)
test:  ## run everything: style, types, unit, Colab's versions, frameworks, front end, notebooks, book, browser
	@tools/install_system.sh git=git
	@$(MAKE) --no-print-directory -s -j 4 $(READY) $(COLAB_READY) $(FRAMEWORKS_READY) programs
	@$(BIN)/python -m pytest $(WORKERS) $(IN_COLAB) -m "not frameworks"

programs:
	@tools/install_system.sh chromium-headless-shell=chromium-headless-shell firefox-esr=firefox-esr npm=npm $(NATIVE)

test-fast: $(READY)  ## run what needs neither a browser nor the built book nor a kernel
	@tools/install_system.sh $(NATIVE)
	@$(BIN)/python -m pytest $(WORKERS) -m "not slow and not browser and not book and not notebook and not frameworks"

# Tests that compare with PyTorch, themselves or through a helper, or build pages are for the main environment. So are those that try
# rewriting on thousands of random programs: it knows nothing of NumPy's version or a notebook's. And those of the compiler: TVM is the same
# in both, and what needs it in a notebook, the exercises, is tested in both.
# Text, types and programs know of no other package, and everything that is tried there rests on them.
# Answers to exercises, right and wrong, are judged in the main environment; here the solutions' notebooks run, with all their checks.
# Views are data, the same in every version; the chapters' notebooks, which run here too, show all of them.
# `make test` runs it in two parts beside each other: COLAB_PART="notebook" and COLAB_PART="not notebook".
COLAB_PART := not slow
ANSWERS := common_mistake or solution_passes
ONCE := property fuzz transform dataflow_pattern lower emulated text typing ir analysis views book pocket
# Of the importers, ONNX's node tests run there, with the newest onnx; the rest needs frameworks that have no small build for Python 3.13.
ONCE += $(patsubst tests/%,%,$(filter-out %/onnx,$(wildcard tests/frontends/*)))
test-colab: $(COLAB_READY)  ## run the core, the widgets and the notebooks with Colab's versions, on Python 3.13
	@$(COLAB)/bin/python -m pytest -m "not slow and not browser and not book and not frameworks and not pytorch and $(COLAB_PART)" -k "not ($(ANSWERS))" \
	  --ignore tests/machinery --ignore tests/browser $(addprefix --ignore tests/,$(ONCE)) \
	  $$(grep -rlE '^(import|from) (torch|docutils|tests\.(ops\.meanings|models\.reference|frontends\.onnx\.(support|against_runtime)))' tests | sed 's/^/--ignore /')

# Tests marked `frameworks` need TensorFlow, Keras 2 or the data of ONNX's node tests. `make test` runs them from a test of its own.
test-frameworks: $(FRAMEWORKS_READY)  ## run what needs TensorFlow, Keras 2 or the data of ONNX's node tests
	@$(FRAMEWORKS)/bin/python -m pytest -m frameworks $$(grep -rl 'mark.frameworks' tests/frontends)

test-gpu: $(READY)  ## run what needs a GPU, or NVIDIA's compiler: kernels against the interpreter, PTX (no part of `make test`)
	@$(BIN)/python -m pytest tests/gpu

lint: $(READY) $(NODE_READY)  ## check style and types, of Python and of the front end (needs node)
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy
	@cd frontend && npm run --silent lint && npm run --silent types && npm run --silent format:check

format: $(READY) $(NODE_READY)  ## format the sources and mend what the linters can (needs node)
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format .
	@cd frontend && npm run --silent lint -- --fix ; npm run --silent format

# Texts are pinned in the tests that make them. `TESTS=tests/views` rewrites those of one folder or file.
TESTS := tests
snapshots: $(READY)  ## rewrite the texts that tests pin (TESTS=tests/views: only those); `git diff` shows them
	@$(BIN)/python -m tools.snapshots $(TESTS)

views:  ## derive the front end's types, decoder and list of views from the views' dataclasses
	@PYTHONPATH=. $(BIN)/python -m tools.view_contract

frontend: views $(NODE_READY)  ## bundle the explorers' front end (needs node)
	@cd frontend && npm run --silent build

figures: $(READY)  ## draw the printed figures
	@tools/install_system.sh
	@$(BIN)/python -m figures

pairs: $(BOOK_READY)  ## write the notebooks that belong to the book's executable pages
	@$(BIN)/python tools/pair.py

address: $(READY)  ## rewrite all that is derived from the project's public address and version
	@$(BIN)/python tools/address.py && $(BIN)/python tools/pair.py && $(BIN)/python -m exercises

exercises: $(READY)  ## generate the exercises' release and solution notebooks
	@$(BIN)/python -m exercises

bench: $(READY)  ## run the benchmarks (installs PyTorch)
	@$(BIN)/python $(PIP) -r requirements-bench.txt
	@$(BIN)/python -m benchmarks

lock:  ## resolve the requirements anew and write requirements.txt and requirements-dev.txt
	@python=$$(tools/find_python.sh 3.11) && $$python tools/lock.py

clean:  ## delete what was built (environments stay)
	@rm -rf _build build dist .mypy_cache .ruff_cache .pytest_cache

# Readers need what builds the book; testing adds to it.
$(BOOK_READY): requirements.txt pyproject.toml
	@tools/install_system.sh git=git
	@test -x $(BIN)/python || { python=$$(tools/find_python.sh 3.11 3.12 3.13) && echo "Making $(VENV) with $$python" && $$python -m venv $(VENV); }
	@$(BIN)/python $(PIP) -r requirements.txt
	@$(BIN)/python $(PIP) --no-deps --editable .
	@touch $@

$(READY): $(BOOK_READY) requirements-dev.txt
	@$(BIN)/python $(PIP) -r requirements-dev.txt
	@touch $@

$(COLAB_READY): requirements-colab.txt pyproject.toml
	@test -x $(COLAB)/bin/python || { python=$$(PYTHON="$(COLAB_PYTHON)" tools/find_python.sh 3.13) && echo "Making $(COLAB) with $$python" && $$python -m venv $(COLAB); }
	@$(COLAB)/bin/python $(PIP) -r requirements-colab.txt
	@$(COLAB)/bin/python $(PIP) --no-deps --editable .
	@touch $@

$(FRAMEWORKS_READY): requirements-frameworks.txt pyproject.toml
	@test -x $(FRAMEWORKS)/bin/python || { python=$$(tools/find_python.sh 3.11) && echo "Making $(FRAMEWORKS) with $$python" && $$python -m venv $(FRAMEWORKS); }
	@$(FRAMEWORKS)/bin/python $(PIP) -r requirements-frameworks.txt
	@$(FRAMEWORKS)/bin/python $(PIP) --no-deps --editable .
	@touch $@

$(NODE_READY): frontend/package-lock.json
	@tools/install_system.sh npm=npm
	@cd frontend && npm ci --no-audit --no-fund --silent
	@touch $@
