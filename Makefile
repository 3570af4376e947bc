# Two commands do all set-up on a fresh Debian machine: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
PYTEST_WORKERS ?= 2

.PHONY: demo test lint engine images install browser slow kills scale

install: $(STAMP)

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $(STAMP)

# Brings up a Docker engine if none answers; says what to do where it may not.
engine: $(STAMP)
	$(BIN)/python -m uniclaw.environments.engine

images: engine
	$(BIN)/uniclaw env build base office relay dev

demo: $(STAMP)
	@if $(BIN)/python -m uniclaw.environments.engine; then \
	  $(BIN)/uniclaw env build base office && kind=docker && tasks='expense*,drive*,minutes*,bookings*,receipts*'; \
	else \
	  echo ''; \
	  echo '*** No Docker engine: the demo plays in the PROCESS environment, without isolation. ***'; \
	  echo '*** Follow the advice above and run it again to see it in containers.               ***'; \
	  echo ''; \
	  kind=process; tasks='expense*,drive*,minutes*,bookings*'; \
	fi; \
	run=demo-$$(date +%Y%m%d-%H%M%S); \
	$(BIN)/uniclaw run examples/office --tasks "$$tasks" --executor oracle --supervisor checks \
	  --user-simulator template --environment $$kind --run $$run && \
	printf '%s\n' '' 'Where to look next:' \
	  "  $(BIN)/uniclaw show $$run              the result table again (--json for everything)" \
	  "  $(BIN)/uniclaw show $$run/EPISODE      one episode as a conversation" \
	  "  $(BIN)/uniclaw show --graph            the state machine that played it" \
	  '  README.md                              a first run with a real model, your own tasks'

lint: $(STAMP)
	$(BIN)/ruff check --preview uniclaw tests
	$(BIN)/ruff format --check uniclaw tests
	$(BIN)/basedpyright uniclaw tests

# A browser for the viewer's tests.
browser:
	command -v chromium >/dev/null || { apt-get update && apt-get install -y --no-install-recommends chromium fonts-noto-cjk; }

test: lint engine images browser
	UNICLAW_REQUIRE_BROWSER=1 $(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist loadscope -m 'not slow'

# Heavy sets, on demand.
slow: engine images browser
	$(BIN)/python -m pytest -m slow

# Random kills of a runner; N sets how many.
kills: $(STAMP)
	UNICLAW_KILLS=$(or $(N),500) $(BIN)/python -m pytest -m slow tests/durability/test_random_kills.py

# Throughput, orchestration and large stores, against floors of the same run.
scale: engine images
	$(BIN)/python -m tests.benchmarks.scale
