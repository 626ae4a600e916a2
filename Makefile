# make demo   the main job on sample data, against the embedded sandbox: no account, no network but the package index
# make test   the suite; of long tables a sample of rows. Missing optional parts (Chromium, strace) are skipped and named
# make quick  a look at all rooms in two minutes on idle cores, or at one: make quick ROOM=phones
# make exhaustive   the suite with all rows of all tables, and in the browser all themes and widths: an hour
# make test-oldest  what can depend on it, with the oldest pandas and libraries we support (constraints-oldest.txt)
# make test-hosts    a glance at the rooms that meet a notebook's libraries, with those of hosted notebooks (tests/hosts)
# make check  lint, format, types, spelling, and the documentation
# make docs   the documentation site in site/, without a network; opens from the folder, its search needs a server
# make sbom   the bill of materials of an installation without extras, in sbom.json (CycloneDX)
# make dist   wheel and source archive of a release, with the bill of materials: make dist TAG=v1.2.3
# make lab    JupyterLab on the notebooks (LAB_ARGS="--no-browser" prints the address instead of opening it)
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TEST_READY := $(VENV)/.ready-test

OLDEST := .venv-oldest
OLDEST_READY := $(OLDEST)/.ready
# What the oldest libraries change nothing of, and why it is left out. Of the rooms that compute with frames every test
# stays in, with OLDEST_ROWS row of each table: what differs between versions of pandas differs in most rows. All others
# hand frames on, so a glance at them is enough: every other test, others each day.
#   browser, documents/test_site.py, typed   need Chromium, mkdocs and mypy, of which no oldest version is claimed
#   engines                                  Dask and Spark, of which no oldest version is claimed
#   kills                                    minutes of deaths; what survives them is SQLite's and the file system's
#   settings, cards, parts, wire             text in, text out: no library takes part
#   house/test_patterns.py, test_layers.py   our source and our regular expressions: no library takes part
#   sandbox                                  but for its facade, which hands out frames, it loads no pandas
#   marked slow or notebook                  minutes of what quicker tests of the same rooms hold
#   marked on_server                         the same tests on a ledger in a file stay in
LEFT_OUT := browser documents/test_site.py typed engines kills settings cards parts wire \
	house/test_patterns.py house/test_layers.py \
	$(patsubst tests/%,%,$(filter-out %/test_facade.py,$(wildcard tests/sandbox/test_*.py)))
OLDEST_ROWS := 1
OLDEST_IN_FULL := phones,planning,results,recipients,templates,cost,charts,rates,house

# Each host's set lies over the environment of the tests, so that only what differs is installed.
HOSTS := $(patsubst tests/hosts/%.txt,%,$(wildcard tests/hosts/*.txt))
HOST_ROOMS := planning dispatch cost otp widgets
HOST_LEFT_OUT := planning/test_dataset.py widgets/test_marimo.py

# The tests run in this many processes, the tests of a file in one of them, the longest files first. Twice as many as
# the two cores of CI: they wait for disks, servers and browsers about as long as they compute.
WORKERS ?= 4
PYTEST := -m pytest --numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder
QUICK := not slow and not browser and not notebook and not on_server

# Benchmarks are checked for what has moved or changed its arguments.
LOOSE := arg-type no-any-return type-arg unused-ignore

# Containers often forbid compiled files. Hundreds of tests start a Python of their own, and each would compile the package.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test quick exhaustive test-oldest test-hosts $(HOSTS:%=test-host-%)
.PHONY: check lint types types-benchmarks docs
.PHONY: sbom releasable dist lab format clean

demo: $(READY)
	$(BIN)/python -m smsotp_nb demo

test: $(TEST_READY)
	$(BIN)/python $(PYTEST) $(PYTEST_ARGS)

# Of all rooms every other test with one row of its table, others each day; of one room what `make test` takes.
quick: $(TEST_READY)
	$(BIN)/python $(PYTEST) -m "$(QUICK)" $(if $(ROOM),tests/$(ROOM:_%=%),--glance) $(PYTEST_ARGS)

exhaustive: $(TEST_READY)
	$(BIN)/python $(PYTEST) --exhaustive $(PYTEST_ARGS)

test-oldest: $(OLDEST_READY)
	$(OLDEST)/bin/python $(PYTEST) -m "$(QUICK)" --at-most=$(OLDEST_ROWS) --glance-but=$(OLDEST_IN_FULL) \
		$(LEFT_OUT:%=--ignore=tests/%) $(PYTEST_ARGS)

# They can run beside each other: make -j3 test-hosts
test-hosts: $(HOSTS:%=test-host-%)

$(HOSTS:%=test-host-%): test-host-%: .venv-hosts/%/.ready
	.venv-hosts/$*/bin/python -m pytest -m "$(QUICK)" --glance $(HOST_ROOMS:%=tests/%) $(HOST_LEFT_OUT:%=--ignore=tests/%) \
		$(PYTEST_ARGS)

# Its parts can run beside each other: make -j2 check
check: types types-benchmarks docs lint

lint: $(TEST_READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/python -m pip check
	$(BIN)/zizmor --offline --quiet --strict-collection .github

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

# TAG=v1.2.3; what a release must have written before anything is built.
VERSION = $(TAG:v%=%)
releasable:
	@! grep -n OWNER pyproject.toml || { echo "make dist: write the owner of the repository for OWNER"; exit 1; }
	@grep -qx '__version__ = "$(VERSION)"' smsotp_nb/__init__.py && grep -qx 'version: $(VERSION)' CITATION.cff \
		&& grep -q '^## $(VERSION) (20' CHANGELOG.md \
		|| { echo "make dist: TAG=v... must be the version of __init__.py, CITATION.cff and a dated CHANGELOG.md"; exit 1; }

dist: releasable sbom
	rm -rf dist
	$(BIN)/python -m hatchling build -d dist

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

$(HOSTS:%=.venv-hosts/%/.ready): .venv-hosts/%/.ready: tests/hosts/%.txt $(TEST_READY)
	$(BIN)/python -m venv --clear --without-pip $(@D)
	echo "import site; site.addsitedir('$$($(BIN)/python -c 'import site; print(site.getsitepackages()[0])')')" \
		> $$($(@D)/bin/python -c 'import site; print(site.getsitepackages()[0])')/base.pth
	$(@D)/bin/python -m pip install --quiet -r $<
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-sbom $(OLDEST) .venv-hosts sbom.json build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .site_cache site
