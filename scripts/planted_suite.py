#!/usr/bin/env python3
"""Searches for the planted bugs of audits/planted, and compares the pairs with the smallest ones that a person can construct.

    python3 scripts/planted_suite.py --program target/release/dp-audit --seconds 60

Writes results/reference/planted.csv and prints a summary. Each bug should be found, none of the corrected twins, and at least eight of ten pairs
should be as small as those below.
"""

import argparse
import csv
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path

from search_suite import said

FILE = Path("audits/planted/planted.toml")

# The fewest records of both sides together on which the bug shows, and why there are no fewer.
SMALLEST = {
    "NaN in a mean": (2, "[0] and [nan]: the number of records is fixed and not 0"),
    "64-bit overflow in a sum": (3, "[2^62] and [2^62, 2^62]: one record does not reach 2^63"),
    "an unseen key in a histogram": (1, "[] and one unseen key"),
    "a median of an even number of values": (3, "[x] and [x, y]: no records are not an even number here"),
    "rows of equal priority": (7, "values 0, 0, 1 and 1, 1, 0, 0: the sum of two must change by more than 1"),
    "a clamp and −0.0": (2, "[0] and [-0.0]"),
    "an empty dataset": (1, "[] and one record"),
    "a mean of the known values": (4, "[missing, 0] and [missing, 100]: with one record the noise is wide enough"),
    "a tie": (3, "one of a kind, and one of each"),
    "a group of one": (1, "[] and a group of one"),
}


def records(side):
    """The number of records of a side in TOML."""
    return sum(record.get("times", 1) if isinstance(record, dict) else 1 for record in tomllib.loads(f"side = {side}")["side"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/dp-audit")
    parser.add_argument("--seconds", default="60")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--csv", default="results/reference/planted.csv")
    options = parser.parse_args()
    rows, wrong = [], 0
    for audit in tomllib.loads(FILE.read_text(encoding="utf-8"))["audit"]:
        name, expect = audit["name"].removeprefix("planted: "), audit["expect"]
        began = time.monotonic()
        command = [os.path.abspath(options.program), "search", audit["name"], str(FILE), "--seconds", options.seconds, "--seed", options.seed, "--csv", os.devnull]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        taken = time.monotonic() - began
        candidates, draws, bound, left, right = said(done.stdout + done.stderr)
        found = bool(left)
        wrong += done.returncode != 0
        size = records(left) + records(right) if found else ""
        row = [name, expect, "found" if found else "none", candidates, draws, f"{taken:.1f}", bound, left, right, size, SMALLEST.get(name, ("",))[0] if found else ""]
        rows.append(row)
        print(*row, sep=", ", flush=True)
    with open(options.csv, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["bug", "expect", "outcome", "candidates", "draws", "seconds", "bound", "left", "right", "records", "fewest_records"])
        table.writerows(rows)
    found = [row for row in rows if row[2] == "found"]
    print(f"{len(found)} of {len(SMALLEST)} found, {sum(row[9] == row[10] for row in found)} as small as possible, {wrong} not as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
