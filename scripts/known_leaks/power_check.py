#!/usr/bin/env python3
"""Is the printed power what happens?

    pip install --requirement scripts/known_leaks/requirements.txt
    scripts/known_leaks/power_check.py [--draws 2e5] [--seeds 200]

Each mechanism is audited exactly at its claim, and the report says which epsilon would have been caught with probability 0.9: `detectable_epsilon`.
Then its noise is made smaller until theory says that it leaks exactly this epsilon, and it is audited again under the same claim, with other seeds. The
share of these audits that refute the claim is compared with 0.9.

Writes results/reference/printed_power.csv and printed_power.md. Needs cargo. The exit code is 1 if the 99 % interval of a share lies below 0.9.
"""

import argparse
import math
import pathlib
import statistics
import sys

from scipy.special import betaincinv

import reference
from cases import KINDS, ROOT, audits, program

POWER = 0.9
# Audits at the claim; the median of their detectable epsilon is the printed power.
AT_CLAIM = 40

# name, mechanism, claim
CASES = [
    ("randomized response", "randomized-response", (1.0, 0.0)),
    ("Laplace", "laplace", (1.0, 0.0)),
    ("Gaussian, δ = 0.01", "gaussian", (1.0, 1e-2)),
    ("Gaussian, δ = 1e-5", "gaussian", (1.0, 1e-5)),
    ("subsampled Gaussian, q = 0.1, δ = 1e-3", "subsampled-gaussian", (1.0, 1e-3)),
    ("Laplace, 8 releases", "laplace-8", (1.0, 0.0)),
    ("random covariance, 5 numbers, δ = 0.01", "random-covariance-5", (1.0, 1e-2)),
    ("Laplace in a sentence", "sentence", (1.0, 0.0)),
]
COLUMNS = ["case", "claim_epsilon", "claim_delta", "draws", "confidence", "detectable_epsilon", "detectable_low", "detectable_high", "seeds", "flagged", "flagged_low", "flagged_high"]


def interval(hits, trials, level=0.99):
    """Clopper and Pearson, both ends."""
    tail = (1 - level) / 2
    low = betaincinv(hits, trials - hits + 1, tail) if hits > 0 else 0.0
    high = betaincinv(hits + 1, trials - hits, 1 - tail) if hits < trials else 1.0
    return float(low), float(high)


def measure(path, case, draws, confidence, seeds):
    """The printed power of one case, and what happens."""
    name, kind, claim = case
    at_claim = audits(path, kind, KINDS[kind].strength(*claim), claim, draws, confidence, 1, AT_CLAIM)
    printed = [float(row["detectable_epsilon"]) for row in at_claim]
    typical = statistics.median(printed)
    row = dict(zip(COLUMNS, [name, *claim, draws, confidence, f"{typical:.4f}", f"{min(printed):.4f}", f"{max(printed):.4f}"]))
    # Nothing is promised where a report says that no leak would be caught.
    if math.isfinite(typical):
        leaking = audits(path, kind, KINDS[kind].strength(typical, claim[1]), claim, draws, confidence, 1001, seeds)
        hits = sum(row["verdict"] == "violated" for row in leaking)
        low, high = interval(hits, seeds)
        row |= dict(seeds=seeds, flagged=f"{hits / seeds:.4f}", flagged_low=f"{low:.4f}", flagged_high=f"{high:.4f}")
    return row


def keeps_promise(row):
    return "flagged" not in row or float(row["flagged_high"]) >= POWER


def markdown(rows):
    """The table for people."""
    lines = ["| mechanism | could catch ε (least – most) | flagged at this ε | 99 % interval |", "|---|--:|--:|--:|"]
    for row in rows:
        printed = f"{float(row['detectable_epsilon']):.3f} ({float(row['detectable_low']):.3f} – {float(row['detectable_high']):.3f})"
        if "flagged" not in row:
            lines.append(f"| {row['case']} | ∞ | – | – |")
            continue
        share = f"{float(row['flagged']):.3f}"
        lines.append(f"| {row['case']} | {printed} | {share if keeps_promise(row) else f'**{share}**'} | {float(row['flagged_low']):.3f} – {float(row['flagged_high']):.3f} |")
    first = rows[0]
    lines += [
        "",
        f"Claims of ε = 1 with {first['draws']:,} draws and {first['confidence']:.1%} confidence. *Could catch* is the median of what {AT_CLAIM} audits of the mechanism print when it",
        f"is exactly at its claim; a leak of this size should be flagged in at least {POWER:.0%} of the audits. *Flagged* is the share of {first['seeds']} audits of the mechanism with a",
        "leak of exactly this size. Shares that are known to be smaller are bold. `scripts/known_leaks/power_check.py` makes the table.",
    ]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=float, default=2e5, help="draws per audit (2e5)")
    parser.add_argument("--seeds", type=int, default=200, help="audits per case (200)")
    parser.add_argument("--confidence", type=float, default=0.999)
    parser.add_argument("--filter", default="", help="only cases whose name contains this text; writes nothing")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "results" / "reference", help="folder for the two files")
    arguments = parser.parse_args()
    path, rows = program(), []
    for case in CASES:
        if arguments.filter in case[0]:
            row = measure(path, case, int(arguments.draws), arguments.confidence, arguments.seeds)
            rows.append(row)
            print(f"{row['case']:42} could catch {row['detectable_epsilon']:>8} flagged {row.get('flagged', '–')} ({row.get('flagged_low')} – {row.get('flagged_high')})", flush=True)
    if not arguments.filter:
        reference.write(arguments.out, "printed_power", COLUMNS, rows, markdown(rows))
    sys.exit(0 if all(keeps_promise(row) for row in rows) else 1)


if __name__ == "__main__":
    main()
