#!/usr/bin/env python3
"""Does a suite have the same verdicts on every seed?

    scripts/steady.py [--seeds 20] [--table results/reference/steady.csv] [--measured FILE] [PATH …]

Runs the suite with seeds that it takes from the operating system, and counts the runs in which every verdict is as expected. For each audit it
measures how far its numbers are from where the verdict would change: the bound from the claim for a violation; for a pass, the reach from the
asked one and the precision from the needed one. The chance that the verdict is not as expected is that of a Student distribution with the mean and
the spread of the smallest of these margins over the seeds, or the share of seeds on which it was not as expected, if that is larger.

--measured FILE keeps what each run measured, one line of JSON per seed, and the table is that of all runs in the file, so that a long measurement
can be made in parts. --doubtful FILE looks only at the audits whose chance is above 0.0005 in a table of an earlier call, with the same share of the
error rate for each pair as in a run of the whole suite. The exit code is 1 if a run was not as expected. Needs cargo, unless --program names a program.
"""

import argparse
import csv
import functools
import json
import math
import os
import pathlib
import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOUBTFUL = 5e-4
COLUMNS = ["audit", "file", "pairs", "seeds", "not_as_expected", "least_margin", "mean_margin", "spread", "chance"]


def run(paths, seed, confidence, folder):
    """The JSON report of a run with this seed."""
    report = pathlib.Path(folder) / "report.json"
    options = ["--seed", str(seed), "--confidence", repr(confidence), "--csv", f"{folder}/report.csv", "--json", str(report), "--witnesses", f"{folder}/witnesses"]
    command = [f"{folder}/dp-audit", "run", "--quiet", *options, *map(str, paths)]
    ended = subprocess.run(command, cwd=ROOT, check=False)
    if ended.returncode not in (0, 2, 3):
        sys.exit(f"{' '.join(command)} ended with exit code {ended.returncode}")
    return json.loads(report.read_text())


def number(value):
    return math.inf if value == "inf" else float(value or 0)


def margin(audit):
    """How far the verdict is from changing, as a share of the claim; infinite if no chance is involved, `None` if it cannot be judged."""
    if any(pair["verdict"] == "error" for pair in audit["pairs"]):
        return None
    violated = [number(pair["reach"]) - 1 for pair in audit["pairs"] if pair["expected"] == "violated"]
    held = [pair for pair in audit["pairs"] if pair["expected"] == "consistent"]
    margins = violated
    # A distance without noise is not a matter of chance.
    if held and held[0].get("resolved") is not None:
        reach = number(audit["reach"])
        claimed = number(held[0]["claimed"]) or 1.0
        needed = audit["resolution"] * min(max(reach, 0.5), 1.0)
        margins = margins + [reach - audit["asked_reach"]["at_least"]] + [(needed - number(pair["resolved"])) / claimed for pair in held]
    return min(margins, default=math.inf)


def tail(t, freedom, steps=2000):
    """P(T > t) of a Student distribution: the integral of its density over [0, t] is taken off a half."""
    if t < 0:
        return 1 - tail(-t, freedom)
    constant = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    # With x = √f·tan(a), the density becomes a power of the cosine.
    end = math.atan(t / math.sqrt(freedom))
    values = [math.cos(end * step / steps) ** (freedom - 1) for step in range(steps + 1)]
    area = end / steps * (sum(values) - (values[0] + values[-1]) / 2)
    return max(0.5 - constant * math.sqrt(freedom) * area, 0.0)


def chance(margins, failures):
    """The chance that the next margin is negative."""
    seen = failures / len(margins)
    known = [margin for margin in margins if margin is not None and math.isfinite(margin)]
    if len(known) < 3:
        return seen
    spread = statistics.stdev(known)
    if spread == 0:
        return seen
    return max(seen, tail(statistics.mean(known) / (spread * math.sqrt(1 + 1 / len(known))), len(known) - 1))


@functools.cache
def excused(file):
    """The audits of a file that may be inconclusive."""
    keys = tomllib.loads((ROOT / file).read_text())
    return {audit.get("name", keys.get("name")) for audit in keys.get("audit", [keys]) if "allow_inconclusive" in {**keys, **audit}}


def is_as_expected(audit):
    """Whether the audit does not fail the run."""
    return audit["as_expected"] is True or audit["verdict"] == "inconclusive" and audit["audit"] in excused(audit["file"])


def measured(report, seed):
    """What a run shows, as JSON."""
    audits = [
        {
            "audit": audit["audit"],
            "file": audit["file"],
            "pairs": len(audit["pairs"]) + len(audit.get("accuracy") or []),
            "seconds": sum(pair.get("seconds") or 0 for pair in audit["pairs"]),
            "margin": margin(audit),
            "as_expected": is_as_expected(audit),
        }
        for audit in report["audits"]
    ]
    return {"seed": seed, "audits": audits}


def table(runs):
    """A row for each audit, the most doubtful first."""
    found, rows = {}, []
    for audit in (audit for run in runs for audit in run["audits"]):
        found.setdefault((audit["audit"], audit["file"]), []).append(audit)
    for (name, file), results in found.items():
        margins = [result["margin"] for result in results]
        known = [margin for margin in margins if margin is not None and math.isfinite(margin)]
        failures = sum(not result["as_expected"] for result in results)
        spread = statistics.stdev(known) if len(known) > 1 else 0.0
        numbers = [min(known), statistics.mean(known), spread] if known else [math.inf, math.inf, 0.0]
        rows.append(dict(zip(COLUMNS, [name, file, results[0]["pairs"], len(results), failures, *(f"{value:.4g}" for value in numbers), f"{chance(margins, failures):.2g}"])))
    return sorted(rows, key=lambda row: (-float(row["chance"]), row["audit"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", default=["audits"], help="audit files and folders (default: audits)")
    parser.add_argument("--seeds", type=int, default=20, help="how many runs (default: 20)")
    parser.add_argument("--table", type=pathlib.Path, default=ROOT / "results/steady.csv", help="the table to write")
    parser.add_argument("--measured", type=pathlib.Path, help="a file to which the results of each seed are added")
    parser.add_argument("--program", type=pathlib.Path, help="the dp-audit to run (default: the release build, brought up to date)")
    parser.add_argument("--doubtful", type=pathlib.Path, help="a table of an earlier call, whose doubtful audits alone are run")
    arguments = parser.parse_args()
    paths, confidence = arguments.paths, 0.999
    if arguments.doubtful:
        earlier = list(csv.DictReader(arguments.doubtful.open()))
        paths = sorted({row["file"] for row in earlier if float(row["chance"]) > DOUBTFUL})
        pairs = sum(int(row["pairs"]) for row in earlier if row["file"] in paths)
        confidence = 1 - 0.001 * pairs / sum(int(row["pairs"]) for row in earlier)
    if not arguments.program:
        subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
        arguments.program = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"), "release/dp-audit")
    runs = []
    if arguments.measured and arguments.measured.exists():
        runs = [json.loads(line) for line in arguments.measured.read_text().splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        # A copy, so that the code may change while this runs.
        shutil.copy(arguments.program, f"{folder}/dp-audit")
        for _ in range(arguments.seeds):
            seed = secrets.randbits(32)
            runs.append(measured(run(paths, seed, confidence, folder), seed))
            if arguments.measured:
                with arguments.measured.open("a") as file:
                    print(json.dumps(runs[-1]), file=file)
            wrong = [audit["audit"] for audit in runs[-1]["audits"] if not audit["as_expected"]]
            print(f"seed {seed}: {'as expected' if not wrong else 'NOT as expected: ' + '; '.join(wrong)}", flush=True)
    rows = table(runs)
    arguments.table.parent.mkdir(parents=True, exist_ok=True)
    with arguments.table.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    as_expected = sum(all(audit["as_expected"] for audit in run["audits"]) for run in runs)
    doubtful = [row for row in rows if float(row["chance"]) > DOUBTFUL]
    expected = math.prod(1 - float(row["chance"]) for row in rows)
    print(f"{as_expected} of {len(runs)} runs as expected; by the margins {expected:.3f} of all runs are. {len(doubtful)} doubtful audits:")
    for row in doubtful[:40]:
        print(f"  {row['chance']:>8}  {row['audit']} ({row['not_as_expected']} of {row['seeds']}; margin {row['mean_margin']} ± {row['spread']})")
    sys.exit(as_expected < len(runs))


if __name__ == "__main__":
    main()
