#!/usr/bin/env python3
"""One table of what was audited in audits/libraries, from the CSV files of `dp-audit run`.

    python3 scripts/libraries_table.py RUN.csv ... > results/reference/libraries.csv

A row for each pair: release, function, the claim and where it is documented, relation, verdict, bound, reach, draws, seconds.
"""

import csv
import pathlib
import sys
import tomllib

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "audits" / "libraries"
COLUMNS = ("release", "function", "claim", "documented", "relation", "pair", "verdict", "bound", "reach", "draws", "seconds")


def sources():
    """Where each audit says that its claim is made."""
    found = {}
    for path in FOLDER.rglob("*.toml"):
        shared = tomllib.loads(path.read_text(encoding="utf-8"))
        for audit in shared.pop("audit", [{}]):
            both = shared | audit
            found[both["name"]] = both.get("source", "the privacy parameters that are given")
    return found


def claim(row):
    if not row["claim_epsilon"]:
        return f"{row['unit']} {row['claimed']}"
    delta = float(row["claim_delta"] or 0)
    return f"ε = {float(row['claim_epsilon']):.6g}" + (f", δ = {delta:.6g}" if delta else "")


def bound(row):
    if row["verdict"] == "error":
        return ""
    if not row["claim_epsilon"]:
        return row["lower"]
    excess = float(row["delta_excess"] or 0)
    return f"ε ≥ {float(row['epsilon_lower']):.6g}" + (f", δ ≥ {float(row['delta_lower']):.6g}" if excess else "")


def main():
    documented, writer = sources(), csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                release, _, function = row["audit"].partition(": ")
                source = documented[row["audit"]]
                writer.writerow(
                    [release, function, claim(row), source, row["relation"], row["pair"], row["verdict"], bound(row), row["reach"], row["draws"], row["seconds"]]
                )


if __name__ == "__main__":
    main()
