# The index of habits. `make` lists them.

.DEFAULT_GOAL := help
.PHONY: help setup build demo test test-dependent prove speed compare compare-test lint format \
	docs clean

# name of the Debian package, then of its pkg-config module
SYSTEM_PACKAGES := libeigen3-dev:eigen3 liblapacke-dev:lapacke zlib1g-dev:zlib
SWIFT_FILES = $$(git ls-files --cached --others --exclude-standard '*.swift')
CXX_FILES = $$(git ls-files --cached --others --exclude-standard '*.c' '*.cpp' '*.h' '*.hpp')

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install what is missing of the system packages (Debian, Ubuntu)
	@missing=""; \
	command -v pkg-config >/dev/null || missing="pkg-config"; \
	for pair in $(SYSTEM_PACKAGES); do \
	  pkg-config --exists $${pair#*:} 2>/dev/null || missing="$$missing $${pair%%:*}"; \
	done; \
	[ -z "$$missing" ] && exit 0; \
	command -v apt-get >/dev/null || { echo "please install:" $$missing >&2; exit 1; }; \
	if [ "$$(id -u)" -eq 0 ]; then sudo=""; else sudo="sudo"; fi; \
	echo "installing" $$missing; \
	$$sudo apt-get update -qq && \
	$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing

build: setup ## build the library and the command line, optimised
	swift build -c release --product nearby

demo: build ## locate the beacons of a real recording
	.build/release/nearby run Datasets/plaza2 --output out/plaza2

test: setup ## run all tests, optimised: the consistency tests run thousands of simulations
	swift test -c release --disable-xctest --scratch-path .build-test
	@$(MAKE) --no-print-directory test-dependent

test-dependent: setup ## build and run a package that depends on this one, as the README shows
	@swift build --package-path Tests/DependentPackage --scratch-path .build-dependent
	@said=$$(.build-dependent/debug/dependent) && echo "$$said" && echo "$$said" | grep -q '^converged'

prove: build ## hold the engine against its goals: 500 seeds a scenario, hours
	.build/release/nearby prove --seeds 500 --never-seeds 10000

SPEED := swift run -c release --package-path Benchmarks --scratch-path .build-bench

speed: build ## time the engine, then a whole run over a long recording
	$(SPEED) speed
	@$(SPEED) --skip-build speed recording out/speed/recording
	@bash -c 'time .build/release/nearby run out/speed/recording --quiet --output out/speed/run'

# the virtual environment with the peers' packages, made anew when their versions change
PEERS := .build-compare
COMPARE := PYTHONPATH=Benchmarks $(PEERS)/bin/python

$(PEERS)/installed: Benchmarks/comparison/requirements.txt
	python3 -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet --requirement $<
	@touch $@

compare: build $(PEERS)/installed ## compare with an EKF and a smoother from PyPI: RECORDINGS="DIR ..."
	$(COMPARE) -m comparison --json out/compare/results.json $(RECORDINGS)

compare-test: $(PEERS)/installed ## test that comparison
	$(COMPARE) -m unittest discover -t Benchmarks -s Benchmarks/comparison/tests

lint: ## check the format of every source file
	swift format lint --strict --parallel $(SWIFT_FILES)
	@if command -v clang-format >/dev/null; then \
	  clang-format --dry-run -Werror $(CXX_FILES) && echo "clang-format: clean"; \
	else echo "clang-format is not installed: C++ left unchecked"; fi

format: ## put every source file into that format
	swift format --in-place --parallel $(SWIFT_FILES)
	@if command -v clang-format >/dev/null; then clang-format -i $(CXX_FILES); fi

docs: setup ## build the documentation; a broken link is an error
	@for target in NearbyGeometry NearbyFusion NearbySmoothing NearbyRecordings NearbySimulation \
	  NearbyEvaluation; do \
	  NEARBY_DOCS=1 swift package --scratch-path .build-docs generate-documentation \
	    --target $$target --warnings-as-errors || exit 1; \
	done

clean: ## remove what builds and runs left
	rm -rf .build .build-test .build-dependent .build-docs .build-bench .build-compare out
