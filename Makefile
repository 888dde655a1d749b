# berth's front door: `make demo` and `make test` set up a fresh Debian 12 machine, build and run.

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
# For the interface and for files each; single parsers get a tenth of it.
FUZZ_SECONDS ?= 600
# The same seed does the same again.
FUZZ_SEED ?= $(shell date +%s)

BUILD_PACKAGES = cmake ninja-build g++ ccache libfmt-dev nlohmann-json3-dev libexpected-dev \
  libtomlplusplus-dev libboost-dev libsqlite3-dev zlib1g-dev libeigen3-dev nodejs
# Some builds of nodejs bring npm along, and then Debian's package of that name cannot be installed.
NPM_PACKAGE = $(if $(shell command -v npm),,npm)
# A browser without a font shows nothing.
BROWSER_PACKAGES = chromium fonts-dejavu-core fonts-noto-color-emoji
TEST_PACKAGES = libgtest-dev python3 python3-yaml tmux zsh fish parallel procps $(BROWSER_PACKAGES)
BENCH_PACKAGES = libbenchmark-dev python3 hyperfine parallel nq task-spooler $(BROWSER_PACKAGES)
SLURM_PACKAGES = slurmctld slurmd slurm-client munge iproute2 faketime
FUZZ_PACKAGES = clang libclang-rt-14-dev python3 python3-yaml

.PHONY: all demo test test-slurm test-cluster bench figures model screenshots install format tidy asan tsan fuzz clean
.PHONY: build-packages test-packages slurm-packages bench-packages fuzz-packages

all: build-packages
	@cmake --preset release -DBERTH_TESTS=$(if $(TESTS),ON,OFF) >/dev/null
	@cmake --build build --parallel $(JOBS)

demo: all
	@tools/demo

test test-slurm test-cluster: TESTS = yes
test: test-packages all
	@tools/run-tests build

# `berth cluster` on real Slurm, in namespaces: three boxes on this machine. As root.
test-cluster: test-packages slurm-packages all
	@tools/test-cluster build/berth

# On a real Slurm cluster that the tests start on this machine.
test-slurm: test-packages slurm-packages all
	@tests/slurm/run build/berth

bench: bench-packages
	@cmake --preset bench >/dev/null
	@cmake --build build/bench --parallel $(JOBS)
	@bench/run build/bench

# TRACES is a folder with the public traces; without it, only the pictures are made.
figures: all
	@tools/figures build/berth
	@test -z "$(TRACES)" || tools/learned-tables build/berth "$(TRACES)"

# The models that ship, trained again to the same bits: a few minutes of two cores. LUBLIN is the
# trace Lublin-1 as berth reads it (docs/learned-policy.md).
model: all
	@test -n "$(LUBLIN)" || { echo "say where the trace is: make model LUBLIN=lublin1_256.csv"; exit 2; }
	@tools/train-models build/berth "$(LUBLIN)"

screenshots: test-packages all
	@tools/screenshots build/berth web/node_modules

install: all
	@cmake --install build --strip --prefix $(PREFIX)

format:
	clang-format -i $$(git ls-files '*.cc' '*.h')

tidy: build-packages
	@cmake --preset tidy -DBERTH_TESTS=OFF >/dev/null && cmake --build build/tidy --parallel $(JOBS)

asan tsan: build-packages test-packages
	@cmake --preset $@ >/dev/null
	@cmake --build build/$@ --parallel $(JOBS)
	@tools/run-tests build/$@

fuzz: build-packages fuzz-packages
	@cmake --preset fuzz >/dev/null
	@cmake --build build/fuzz --parallel $(JOBS)
	@tools/run-fuzzers build/fuzz $(FUZZ_SECONDS) $(FUZZ_SEED)

clean:
	rm -rf build

build-packages:
	@tools/need-packages $(BUILD_PACKAGES) $(NPM_PACKAGE)
test-packages:
	@tools/need-packages $(TEST_PACKAGES)
slurm-packages:
	@tools/without-services tools/need-packages $(SLURM_PACKAGES)
bench-packages: build-packages
	@tools/need-packages $(BENCH_PACKAGES)
fuzz-packages:
	@tools/need-packages $(FUZZ_PACKAGES)
