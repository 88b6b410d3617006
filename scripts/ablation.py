#!/usr/bin/env python3
"""What is each learner of the attack worth? Switches off one at a time and compares with all of them.

    scripts/ablation.py [--suite-draws 20000] [--leak-draws 100000] [--seeds 2]

Writes results/reference/ablation.md. Needs cargo.
"""

import argparse
import csv
import math
import pathlib
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "target/release/examples"


def gaussian_strength(epsilon, delta):
    """The distance in standard deviations at which Gaussian noise is exactly (epsilon, delta)."""

    def below(x):
        return math.erfc(-x / math.sqrt(2)) / 2

    low, high = 1e-3, 10.0
    for _ in range(100):
        mu = (low + high) / 2
        found = below(mu / 2 - epsilon / mu) - math.exp(epsilon) * below(-mu / 2 - epsilon / mu)
        low, high = (mu, high) if found < delta else (low, mu)
    return low


# name, case and strength of the example `known_leaks`, claim
GAUSSIAN = gaussian_strength(1.0, 1e-2)
LEAKS = [
    ("Laplace", "laplace", 1.0, (1.0, 0.0)),
    ("8 releases", "laplace-8", 1.0, (1.0, 0.0)),
    ("covariance 10", "random-covariance-10", GAUSSIAN, (1.0, 1e-2)),
    ("correlated 10", "equal-correlation-10", 2 * GAUSSIAN, (1.0, 1e-2)),
    ("three bits", "three-bits", 1.0, (1.0, 0.0)),
    ("sentence", "sentence", 1.0, (1.0, 0.0)),
    ("table", "table", 1.0, (1.0, 0.0)),
    ("16 bits", "few-bits", 16, (1.0, 0.0)),
    ("spike", "spike", 3e-3, (1.0, 0.0)),
    ("slice", "rare-slice", 2e-3, (1.0, 0.0)),
    ("last digit", "last-digit", 1.0, (1.0, 0.0)),
    ("five bits", "five-bits", 1.0, (1.0, 0.0)),
    ("permutation", "permutation", 1.0, (1.0, 0.0)),
]


def suite(draws):
    """For each learner that is switched off: its pairs."""
    output = subprocess.run([PROGRAMS / "ablation", "audits", str(draws)], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    runs = {}
    for row in csv.DictReader(output.splitlines()):
        runs.setdefault(row["without"], {})[row["audit"], row["pair"]] = row
    return runs


def leak(case, strength, claim, draws, seeds, without):
    """The mean bound on a known leak."""
    arguments = [case, strength, *claim, draws, 0.95, 1, seeds, without]
    output = subprocess.run([PROGRAMS / "known_leaks", *map(str, arguments)], check=True, stdout=subprocess.PIPE, text=True).stdout
    return statistics.fmean(float(row["epsilon_lower"]) for row in csv.DictReader(output.splitlines()))


def refuted(run):
    return {pair for pair, row in run.items() if row["verdict"] == "violated"}


def worse(run, full):
    """Pairs whose bound is smaller by more than a tenth, if the full attack shows a tenth of the claim."""
    def loses(pair):
        lower, claim = float(full[pair]["lower"]), float(full[pair]["claim"])
        return lower > 0.1 * claim and float(run[pair]["lower"]) < 0.9 * lower

    return sum(map(loses, full))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite-draws", type=int, default=20_000)
    parser.add_argument("--leak-draws", type=int, default=100_000)
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    subprocess.run(["cargo", "build", "--release", "--quiet", "--example", "ablation", "--example", "known_leaks"], cwd=ROOT, check=True)

    runs = suite(options.suite_draws)
    full = runs[""]
    lines = [
        "| without | refuted | lost | won | smaller | seconds | " + " | ".join(name for name, *_ in LEAKS) + " |",
        "|---|--:|--:|--:|--:|--:|" + "--:|" * len(LEAKS),
    ]
    total = sum(float(row["seconds"]) for row in full.values())
    for without, run in runs.items():
        lost, won = refuted(full) - refuted(run), refuted(run) - refuted(full)
        seconds = sum(float(row["seconds"]) for row in run.values())
        bounds = [leak(case, strength, claim, options.leak_draws, options.seeds, without) for _, case, strength, claim in LEAKS]
        cells = [without or "nothing", len(refuted(run)), len(lost), len(won), worse(run, full)]
        cells += [f"{total:.1f}" if not without else f"{seconds - total:+.1f}", *(f"{bound:.3f}" for bound in bounds)]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
        print(lines[-1], time.strftime("%X"), flush=True)
        for audit, pair in sorted(lost):
            print(f"  lost: {audit}, {pair}", flush=True)
    lines += [
        "",
        f"Default suite: {len(full)} pairs with {options.suite_draws:,} draws each, seed 0, confidence 99.9 % together; fewer than by default, so that fewer",
        "claims are refuted. *refuted* pairs; *lost* and *won* are pairs that are refuted only with, or only without, the learner; *smaller* are pairs of",
        "which the full attack shows a tenth of the claim or more and whose bound falls by more than a tenth. *seconds* are those of all pairs together,",
        "then the difference. They are wall-clock seconds: on a busy machine, other work changes them more than a learner does, so compare them only",
        "if the machine was idle. The other columns are mean lower bounds on ε for",
        f"leaks that are known from theory (`examples/known_leaks.rs`): {options.leak_draws:,} draws, 95 % confidence, {options.seeds} seeds.",
        "float-bits is not among the default attacks: only two audits ask for it.",
        "",
        f"`scripts/ablation.py --suite-draws {options.suite_draws} --leak-draws {options.leak_draws} --seeds {options.seeds}` makes the table.",
    ]
    (ROOT / "results/reference/ablation.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
