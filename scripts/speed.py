#!/usr/bin/env python3
"""Measures what dp-audit adds to a mechanism, in Rust and in Python, as ratios to a loop that only draws. Writes a table in Markdown.

    cargo bench --no-run && pip install ./python
    python scripts/speed.py > results/reference/speed.md

It runs `cargo bench --bench throughput` and `scripts/python_speed.py`, which measure all parts of a ratio in turn, so that other work on the machine
disturbs all alike. Still, use a machine that does nothing else. It ends with exit code 1 if a ratio misses its goal.
"""

import platform
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What is measured, and what it should be at most.
GOALS = {
    "whole audit of a scalar / bare loop, 1 thread": 1.2,
    "the same, all threads": 1.3,
    "Python: vectorised audit / numpy alone, on the same threads": 1.35,
    "Python: audit of one draw at a time / bare loop": 1.15,
}


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def stages(table):
    """The ratios of the stages of an audit on one thread and on all, and how much faster all threads are."""
    number = r"([\d.]+|inf|NaN)"
    row = re.compile(rf"^(\S.*?)\s+{number} s\s+{number}\s+{number}\s+{number} s\s+{number}\s+{number}\s+{number}$", re.MULTILINE)
    found = {match[1]: (float(match[3]), float(match[6]), float(match[8])) for match in row.finditer(table)}
    if "whole audit" not in found or "bare loop" not in found:
        sys.exit(f"the benchmark printed no stages:\n{table}")
    return found


def python_ratio(table, name):
    match = re.search(rf"^\| {re.escape(name)} \| ([\d.]+) \|", table, re.MULTILINE)
    if match is None:
        sys.exit(f"scripts/python_speed.py printed no ratio \"{name}\":\n{table}")
    return float(match[1])


def main():
    rust = stages(output("cargo", "bench", "--bench", "throughput"))
    python = output(sys.executable, "scripts/python_speed.py")
    one, all_threads, _ = rust["whole audit"]
    measured = [
        one,
        all_threads,
        python_ratio(python, "vectorised audit / numpy alone, on the same threads"),
        python_ratio(python, "audit of one draw at a time / bare loop"),
    ]
    missed = 0
    print("# Speed\n")
    print(f"Made by `python scripts/speed.py > results/reference/speed.md` on one {platform.machine()} machine. Ratios only: they depend little on it.\n")
    print("| ratio | measured | goal | |\n|---|--:|--:|---|")
    for (name, goal), ratio in zip(GOALS.items(), measured):
        missed += ratio > goal
        print(f"| {name} | {ratio:.2f} | at most {goal} | {'**missed**' if ratio > goal else ''} |")
    print("\nWhere the time of the audit of a scalar goes. A stage is compared with a bare loop of as many draws as the audit makes:\n")
    print("| stage | 1 thread | all threads | faster by |\n|---|--:|--:|--:|")
    for name, (single, all_of_them, faster) in rust.items():
        print(f"| {name} | {single:.2f} | {all_of_them:.2f} | {faster:.2f} |")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
