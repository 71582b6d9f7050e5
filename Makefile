# `make demo` shows what atomfix does; `make test` runs every check. Both install what they need (as root; otherwise they
# print the command). `make bench` and `make bench-real` reproduce the numbers that we publish.

RELEASE = $${CARGO_TARGET_DIR:-target}/release
VERIFY = $${CARGO_TARGET_DIR:-target}/verify

.PHONY: all setup build demo test test-lock-memory bench bench-real bench-sct install
all: build

setup:
	@scripts/setup.sh

build: setup
	cargo build --release -p atomfix -p atomfix-benchmarks

demo: build
	@scripts/demo.sh "$(RELEASE)"

test: setup
	cargo fmt --all --check
	cargo clippy --profile verify --workspace --all-targets -- -D warnings
	cargo test --profile verify --workspace
	cargo test --release -p atomfix-rt-lock --features loom --test protocol
	cargo build --profile verify -p atomfix -p atomfix-benchmarks
	"$(VERIFY)/atomfix-bench" kernels --short
	"$(VERIFY)/atomfix-bench" campaign --short
	"$(VERIFY)/atomfix-bench" random-programs --count 100 --compiled 3
	"$(VERIFY)/atomfix-bench" real --short --rounds 1

# What `make test` leaves out, since it needs more than stable Rust: the injected locks under Miri (`rustup component add miri rust-src
# --toolchain nightly`) and their build for aarch64 (`rustup target add aarch64-unknown-linux-gnu`).
test-lock-memory:
	cargo build --profile runtime -p atomfix-rt-lock --target aarch64-unknown-linux-gnu
	MIRIFLAGS="-Zmiri-ignore-leaks -Zmiri-permissive-provenance" cargo +nightly miri test -p atomfix-rt-lock --lib --test stress

bench: build
	"$(RELEASE)/atomfix-bench" kernels
	"$(RELEASE)/atomfix-bench" check-speed
	"$(RELEASE)/atomfix-bench" scale

bench-real: build
	"$(RELEASE)/atomfix-bench" real
	"$(RELEASE)/atomfix-bench" sqlite

# Programs of other people's suites: DIR is a checkout of mc-imperial/sctbench.
bench-sct: build
	"$(RELEASE)/atomfix-bench" sct --dir "$(DIR)"
	"$(RELEASE)/atomfix-bench" sct-harden --dir "$(DIR)"
	"$(RELEASE)/atomfix-bench" sct-speed --dir "$(DIR)"

install: setup
	cargo install --path cli
