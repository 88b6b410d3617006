#!/usr/bin/env python3
"""What could the best rule show of NumericalSVT in the benchmark, and how much of it does dp-audit show?

    scripts/known_leaks/numerical_svt.py [--draws 2e8] [--seeds 3]

A row of this sparse vector says which answers are above the threshold, and has fresh Laplace noise on each of them. So its log-ratio is that of the
pattern, which scripts/truths/sparse_vector.py integrates, plus that of each number. All outputs are put in the order of their log-ratio; the rules
guess from both ends of it. Needs cargo. results/reference/README.md has the comparison; --seeds 0 only computes.
"""

import argparse
import csv
import itertools
import math
import statistics
import subprocess
import sys
import tempfile
import tomllib

import numpy as np
from best_rule import expected_bounds
from cases import ROOT, Rules

sys.path.insert(0, str(ROOT / "scripts" / "truths"))
from sparse_vector import Threshold, rows, settings

AUDIT = ROOT / "audits/benchmark/numerical-svt.toml"
CONFIDENCE = 0.9
# Cells of the numbers between the two answers; the log-ratio is constant beyond both.
CELLS = 64


def number(left, right, scale):
    """The masses of a released number in cells of equal log-ratio, on both sides."""
    low, high = min(left, right), max(left, right)
    edges = np.concatenate([[-math.inf], np.linspace(low, high, CELLS + 1), [math.inf]]) if low < high else np.array([-math.inf, math.inf])

    def mass(centre):
        z = (edges - centre) / scale
        below = np.where(z < 0, 0.5 * np.exp(np.minimum(z, 0)), 1 - 0.5 * np.exp(-np.maximum(z, 0)))
        return np.diff(below)

    return mass(left), mass(right)


def outputs(params, left, right):
    """The probabilities of all cells of outputs, on both sides."""
    rho, nu, release = settings(params["algorithm"], params["epsilon"], params["cutoff"])
    sides = [Threshold(params["threshold"], rho, nu, answers) for answers in (left, right)]
    parts = [[], []]
    for (above, below), times in rows(list(zip(left, right, strict=True)), params["cutoff"]).items():
        cells = [np.array([times * side.probability([pair[i] for pair in above], [pair[i] for pair in below])]) for i, side in enumerate(sides)]
        for pair in above:
            cells = [np.outer(all_cells, masses).ravel() for all_cells, masses in zip(cells, number(*pair, release))]
        for part, masses in zip(parts, cells):
            part.append(masses)
    p, q = (np.concatenate(part) for part in parts)
    assert abs(p.sum() - 1) < 1e-9 and abs(q.sum() - 1) < 1e-9, "all outputs together have probability 1"
    return p, q


def best_rules(p, q):
    """Guess left on the outputs of the largest log-ratio and right on those of the smallest: every pair of cuts of a grid, outermost first."""
    order = np.argsort(np.log(q) - np.log(p))
    p, q = np.concatenate([[0.0], np.cumsum(p[order])]), np.concatenate([[0.0], np.cumsum(q[order])])
    masses = np.concatenate([np.geomspace(1e-7, 0.01, 60), np.linspace(0.01, 0.99, 197), 1 - np.geomspace(0.01, 1e-7, 60)])
    # The outermost cells can be large, so a rule may also leave out one of the two ends.
    places = np.unique(np.concatenate([[0], np.searchsorted((p + q) / 2, masses), [len(p) - 1]]))
    heads, tails = np.array([(head, tail) for head, tail in itertools.combinations_with_replacement(places, 2)]).T
    correct, wrong = (p[heads] + q[-1] - q[tails]) / 2, (q[heads] + p[-1] - p[tails]) / 2
    some = correct + wrong > 0
    return Rules(correct[some], wrong[some], 2)


def audit(draws, seed):
    """The bound that dp-audit shows."""
    with tempfile.TemporaryDirectory() as folder:
        report = f"{folder}/audit.csv"
        command = ["cargo", "run", "--release", "--quiet", "--", "run", AUDIT, "--draws", str(draws), "--seed", str(seed), "--confidence", str(CONFIDENCE)]
        subprocess.run([*command, "--csv", report, "--witnesses", f"{folder}/witnesses", "--quiet", "--allow-inconclusive"], cwd=ROOT, check=True)
        with open(report, encoding="utf-8") as file:
            return float(next(csv.DictReader(file))["epsilon_lower"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=float, default=2e8, help="draws per audit (2e8)")
    parser.add_argument("--seeds", type=int, default=3, help="audits (3)")
    arguments = parser.parse_args()
    draws = int(arguments.draws)
    file = tomllib.loads(AUDIT.read_text(encoding="utf-8"))
    flat = lambda data: [entry["value"] for entry in data for _ in range(entry["times"])]
    p, q = outputs(file["params"], flat(file["pair"][0]["left"]), flat(file["pair"][0]["right"]))
    print(f"the largest log-ratios are {np.log(p / q).max():.4f} towards left and {np.log(q / p).max():.4f} towards right", flush=True)
    best, _ = expected_bounds(best_rules(p, q), 0.0, 0.1, draws, 1 - CONFIDENCE)
    print(f"the best rule has a mean bound of {best:.5f} with {draws:,} draws at {CONFIDENCE:.0%}", flush=True)
    found = [audit(draws, seed) for seed in range(arguments.seeds)]
    if found:
        print(f"dp-audit: {', '.join(f'{bound:.5f}' for bound in found)}; mean {statistics.fmean(found):.5f}, share {statistics.fmean(found) / best:.3f}")


if __name__ == "__main__":
    main()
