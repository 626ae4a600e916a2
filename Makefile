# make demo   the main job on sample data, against the embedded sandbox: no account, no network but the package index
# make test   everything that is tested; missing optional parts (Chromium, strace) are skipped and named
# make test-oldest  all that can depend on it, with the oldest pandas and libraries we support (constraints-oldest.txt)
# make check  lint, format, types, spelling, and the documentation
# make docs   the documentation site in site/, without a network; opens from the folder, its search needs a server
# make sbom   the bill of materials of an installation without extras, in sbom.json (CycloneDX)
# make lab    JupyterLab on the notebooks (LAB_ARGS="--no-browser" prints the address instead of opening it)
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TEST_READY := $(VENV)/.ready-test

OLDEST := .venv-oldest
OLDEST_READY := $(OLDEST)/.ready
# What the oldest libraries change nothing of, and why it is left out. All else that handles a frame stays in.
#   browser, documents/test_site.py, typed   need Chromium, mkdocs and mypy, of which no oldest version is claimed
#   engines                                  Dask and Spark, of which no oldest version is claimed
#   kills, ledger/test_stories.py            minutes of deaths; what survives them is SQLite's and the file system's
#   secrecy/test_saved_notebooks.py          what Jupyter saves of forms; documents/ runs the same notebooks
#   house/test_patterns.py                   our regular expressions put to `re`: no library takes part
#   phones/test_every_sign.py                a minute for Unicode's signs; test_exact.py has the columns they stand in
LEFT_OUT := browser engines documents/test_site.py typed kills ledger/test_stories.py secrecy/test_saved_notebooks.py \
	house/test_patterns.py phones/test_every_sign.py

# The tests run in this many processes, the tests of a file in one of them.
WORKERS ?= 2
PYTEST := -m pytest --numprocesses=$(WORKERS) --dist=loadfile

# Benchmarks are checked for what has moved or changed its arguments.
LOOSE := arg-type no-any-return type-arg unused-ignore

.PHONY: demo test test-oldest check docs sbom lab format clean

demo: $(READY)
	$(BIN)/python -m smsotp_nb demo

test: $(TEST_READY)
	$(BIN)/python $(PYTEST) $(PYTEST_ARGS)

test-oldest: $(OLDEST_READY)
	$(OLDEST)/bin/python $(PYTEST) $(LEFT_OUT:%=--ignore=tests/%) $(PYTEST_ARGS)

check: $(TEST_READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --strict tests/typed/user_code.py
	MYPYPATH=tests:sample_data $(BIN)/mypy $(LOOSE:%=--disable-error-code=%) benchmarks
	$(BIN)/basedpyright
	$(BIN)/codespell
	$(BIN)/python -m pip check
	$(MAKE) --no-print-directory docs

docs: $(TEST_READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict

sbom: $(TEST_READY)
	$(PYTHON) -m venv --clear $(VENV)-sbom
	$(VENV)-sbom/bin/python -m pip install --quiet -c constraints.txt .
	$(BIN)/cyclonedx-py environment $(VENV)-sbom/bin/python --pyproject pyproject.toml --mc-type library \
		--output-reproducible -o sbom.json

format: $(TEST_READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lab: $(TEST_READY)
	$(BIN)/python -m jupyterlab --notebook-dir=. $(LAB_ARGS) notebooks/campaign.ipynb

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e .
	touch $@

$(TEST_READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[test]"
	touch $@ $(READY)

$(OLDEST_READY): pyproject.toml constraints-oldest.txt
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet -c constraints-oldest.txt -e ".[suite]"
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-sbom $(OLDEST) sbom.json build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .site_cache site
