#!/usr/bin/env python3
"""How few draws refute a broken claim? Runs the example `few_draws` and writes results/reference/few_draws.md.

    scripts/few_draws.py [--runs 100] [--only TEXT]

Closures in Rust only. Needs cargo. A part of a mechanism's name after --only measures this one and writes nothing.
"""

import argparse
import csv
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "results/reference/few_draws.md"

# The most draws that were aimed at, as the mean of 100 runs.
GOALS = {
    "mean + Laplace (2/(nε)) ε = 0.01": 150,
    "mean + Laplace (2/(nε)) ε = 0.1": 200,
    "mean + Laplace (2/(nε)) ε = 0.9": 900,
    "mean + Laplace (2/(nε)) ε = 1": 1100,
    "mean + Gaussian of (ε; 1e-5) ε = 0.01": 100,
    "mean + Gaussian of (ε; 1e-5) ε = 0.1": 110,
    "N(0;1) / N(1;1) claim μ = 0.5": 330,
    "N(0;1) / N(1;1) claim μ = 0.8": 2200,
    "Laplace(1) claim ε = 0.8": 3000,
    "Laplace half the noise claim 1": 140,
    "a constant that differs claim 1": 24,
}

TEXT = """# Few draws

Made by `scripts/few_draws.py`: draws of both sides together until the claim is refuted at 95 %, with `until decided` and at most 20,000 draws; the mean of
{runs} runs with different seeds, with a 99 % interval. A run that refutes nothing is *missed* and counts with 20,000. Closures in Rust.

| mechanism | mean | 99 % | median | missed | goal |
|---|--:|--:|--:|--:|--:|
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    command = ["cargo", "run", "--quiet", "--release", "--example", "few_draws", "--", str(arguments.runs), arguments.only]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    text = TEXT.format(runs=arguments.runs)
    for row in csv.DictReader(output.splitlines()):
        goal = GOALS.get(row["mechanism"])
        reached = "" if goal is None else f"{goal}" if float(row["mean"]) <= goal else f"{goal}, **missed**"
        name = row["mechanism"].replace(";", ",")
        text += f"| {name} | {row['mean']} | {row['lower']}–{row['upper']} | {row['median']} | {row['missed']} | {reached} |\n"
    print(text)
    if not arguments.only:
        TABLE.write_text(text)


if __name__ == "__main__":
    main()
