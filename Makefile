# make demo and make test are all a newcomer needs; both set everything up first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PYWB := $(VENV)/pywb
DOCS := $(VENV)/docs
OUT ?= out
GATE = $(OUT)/quality-gate.txt
TOPICS ?= bee-health batteries manuscripts
# Compiled modules are kept, whatever the machine says: tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install browser pywb demo test run-tests run-gate e2e check format bench lock package dist image docs audit clean

help:
	@echo "make demo     learn from a recorded session and crawl a web on this machine, offline"
	@echo "make test     run all tests"
	@echo "make e2e      browse in Chromium, submit, learn, crawl: the whole way (TOPICS=all for every topic)"
	@echo "make check    lint and types"
	@echo "make bench    speed and quality on the real corpora (TRAILHOUND_CORPORA)"
	@echo "make package  build the wheel, install it into an empty environment, run the demo there"
	@echo "make image    build a container image, where podman, buildah or docker can"
	@echo "make docs     build the documentation with a reference of the library"
	@echo "make audit    check pins, hashes, licences and known vulnerabilities of the dependencies"
	@echo "make lock     resolve the dependencies anew"

install: $(INSTALLED)

# The lock names everything, so nothing is looked for (--no-deps): pip would try a newer release of what somebody needs with
# an extra ("python-socks[asyncio]"), and refuse it, as it is not pinned.
$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Trailhound needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing the pinned dependencies (a minute, once) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --retries 5 --no-deps --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

# Browser tests drive Debian's chromium, with and without windows, and firefox; install them where that is possible without asking.
browser:
	@wanted=; \
	command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || wanted="chromium"; \
	command -v chromium-headless-shell >/dev/null || wanted="$$wanted chromium-headless-shell"; \
	command -v firefox-esr >/dev/null || command -v firefox >/dev/null || wanted="$$wanted firefox-esr"; \
	if [ -z "$$wanted" ]; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing $$wanted for the browser tests ..."; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$wanted >/dev/null; \
	else echo "Not here: $$wanted. Their tests will be skipped (they fail where CI is set)."; fi

# pywb reads our web archives in one test. It needs other versions of things, so it lives apart.
pywb: install $(PYWB)/.installed

$(PYWB)/.installed: requirements-pywb.lock
	@echo "Installing pywb for a test of web archives (once) ..."
	@$(BIN)/python -m venv --clear $(PYWB)
	@if $(PYWB)/bin/python -m pip install --quiet --disable-pip-version-check --retries 5 --no-deps --require-hashes -r requirements-pywb.lock; \
	then touch $@; \
	else echo "pywb cannot be installed here: its test will be skipped (it fails where CI is set)."; fi

demo: install
	@$(BIN)/trailhound demo -o $(OUT)/demo

# The quality gate runs beside the tests, and tells what it found after them; if one fails, the other still ends.
test: install browser pywb
	@$(MAKE) --no-print-directory --keep-going -j 2 run-tests run-gate; ended=$$?; cat $(GATE); exit $$ended

# Tests wait for servers, browsers and kills much of their time: four, and the gate, keep two cores busy.
# In the order of folders: browsers first, so that the many short tests fill the end.
run-tests:
	@$(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder

run-gate:
	@mkdir -p $(OUT)
	@$(BIN)/python -m benchmarks.quality_gate demo >$(GATE) 2>&1

e2e: install browser
	@TRAILHOUND_E2E_TOPICS="$(TOPICS)" $(BIN)/python -m pytest -q -s tests/browser/test_e2e.py

check: install
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: install
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: install
	@$(BIN)/python -m benchmarks.replay_cost
	@$(BIN)/python -m benchmarks.kill_resume
	@$(BIN)/python -m benchmarks.fuzz
	@$(BIN)/python -m benchmarks.chaos
	@$(BIN)/python -m benchmarks.flat_memory
	@$(BIN)/python -m benchmarks.quality_gate real

LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header
lock: install
	@$(LOCK) --all-extras pyproject.toml -o requirements.lock
	@$(LOCK) --no-annotate -c requirements.lock pyproject.toml -o requirements-plain.lock
	@printf 'pywb\nsetuptools<81\n' | $(LOCK) --no-annotate - -o requirements-pywb.lock
	@printf 'sphinx\nfuro\nmyst-parser\n' | $(LOCK) --no-annotate -c requirements.lock - -o requirements-docs.lock

dist: install
	@rm -rf dist && $(BIN)/python -m hatchling build -d dist

package: install
	@$(BIN)/python -m release.try_wheel

audit: install
	@$(BIN)/python -m release.audit

# podman and buildah build without a server; docker needs one that runs.
image: dist
	@builder=; format="--format docker"; \
	if command -v podman >/dev/null; then builder=podman; \
	elif command -v buildah >/dev/null; then builder=buildah; \
	elif command -v docker >/dev/null && docker info >/dev/null 2>&1; then builder=docker; format=; fi; \
	base=$$(sed -n 's/^FROM \([^ ]*\).*/\1/p' Containerfile | head -n 1); \
	if [ -z "$$builder" ]; then echo "No podman, buildah or running docker here: the image was not built."; \
	elif ! $$builder pull -q $$base >/dev/null 2>&1; then echo "$$base cannot be fetched here: the image was not built."; \
	else $$builder build $$format -t trailhound -f Containerfile .; fi

# Sphinx lives apart, and reads the library from the main environment.
docs: install $(DOCS)/.installed
	@PYTHONPATH="$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))'):src" \
		$(DOCS)/bin/python -m sphinx -W --keep-going -q -j 2 docs $(OUT)/docs
	@echo "$(OUT)/docs/index.html"

$(DOCS)/.installed: requirements-docs.lock
	@echo "Installing Sphinx for the documentation (once) ..."
	@$(BIN)/python -m venv --clear $(DOCS)
	@$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --retries 5 --no-deps --require-hashes -r requirements-docs.lock
	@touch $@

clean:
	rm -rf $(VENV) $(OUT) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
