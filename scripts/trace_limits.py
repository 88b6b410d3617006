"""How often limits of traces and of draws are on the wrong side of the truth.

    python scripts/trace_limits.py gaussian laplace --repeats 1000 --traces 60 --draws 20000 > results/reference/trace_limits.csv
    python scripts/trace_limits.py dp-sgd --repeats 1000 --traces 20 --draws 0 | tail -n 1 >> results/reference/trace_limits.csv
    python scripts/trace_limits.py dp-sgd --repeats 150 --traces 20 --draws 20000 | tail -n 1 >> results/reference/trace_limits.csv

Three mechanisms whose δ(1) is known in closed form, one pair each, so that a limit on the wrong side is an error. `--draws 0` leaves draws out.
"""

import argparse
import csv
import math
import sys

import numpy as np

import dp_audit as dpa
from dp_audit._trace.composition import gauss_delta

STEPS, SIGMA = 4, 2.5


def gaussian(data, rng, count=1):
    return len(data) + rng.normal(scale=1.0, size=count)


def laplace(data, rng, count=1):
    return len(data) + rng.laplace(scale=0.5, size=count)


def dp_sgd(data, rng, count=1):
    """All weights of full-batch gradient descent. The last record's gradient has length 1 after clipping, whatever the weights are."""
    weights = np.zeros((count, 2))
    seen = []
    for _ in range(STEPS):
        total = np.zeros((count, 2))
        for x in data:
            gradient = (weights[:, :1] - x) * np.array([1.0, x])
            total = total + gradient / np.maximum(1.0, np.linalg.norm(gradient, axis=1, keepdims=True))
        weights = weights - 0.01 * np.asarray(total + rng.normal(scale=SIGMA, size=(count, 2)))
        seen.append(weights)
    return np.concatenate(seen, axis=1)


# mechanism, left, right, the true δ(1)
CASES = {
    "gaussian": (gaussian, [0.1], [0.1, 0.2], gauss_delta(1.0, 1.0)),
    "laplace": (laplace, [0.1], [0.1, 0.2], 1 - math.exp((1.0 - 2.0) / 2)),
    "dp-sgd": (dp_sgd, [0.1, 0.3], [0.1, 0.3, 50.0], gauss_delta(math.sqrt(STEPS) / SIGMA, 1.0)),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mechanisms", nargs="*", help="all when absent")
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--traces", type=int, default=60)
    parser.add_argument("--draws", type=int, default=20_000)
    parser.add_argument("--confidence", type=float, default=0.95)
    chosen = parser.parse_args()
    out = csv.writer(sys.stdout)
    out.writerow(
        ["mechanism", "true_delta", "repeats", "traces", "confidence", "upper_too_low", "largest_upper", "limit_too_low", "limit_too_high"]
        + ["mean_low", "mean_high", "draws", "lower_too_high", "mean_lower"]
    )
    for name, (program, left, right, truth) in CASES.items():
        if chosen.mechanisms and name not in chosen.mechanisms:
            continue
        claim = dpa.ApproximateDp(1.0, min(2 * truth, 0.9))
        uppers, lows, highs, lowers = [], [], [], []
        for seed in range(chosen.repeats):
            options = {"claim": claim, "seed": seed, "confidence": chosen.confidence, "relation": "one record"}
            found = dpa.trace(program, left, right, runs=chosen.traces, **options)
            uppers.append(found.upper)
            lows.append(found.delta_limits[0])
            highs.append(found.delta_limits[1])
            if chosen.draws:
                lowers.append(dpa.audit(program, left, right, draws=chosen.draws, until="budget", progress=False, **options).delta_lower)
        wrong = [sum(upper < truth * (1 - 1e-9) for upper in uppers), sum(high < truth for high in highs), sum(low > truth for low in lows)]
        out.writerow(
            [name, f"{truth:.6g}", chosen.repeats, chosen.traces, chosen.confidence, wrong[0], f"{max(uppers):.6g}", wrong[1], wrong[2]]
            + [f"{np.mean(lows):.4g}", f"{np.mean(highs):.4g}", chosen.draws]
            + ([sum(lower > truth for lower in lowers), f"{np.mean(lowers):.4g}"] if lowers else ["", ""])
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
