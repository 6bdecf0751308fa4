# Everything is built in release mode, with the same flags: one build serves `run`, `test`, and a plain
# `swift build -c release`. Package.swift turns warnings into errors, because a flag here would cause a second build.

SWIFT ?= swift
# On a terminal, the compiler would get an additional flag, for colors, and build everything again.
BUILD := $(SWIFT) build --configuration release --no-color-diagnostics
# Makes a crashing test end at once: the toolchain's backtracer can hang forever in a process with many threads.
TEST := SWIFT_BACKTRACE=enable=no $(SWIFT) test --configuration release --skip-build
# Shows again at the end what failed, since thousands of lines follow it.
failures = | tee .build/$@.log || { printf '\nWhat failed (.build/$@.log has everything):\n'; \
	grep -aE -A4 'recorded an issue|Fatal error|error: ' .build/$@.log; exit 1; }
SHELL := bash
BIN = $(shell $(BUILD) --show-bin-path)

PACKAGES := pkg-config libzmq3-dev libsqlite3-dev libcbor-dev libarchive-dev libcurl4-openssl-dev \
	libmicrohttpd-dev libgnutls28-dev libxxhash-dev libsodium-dev libqrencode-dev zlib1g-dev libpq-dev libmosquitto-dev libjs-chart.js
SOURCES := Package.swift Sources Tests plugins Benchmarks
.PHONY: help run build test test-others test-servers test-contract test-files test-fhir test-grafana test-mcp test-browser pictures bench-pages mutants faults messages statements fuzz bench profile image test-compose bin-path format check-format deps clean
.DEFAULT_GOAL := help

help:
	@echo "make run                  build, and run the whole stack on made-up data"
	@echo "make run EXPORT=file.zip  the same on your own Apple Health export"
	@echo "make test                 build, and run all tests"
	@echo "make test-servers         run the tests that need PostgreSQL or Mosquitto; installs both"
	@echo "make test-contract        check a running stack against docs/openapi*.json"
	@echo "make test-files           read a made-up person's files with DuckDB and pandas (installs both)"
	@echo "make test-fhir            validate a made-up person's FHIR resources, and send them to a faulty server (installs fhir.resources)"
	@echo "make test-grafana         ask PostgreSQL and Prometheus every question of Grafana's boards (installs both)"
	@echo "make test-mcp             ask a made-up person's stack with the official client of the Model Context Protocol (installs it)"
	@echo "make test-browser         drive the dashboard's page in Chromium (installs it); CHECK=name for one check"
	@echo "make -j2 test-others      run all of these, two at a time, and check the format"
	@echo "make pictures             take the pictures in docs/pictures again"
	@echo "make mutants              show that the tests catch the faults of docs/reliability.md; MUTANT=name for one, FAULTS=200 by simulation"
	@echo "make faults               simulate every fault, from seeds; SEEDS=1000 FIRST=1, or ONE=17 to see and shrink one"
	@echo "make statements           draw statements about HealthKit at random, with what shows each; COUNT=all, SEED=3"
	@echo "make fuzz                 attack the decoders of bytes from outside; TARGET=json SECONDS=600 for one and how long"
	@echo "make bench                measure everything that docs/performance.md has a budget for; QUICK=1 in two minutes, FULL=1 all"
	@echo "make bench-pages          measure the dashboard's page in Chromium: ten years, ten tabs"
	@echo "make profile WHAT=import  where the processor time goes; WHAT=again, WHAT=idle"
	@echo "make build                build the programs; make bin-path says where they are"
	@echo "make image                build the container image"
	@echo "make test-compose         build the image, and try the whole stack in containers"
	@echo "make format               format the sources; make check-format only checks"
	@echo "make deps                 install the Debian packages that are missing"
	@echo "make clean                remove everything built"

# `exec` makes Ctrl-C reach only the program, which stops everything it started; interrupting make isn't an error.
run: build
	@exec "$(BIN)/healthbus" demo $(if $(EXPORT),--export "$(EXPORT)")

build: deps install-manifests
	@$(BUILD)

# Everything is copied again, including the files of handlers in other languages, so that nothing remains of a removed
# plugin. A plugin without a program of its own gets a link to the one that runs it.
.PHONY: install-manifests
install-manifests:
	@set -e; bin="$(BIN)"; rm -rf "$$bin/plugins"; mkdir -p "$$bin/plugins"; \
	for manifest in plugins/*/plugin.json plugins/examples/*/plugin.json; do \
		[ -e "$$manifest" ] || continue; \
		folder=$$(dirname "$$manifest"); mkdir -p "$$bin/$$folder"; \
		for entry in "$$folder"/*; do \
			case "$$entry" in */Stage | */Reading | */Main) ;; *) cp -Rp "$$entry" "$$bin/$$folder/" ;; esac; \
		done; \
	done; \
	rm -rf "$$bin/configs"; if [ -d configs ]; then cp -Rp configs "$$bin/configs"; fi
	@set -e; bin="$(BIN)"; for stage in plugins/*/Stage; do \
		folder=$$(dirname "$$stage"); [ -d "$$folder/Main" ] || \
			ln -sfn healthbus-stages "$$bin/healthbus-$${folder#plugins/}"; \
	done

.PHONY: build-tests
build-tests: deps install-manifests
	@$(BUILD) --build-tests

# What tests use from PyPI, each in a folder of its own. It is installed once, and again when the pinned versions change.
# Without a network, the tests that need it are skipped, and say so.
VENV = $(shell python3 -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv)
PYTHON := .build/python
python = [ ! -e $(PYTHON)/$(1)/installed ] || $(PYTHON)/$(1)/bin/python $(2)

.PRECIOUS: $(PYTHON)/%/installed
$(PYTHON)/%/installed: PACKAGES += $(VENV)
$(PYTHON)/%/installed: Tests/%/requirements.txt | deps
	@echo "installing $$(sed -n 's/==.*//p' $< | paste -sd ' ')"; rm -rf $(@D); mkdir -p $(dir $(@D)); \
	python3 -m venv $(@D) && $(@D)/bin/python -m pip install --quiet --disable-pip-version-check -r $< && touch $@ || { \
		rm -rf $(@D); echo "it can't be installed: the tests that need it are skipped" >&2; }

# `openssl` creates the certificates of the tests' own authority.
test: PACKAGES += openssl $(VENV)
test: build-tests $(PYTHON)/Schema/installed
	@set -o pipefail; $(TEST) 2>&1 $(failures)

# Each test that needs a server starts its own, from Debian's programs, and leaves alone the server that the package
# starts.
POSTGRES = $(shell ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)

test-servers: PACKAGES += postgresql mosquitto mosquitto-clients openssl
test-servers: build-tests
	@set -o pipefail; HEALTHBUS_TEST_MOSQUITTO=/usr/sbin/mosquitto HEALTHBUS_TEST_POSTGRES="$(POSTGRES)" \
		$(TEST) --filter 'Postgres|Broker|Backend(Contract|Version|Dates)Tests' 2>&1 $(failures)

test-contract: build $(PYTHON)/Contract/installed
	@$(call python,Contract,Tests/Contract/run.py "$(BIN)")

test-files: build $(PYTHON)/Files/installed
	@$(call python,Files,Tests/Files/run.py "$(BIN)")

test-fhir: build-tests $(PYTHON)/FHIR/installed
	@$(call python,FHIR,Tests/FHIR/run.py "$(BIN)")
	@set -o pipefail; [ ! -e $(PYTHON)/FHIR/installed ] || HEALTHBUS_TEST_FHIR="$(CURDIR)/$(PYTHON)/FHIR/bin/python" \
		$(TEST) --filter FHIRServerModelTests 2>&1 $(failures)

test-grafana: PACKAGES += postgresql prometheus
test-grafana: build
	@HEALTHBUS_TEST_POSTGRES="$(POSTGRES)" python3 -B Tests/Grafana/run.py "$(BIN)"

test-mcp: build $(PYTHON)/MCP/installed
	@$(call python,MCP,Tests/MCP/run.py "$(BIN)")

# What drives the page: Debian's browser, through a library that would otherwise install its own.
test-browser bench-pages pictures: PACKAGES += chromium fonts-liberation

test-browser: build $(PYTHON)/Browser/installed
	@$(call python,Browser,Tests/Browser/run.py "$(BIN)" $(CHECK))

bench-pages: build $(PYTHON)/Browser/installed
	@$(call python,Browser,Benchmarks/pages.py "$(BIN)")

pictures: build $(PYTHON)/Browser/installed
	@$(call python,Browser,Tests/Browser/pictures.py "$(BIN)" docs/pictures)

# `make -j2 test-others` runs two of them beside each other. All packages are installed first, because a second apt would
# fail while the first one works.
OTHERS := test-servers test-contract test-files test-fhir test-grafana test-mcp test-browser check-format
test-others: PACKAGES += postgresql mosquitto mosquitto-clients openssl prometheus chromium fonts-liberation $(VENV)
test-others: $(OTHERS)

# Every message that the end-to-end tests show to people, command by command, so that they can be read as a whole.
messages: build-tests
	@bin="$(BIN)"; rm -f "$$bin/messages.jsonl"; \
	HEALTHBUS_MESSAGES="$$bin/messages.jsonl" $(TEST) --filter EndToEnd >"$$bin/messages.log" 2>&1 || \
		echo "some tests failed ($$bin/messages.log): what they say may be missing" >&2; \
	python3 Tests/Messages/table.py "$$bin/messages.jsonl"

# Shows which test or command demonstrates a developer's statement, for a reader who doubts it; needs no build.
COUNT ?= 50
statements:
	@python3 Tests/Statements/draw.py --count "$(COUNT)" $(if $(SEED),--seed "$(SEED)")

# A separate build, in .build/mutants: the sources with all mutants in them, each active only when it is named.
mutants: deps
	@SWIFT="$(SWIFT)" Tests/Mutants/run.py $(if $(FAULTS),--faults $(FAULTS)) $(MUTANT)

# What a seed does must not depend on the order of a set's elements.
SEEDS ?= 100
FIRST ?= 1
faults: build-tests
	@SWIFT_DETERMINISTIC_HASHING=1 $(if $(ONE),HEALTHBUS_SHRINK=1) \
		HEALTHBUS_FAULTS="$(or $(ONE),$(FIRST)-$(shell expr $(FIRST) + $(SEEDS) - 1))" \
		$(TEST) --filter StagesTests.FaultTests 2>&1

# Also a separate build, in .build/fuzz, with libFuzzer, which comes with the toolchain. TARGET: xml, export, cbor, json
# or push.
fuzz: deps
	@SWIFT="$(SWIFT)" Tests/Fuzz/run.sh "$(TARGET)" "$(SECONDS)"

# What floors, peers and profiles require in addition to the build.
BENCH_PACKAGES = libxml2-dev libc6-dev gcc $(VENV)

bench: PACKAGES += $(BENCH_PACKAGES)
bench: build
	@Benchmarks/bench.py "$(BIN)"

WHAT ?= import
profile: PACKAGES += $(shell command -v perf >/dev/null || echo linux-perf)
profile: build
	@Benchmarks/profiling.py "$(BIN)" "$(WHAT)"

# Uses the machine's own network, so that Debian's packages can be downloaded inside as they can be here.
DOCKER_BUILD_FLAGS ?= --network host
IMAGE ?= healthbus:latest

image:
	@docker build $(DOCKER_BUILD_FLAGS) -t $(IMAGE) .

test-compose:
	@DOCKER_BUILD_FLAGS="$(DOCKER_BUILD_FLAGS)" Tests/Compose/run.sh

bin-path:
	@echo "$(BIN)"

format:
	@$(SWIFT) format format --in-place --parallel --recursive $(SOURCES)

check-format:
	@$(SWIFT) format lint --strict --parallel --recursive $(SOURCES)

# Asks dpkg, and calls apt only when something is missing.
deps:
	@command -v dpkg >/dev/null || { \
		echo "make deps knows Debian's packages only; install what corresponds to: $(PACKAGES)" >&2; exit 1; }; \
	missing=; for package in $(PACKAGES); do \
		dpkg -s $$package 2>/dev/null | grep -q '^Status: .* installed$$' || missing="$$missing $$package"; \
	done; \
	[ -n "$$missing" ] || exit 0; \
	as_root=; if [ "$$(id -u)" -ne 0 ]; then as_root=sudo; \
		command -v sudo >/dev/null || { \
			echo "missing:$$missing; install them as root: apt-get install$$missing" >&2; exit 1; }; fi; \
	echo "installing$$missing"; \
	$$as_root apt-get update -qq && \
	$$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing

clean:
	@$(SWIFT) package clean
