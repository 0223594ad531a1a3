# `make test` and `make demo` set up all they need in .venv; nothing but Python, a C compiler and git is assumed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := PATH="$(CURDIR)/$(BIN):$$PATH"
BUILD_NEEDS := "meson-python>=0.17" "meson>=1.5" ninja "Cython>=3.1" "numpy>=2.0"

EXAMPLES := neural_network gaussian_process ode_fit kalman_filter hmc thin_film natural_gradient_vi

.PHONY: test autograd-suite downstream sanitize fuzz mutate demo examples lint docs wheels bench bench-check bench-regression targets bars compare clean
.DELETE_ON_ERROR:
# Several installs at once would build in one folder.
.NOTPARALLEL:

test: $(VENV)/.test $(VENV)/.demo
	$(RUN) python -m pytest $(PYTEST_ARGS)

autograd-suite: $(VENV)/.test
	$(RUN) python tests/substitute/autograd_suite.py

# The libraries that build on autograd, each in an environment of its own: minutes, and gigabytes, the first time.
downstream: $(VENV)/.installed
	$(RUN) CYTHON="$(CURDIR)/$(BIN)/cython" python tests/substitute/downstream/run.py $(DOWNSTREAM_ARGS)

# The suite on builds that report faults of compiled code; SANITIZE_ARGS=address for one of the three.
sanitize: $(VENV)/.test
	$(RUN) python tools/sanitize.py $(SANITIZE_ARGS)

# A million random calls; FUZZ_ARGS="--seed 1" for others.
fuzz: $(VENV)/.test
	$(RUN) python tests/random/fuzz.py $(FUZZ_ARGS)

# Which tests notice a broken rule; MUTATE_ARGS=engine for lines of the engine.
mutate: $(VENV)/.test
	$(RUN) python tools/mutate.py $(MUTATE_ARGS)

demo: $(VENV)/.demo
	$(RUN) python examples/demo.py --output demo.png

# The pictures of docs/examples.md.
examples: $(VENV)/.demo
	@for name in $(EXAMPLES); do \
	  echo "== $$name" && $(RUN) python examples/$$name.py --output docs/pictures/$$name.png || exit 1; echo; \
	done
	@$(RUN) python tools/shrink_pictures.py $(EXAMPLES:%=docs/pictures/%.png)

lint: $(VENV)/.lint
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) cython-lint src

# The site, in build/site; a warning is an error.
docs: $(VENV)/.installed $(VENV)/.docs
	$(RUN) NO_MKDOCS_2_WARNING=1 mkdocs build --strict

# The sdist and a wheel for every CPython found, in dist/, each tested; WHEELS_ARGS=--full runs the whole suite on each.
wheels:
	$(PYTHON) tools/wheels.py $(WHEELS_ARGS)

bench: $(VENV)/.bench
	cd benchmarks && $(RUN) asv machine --yes && $(RUN) asv run -E existing --quick --show-stderr

bench-check: $(VENV)/.bench
	cd benchmarks && $(RUN) asv check -E existing

# Against autograd in the same run: fails on a large loss of speed.
bench-regression: $(VENV)/.bench
	$(RUN) python benchmarks/regression.py

# A few speeds with their targets; `bars` is the former name.
targets bars: $(VENV)/.bench
	$(RUN) python benchmarks/targets.py

# PyTorch and JAX take part if they are in .venv.
compare: $(VENV)/.bench
	$(RUN) python benchmarks/compare.py $(COMPARE_ARGS)

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache benchmarks/.asv

# An editable install: Python changes take effect at once, compiled modules are rebuilt when they are imported, which is
# why the build tools stay in the environment and the build is not isolated.
$(VENV)/.installed: pyproject.toml meson.build $(shell find src -name meson.build)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(RUN) python -m pip install --quiet --upgrade pip
	$(RUN) python -m pip install --quiet $(BUILD_NEEDS)
	$(RUN) CYTHON="$(CURDIR)/$(BIN)/cython" python -m pip install --quiet --no-build-isolation --editable .
	touch $@

$(VENV)/.test $(VENV)/.demo $(VENV)/.bench: $(VENV)/.%: $(VENV)/.installed
	$(RUN) CYTHON="$(CURDIR)/$(BIN)/cython" python -m pip install --quiet --no-build-isolation --editable ".[$*]"
	touch $@

$(VENV)/.lint $(VENV)/.docs: $(VENV)/.%: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(RUN) python -m pip install --quiet --upgrade pip
	$(RUN) python -m pip install --quiet --group $*
	touch $@
