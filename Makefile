# Needs Python >= 3.11 with venv and pip, and make. Everything else goes into $(VENV).
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

# The extras each job installs; see pyproject.toml.
EXTRAS_demo := plot,qp
EXTRAS_studio := studio,plot,qp,data
EXTRAS_test := test
EXTRAS_lint := test,lint,plot
EXTRAS_bench := bench,plot
EXTRAS_docs := docs

.DEFAULT_GOAL := help
.PHONY: help demo studio figures docs test slow bench lint types format floors sdist check clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "make %-8s %s\n", $$1, $$2}' Makefile

demo: $(VENV)/.installed-demo ## run the demonstration
	$(BIN)/maxmargin demo

studio: $(VENV)/.installed-studio ## open the solvers, live, in the browser
	$(BIN)/maxmargin studio

figures: $(VENV)/.installed-demo ## make the figures of the README and the guide
	$(BIN)/python docs/figures.py

docs: $(VENV)/.installed-docs ## build the site into docs/_build/html; a warning is an error
	$(BIN)/python -m sphinx -b html -W --keep-going -j 2 -d docs/_build/doctrees docs docs/_build/html

test: $(VENV)/.installed-test ## run the tests, without the slow ones
	$(BIN)/python -m pytest -n 2

slow: $(VENV)/.installed-test ## run only the slow tests
	$(BIN)/python -m pytest -m slow

bench: $(VENV)/.installed-bench ## race the solvers against their peers, briefly (real data: set MAXMARGIN_DATA)
	$(BIN)/python benchmarks/race.py --problems linear --data tall:10000,text,a9a,ijcnn1 --C 1,100 $(SHORT) --out short-linear
	$(BIN)/python benchmarks/race.py --problems kernel --data rings:2000,text:2000,a9a:3000 --C 1,100 --gamma 1 $(SHORT) --out short-kernel

SHORT := --cap 5 --reference-cap 10

lint: $(VENV)/.installed-lint ## check style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-lint ## check the types
	$(BIN)/mypy

format: $(VENV)/.installed-lint ## format the code and fix what can be fixed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

floors: $(BIN)/pip ## run the tests with the oldest versions that pyproject.toml allows, in an environment of their own
	$(PYTHON) -m venv --clear $(VENV)-floors
	$(BIN)/python .ci/floors.py > $(VENV)-floors/constraints.txt
	$(VENV)-floors/bin/python -m pip install -qq --disable-pip-version-check -c $(VENV)-floors/constraints.txt -e ".[test]"
	$(VENV)-floors/bin/python -m pytest -n 2 $(TESTS)

sdist: $(BIN)/pip ## build the sdist, unpack it, and run its own tests
	rm -rf dist
	$(BIN)/python -m pip install -qq --disable-pip-version-check build
	$(BIN)/python -m build
	tar -xzf dist/maxmargin-*.tar.gz -C dist
	$(MAKE) -C dist/maxmargin-*/ test

check: ## run all that must pass before a change goes in (.ci/run)
	PYTHON="$(PYTHON)" .ci/run

clean: ## remove caches, build products and demo output; keep the environment
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis demo-output
	rm -rf docs/_build docs/generated docs/gallery docs/jupyter_execute docs/lessons/*.ipynb
	find . -path "./$(VENV)" -prune -o -path ./.git -prune -o -name __pycache__ -type d -exec rm -rf {} +

# A job's stamp: installed again only when pyproject.toml changes.
$(VENV)/.installed-%: pyproject.toml | $(BIN)/pip
	$(BIN)/python -m pip install -qq --disable-pip-version-check -e ".[$(EXTRAS_$*)]"
	@touch $@

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "maxmargin needs Python 3.11 or later: name one with make PYTHON=/path/to/python."; exit 1; }
	$(PYTHON) -m venv $(VENV)
