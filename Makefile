# make demo   the main job on sample data, against the embedded sandbox: no account, no network but the package index
# make test   the suite; of long tables a sample of rows. Missing optional parts (Chromium, strace) are skipped and named
# make quick  a look at all rooms in two minutes, or at one: make quick ROOM=phones
# make exhaustive   the suite with all rows of all tables, and in the browser all themes and widths: an hour
# make test-oldest  what can depend on it, with the oldest pandas and libraries we support (constraints-oldest.txt)
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
# What the oldest libraries change nothing of, and why it is left out. All else that handles a frame stays in, with at
# most OLDEST_ROWS rows of each table: what differs between versions of pandas differs in most rows.
#   browser, documents/test_site.py, typed   need Chromium, mkdocs and mypy, of which no oldest version is claimed
#   engines                                  Dask and Spark, of which no oldest version is claimed
#   kills                                    minutes of deaths; what survives them is SQLite's and the file system's
#   settings, cards, templates, parts        text in, text out: no library takes part
#   house/test_patterns.py, test_layers.py   our source and our regular expressions: no library takes part
#   sandbox                                  but for its facade, which hands out frames, it loads no pandas
#   marked slow or notebook                  minutes of what quicker tests of the same rooms hold
#   marked on_server                         the same tests on a ledger in a file stay in
LEFT_OUT := browser documents/test_site.py typed engines kills settings cards parts \
	house/test_patterns.py house/test_layers.py \
	$(patsubst tests/%,%,$(filter-out %/test_facade.py,$(wildcard tests/sandbox/test_*.py)))
OLDEST_ROWS := 3

# The tests run in this many processes, the tests of a file in one of them, the longest files first.
WORKERS ?= 3
PYTEST := -m pytest --numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder
QUICK := not slow and not browser and not notebook and not on_server

# Benchmarks are checked for what has moved or changed its arguments.
LOOSE := arg-type no-any-return type-arg unused-ignore

.PHONY: demo test quick exhaustive test-oldest check lint types types-benchmarks docs
.PHONY: sbom lab format clean

demo: $(READY)
	$(BIN)/python -m smsotp_nb demo

test: $(TEST_READY)
	$(BIN)/python $(PYTEST) $(PYTEST_ARGS)

# Of all rooms every other test with one row of its table, others each day; of one room what `make test` takes.
quick: $(TEST_READY)
	$(BIN)/python $(PYTEST) -m "$(QUICK)" $(if $(ROOM),tests/$(ROOM),--glance) $(PYTEST_ARGS)

exhaustive: $(TEST_READY)
	$(BIN)/python $(PYTEST) --exhaustive $(PYTEST_ARGS)

test-oldest: $(OLDEST_READY)
	$(OLDEST)/bin/python $(PYTEST) -m "$(QUICK)" --at-most=$(OLDEST_ROWS) $(LEFT_OUT:%=--ignore=tests/%) $(PYTEST_ARGS)

# Its parts can run beside each other: make -j2 check
check: types types-benchmarks docs lint

lint: $(TEST_READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/python -m pip check

types: $(TEST_READY)
	$(BIN)/mypy
	$(BIN)/mypy --strict tests/typed/user_code.py
	$(BIN)/basedpyright

# In a cache of its own, as it reads the package with other options.
types-benchmarks: $(TEST_READY)
	MYPYPATH=tests:sample_data $(BIN)/mypy --cache-dir=.mypy_cache/benchmarks $(LOOSE:%=--disable-error-code=%) benchmarks

docs: $(TEST_READY)
	NO_MKDOCS_2_WARNING=1 PYTHONPATH=$(CURDIR)/tests/documents/no_network $(BIN)/python -m mkdocs build --quiet --strict

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
