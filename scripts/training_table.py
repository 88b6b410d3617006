#!/usr/bin/env python3
"""How often canaries in one training run refute DP-SGD, right and with its bugs: results/reference/training.csv and training.md.

    pip install --requirement scripts/claim_from_accountant.requirements.txt
    cargo build --release && python3 scripts/training_table.py --program target/release/dp-audit --seeds 10

Each cell is one claim, one bug and one way to look, audited with so many seeds, each alone at 95 %. The claims are what dp-accounting says about 100 steps
with rate 0.1 and noise multipliers 4, 1.5 and 0.9.

ladder: one run with 2,000 white-box canaries, claim (ε, 1e-5), guesses both ways and only "in", each with half of the error rate.
profile: the same run under the accountant's whole profile.
fresh: fresh coins at every step, claim μ = 1/σ for one step.
black: one run with 1,000 black-box canaries, claim (ε, 1e-5).
"""

import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import dp_accounting
from dp_accounting.pld import privacy_loss_distribution

RATE, STEPS, DELTA = 0.1, 100, 1e-5
BUGS = ["none", "batch-clipping", "shared-noise", "bare-last-step", "short-noise"]
WAYS = ["ladder", "profile", "fresh", "black"]
SIGMAS = [4.0, 1.5, 0.9]
POINTS = [1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 1e-7, 1e-8]


def accountant(sigma):
    """The loss distribution of all steps, rounded up."""
    step = privacy_loss_distribution.from_gaussian_mechanism(
        sigma, sampling_prob=RATE, neighboring_relation=dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE, value_discretization_interval=1e-4
    )
    return step.self_compose(STEPS)


def audit(way, sigma, bug, epsilon, profile):
    """The audit file of a cell."""
    claim = {"fresh": f"{{ mu = {1 / sigma!r} }}", "profile": json.dumps(profile)}.get(way, f"{{ epsilon = {epsilon!r}, delta = {DELTA!r} }}")
    if way == "profile":
        claim = f"{{ profile = {claim} }}"
    scores = "black-box" if way == "black" else "white-box"
    one = '[[canaries]]\nname = "{name}"\ncanaries = {m}\n{more}\n'
    parts = {
        "fresh": [("steps", 2000, f"steps = {STEPS}")],
        "black": [("both", 1000, "")],
    }.get(way, [("both", 2000, ""), ("in", 2000, 'sides = "in"')])
    return (
        f'name = "{way}"\nmechanism = "dp-sgd"\nrelation = "add-remove"\nclaim = {claim}\n'
        f'params = {{ noise_multiplier = {sigma!r}, rate = {RATE}, steps = {STEPS}, records = 2000, bug = "{bug}", scores = "{scores}" }}\n'
        + "".join(one.format(name=name, m=m, more=more) for name, m, more in parts)
    )


def run(program, text, seed):
    """The rows of the CSV of an audit file."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "audit.toml").write_text(text, encoding="utf-8")
        command = [program, "run", "audit.toml", "--seed", str(seed), "--confidence", "0.95", "--csv", "out.csv", "-q"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 2, 3):
            sys.exit(f"{text}\n{done.stderr}")
        with open(path / "out.csv", encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="target/release/dp-audit", type=pathlib.Path)
    parser.add_argument("--seeds", default=10, type=int)
    parser.add_argument("--out", default="results/reference/training", help="without ending")
    given = parser.parse_args()
    program = str(given.program.resolve())
    rows = []
    for sigma in SIGMAS:
        pld = accountant(sigma)
        epsilon = pld.get_epsilon_for_delta(DELTA)
        points = sorted((pld.get_epsilon_for_delta(delta), delta) for delta in POINTS)
        profile = [[round(e + 1e-6, 6), delta] for e, delta in points if e > 0]
        for bug in BUGS:
            for way in WAYS:
                found = [run(program, audit(way, sigma, bug, round(epsilon + 5e-4, 3), profile), seed) for seed in range(given.seeds)]
                refuted = sum(any(row["verdict"] == "violated" for row in one) for one in found)
                lower = [max(float(row["lower"]) for row in one) for one in found]
                unit, claimed = found[0][0]["unit"], found[0][0]["claimed"]
                rows.append([f"{epsilon:.3f}", sigma, bug, way, given.seeds, refuted, refuted / given.seeds, unit, claimed, f"{sum(lower) / len(lower):.4f}", f"{max(lower):.4f}"])
                print(*rows[-1], flush=True)
    header = ["epsilon", "sigma", "bug", "way", "seeds", "refuted", "share", "unit", "claimed", "mean_lower", "max_lower"]
    with open(f"{given.out}.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    cell = {(row[0], row[2]): {} for row in rows}
    for row in rows:
        cell[row[0], row[2]][row[3]] = row[6]
    epsilons = list(dict.fromkeys(row[0] for row in rows))
    lines = [
        f"Share of {given.seeds} seeds in which one training run refutes the claim at 95 %, as ladder / profile / fresh coins / black box. `scripts/training_table.py` makes it and says what these are.",
        "",
        "| claimed ε at δ = 1e-5 | " + " | ".join(BUGS) + " |",
        "|---|" + "---|" * len(BUGS),
    ]
    for epsilon in epsilons:
        shares = [" / ".join(f"{cell[epsilon, bug][way]:g}" for way in WAYS) for bug in BUGS]
        lines.append(f"| {float(epsilon):.2f} | " + " | ".join(shares) + " |")
    pathlib.Path(f"{given.out}.md").write_text("# Canaries against DP-SGD\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
