#!/usr/bin/env python3
"""How much of what the best rule reaches does dp-audit reach, which must learn its rule from the same draws?

    pip install --requirement scripts/known_leaks/requirements.txt
    scripts/known_leaks/share_of_best.py [--draws 1e6] [--seeds 5]

Writes results/reference/share_of_best.csv and share_of_best.md. Needs cargo.
"""

import argparse
import math
import pathlib
import statistics

import reference
from best_rule import expected_bounds, lower
from cases import KINDS, ROOT, audits, program

CONFIDENCE = 0.95


def at(kind, epsilon, delta=0.0):
    """The mechanism that leaks exactly this, and claims it."""
    return kind, KINDS[kind].strength(epsilon, delta), (epsilon, delta)


# name, mechanism with its strength and claim, the share to reach (None: for information)
CASES = [
    ("randomized response, ε = 1", *at("randomized-response", 1.0), 0.97),
    ("Laplace, ε = 1", *at("laplace", 1.0), 0.97),
    ("Laplace, ε = 0.1", *at("laplace", 0.1), 0.97),
    ("discrete Laplace, ε = 0.5", *at("discrete-laplace", 0.5), 0.97),
    ("Gaussian, exactly (1, 0.01)", *at("gaussian", 1.0, 1e-2), 0.95),
    ("Gaussian, exactly (1, 1e-5)", *at("gaussian", 1.0, 1e-5), 0.90),
    ("subsampled Gaussian, q = 0.1, σ = 0.8, δ = 1e-3", "subsampled-gaussian", 1 / 0.8, (1.162, 1e-3), 0.90),
    ("random covariance, 5 numbers, exactly (1, 0.01)", *at("random-covariance-5", 1.0, 1e-2), 0.93),
    ("random covariance, 10 numbers, exactly (1, 0.01)", *at("random-covariance-10", 1.0, 1e-2), 0.93),
    ("random covariance, 50 numbers, exactly (1, 0.01)", *at("random-covariance-50", 1.0, 1e-2), 0.93),
    ("parity of three of twenty bits, ε = 1", *at("three-bits", 1.0), 0.95),
    ("Laplace in a sentence, ε = 1", *at("sentence", 1.0), 0.95),
    ("Laplace in JSON, ε = 1", *at("json", 1.0), 0.95),
    ("Laplace, 8 releases of ε = 1/8", *at("laplace-8", 1.0), None),
    ("Laplace, 20 releases of ε = 0.005, claims 0.05", "laplace-20", 0.1, (0.05, 0.0), None),
    ("ten numbers, correlation 0.9, half the noise of (1, 0.01)", "equal-correlation-10", 2 * KINDS["gaussian"].strength(1.0, 1e-2), (1.0, 1e-2), None),
    ("table, noise reused between cells and row sums", "table", 1.0, (1.0, 0.0), None),
    ("Laplace from 16 random bits", "few-bits", 16, (1.0, 0.0), 0.80),
    ("Laplace, hardly any noise in 0.3 % of the draws", "spike", 3e-3, (1.0, 0.0), 0.80),
    ("no noise where another number is extreme, δ = 2e-4, claims 1e-5", "rare-slice", 2e-4, (1.0, 1e-5), 0.80),
    ("last digit of a whole number, ε = 1", *at("last-digit", 1.0), 0.80),
    ("parity of five of twenty bits beside a number, ε = 1", *at("five-bits", 1.0), 0.80),
    ("place of an item in a permutation of twelve, ε = 1", *at("permutation", 1.0), 0.80),
]
# Cases that are measured by δ at the claimed ε: what they leak is rare and otherwise as claimed.
OF_DELTA = {"rare-slice"}
COLUMNS = ["case", "claim_epsilon", "claim_delta", "draws", "confidence", "seeds", "truth_epsilon", "best_rule", "best_rule_two_limits", "mean_epsilon_lower", "standard_error", "share", "target", "rule"]


def delta_bound(rules, epsilon, draws, alpha):
    """The δ bound at ε of a rule that is never wrong, at its mean tally: δ ≥ γ (θ (1 + e^ε) − e^ε), each limit with half of α."""
    guesses = rules.correct[0] * draws
    theta, gamma = lower(guesses, guesses, alpha / 2), lower(guesses, draws, alpha / 2)
    return float(gamma * (theta * (1 + math.exp(epsilon)) - math.exp(epsilon)))


def measure(path, case, draws, seeds):
    """One case: theory beside the program's figures."""
    name, kind, strength, claim, target = case
    rules = KINDS[kind].rules(strength)
    if kind in OF_DELTA:
        truth, best = strength, delta_bound(rules, claim[0], draws, 1 - CONFIDENCE)
        two_limits, column, digits = best, "delta_lower", 7
    else:
        truth = KINDS[kind].epsilon(strength, claim[1])
        best, two_limits = expected_bounds(rules, claim[1], min(truth, 30.0), draws, 1 - CONFIDENCE)
        column, digits = "epsilon_lower", 4
    rows = audits(path, kind, strength, claim, draws, CONFIDENCE, 1, seeds)
    found = [float(row[column]) for row in rows]
    mean = statistics.fmean(found)
    error = statistics.stdev(found) / math.sqrt(seeds) if seeds > 1 else math.nan
    figures = [*(f"{figure:.{digits}f}" for figure in (truth, best, two_limits, mean, error)), f"{mean / best:.4f}"]
    return dict(zip(COLUMNS, [name, *claim, draws, CONFIDENCE, seeds, *figures, target, rows[0]["rule"]]))


def markdown(rows):
    """The table for people."""
    first = rows[0]
    lines = ["| case | truth | best rule | dp-audit | share | to reach |", "|---|--:|--:|--:|--:|--:|"]
    for row in rows:
        share, target = float(row["share"]), row["target"]
        reached = f"{share:.3f}" if target is None or share >= target else f"**{share:.3f}**"
        truth = "∞" if row["truth_epsilon"] == "inf" else row["truth_epsilon"]
        bound = f"{row['mean_epsilon_lower']} ± {row['standard_error']}"
        lines.append(f"| {row['case']} | {truth} | {row['best_rule']} | {bound} | {reached} | {'–' if target is None else f'{target:.2f}'} |")
    lines += [
        "",
        f"Lower bounds on ε with {first['draws']:,} draws and {first['confidence']:.0%} confidence. *Best rule* is the mean bound of the best rule that theory",
        "gives before the draws, when all draws are used to certify it. *dp-audit* learns its rule from some of the draws; mean and standard error of",
        f"{first['seeds']} seeds. Shares below their goal are bold. The case that claims δ = 1e-5 is measured by δ at the claimed ε. `scripts/known_leaks/share_of_best.py` makes the table.",
    ]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=float, default=1e6, help="draws per audit (1e6)")
    parser.add_argument("--seeds", type=int, default=5, help="audits per case (5)")
    parser.add_argument("--filter", default="", help="only cases whose name contains this text; writes nothing")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "results" / "reference", help="folder for the two files")
    arguments = parser.parse_args()
    path, rows = program(), []
    for case in CASES:
        if arguments.filter in case[0]:
            row = measure(path, case, int(arguments.draws), arguments.seeds)
            rows.append(row)
            print(f"{row['case']:60} best {row['best_rule']:>8} dp-audit {row['mean_epsilon_lower']:>8} share {row['share']}  {row['rule'][:80]}", flush=True)
    if not arguments.filter:
        reference.write(arguments.out, "share_of_best", COLUMNS, rows, markdown(rows))


if __name__ == "__main__":
    main()
