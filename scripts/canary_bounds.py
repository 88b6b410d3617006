#!/usr/bin/env python3
"""Mean bounds of canaries with scores N(shift, 1) and N(0, 1), beside those of another implementation: results/reference/canary_bounds.csv.

    pip install scipy ./python
    python3 scripts/canary_bounds.py --runs 2000

`reference` is the mean over 20 to 40 runs of a prototype in numpy that has the same design (a ladder under (ε, δ), a planned number of guesses under μ).
Bounds under μ are given as the ε of that μ-GDP at δ.
"""

import argparse
import csv
import math
import statistics

import numpy
import scipy.optimize
import scipy.stats

import dp_audit as dpa

SHIFTS = (0.5, 1.0, 2.0, 4.0)

# claim, canaries, training runs, δ → the reference for each of SHIFTS.
REFERENCE = {
    ("epsilon", 100, 1, 1e-5): (0.20, 0.81, 1.96, 3.15),
    ("epsilon", 1000, 1, 1e-5): (0.67, 1.61, 3.37, 5.12),
    ("epsilon", 10_000, 1, 1e-5): (0.95, 2.22, 4.55, 7.18),
    ("epsilon", 10_000, 1, 1e-6): (1.02, 2.44, 4.48, 7.25),
    ("epsilon", 1000, 1, 1e-6): (None, 1.72, None, None),
    ("epsilon", 1000, 4, 1e-6): (None, 2.07, None, None),
    ("epsilon", 1000, 16, 1e-6): (None, 2.49, None, None),
    ("mu", 1000, 1, 1e-5): (0.93, 2.45, 5.65, 10.6),
    ("mu", 1000, 1, 1e-6): (None, 2.57, None, None),
    ("mu", 1000, 4, 1e-6): (None, 3.31, None, None),
    ("mu", 1000, 16, 1e-6): (None, 3.66, None, None),
}


def gdp_epsilon(mu, delta):
    """The ε of μ-GDP at this δ."""
    phi, log_phi = scipy.stats.norm.cdf, scipy.stats.norm.logcdf

    def excess(epsilon):
        return phi(mu / 2 - epsilon / mu) - math.exp(epsilon + log_phi(-mu / 2 - epsilon / mu)) - delta

    return scipy.optimize.brentq(excess, 0, mu * mu / 2 + 9 * mu + 1) if mu > 1e-6 and excess(0) > 0 else 0.0


def bound(claim, m, runs, delta, shift, seed):
    rng = numpy.random.default_rng([seed, m, int(10 * shift)])
    coins = [rng.random(m) < 0.5 for _ in range(runs)]
    scores = [shift * included + rng.normal(size=m) for included in coins]
    # Under μ the number of guesses is planned for a truth of 1.5 times the claim.
    stated = dpa.ApproximateDp(1.0, delta) if claim == "epsilon" else dpa.Gdp(shift / 1.5)
    lower = dpa.canaries(scores, coins, claim=stated, independent_coins=True, seed=seed).lower
    return lower if claim == "epsilon" else gdp_epsilon(lower, delta)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", default=2000, type=int)
    parser.add_argument("--out", default="results/reference/canary_bounds.csv")
    given = parser.parse_args()
    rows = []
    for (claim, m, runs, delta), references in REFERENCE.items():
        for shift, reference in zip(SHIFTS, references):
            if reference is None:
                continue
            repeats = given.runs if claim == "epsilon" else max(2, given.runs // 5)  # a bound in μ takes longer
            found = [bound(claim, m, runs, delta, shift, seed) for seed in range(repeats)]
            mean, error = statistics.mean(found), statistics.stdev(found) / math.sqrt(len(found))
            truth = gdp_epsilon(shift, delta)
            rows.append([claim, m, runs, delta, shift, len(found), f"{mean:.4f}", f"{error:.4f}", reference, f"{mean / reference - 1:+.3f}", f"{truth:.4f}"])
            print(*rows[-1], flush=True)
    head = ["claim", "canaries", "runs", "delta", "shift", "repeats", "mean_lower", "standard_error", "reference", "difference", "truth"]
    with open(given.out, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])


if __name__ == "__main__":
    main()
