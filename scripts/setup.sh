#!/usr/bin/env bash
# Installs what building, testing and the programs of the benchmarks need, on Debian 12 or newer. As root it installs;
# otherwise it prints the command and stops. Does nothing where nothing is missing.
set -eu

# The compiler and the libraries that atomfix itself is built with; kernels and tests.
packages="clang-22 llvm-22 llvm-22-dev lld-22 libclang-rt-22-dev g++ make cmake meson ninja-build binutils"
# Real programs, unmodified, from Debian's sources: memcached (its test suite is in Perl), pbzip2, zstd.
packages="$packages dpkg-dev libevent-dev libbz2-dev libmemcached-tools perl"

missing=
for package in $packages; do
    # shellcheck disable=SC2016 # the format is dpkg-query's own
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing="$missing $package"
done

if [ -n "$missing" ]; then
    command="apt-get update && apt-get install -y$missing"
    if [ "$(id -u)" != 0 ]; then
        echo "missing packages:$missing" >&2
        echo "install them with:  sudo sh -c '$command'" >&2
        exit 3
    fi
    export DEBIAN_FRONTEND=noninteractive
    sh -c "$command"
fi

if ! command -v cargo >/dev/null; then
    echo "cargo is not installed; install Rust 1.95 or newer with rustup (https://rustup.rs), components rustfmt and clippy included" >&2
    exit 3
fi
