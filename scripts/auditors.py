#!/usr/bin/env python3
"""Audits the auditors: released functions of jax_privacy, opake and dp_audit on the same scores. Writes results/reference/auditors.md.

    pip install jax_privacy opake opake-auditing scipy ./python
    python3 scripts/auditors.py --runs 2000

False alarms: laws that sit exactly on a claim, so that a bound above it is wrong. All functions get the same coins and scores, at significance 0.05. A function that is
right has a rate of at most 5 %; the interval is the exact one at 99 %.
"""

import argparse
import importlib.metadata
import math
import pathlib

import numpy
import scipy.optimize
import scipy.stats
from jax_privacy import auditing as jax_auditing
from opake import auditing as opake_auditing
from opake.auditing.types import CoinFlip

import dp_audit as dpa

ALPHA = 0.05


def responses(rng, m, epsilon):
    """Randomized response: each coin is reported, wrongly with probability 1/(1 + e^ε). Noise far below 1 breaks ties at random."""
    coins = rng.random(m) < 0.5
    kept = rng.random(m) < 1 / (1 + math.exp(-epsilon))
    return numpy.where(coins == kept, 1.0, 0.0) + 1e-6 * rng.random(m), coins


def shared_loss(rng, m, mu):
    """Every canary alone is exactly μ-GDP, and all of them have the same loss."""
    loss = mu * abs(rng.normal(mu / 2))
    return responses(rng, m, loss)


def gaussian(rng, m, shift):
    coins = rng.random(m) < 0.5
    return shift * coins + rng.normal(size=m), coins


def gdp_epsilon(mu, delta):
    """The ε of μ-GDP at this δ."""
    phi = scipy.stats.norm.cdf
    excess = lambda e: phi(mu / 2 - e / mu) - math.exp(e) * phi(-mu / 2 - e / mu) - delta  # noqa: E731
    return scipy.optimize.brentq(excess, 0, 100)


def peer(method, **options):
    def bound(scores, coins, delta):
        auditor = jax_auditing.CanaryScoreAuditor(scores[coins], scores[~coins])
        return getattr(auditor, method)(ALPHA, delta, **options)

    return bound


def opake(method):
    def bound(scores, coins, delta):
        places = numpy.arange(len(coins))
        flips = CoinFlip(len(coins), places, coins, places[coins], places[~coins])
        estimate = opake_auditing.one_run(opake_auditing.canary_scores(scores, canary_indices=places), coin_flip=flips)
        return getattr(estimate, method)().epsilon_at(delta=delta, significance=ALPHA)

    return bound


def ours(claim, in_epsilon=lambda value, delta: value, sides="both"):
    def bound(scores, coins, delta):
        found = dpa.canaries(scores, coins, claim=claim(delta), confidence=1 - ALPHA, sides=sides, independent_coins=True)
        return in_epsilon(found.lower, delta)

    return bound


def split(seed):
    return jax_auditing.Split(seed=seed)


AUDITORS = {
    "jax_privacy `epsilon_one_run`, Bonferroni (default)": peer("epsilon_one_run"),
    "jax_privacy `epsilon_one_run`, Split": peer("epsilon_one_run", threshold_strategy=split(0)),
    "jax_privacy `epsilon_one_run_fdp`, Bonferroni (default)": peer("epsilon_one_run_fdp"),
    "jax_privacy `epsilon_from_gdp`": peer("epsilon_from_gdp"),
    "opake `eps_delta`": opake("eps_delta"),
    "opake `gdp` (default)": opake("gdp"),
    "dp_audit, claim (ε, δ)": ours(lambda delta: dpa.ApproximateDp(1.0, delta)),
    "dp_audit, claim (ε, δ), only in": ours(lambda delta: dpa.ApproximateDp(1.0, delta), sides="in"),
    "dp_audit, claim μ": ours(lambda delta: dpa.Gdp(1.0, delta), lambda mu, delta: gdp_epsilon(mu, delta) if mu > 0 else 0.0),
}


# tests/auditing_test.py of jax_privacy: shift, epsilon_one_run, epsilon_one_run_fdp.
PUBLISHED = [(1.0, 1.13346, 2.164749), (2.0, 2.311945, 4.7218075), (4.0, 4.395568, 9.133752)]


def slow(name):
    """One solves an equation for each threshold, the other an integral for each rank."""
    return "fdp" in name or "`gdp`" in name


def interval(k, n, level=0.99):
    tail = (1 - level) / 2
    low = scipy.stats.beta.ppf(tail, k, n - k + 1) if k else 0.0
    high = scipy.stats.beta.ppf(1 - tail, k + 1, n - k) if k < n else 1.0
    return low, high


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("results/reference/auditors.md"))
    given = parser.parse_args()
    names = list(AUDITORS)
    # The law, its exact ε at δ, and who is asked: (ε, δ) laws are no μ-GDP, so bounds in μ say nothing about them.
    laws = [
        ("randomized response, ε = 0.0001, m = 1,000", lambda rng: responses(rng, 1000, 1e-4), 1e-4, 1e-9, [names[i] for i in (0, 1, 4, 6, 7)]),
        ("randomized response, ε = 0.0001, m = 2,000", lambda rng: responses(rng, 2000, 1e-4), 1e-4, 1e-9, [names[i] for i in (0, 1, 4, 6, 7)]),
        ("randomized response, ε = 1, m = 1,000", lambda rng: responses(rng, 1000, 1.0), 1.0, 1e-9, [names[i] for i in (0, 1, 4, 6, 7)]),
        ("one shared loss, exactly 1-GDP, m = 200", lambda rng: shared_loss(rng, 200, 1.0), gdp_epsilon(1.0, 1e-5), 1e-5, names),
    ]
    lines = [
        "# Auditors of canaries on the same scores",
        "",
        "Made by `scripts/auditors.py` with "
        + ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("jax_privacy", "opake-auditing", "numpy", "scipy"))
        + f" and dp-audit {dpa.__version__}; {given.runs:,} runs of each law with seeds 0 to {given.runs - 1:,}; significance 0.05.",
        "",
        "## False alarms",
        "",
        "Each law has exactly the ε that is stated, so a bound above it is wrong. A rate whose 99 % interval lies above 0.05 is in bold.",
        "",
        "| law | function | bounds above the truth | 99 % interval | mean bound | truth |",
        "|---|---|--:|---|--:|--:|",
    ]
    alarmed = set()
    for law, draw, truth, delta, asked in laws:
        drawn = [draw(numpy.random.default_rng(seed)) for seed in range(given.runs)]
        for name in asked:
            some = drawn[: max(1, given.runs // 40)] if slow(name) else drawn
            bounds = [AUDITORS[name](scores, coins, delta) for scores, coins in some]
            wrong = sum(bound > truth for bound in bounds)
            low, high = interval(wrong, len(bounds))
            rate = f"{wrong / len(bounds):.4f}" + ("" if len(bounds) == given.runs else f" of {len(bounds)}")
            if low > ALPHA:
                rate = f"**{rate}**"
                alarmed.add(name)
            lines.append(f"| {law} | {name} | {rate} | [{low:.4f}, {high:.4f}] | {numpy.mean(bounds):.4g} | {truth:.4g} |")
            print(lines[-1], flush=True)
    cells = [(m, shift) for m in (100, 1000, 10_000) for shift in (0.5, 1.0, 2.0, 4.0)]
    lines += [
        "",
        "`epsilon_one_run_fdp`, `epsilon_from_gdp` and `gdp` are about Gaussian mechanisms: the first is valid for exact μ-GDP with any dependence, the "
        "second also needs independent scores. opake's functions choose the threshold at which most guesses are right on the scores that they judge.",
        "",
        "## Bounds",
        "",
        "Scores N(shift, 1) and N(0, 1), δ = 1e-5; the mean bound of 20 runs with seeds 0 to 19 (3 for `epsilon_one_run_fdp` and `gdp`). A function that has "
        "false alarms above is in brackets. A bound under the assumption of μ-GDP is larger, so it is comparable with those under the same assumption only.",
        "",
        "| function | " + " | ".join(f"m = {m:,}, shift {shift:g}" for m, shift in cells) + " |",
        "|---|" + "--:|" * len(cells),
    ]
    for name in names:
        row = []
        for m, shift in cells:
            if m > 100 and "`gdp`" in name:
                row.append("–")
                continue
            drawn = [gaussian(numpy.random.default_rng(seed), m, shift) for seed in range(3 if slow(name) else 20)]
            row.append(f"{numpy.mean([AUDITORS[name](scores, coins, 1e-5) for scores, coins in drawn]):.2f}")
        row = [f"({cell})" for cell in row] if name in alarmed else row
        lines.append(f"| {name} | " + " | ".join(row) + " |")
        print(lines[-1], flush=True)
    lines.append("| truth | " + " | ".join(f"{gdp_epsilon(shift, 1e-5):.2f}" for _, shift in cells) + " |")
    lines += [
        "",
        "## Published figures",
        "",
        "jax_privacy's own tests have deterministic scores: the quantiles (i + ½)/10,000 of N(shift, 1) and N(0, 1), δ = 1e-6. *expected* is what those tests expect.",
        "",
        "| shift | `epsilon_one_run` | expected | `epsilon_one_run_fdp` | expected | dp_audit, claim (ε, δ) | dp_audit, claim μ, as ε | truth |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    quantiles = scipy.stats.norm.ppf((numpy.arange(10_000) + 0.5) / 10_000)
    for shift, one, fdp in PUBLISHED:
        scores, coins = numpy.concatenate([quantiles + shift, quantiles]), numpy.repeat([True, False], 10_000)
        found = [AUDITORS[names[i]](scores, coins, 1e-6) for i in (0, 2, 6, 8)]
        lines.append(f"| {shift:g} | {found[0]:.6g} | {one} | {found[1]:.6g} | {fdp} | {found[2]:.4g} | {found[3]:.4g} | {gdp_epsilon(shift, 1e-6):.4g} |")
        print(lines[-1], flush=True)
    given.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
