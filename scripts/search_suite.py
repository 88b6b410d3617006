#!/usr/bin/env python3
"""Searches for a pair in every audit of the default suite, given only what a dataset may be.

    python3 scripts/search_suite.py --program target/release/dp-audit --seconds 60

Each audit is copied without its pairs. Its [search] section follows from the mechanism and its parameters alone, by the rules in `domain` below:
bounds are those of the parameters, sizes are the same for all audits of a kind, or the size of the pairs where the claim is about one size. Writes results/reference/search.csv and prints a summary.
Audits that are expected to be violated should be found; for those that are expected to hold, nothing should be.
"""

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

SUITES = ["basics", "benchmark", "bugs", "notes", "units", "stability", "local"]
ABOUT_PAIRS = ["pair", "pairs", "truth", "draws", "max_seconds", "control", "accuracy", "expect", "reach", "source", "allow_inconclusive", "audit"]


def toml(value):
    """A value as inline TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def number(lower, upper):
    return {"type": "number", "lower": lower, "upper": upper}


def sizes(least, most):
    return {"least": least, "most": most}


CATEGORIES = {"type": "category", "values": ["a", "b", "c"]}


def length(audit):
    """The number of records of a pair."""
    pair = audit["pair"][0] if "pair" in audit else {"left": []}
    return sum(record.get("times", 1) if isinstance(record, dict) else 1 for record in pair["left"])


def transformed(audit, step):
    """The domain of a transformation. Its claim is about exact arithmetic, so records are integers that a float holds, except where the sum itself is in question."""
    query = step.get("query", {}) if isinstance(step, dict) else {}
    bounds = query.get("sum", query.get("mean")) if isinstance(query, dict) else None
    wraps = "wrapping-i32" in str(step)
    if audit["relation"] == "single-component":
        limit = 2**31 - 1 if wraps else 1000
        return {"type": "integer", "lower": -limit, "upper": limit, "never": "nasty"}, sizes(length(audit), length(audit))
    if bounds and bounds["upper"] < 1e6 and "arithmetic" not in bounds:
        record = {"type": "integer", "lower": bounds["lower"], "upper": bounds["upper"], "never": "nasty"}
        return record, sizes(length(audit), length(audit)) if "mean" in query else sizes(0, 200)
    if bounds:
        return number(bounds["lower"], bounds["upper"]), sizes(0, 200)
    if step == "median" or "resize" in step:
        # Insertions and deletions are about lists in an order.
        return number(0, 100), sizes(1, 20) | {"order": "fixed"}
    return CATEGORIES, sizes(0, 30)


def domain(path, audit):
    """The record and the sizes of a dataset, from the mechanism and its parameters; None with a reason if there are no such datasets."""
    mechanism, params = audit["mechanism"], audit.get("params", {})
    if mechanism == "composed":
        return domain(path, {"mechanism": params["mechanism"], "params": params["params"], "relation": audit["relation"]})
    if mechanism.startswith("k-anonymity"):
        return None, "records are rows of a hospital's table"
    if audit["relation"] == "custom":
        return None, "the relation is custom, so a search does not know the neighbours"
    if mechanism == "transformation":
        return transformed(audit, params["step"])
    query = params.get("query", params.get("step", {}).get("query") if isinstance(params.get("step"), dict) else None)
    if audit["relation"] in ("component-wise", "single-component"):
        # Answers to a few queries; if the mechanism has a matrix, its number of rows is the number of queries.
        count = len(params["factor"]) if "factor" in params else None
        wide = 3e9 if "wrapping-i32" in str(params) else 2000
        return number(-wide, wide), sizes(count or 2, count or 10)
    if isinstance(query, dict) and ("sum" in query or "mean" in query):
        bounds = query.get("sum", query.get("mean"))
        return number(bounds["lower"], bounds["upper"]), sizes(0, 200)
    if mechanism.startswith("median/"):
        if "dimension16" in path.name:
            return {"type": "table", "columns": [number(params["lower"], params["upper"])] * 16}, sizes(1, 128)
        return number(params["lower"], params["upper"]), sizes(1, 128)
    if mechanism.startswith("ratio/"):
        return number(0, 1), sizes(0, 30_000)
    if mechanism == "test-release/guarded-mean":
        return number(0, 1), sizes(0, 100)
    if mechanism == "regression/local-sensitivity" or mechanism == "regression/bounded-sensitivity":
        limits = params["limits"]
        return {"type": "table", "columns": [number(-limits["x"], limits["x"]), number(-limits["y"], limits["y"])]}, sizes(1, 20)
    if mechanism.startswith("randomized-response"):
        # One answer for each record, in the order of the records.
        return {"type": "integer", "lower": 0, "upper": 1, "never": "nasty"}, sizes(1, 5) | {"order": "fixed"}
    if "blocks" in params and "size" in params:
        return CATEGORIES, sizes(params["blocks"] * params["size"], params["blocks"] * params["size"] + 6)
    if mechanism == "gaussian/sampled-sum":
        return number(params["lower"], params["upper"]), sizes(0, 20)
    if mechanism.startswith("local/"):
        # One person's value, a number below `size`.
        return {"type": "integer", "lower": 0, "upper": params["size"] - 1, "never": "nasty"}, sizes(1, 1)
    if mechanism == "rappor":
        return CATEGORIES, sizes(1, 3)
    return CATEGORIES, sizes(0, 30)


def audits():
    for suite in SUITES:
        for path in sorted(Path("audits", suite).glob("*.toml")):
            file = tomllib.loads(path.read_text())
            for own in file.get("audit", [file]):
                audit = {**file, **own}
                if "params" in file and "params" in own:
                    audit["params"] = {**file["params"], **own["params"]}
                if "pair" in audit or "pairs" in audit:
                    yield path, audit


def search(program, path, audit, record, size, seconds, draws, seed):
    kept = {key: value for key, value in audit.items() if key not in ABOUT_PAIRS}
    if isinstance(kept.get("claim", {}).get("profile"), str):
        kept["claim"] = {**kept["claim"], "profile": str((path.parent / kept["claim"]["profile"]).resolve())}
    lines = [f"{key} = {toml(value)}" for key, value in kept.items()]
    order = size.pop("order", "any")
    lines += ["[search]", f"record = {toml(record)}", f"size = {toml(size)}", f"order = {toml(order)}"]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "audit.toml")
        file.write_text("\n".join(lines) + "\n")
        began = time.monotonic()
        command = [program, "search", str(file), "--seconds", str(seconds), "--draws", str(draws), "--seed", str(seed), "--csv", str(Path(folder, "found.csv"))]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        taken = time.monotonic() - began
    outcome = {0: "none", 2: "found"}.get(done.returncode, f"exit code {done.returncode}: {' '.join(done.stderr.split())[:200]}")
    candidates, made, bound, left, right = said(done.stdout + done.stderr)
    return outcome, candidates, made, f"{taken:.1f}", bound, left[:80], right[:80]


def said(text):
    """What a search printed: candidates, draws, the bound, and the pair as TOML; empty where there is none."""
    effort = re.search(r"tried ([\d,]+) candidates.*?: ([\d,]+) draws", " ".join(text.split()))
    candidates, made = (number.replace(",", "") for number in effort.groups()) if effort else ("", "")
    sides = re.search(r"^left = (.*)\nright = (.*)$", text, re.MULTILINE)
    bound = re.search(r"(?:Bound|Best): +(.*)", text)
    return candidates, made, bound[1][:60] if bound else "", *(sides.groups() if sides else ("", ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/dp-audit")
    parser.add_argument("--seconds", type=float, default=60, help="for each audit that is expected to be violated")
    parser.add_argument("--seconds-of-twins", type=float, default=60, help="for each audit that is expected to hold")
    parser.add_argument("--draws", default="1e9")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="only audits whose file contains this text")
    parser.add_argument("--expect", default="", help="only audits with this expectation")
    parser.add_argument("--csv", default="results/reference/search.csv")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    counts = {}
    with open(options.csv, "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["file", "audit", "expect", "outcome", "candidates", "draws", "seconds", "bound", "left", "right"])
        for path, audit in audits():
            expect = audit.get("expect", "consistent")
            if options.only not in str(path) or options.expect not in expect:
                continue
            record, size = domain(path, audit)
            if record is None:
                row = ["not searched: " + size, "", "", "", "", "", ""]
            else:
                seconds = options.seconds if expect == "violated" else options.seconds_of_twins
                row = search(program, path, audit, record, size, seconds, options.draws, options.seed)
            counts.setdefault(expect, []).append(row[0])
            table.writerow([path, audit["name"], expect, *row])
            file.flush()
            print(f"{path}: {expect}: {', '.join(row)}", flush=True)
    for expect, outcomes in counts.items():
        searched = [outcome for outcome in outcomes if not outcome.startswith("not searched")]
        found = sum(outcome == "found" for outcome in searched)
        print(f"expected {expect}: {len(outcomes)} audits, {len(searched)} searched, {found} found, {sum(o == 'none' for o in searched)} none")


if __name__ == "__main__":
    sys.exit(main())
