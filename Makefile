# The commands a newcomer types: `make demo`, `make test`; for developers also `make lint`, `make mutants`, `make bench`.
PYTHON ?= python3
VENV ?= .venv
PORT ?= 8000
ARGS ?=
PIP = $(VENV)/bin/python -m pip install --quiet --no-compile --disable-pip-version-check --no-warn-script-location

.PHONY: pictures site bundle sbom audit pin-images install install-models demo test test-postgresql lint docs licences mutants types bench label-studio clean help

help:
	@echo "make demo   a study of invented peoples in your browser (PORT=8000)"
	@echo "make install   what web server and worker need, into .venv; make install-models adds the model code (torch)"
	@echo "make test   every test this machine can run; skipped tests are listed with the reason"
	@echo "make test-postgresql   every test that uses a database, on PostgreSQL: before a release"
	@echo "make lint   style, types, imports between apps, migrations"
	@echo "make docs   write the tables of parameters in docs/ from their declarations"
	@echo "make site   build docs/ as a site into var/site; a warning, such as a broken link, is an error"
	@echo "make pictures  take the pictures of README and docs again, with Chromium"
	@echo "make licences  write the table of licences of all dependencies, docs/operate/licences.md"
	@echo "make mutants  switch off one rule of labelling at a time and check that a test notices (ARGS=\"-j 4 name\")"
	@echo "make bench  measure what README and docs claim about speed and coverage"
	@echo "make bundle   one archive that installs this version on a machine without network (MODELS=yes: with the model code)"
	@echo "make sbom   list every installed package with its licence and hash, as CycloneDX: var/sbom.cdx.json"
	@echo "make audit  look for known vulnerabilities in the installed packages"
	@echo "make pin-images  write the current digest of each container image's tag into docker/"
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

install: $(VENV)/.web

install-models: $(VENV)/.full

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

pictures: $(VENV)/.test
	@$(VENV)/bin/python -m tests.project.documentation.pictures

licences: $(VENV)/.test
	@$(VENV)/bin/python tests/project/licences/licences.py

mutants: $(VENV)/.test
	@$(VENV)/bin/python tests/project/run_mutants.py $(ARGS)

bench: $(VENV)/.test
	@$(VENV)/bin/python -m benchmarks $(ARGS)

bundle: $(VENV)/bin/python
	@MODELS=$(MODELS) bundle/make.sh $(VENV)/bin/python

pin-images:
	@$(PYTHON) docker/pin_images.py

sbom: var/audit/.ready
	@var/audit/bin/cyclonedx-py environment --output-reproducible --validate --pyproject pyproject.toml --output-file var/sbom.cdx.json $(VENV)/bin/python
	@echo "var/sbom.cdx.json"

audit: var/audit/.ready
	@$(PYTHON) requirements/audit.py var/audit/bin/pip-audit $(VENV)/bin/python

# An environment of its own, so that its packages are not among those that are listed and audited.
var/audit/.ready: requirements/audit.txt
	@$(PYTHON) -m venv var/audit
	@var/audit/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/audit.txt
	@touch $@

# -n: links to nothing are warnings; -W: warnings are errors; -E: read every page again.
site: var/docs/.ready
	@var/docs/bin/sphinx-build -n -W --keep-going -E -q -b html -c docs/site -d var/docs/pages . var/site
	@echo "var/site/index.html; var/site/external-links.tsv lists the addresses elsewhere, which nothing checks"

# An environment of its own, as for the audit.
var/docs/.ready: requirements/docs.txt
	@$(PYTHON) -m venv var/docs
	@var/docs/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/docs.txt
	@touch $@

label-studio: var/label-studio/.ready

# An environment of its own: what it needs does not go with ours. puppeteer-core looks at its page in `make bench`.
var/label-studio/.ready: requirements/label-studio.txt
	@echo "Installing Label Studio (a minute or two) …"
	@$(PYTHON) -m venv var/label-studio
	@var/label-studio/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/label-studio.txt
	-@command -v npm >/dev/null && npm install --silent --no-save --fetch-retries=1 --fetch-timeout=20000 --fetch-retry-maxtimeout=5000 --prefix var/label-studio puppeteer-core >/dev/null
	@touch $@

clean:
	rm -rf $(VENV) var .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
