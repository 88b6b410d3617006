#!/usr/bin/env python3
"""Mean bounds of `dp-audit canaries` for scores N(shift, 1) and N(0, 1): results/reference/canary_bounds.csv.

    cargo build --release && python3 scripts/canary_bounds.py --program target/release/dp-audit --runs 40
"""

import argparse
import csv
import math
import pathlib
import statistics
import subprocess
import tempfile

import numpy


def bound(program, folder, m, shift, delta, seed):
    rng = numpy.random.default_rng([seed, m, int(10 * shift)])
    coins = rng.random(m) < 0.5
    scores = shift * coins + rng.normal(size=m)
    path = pathlib.Path(folder)
    text = "score,included\n" + "".join(f"{score!r},{int(coin)}\n" for score, coin in zip(scores.tolist(), coins))
    (path / "scores.csv").write_text(text, encoding="utf-8")
    command = [program, "canaries", "scores.csv", "--claim-epsilon", "1", "--claim-delta", str(delta), "--csv", "out.csv", "-q", "--independent-coins"]
    subprocess.run(command, cwd=folder, check=False, capture_output=True)
    with open(path / "out.csv", encoding="utf-8", newline="") as file:
        return float(next(csv.DictReader(file))["lower"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="target/release/dp-audit", type=pathlib.Path)
    parser.add_argument("--runs", default=40, type=int)
    parser.add_argument("--out", default="results/reference/canary_bounds.csv")
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for m, delta in ((100, 1e-5), (1000, 1e-5), (10_000, 1e-5), (10_000, 1e-6)):
            for shift in (0.5, 1.0, 2.0, 4.0):
                found = [bound(str(given.program.resolve()), folder, m, shift, delta, seed) for seed in range(given.runs)]
                error = statistics.stdev(found) / math.sqrt(len(found))
                rows.append([m, delta, shift, len(found), f"{statistics.mean(found):.4f}", f"{error:.4f}"])
                print(*rows[-1], flush=True)
    with open(given.out, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([["canaries", "delta", "shift", "runs", "mean_lower", "standard_error"], *rows])


if __name__ == "__main__":
    main()
