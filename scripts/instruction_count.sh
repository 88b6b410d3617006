#!/usr/bin/env bash
# Counts the instructions of a few fixed workloads with callgrind and compares them with the committed baseline. This notices lost speed, and
# a busy machine does not disturb it. Needs valgrind.
#
#   scripts/instruction_count.sh            compare; exit code 1 if a workload needs over 2 % more than its baseline
#   scripts/instruction_count.sh --update   write a new baseline
#
# The baseline is for one compiler; with another one the comparison is shown and never fails. The program is built as one compilation unit:
# otherwise the way in which the compiler divides it decides what is inlined, and a change moves the counts of code that it does not touch.
set -euo pipefail
cd "$(dirname "$0")/.."
baseline=scripts/instruction_count.tsv
tolerance=2

export CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1 CARGO_TARGET_DIR=target/one-piece
cargo build --release --locked --quiet
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
compiler=$(rustc --version)

# name, then the arguments of dp-audit; one thread, because waiting costs instructions too.
workloads() {
  printf '%s\t%s\n' \
    'laplace'  'run audits/basics/laplace-count.toml --draws 400000' \
    'gaussian' 'run audits/basics/gaussian-exact.toml --draws 400000' \
    'vector'   'run audits/benchmark/laplace-parallel.toml --draws 40000' \
    'svt'      'run audits/benchmark/svt1.toml --draws 10000' \
    'symbols'  'run audits/notes/response-generalized.toml --draws 100000'
}

count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null $CARGO_TARGET_DIR/release/dp-audit $1 --threads 1 --quiet --csv "$folder/out.csv" 2>&1 |
    awk '/Collected/ { print $NF }'
}

found=$folder/found.tsv
printf '# %s\n' "$compiler" > "$found"
workloads | while IFS=$'\t' read -r name arguments; do
  printf '%s\t%s\n' "$name" "$(count "$arguments")" >> "$found"
done

if [[ ${1:-} == --update ]]; then
  cp "$found" "$baseline"
  cat "$baseline"
  exit
fi

same=yes
[[ $(head -1 "$baseline") == "# $compiler" ]] || same=no
[[ $same == yes ]] || echo "the baseline was made with another compiler: $(head -1 "$baseline")"
awk -F'\t' -v tolerance="$tolerance" -v same="$same" '
  /^#/ { next }
  NR == FNR { before[$1] = $2; next }
  !($1 in before) { printf "%-10s %15.0f  no baseline\n", $1, $2; missing = 1; next }
  { change = 100 * ($2 / before[$1] - 1); printf "%-10s %15.0f  %+.2f %%\n", $1, $2, change; if (change > tolerance) worse = 1 }
  END { exit (worse && same == "yes") || missing }
' "$baseline" "$found"
