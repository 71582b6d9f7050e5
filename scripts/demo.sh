#!/usr/bin/env bash
# Shows what atomfix does: one kernel through the four commands, then pbzip2 through profile and harden.
# Called by `make demo`, which installs what is needed and builds; needs atomfix and atomfix-bench in the folder $1.
set -euo pipefail

bin=$(cd "${1:-target/release}" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
export PATH="$bin:$PATH"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ -t 1 ] && [ -z "${NO_COLOR-}" ]; then bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'; else bold='' dim='' plain=''; fi

title() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
say() { printf '%s\n' "$*"; }
# Prints a command as a user would type it, and runs it.
run() { printf '%s$ %s%s\n' "$dim" "$*" "$plain"; "$@"; }

# The same, but of a long output only the beginning and the end.
brief() {
    printf '%s$ %s%s\n' "$dim" "$*" "$plain"
    "$@" >"$work/said"
    local lines
    lines=$(wc -l <"$work/said")
    if [ "$lines" -le 16 ]; then cat "$work/said"; return; fi
    head -n 10 "$work/said"
    say "    ... $((lines - 14)) more lines"
    tail -n 4 "$work/said"
}

# passes COUNT COMMAND...: how many of COUNT runs end well.
passes() {
    local count=$1 good=0; shift
    for _ in $(seq "$count"); do if timeout 10 "$@" >/dev/null 2>&1; then good=$((good + 1)); fi; done
    say "$good of $count runs pass"
}

# seconds COMMAND...: the median of five runs.
seconds() {
    for _ in 1 2 3 4 5; do
        local start=$EPOCHREALTIME
        timeout 300 "$@" >/dev/null
        local end=$EPOCHREALTIME
        echo $(((${end/./} - ${start/./}) / 1000))
    done | sort -n | sed -n 3p | awk '{ printf "%.2f s", $1 / 1000 }'
}

title "1. A program with a hidden bug (MySQL 791 in small: benchmarks/programs/log_rotation)"
cd "$work"
cp "$root/benchmarks/programs/log_rotation/main.c" .
run atomfix cc -g -O2 -pthread main.c -o app
say "Run it, and it looks sound:"
passes 100 ./app

title "2. Learn from passing runs"
run atomfix profile ./app --runs 20 --seed 1

title "3. Build it with locks that keep what was learned"
run atomfix harden ./app -o app.hard

title "4. Explore every schedule of both builds"
run atomfix check ./app.hard --preemptions none

title "5. A real program: pbzip2 1.1.13, unmodified, from Debian's sources"
pbzip2=$(atomfix-bench prepare-pbzip2)
cd "$pbzip2"
run atomfix profile ./pbzip2 --runs 3 --seed 1 -- -p2 -b2 -k -f small.txt
brief atomfix harden ./pbzip2 -o pbzip2.hard
say "Compressing 50 MB with 2 threads (medians of five runs):"
./pbzip2.hard -p2 -k -c data.txt | ./pbzip2 -d -c | cmp - data.txt
say "  original  $(seconds ./pbzip2 -p2 -k -c data.txt)"
say "  hardened  $(seconds ./pbzip2.hard -p2 -k -c data.txt), output identical when expanded again"

title "Next: README.md, docs/guide.md"
