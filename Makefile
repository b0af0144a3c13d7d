# The commands a newcomer types: `make demo`, `make test`; for developers also `make lint`, `make mutants`, `make bench`.
PYTHON ?= python3
VENV ?= .venv
PORT ?= 8000
ARGS ?=
PIP = $(VENV)/bin/python -m pip install --quiet --no-compile --disable-pip-version-check --no-warn-script-location

.PHONY: demo test test-postgresql lint docs licences mutants types bench label-studio clean help

help:
	@echo "make demo   a study of invented peoples in your browser (PORT=8000)"
	@echo "make test   every test this machine can run; skipped tests are listed with the reason"
	@echo "make test-postgresql   every test that uses a database, on PostgreSQL: before a release"
	@echo "make lint   style, types, imports between apps, migrations"
	@echo "make docs   write the tables of parameters in docs/ from their declarations"
	@echo "make licences  write the table of licences of all dependencies, docs/licences.md"
	@echo "make mutants  switch off one rule of labelling at a time and check that a test notices (ARGS=\"-j 4 name\")"
	@echo "make bench  measure what README and docs claim about speed and coverage"
	@echo "make label-studio   install Label Studio in var/label-studio, for tests and benchmarks that use one"

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Stereoscope needs Python 3.11 or newer; set PYTHON=…"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.web: requirements/web.txt requirements/label-studio-client.txt requirements/constraints.txt | $(VENV)/bin/python
	@echo "Installing what the web server needs …"
	@$(PIP) -r requirements/web.txt
	@$(PIP) --no-deps -r requirements/label-studio-client.txt
	@touch $@

$(VENV)/.full: requirements.txt requirements/web.txt requirements/label-studio-client.txt requirements/constraints.txt | $(VENV)/bin/python
	@echo "Installing everything, model code included (some minutes the first time) …"
	@$(PIP) -r requirements.txt
	@touch $@ $(VENV)/.web

$(VENV)/.test: requirements/test.txt requirements.txt requirements/web.txt requirements/constraints.txt | $(VENV)/bin/python
	@echo "Installing everything the tests need, model code included (some minutes the first time) …"
	@$(PIP) -r requirements/test.txt
	@touch $@ $(VENV)/.full $(VENV)/.web

demo: $(VENV)/$(if $(findstring --model,$(ARGS)),.full,.web)
	@env -u DATABASE_URL STEREOSCOPE_DEMO=1 STEREOSCOPE_VAR=var/demo $(VENV)/bin/python manage.py demo --port $(PORT) $(ARGS)

test: $(VENV)/.test
	@VENV=$(VENV) $(VENV)/bin/python -m tests.project.run $(ARGS)

test-postgresql: $(VENV)/.test
	@VENV=$(VENV) $(VENV)/bin/python -m tests.project.run --all-on-postgresql $(ARGS)

lint: $(VENV)/.test
	@$(VENV)/bin/python tests/project/lint.py

docs: $(VENV)/.test
	@$(VENV)/bin/python tests/project/option_tables.py

licences: $(VENV)/.test
	@$(VENV)/bin/python tests/project/licences/licences.py

mutants: $(VENV)/.test
	@$(VENV)/bin/python tests/project/run_mutants.py $(ARGS)

bench: $(VENV)/.test
	@$(VENV)/bin/python -m benchmarks $(ARGS)

label-studio: var/label-studio/.ready

# An environment of its own: what it needs does not go with ours. puppeteer-core looks at its page in `make bench`.
var/label-studio/.ready: requirements/label-studio.txt
	@echo "Installing Label Studio (a minute or two) …"
	@$(PYTHON) -m venv var/label-studio
	@var/label-studio/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/label-studio.txt
	-@command -v npm >/dev/null && npm install --silent --no-save --prefix var/label-studio puppeteer-core >/dev/null
	@touch $@

clean:
	rm -rf $(VENV) var .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
