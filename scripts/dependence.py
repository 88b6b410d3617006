#!/usr/bin/env python3
"""How often are dependent draws refused, and how often do they refute a claim that holds?

    scripts/dependence.py [--seeds 300] [--independent 500] [--draws 20000] [CASE …]

Runs the example `dependence` and writes results/reference/dependence.md. A CASE is a part of a case's name; without any, all cases run. --measured
FILE keeps the counts, and the table is that of all cases in the file, so that it can be made in parts. Needs cargo, unless --program names the
built example.
"""

import argparse
import csv
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"), "release/examples/dependence")
TABLE = ROOT / "results/reference/dependence.md"
ALPHA = 0.05
GOAL = 0.9
COLUMNS = ["case", "runs", "refused", "flagged"]

TEXT = """# Dependent draws

Made by `scripts/dependence.py{arguments}`: {draws} draws per run, claim ε = 1, confidence 95 %. Every single draw is exactly on its claim, except that
the constant of the last part leaks nothing. *Refused* is an error ("not independent"), *flagged* a claim that holds and is refuted, *passed* all
others. At 95 % a claim that holds may be flagged in 5 % of runs. The last column says whether a case is refused in 90 % of runs (`refused`), is
flagged in no more than 5 % (`harmless`; up to what chance allows once in 20 times at exactly 5 %), or neither (**open**).

All draws of the run that deals out a pool come from the pool that it drew at first. Over all pools each draw fits its claim, but once the pool is known
the sides differ, and that is what is flagged.

The draws of a case are those of one process, in which both sides share the noise, unless its name says otherwise. Programs have fresh randomness in
each process, so their rows change a little from run to run. What cannot be seen is listed in [DESIGN](../../DESIGN.md#independence).

| case | runs | refused | flagged | passed | |
|---|--:|--:|--:|--:|---|
"""


def most_by_chance(runs):
    """The largest number that a binomial count with probability ALPHA exceeds with probability of at most 0.05."""
    term, below, count = (1 - ALPHA) ** runs, 0.0, 0
    while below + term < 0.95:
        below += term
        term *= (runs - count) / (count + 1) * ALPHA / (1 - ALPHA)
        count += 1
    return count


def row(case, runs, refused, flagged):
    share = lambda count: f"{100 * count / runs:.1f} %"  # noqa: E731
    if case.startswith("independent"):
        ends = f"{refused} refused"
    elif refused >= GOAL * runs:
        ends = "refused"
    else:
        ends = "harmless" if flagged <= most_by_chance(runs) else "**open**"
    return f"| {case} | {runs} | {share(refused)} | {share(flagged)} | {share(runs - refused - flagged)} | {ends} |\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=300)
    parser.add_argument("--independent", type=int, default=500)
    parser.add_argument("--draws", type=int, default=20_000)
    parser.add_argument("--measured", type=pathlib.Path, help="a CSV file that keeps the counts of each case")
    parser.add_argument("--program", type=pathlib.Path, help="the built example (default: the release build, brought up to date)")
    parser.add_argument("cases", nargs="*")
    args = parser.parse_args()
    if not args.program:
        subprocess.run(["cargo", "build", "--release", "--quiet", "--example", "dependence"], cwd=ROOT, check=True)
        args.program = PROGRAM
    numbers = [f"--seeds={args.seeds}", f"--independent={args.independent}", f"--draws={args.draws}"]
    words = [word for number in numbers for word in number.split("=")]
    run = subprocess.run([args.program, *words, *args.cases], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    lines = list(csv.DictReader(run.stdout.splitlines()))
    if args.measured:
        earlier = list(csv.DictReader(args.measured.open())) if args.measured.exists() else []
        again = {line["case"] for line in lines}
        lines = [line for line in earlier if line["case"] not in again] + lines
        with args.measured.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)
    rows = [row(line["case"], *(int(line[key]) for key in COLUMNS[1:])) for line in lines]
    given = "".join(f" {word}" for number, word in zip((300, 500, 20_000), numbers) if not word.endswith(f"={number}"))
    text = TEXT.format(arguments=given, draws=f"{args.draws:,}") + "".join(rows)
    if args.cases and not args.measured:
        print(text)
    else:
        TABLE.write_text(text)


if __name__ == "__main__":
    main()
