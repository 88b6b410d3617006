#!/usr/bin/env python3
"""Measures what exploration with the fourth root of the draws costs in bounds, against exploration with an eighth of them.

    cargo build --release
    python3 scripts/exploration.py        # the second part of results/reference/exploration.md

It needs a second program in which an eighth explores whatever the budget. It builds that from a copy of the sources, or takes it with
`--eighth PROGRAM`. Bounds are those in the unit of the claim, each the mean over several seeds. A cell is the ratio of two means with its standard
error; it is marked if it is below 0.99 by more than its standard error.
"""

import argparse
import csv
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("DP_AUDIT", ROOT / "target" / "release" / "dp-audit"))
SCHEDULE = "src/sample/schedule.rs"
CONSTANT = re.compile(r"(const EIGHTH_EXPLORES: u64 = )[^;]*;")

# An audit, a text in the name of one of its pairs, and the most draws that take no more than seconds.
CASES = [
    ("basics/laplace-count.toml", "", 10**9),
    ("basics/gaussian-exact.toml", "", 10**9),
    ("bugs/gaussian.toml", "", 10**9),
    ("bugs/discrete-laplace-cut.toml", "", 10**9),
    ("notes/histogram-stable.toml", "the first record beside", 10**9),
    ("units/gaussian-mu.toml", "", 10**9),
    ("units/gaussian-renyi-8.toml", "", 10**9),
    ("benchmark/truncated-geometric.toml", "2 / 1", 3 * 10**8),
    ("benchmark/numerical-svt.toml", "X shape", 3 * 10**8),
]
# Up to 2^27 draws, both programs do the same.
SEEDS = {3 * 10**8: 3, 10**9: 3}
FALLS = 0.99


def build_eighth(folder):
    """The same program, in which an eighth of any budget explores."""
    for name in ("src", "build.rs", "Cargo.toml", "Cargo.lock", "audits", "benches", "examples", "tests", "README.md", "python"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("target"))
        elif (ROOT / name).exists():
            shutil.copy(ROOT / name, folder / name)
    text, replaced = CONSTANT.subn(r"\1u64::MAX;", (folder / SCHEDULE).read_text())
    if replaced != 1:
        sys.exit(f"{SCHEDULE} has no constant EIGHTH_EXPLORES")
    (folder / SCHEDULE).write_text(text)
    subprocess.run(["cargo", "build", "--release", "--bin", "dp-audit"], cwd=folder, check=True)
    return folder / "target" / "release" / "dp-audit"


def bound(row):
    """The bound in the unit of the claim; that on δ where only δ is leaked."""
    return float(row["lower"] or row["epsilon_lower"]) or float(row["delta_lower"] or 0)


def bounds(program, audit, pair, draws, seed, folder):
    """The bounds on the pairs of an audit, by name, and the claim."""
    report = folder / "report.csv"
    command = [program, "run", "-q", ROOT / "audits" / audit, "--draws", str(draws), "--seed", str(seed), "--csv", report, "--witnesses", folder / "w"]
    code = subprocess.run(command + (["--pair", pair] if pair else []), stdout=subprocess.DEVNULL).returncode
    if code not in (0, 2, 3):
        sys.exit(f"{audit} ended with exit code {code}")
    with open(report) as file:
        return {row["pair"]: (bound(row), row["unit"], row["claimed"]) for row in csv.DictReader(file)}


def mean(values):
    """The mean and its standard error."""
    return statistics.mean(values), statistics.stdev(values) / math.sqrt(len(values))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--eighth", type=Path, help="a program in which an eighth explores (default: build one)")
    parser.add_argument("--most-draws", type=float, default=1e9, help="leave out what makes more")
    parser.add_argument("--only", action="append", help="only audits whose file has this text in its name; may be given several times")
    arguments = parser.parse_args()
    lines, fell = [], 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        eighth = arguments.eighth or build_eighth(folder)
        for audit, pair, most in CASES:
            if min(most, arguments.most_draws) < min(SEEDS) or arguments.only and not any(text in audit for text in arguments.only):
                continue
            cells = {}
            for draws, seeds in SEEDS.items():
                if draws > min(most, arguments.most_draws):
                    continue
                found = [[bounds(program, audit, pair, draws, seed, folder) for seed in range(seeds)] for program in (eighth, PROGRAM)]
                for name in found[0][0]:
                    (before, error_before), (after, error_after) = ([mean([run[name][0] for run in runs]) for runs in found])
                    ratio = after / before if before > 0 else math.nan
                    error = ratio * math.hypot(error_before / before, error_after / after) if before > 0 and after > 0 else math.nan
                    is_lower = ratio + error < FALLS
                    fell += is_lower
                    mark = "**" if is_lower else ""
                    cells.setdefault(name, {})[draws] = f"{before:.4f} → {after:.4f} | {mark}{ratio:.4f} ± {error:.4f}{mark}"
                    print(audit, name, draws, cells[name][draws], file=sys.stderr)
            unit = {name: f"{unit} of {claimed}" if claimed else unit for name, (_, unit, claimed) in found[0][0].items()}
            for name, of_draws in cells.items():
                row = " | ".join(of_draws.get(draws, " | ") for draws in SEEDS)
                lines.append(f"| {audit.removesuffix('.toml')}: {name} | {unit[name]} | {row} |")
    print("""**More would gain little.** Made by `scripts/exploration.py`: the bounds are compared with those of a program in which an eighth explores whatever the
budget; mean bounds in the unit of the claim, an eighth → the fourth root, their ratio, and its standard error over """ + " and ".join(f"{seeds} seeds of {draws:,}" for draws, seeds in SEEDS.items()) + """ draws.
""")
    print(f"{'No bound falls' if fell == 0 else f'{fell} bounds, in bold, fall'} by more than 1 % beyond the standard error.\n")
    print("| pair | claim | " + " | ".join(f"{draws:,} draws | ratio" for draws in SEEDS) + " |")
    print("|---|---|" + "--:|--:|" * len(SEEDS))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
