# Developer tasks. `make` lists them.

.DEFAULT_GOAL := help
.PHONY: help setup build install package demo test test-races test-session-races test-many-sessions test-dependent app-test fuzz sanitize prove bench bench-setup \
	bench-build bench-gate \
	bench-baseline bench-times bench-peers bench-large bench-batch bench-test compare compare-test \
	lint format docs report-test programs-test live live-build live-test live-attack-test interop-test fixtures c-library c-test \
	python-setup python-test python-speed \
	distributed-measure wheel clean

# Name of the Debian package, then of its pkg-config module.
SYSTEM_PACKAGES := libeigen3-dev:eigen3 liblapacke-dev:lapacke zlib1g-dev:zlib libmd-dev:libmd \
	liblz4-dev:liblz4 libzstd-dev:libzstd libsqlite3-dev:sqlite3
# Name of the Debian package, then of a header of it, where it has no pkg-config module.
SYSTEM_HEADERS := libbz2-dev:bzlib.h
# Name of the Debian package, then of a program in it.
SYSTEM_PROGRAMS := curl:curl
SWIFT_FILES = $$(git ls-files --cached --others --exclude-standard '*.swift')
CXX_FILES = $$(git ls-files --cached --others --exclude-standard '*.c' '*.cpp' '*.h' '*.hpp')

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-20s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install missing system packages (Debian, Ubuntu)
	@missing=""; \
	command -v pkg-config >/dev/null || missing="pkg-config"; \
	for pair in $(SYSTEM_PACKAGES); do \
	  pkg-config --exists $${pair#*:} 2>/dev/null || missing="$$missing $${pair%%:*}"; \
	done; \
	for pair in $(SYSTEM_HEADERS); do \
	  [ -e "/usr/include/$${pair#*:}" ] || missing="$$missing $${pair%%:*}"; \
	done; \
	for pair in $(SYSTEM_PROGRAMS); do \
	  command -v $${pair#*:} >/dev/null || missing="$$missing $${pair%%:*}"; \
	done; \
	[ -z "$$missing" ] && exit 0; \
	command -v apt-get >/dev/null || { echo "please install:" $$missing >&2; exit 1; }; \
	if [ "$$(id -u)" -eq 0 ]; then sudo=""; else sudo="sudo"; fi; \
	echo "installing" $$missing; \
	$$sudo apt-get update -qq && \
	$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing

# Links Swift's libraries statically: finding and relocating them takes half of the start-up time. Without debug
# information, which takes a sixth of the time to build.
PRODUCT_BUILD := swift build -c release --static-swift-stdlib -debug-info-format none

build: setup ## build the library and the command line, optimised
	$(PRODUCT_BUILD) --product nearby

PREFIX ?= /usr/local
DESTDIR ?=

install: build ## install the program, its manual and completions below PREFIX
	Packaging/install.sh .build/release/nearby "$(DESTDIR)$(PREFIX)"

package: build ## make a Debian package and a tarball that need no Swift: out/package
	@$(MAKE) --no-print-directory setup SYSTEM_PROGRAMS="dpkg-dev:dpkg-shlibdeps binutils:strip"
	@Packaging/package.sh .build/release/nearby out/package

demo: build ## locate the beacons of a real recording
	.build/release/nearby run Datasets/plaza2 --output out/plaza2

TEST_FLAGS := -c release --disable-xctest -debug-info-format none --scratch-path .build-test
# A few tests at a time: a test that waits for its turn behind all others exceeds its time limit without having run.
TEST := swift test $(TEST_FLAGS) --experimental-maximum-parallelization-width 4
# Where `make test` leaves what it compiles, and the command that only compiles it.
MODULES := .build-test/release
TEST_BUILD := swift test list $(TEST_FLAGS)

test: setup ## run all tests, optimised: the consistency tests run thousands of simulations
	@rm -rf out/fuzz
	$(TEST) || { $(FUZZ_LAST_CASE); exit 1; }
	@$(MAKE) --no-print-directory test-dependent

# Optimised, because the engine's tests take hours under the sanitizer otherwise. DEBUG reduces the number of
# simulated runs as in an unoptimised build: thousands of runs of the same arithmetic show no more races than
# one. Address randomisation is off, because the sanitizer's memory map does not always fit beside it.
test-races: setup ## run all tests under the thread sanitizer
	setarch $$(uname -m) -R swift test -c release -Xswiftc -DDEBUG --sanitize=thread --disable-xctest \
	  --scratch-path .build-tsan

# For CI: only the tests in which threads interact, in a fraction of the time. The kernels are optimised: they
# compile sooner and take half of the tests' time.
test-session-races: setup ## run the sessions' tests under the thread sanitizer
	NEARBY_SESSION_TESTS_ONLY=1 setarch $$(uname -m) -R swift test --sanitize=thread --disable-xctest \
	  -Xcxx -g0 -Xcxx -O1 --scratch-path .build-tsan-sessions

# The thread and the address sanitizer over 1000 sessions of ten simulated minutes.
test-many-sessions: setup ## run 1000 sessions under the sanitizers: 20 minutes
	for sanitizer in thread address; do \
	  NEARBY_SESSION_TESTS_ONLY=1 NEARBY_SESSIONS=1000 NEARBY_SESSION_SECONDS=600 ASAN_OPTIONS=detect_leaks=0 \
	    setarch $$(uname -m) -R swift test -c release -Xswiftc -DDEBUG --sanitize=$$sanitizer --disable-xctest \
	    -Xcxx -g0 -Xcxx -O1 --scratch-path .build-$$sanitizer-sessions --filter ManySessionsTests || exit 1; \
	done

# FUZZ_SECONDS is the time of all campaigns together. FUZZ_ONLY chooses one: EngineFuzzTests, RangeFuzzTests,
# SmootherFuzzTests, SessionFuzzTests, ParserFuzzTests. Each run starts from new seeds; FUZZ_START=0 starts
# from those of `make test`. NEARBY_FUZZ_SEED=N runs one case.
FUZZ_SECONDS ?= 3600
FUZZ_ONLY ?= FuzzTests
FUZZ_START ?= $(shell date +%s)000000
# Swift's backtracer may hang, so it is off; FUZZ_BACKTRACE=enable=yes turns it on.
FUZZ_BACKTRACE ?= enable=no
# After a trap, the file of the case that was running is left.
FUZZ_LAST_CASE = sed 's/^/the last case: /' out/fuzz/*.running 2>/dev/null

fuzz: setup ## fuzz settings, calls and files for FUZZ_SECONDS: no traps, no impossible values
	@rm -rf out/fuzz
	@SWIFT_BACKTRACE=$(FUZZ_BACKTRACE) NEARBY_FUZZ_SECONDS=$(FUZZ_SECONDS) NEARBY_FUZZ_START=$(FUZZ_START) \
	  $(TEST) --filter 'NearbyFuzzTests.*$(FUZZ_ONLY)' || { $(FUZZ_LAST_CASE); exit 1; }

# NDEBUG is undefined, so that Eigen and the kernels check their indices. DEBUG is set as for test-races. Leaks
# are not searched for: the kernels do not allocate. The checks of each pointer (alignment, null, overflow) are
# left out: with them the fit, which is one function with every index a constant, takes 19 GB to compile.
UNDEFINED := bounds,integer-divide-by-zero,float-cast-overflow,shift,signed-integer-overflow,return,unreachable,enum,bool

sanitize: setup ## run the engine's tests under the address and undefined behaviour sanitizers
	ASAN_OPTIONS=detect_leaks=0 swift test -c release -Xswiftc -DDEBUG --sanitize=address \
	  -Xcxx -fsanitize=$(UNDEFINED) -Xcxx -fno-sanitize-recover=all -Xcxx -UNDEBUG -Xcxx -O1 \
	  -Xswiftc -use-ld=lld \
	  --disable-xctest --scratch-path .build-asan \
	  --filter 'NearbyFusionTests|NearbySmoothingTests|NearbyFuzzTests'

# The package's graph is loaded, and its program is compiled against the modules that `make test` has built:
# building all of them once more takes minutes.
DEPENDENT := .build-dependent/dependent
DEPENDENT_BUILD = swiftc -O -swift-version 6 -I $(MODULES)/Modules \
  -Xcc -I -Xcc Sources/CNearbyKernels/include \
  $(foreach map,$(C_MODULE_MAPS),-Xcc -fmodule-map-file=$(map))
OBJECTS = $(MODULES)/nearbyPackageTests.product/Objects.LinkFileList
# What a program that works with arrays links.
ARRAY_MODULES := Nearby(Batch|Evaluation|Fusion|Geometry|Imports|Recordings|Report|Simulation|Smoothing)|CNearbyKernels
test-dependent: setup ## build and run programs of a package that depends on this one
	@[ -e $(MODULES)/Modules/NearbyFusion.swiftmodule ] || $(TEST_BUILD) >/dev/null
	@swift package --package-path Tests/DependentPackage --scratch-path .build-dependent \
	  show-dependencies >/dev/null
	@if [ -e .build-dependent/checkouts/swift-nio ]; then \
	  echo "a dependent package fetches the server of nearby live; see the trait in Package.swift" >&2; exit 1; fi
	@$(DEPENDENT_BUILD) Tests/DependentPackage/Sources/dependent/main.swift -o $(DEPENDENT) \
	  $$(grep -hE '/(NearbyFusion|NearbyGeometry|CNearbyKernels)\.build/' $(OBJECTS)) -lstdc++ -lm
	@said=$$($(DEPENDENT)) && echo "$$said" && echo "$$said" | grep -q '^converged'
	@$(DEPENDENT_BUILD) Tests/DependentPackage/Sources/arrays/main.swift -o $(DEPENDENT)-arrays \
	  $$(grep -hE '/($(ARRAY_MODULES))\.build/' $(OBJECTS)) \
	  -lstdc++ -lm -lz -llz4 -lzstd -lbz2 -lsqlite3 -lmd -llapacke
	@said=$$($(DEPENDENT)-arrays) && echo "$$said" && echo "$$said" | grep -q '^converged'

# The dependencies' modules are the same in both modes, and compiled once. The tests share the program's
# environment, so one runs after the other.
APP_TEST := swift test -c release --no-parallel --disable-xctest -debug-info-format none \
	--package-path Tests/AppPackage --scratch-path .build-app
app-test: setup ## run the session code of apps in a package that depends on this one, as Swift 6 and Swift 5
	APP_SWIFT_MODE=6 $(APP_TEST)
	APP_SWIFT_MODE=5 $(APP_TEST)

prove: build ## compare the engine with its goals: 500 seeds per scenario, minutes
	.build/release/nearby prove --seeds 500 --never-seeds 10000

# BENCH_ONLY=Engine.pose chooses what is measured: a regular expression over the workloads' names.
BENCH_ONLY ?=
# Times are measured this often, and the table shows each row's fastest round.
BENCH_ROUNDS ?= 3
BENCH := .build-bench
BENCH_BUILD := swift build -c release --package-path Benchmarks --scratch-path $(BENCH)
BENCH_REPORT = PYTHONPATH=Benchmarks python3 -m report $(if $(BENCH_ONLY),--only '$(BENCH_ONLY)')
BENCH_TIMES := $(CURDIR)/out/bench/times
BENCH_PEERS := .build-peers

bench: build bench-times $(if $(BENCH_ONLY),,bench-peers bench-batch) ## measure all: counts, times, floors, peers, goals
	@$(BENCH_REPORT) table

bench-gate: bench-build ## count instructions and allocations, fail if they rose
	@$(BENCH_REPORT) gate

bench-baseline: bench-build ## store those counts in Benchmarks/baseline.json
	@$(BENCH_REPORT) baseline

bench-setup: setup
	@$(MAKE) --no-print-directory setup SYSTEM_PROGRAMS="valgrind:valgrind binutils:strip"

bench-build: bench-setup
	$(BENCH_BUILD) --product count
	$(BENCH_BUILD) --product recording
	@$(BENCH)/release/recording write out/bench/recording
	@$(BENCH)/release/recording formats out/bench/recording

bench-times: build bench-build
	@rm -rf $(BENCH_TIMES)
	@for round in $$(seq $(BENCH_ROUNDS)); do \
	  echo "round $$round of $(BENCH_ROUNDS)"; mkdir -p $(BENCH_TIMES)/$$round; \
	  NEARBY_ROOT=$(CURDIR) swift package --package-path Benchmarks --scratch-path $(BENCH) \
	    --allow-writing-to-directory $(BENCH_TIMES) benchmark --format jmh \
	    --path $(BENCH_TIMES)/$$round --no-progress \
	    $(if $(BENCH_ONLY),--filter '.*($(BENCH_ONLY)).*') || exit 1; \
	done

bench-peers: bench-build
	@$(MAKE) --no-print-directory $(BENCH_PEERS)/installed || true
	@if [ -e $(BENCH_PEERS)/installed ]; then \
	  PYTHONPATH=Benchmarks OPENBLAS_NUM_THREADS=1 $(BENCH_PEERS)/bin/python -m peers \
	    --fast-float $(BENCH_PEERS)/fast_float_rows --output out/bench/peers.json; \
	else echo "the peers from PyPI cannot be installed and are left out"; fi

$(BENCH_PEERS)/installed: Benchmarks/peers/requirements.txt Benchmarks/comparison/requirements.txt \
		Benchmarks/peers/fast_float_rows.cpp
	python3 -m venv $(BENCH_PEERS)
	$(BENCH_PEERS)/bin/pip install --quiet --requirement $(word 1,$^) --requirement $(word 2,$^)
	@$(CXX) -O2 -std=c++17 -o $(BENCH_PEERS)/fast_float_rows $(word 3,$^) 2>/dev/null || \
	  echo "libfast-float-dev is not installed: fast_float is left out"
	@touch $@

bench-large: bench-build ## measure the memory that ten million samples take: minutes, 2 GB of disk
	$(BENCH)/release/recording write out/bench/large 100000 10
	$(BENCH)/release/recording stream out/bench/large | tee out/bench/large.json
	@rm -rf out/bench/large

# BATCH="DIR ..." adds recordings to the simulated and the committed ones.
bench-batch: build ## run a thousand recordings on one core and on all, to see how a batch scales
	PYTHONPATH=Benchmarks python3 -m batch Datasets $(BATCH)

bench-test: ## test the benchmark report
	PYTHONPATH=Benchmarks python3 -m unittest discover -t Benchmarks -s Benchmarks/report/tests

# The virtual environment with the peers' packages, updated when their versions change.
PEERS := .build-compare
COMPARE := PYTHONPATH=Benchmarks $(PEERS)/bin/python

$(PEERS)/installed: Benchmarks/comparison/requirements.txt
	python3 -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet --requirement $<
	@touch $@

compare: build $(PEERS)/installed ## compare with an EKF and a smoother from PyPI: RECORDINGS="DIR ..."
	$(COMPARE) -m comparison --json out/compare/results.json $(RECORDINGS)

compare-test: $(PEERS)/installed ## test the comparison
	$(COMPARE) -m unittest discover -t Benchmarks -s Benchmarks/comparison/tests

INTEROP := .build-interop

$(INTEROP)/installed: Tests/Interop/requirements.txt
	python3 -m venv $(INTEROP)
	$(INTEROP)/bin/pip install --quiet --requirement $<
	@touch $@

interop-test: build $(INTEROP)/installed ## check the formats against evo, mcap, rerun and rosbags from PyPI
	$(INTEROP)/bin/python -m unittest discover -s Tests/Interop -p '*_test.py'

fixtures: $(INTEROP)/installed ## regenerate the tests' files in foreign formats
	$(INTEROP)/bin/python Tests/NearbyImportsTests/Fixtures/make-fixtures.py

# The C library, in a folder that may be copied anywhere. C_FUZZ_SECONDS is the time of its fuzzing.
C_LIBRARY := out/c
C_FUZZ_SECONDS ?= 10
# Archives of which the library takes the parts that it needs, where Debian has them; they come first and
# leave nothing to be taken from the shared libraries of the same names, which is then not needed. Those of
# zlib and bzip2 are not made for shared libraries; every system has these two. The compiler is given them in
# every call, so it is told not to complain where it only compiles.
C_ARCHIVES := liblapacke.a liblapack_pic.a libblas.a libzstd.a liblz4.a libsqlite3.a libmd.a \
	libstdc++.a libgcc_eh.a libgcc.a
# Debian's packages of which it holds code, and those that a wheel has to bring.
C_LICENSES := liblapacke liblapack3 libblas3 libzstd1 liblz4-1 libsqlite3-0 libeigen3-dev libmd0 libstdc++6 \
	libbz2-1.0
# The runtime is inside, which cannot be unloaded: the library stays in memory once loaded.
C_LINK = -static-stdlib -use-ld=lld -Xlinker --version-script=$(CURDIR)/$(C_LIBRARY)/link/nearby.map \
	-Xlinker -soname=libnearby.so.0 -Xlinker --gc-sections -Xlinker --icf=safe \
	-Xlinker -z -Xlinker nodelete -Xlinker -z -Xlinker defs
# COMPILED=.build-test/release links what `make test` has compiled, in a second instead of minutes. It was
# compiled for tests and with the shared runtime in mind, so this is for CI.
COMPILED ?=
ifeq ($(COMPILED),)
C_BUILT := .build/release/libNearbyC.so
C_BUILD = NEARBY_SHARED_LIBRARY="$(C_LINK)" $(PRODUCT_BUILD) --product NearbyC
else
C_BUILT := $(C_LIBRARY)/link/libNearbyC.so
C_BUILD = swiftc -emit-library -gnone -o $(C_BUILT) @$(COMPILED)/NearbyC.product/Objects.LinkFileList $(C_LINK) \
	-llapacke -lzstd -lz -lsqlite3 -llz4 -lmd -lbz2 -lstdc++ -lm \
	-l_FoundationCollections -l_FoundationCShims
endif
C_VERSION = $$(sed -n 's/.*current = "\(.*\)"/\1/p' Sources/NearbyFusion/NearbyVersion.swift)

c-library: setup ## build the C library, the Swift runtime inside: out/c
	@mkdir -p $(C_LIBRARY)/link $(C_LIBRARY)/include $(C_LIBRARY)/lib/pkgconfig
	@{ echo 'NEARBY_0 { global:'; \
	  sed -n 's/^NEARBY_API [^(]*[ *]\(nearby_[a-z_]*\)(.*/  \1;/p' Sources/CNearby/include/nearby.h; \
	  echo 'local: *; };'; } > $(C_LIBRARY)/link/nearby.map
	@cc -O2 -fPIC -c Sources/CNearby/SharedLibrary/NoFortran.c -o $(C_LIBRARY)/link/NoFortran.o
	@Packaging/licenses.sh $(C_LIBRARY)/licenses $(C_LICENSES)
	@archives=$(CURDIR)/$(C_LIBRARY)/link/NoFortran.o; for name in $(C_ARCHIVES); do \
	  path=$$(cc -print-file-name=$$name); \
	  case $$path in /*) archives="$$archives $$(realpath $$path)";; *) missing=$$name;; esac; \
	done; \
	first=$(CURDIR)/$(C_LIBRARY)/link/first.ld; echo "GROUP($$archives)" > $$first; \
	if [ -z "$$missing" ]; then export CCC_OVERRIDE_OPTIONS="#^$$first ^-Wl,--as-needed +-Qunused-arguments"; fi; \
	$(C_BUILD)
	@cp Sources/CNearby/include/nearby.h $(C_LIBRARY)/include
	@strip --strip-unneeded -o $(C_LIBRARY)/lib/libnearby.so.0 $(C_BUILT)
	@ln -sf libnearby.so.0 $(C_LIBRARY)/lib/libnearby.so
	@sed "s/@VERSION@/$(C_VERSION)/" Sources/CNearby/SharedLibrary/nearby.pc.in \
	  > $(C_LIBRARY)/lib/pkgconfig/nearby.pc
	@du -h $(C_LIBRARY)/lib/libnearby.so.0

c-test: c-library ## test the C library: its names, the examples, random arguments
	Tests/NearbyCTests/Library/test.sh $(C_LIBRARY) $(C_FUZZ_SECONDS)

# The virtual environment in which the Python package is built and tested. PYTHON=python3.12 takes another.
PYTHON ?= python3
PYTHON_ENV := .build-python
PYTHON_SOURCES := Sources/NearbyPython Tests/NearbyPythonTests
PYTHON_BUILD := NEARBY_C_LIBRARY=$(CURDIR)/$(C_LIBRARY) $(PYTHON_ENV)/bin/pip
# The headers are looked for where Python itself says that they are.
PYTHON_HAS_HEADERS := import os, sys, sysconfig; \
	sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))

python-setup: setup
	@missing=""; \
	$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || missing="python3 python3-venv"; \
	$(PYTHON) -c '$(PYTHON_HAS_HEADERS)' 2>/dev/null || missing="$$missing python3-dev"; \
	[ -z "$$missing" ] && exit 0; \
	command -v apt-get >/dev/null || { echo "please install:" $$missing >&2; exit 1; }; \
	if [ "$$(id -u)" -eq 0 ]; then sudo=""; else sudo="sudo"; fi; \
	echo "installing" $$missing; \
	$$sudo apt-get update -qq && \
	$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing

$(PYTHON_ENV)/installed: Tests/NearbyPythonTests/requirements.txt | python-setup
	$(PYTHON) -m venv $(PYTHON_ENV)
	$(PYTHON_ENV)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

python-test: $(if $(COMPILED),,build) c-library $(PYTHON_ENV)/installed ## build the Python package; check, test it, run its notebook
	$(PYTHON_BUILD) install --quiet --no-build-isolation --no-deps --force-reinstall ./Sources/NearbyPython
	$(PYTHON_ENV)/bin/ruff check --quiet --config Sources/NearbyPython/pyproject.toml $(PYTHON_SOURCES)
	$(PYTHON_ENV)/bin/ruff format --quiet --check --config Sources/NearbyPython/pyproject.toml $(PYTHON_SOURCES)
	$(PYTHON_ENV)/bin/mypy --no-incremental --config-file Sources/NearbyPython/pyproject.toml -p nearby
	NEARBY=$(CURDIR)/$(or $(COMPILED),.build/release)/nearby \
	  $(PYTHON_ENV)/bin/python -m pytest --quiet -p no:cacheprovider Tests/NearbyPythonTests

python-speed: python-test ## measure the Python package's calls against their goals
	$(PYTHON_ENV)/bin/python Tests/NearbyPythonTests/speed.py

# RECORDINGS small simulated recordings, run by `nearby batch` and then on each engine, while workers are
# killed three times at random moments. The tables must be equal byte for byte.
RECORDINGS ?= 10000
MEASURE := out/distributed

distributed-measure: python-test ## run thousands of recordings on local processes, Dask and Ray, and kill workers
	@rm -rf $(MEASURE) && mkdir -p $(MEASURE)
	@.build/release/nearby simulate find --count $(RECORDINGS) --quiet --output $(MEASURE)/walks
	@echo "nearby batch:"; \
	bash -c 'time .build/release/nearby batch $(MEASURE)/walks --output $(MEASURE)/batch --quiet'
	@for kills in 0 3; do for engine in local dask ray; do \
	  $(PYTHON_ENV)/bin/python Tests/NearbyPythonTests/chaos.py $(MEASURE)/walks $(MEASURE)/batch/batch.csv \
	    --engine $$engine --kills $$kills 2>$(MEASURE)/$$engine.log || exit 1; \
	done; done

# For PYTHON=python3.11 a wheel of its own, from 3.12 on one that serves all later versions. It holds the
# libraries of the system that it needs.
wheel: c-library $(PYTHON_ENV)/installed ## build a wheel of the Python package: out/wheels
	@rm -rf out/wheels/raw
	$(PYTHON_BUILD) wheel --quiet --no-build-isolation --no-deps --wheel-dir out/wheels/raw ./Sources/NearbyPython
	PATH=$(CURDIR)/$(PYTHON_ENV)/bin:$$PATH $(PYTHON_ENV)/bin/auditwheel repair --strip \
	  --wheel-dir out/wheels out/wheels/raw/*.whl
	$(PYTHON_ENV)/bin/python Packaging/check-wheel.py out/wheels/*.whl
	@ls -sh out/wheels/*.whl

# Foundation links ICU, 34 MB. These are apps, and the frameworks whose interface has Foundation's types.
USES_FOUNDATION := Sources/(ARKit|NearbyInteraction|NearbyEnvironment|PhoneRecorder|find-my-item|nearby-devices)/

lint: ## check the formatting and the imports of every source file, and the list of Apple's names
	@if grep -nE '^[^/]*import (class |enum |func |protocol |struct )?Foundation\b' \
	  $$(git ls-files --cached --others --exclude-standard 'Sources/*.swift' | grep -vE '^$(USES_FOUNDATION)'); \
	then echo "Foundation is 34 MB in every program: import FoundationEssentials or Glibc" >&2; exit 1; fi
	swift format lint --strict --parallel $(SWIFT_FILES)
	@if command -v clang-format >/dev/null; then \
	  clang-format --dry-run -Werror $(CXX_FILES) && echo "clang-format: clean"; \
	else echo "clang-format is not installed: C++ left unchecked"; fi
	@Packaging/check-names.py

format: ## format every source file
	swift format --in-place --parallel $(SWIFT_FILES)
	@if command -v clang-format >/dev/null; then clang-format -i $(CXX_FILES); fi

# The virtual environment with the browser's driver.
BROWSER := .build-browser

$(BROWSER)/installed: Tests/NearbyReportTests/Browser/requirements.txt
	python3 -m venv $(BROWSER)
	$(BROWSER)/bin/pip install --quiet --requirement $<
	@touch $@

programs-test: ## test the example programs in a pseudo terminal (COMPILED: the folder of the programs)
	$(if $(COMPILED),,swift build -c release --product find-my-item && swift build -c release --product nearby-devices)
	NEARBY_PROGRAMS=$(or $(COMPILED),.build/release) python3 -m unittest discover -s Tests/AppSessionTests/Programs

# COMPILED names a folder with the program, which is not built then.
report-test: $(if $(COMPILED),,build) $(BROWSER)/installed ## test the pages of `nearby report` in a headless Chromium
	@$(MAKE) --no-print-directory setup SYSTEM_PROGRAMS="chromium:chromium"
	NEARBY=$(or $(COMPILED),.build/release)/nearby $(BROWSER)/bin/python -m unittest discover -s Tests/NearbyReportTests/Browser

# The program with the page of `nearby live`. A folder of its own, because a trait is told to every module, which
# would be compiled again with each change of it.
LIVE := .build-live

live-build: setup
	$(PRODUCT_BUILD) --traits Live --scratch-path $(LIVE) --product nearby

# LIVE_ARGUMENTS="--scenario find --peers 10" shows something else.
LIVE_ARGUMENTS ?= --scenario keys
live: live-build ## walk through a simulated flat and find the keys, in the browser
	@$(LIVE)/release/nearby live --open $(LIVE_ARGUMENTS)

$(BROWSER)/live-installed: Tests/NearbyLiveTests/Browser/requirements.txt $(BROWSER)/installed
	$(BROWSER)/bin/pip install --quiet --requirement $<
	@touch $@

live-test: live-build $(BROWSER)/live-installed ## test the page of `nearby live` in a headless Chromium
	@$(MAKE) --no-print-directory setup SYSTEM_PROGRAMS="chromium:chromium"
	$(BROWSER)/bin/python -m unittest discover -s Tests/NearbyLiveTests/Browser

live-attack-test: live-build ## attack `nearby live` and measure how long its owner waits: a minute, no browser
	python3 -m unittest discover -s Tests/NearbyLiveTests/Browser -p 'test_attacks.py'

# The symbols come from the modules that `make test` has built: building all of them once more takes minutes.
DOCS := out/docs
DOCUMENTED := NearbyGeometry NearbyFusion NearbySmoothing NearbyRecordings NearbyImports NearbySimulation \
	NearbyEvaluation NearbyBatch NearbyReport NearbyLive NearbyEnvironment NearbyInteraction
C_MODULE_MAPS = $(MODULES)/CNearbyKernels.build/module.modulemap $(wildcard Sources/C*/module.modulemap)

docs: setup ## build the documentation as a site, out/docs/site; a broken link is an error
	@$(TEST_BUILD) >/dev/null
	@rm -rf $(DOCS)
	@set -e; for target in $(DOCUMENTED); do \
	  mkdir -p $(DOCS)/symbols/$$target; \
	  swift symbolgraph-extract -module-name $$target -I $(MODULES)/Modules -swift-version 6 \
	    -target $$(swiftc -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)".*/\1/p') \
	    -Xcc -I -Xcc Sources/CNearbyKernels/include $(patsubst %,-Xcc -fmodule-map-file=%,$(C_MODULE_MAPS)) \
	    -minimum-access-level public -emit-extension-block-symbols -output-dir $(DOCS)/symbols/$$target; \
	  docc convert Sources/$$target/$$target.docc --additional-symbol-graph-dir $(DOCS)/symbols/$$target \
	    --fallback-display-name $$target --fallback-bundle-identifier $$target \
	    --warnings-as-errors --output-dir $(DOCS)/$$target.doccarchive; \
	done
	@[ -e .build-docs/installed ] || { python3 -m venv .build-docs && \
	  .build-docs/bin/pip install --quiet markdown==3.11.3 && touch .build-docs/installed; }
	@.build-docs/bin/python Packaging/site.py $(DOCS) $(DOCS)/site $(DOCUMENTED)

clean: ## remove build products and outputs
	rm -rf .build .build-test .build-dependent .build-app .build-bench .build-peers .build-compare \
	  .build-browser .build-docs .build-live .build-interop .build-python .build-python-module .build-tsan .build-tsan-sessions .build-asan out
