#!/usr/bin/env python3
"""Computes the truths of audit files and compares.

    python3 scripts/truths/check.py [--all] [FILE or FOLDER ...]

Without paths: the repository's audits/ and every folder named `boundary` below src/. Prints the mismatches, or with --all every truth.
The exit code is 1 if a stated truth does not agree or has no model, and 0 otherwise.
"""

import argparse
import math
import pathlib
import sys
import time

sys.dont_write_bytecode = True

import accuracy
import additive
import encoding
import histogram
import local
import median
import ratio
import regression
import selection
import sparse_vector
import spec
import stability
import tables

FAMILIES = (additive, encoding, histogram, local, median, ratio, regression, selection, sparse_vector, stability, tables)
MODELS = {name: model for family in FAMILIES for name, model in family.MODELS.items()}
NO_MODEL, WRONG = "no model", "MISMATCH"
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


def agreement(stated, computed, bound):
    """How a stated value agrees with the computed one; None if it does not.

    Exact: up to a relative 1e-9 (for 0: up to 1e-12). Rounded up: by less than one unit of the last digit, as a truth must not lie below the leak.
    Rounded down: by at most half a unit. A value with a single digit other than 0, such as 1.0 or 0.05, is meant as it stands: its unit is a
    millionth of it. Upper bound: the exact value lies below, and the stated one is a limit that is proven.
    """
    if math.isinf(stated) or math.isinf(computed):
        return "exact" if stated == computed else None
    if abs(stated - computed) <= (1e-9 * abs(stated) or 1e-12):
        return "exact"
    mantissa, _, exponent = getattr(stated, "text", str(stated)).lower().replace("_", "").partition("e")
    unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    if len(mantissa.replace(".", "").strip("0")) <= 1:
        unit = 1e-6 * stated
    if 0 < stated - computed < unit:
        return "rounded up"
    if 0 < computed - stated <= unit / 2:
        return "rounded down"
    if bound is not None and computed <= stated and agreement(stated, bound, None):
        return "upper bound"
    return None


def files(paths):
    for path in paths:
        yield from sorted(path.rglob("*.toml")) if path.is_dir() else [path]


def compute(audit, pair):
    """The pair of output distributions, or None without a model. Models see what the mechanism sees, not the truth."""
    model = MODELS.get(audit["mechanism"])
    left, right = spec.records(pair["left"]), spec.records(pair["right"])
    seen = {key: audit[key] for key in ("attacks", "command") if key in audit}
    return model(audit.get("params", {}), left, right, seen) if model else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="print every truth, not only what does not agree")
    parser.add_argument("paths", nargs="*", type=pathlib.Path, help="audit files, or folders of them")
    arguments = parser.parse_args()
    paths = arguments.paths or [REPOSITORY / "audits", *sorted(path for path in (REPOSITORY / "src").rglob("boundary") if path.is_dir())]
    began, ways, stating = time.monotonic(), {}, set()

    def count(key, stated, computed, bound, path, name):
        way = NO_MODEL if computed is None else agreement(stated, computed, bound) or WRONG
        ways[way] = ways.get(way, 0) + 1
        if arguments.all or way in (NO_MODEL, WRONG):
            shown = "" if computed is None else f"{computed:.10g}"
            print(f"{way:12}  {key:7}  stated {getattr(stated, 'text', stated):<20}  computed {shown:<16}  {path.parent.name}/{path.stem}: {name}")

    for path, audit in ((path, audit) for path in files(paths) for audit in spec.load(path)):
        for pair in spec.pairs(audit):
            truth = pair["truth"]
            if truth is None:
                continue
            stating.add(path)
            result, claim = compute(audit, pair), audit["claim"]
            for key, at in (("epsilon", float(claim.get("delta", 0.0))), ("delta", float(claim["epsilon"]))):
                if key not in truth:
                    continue
                computed = getattr(result, key)(at) if result else None
                bound = getattr(result, "bound", None) if key == "epsilon" else None
                count(key, truth[key], computed, bound, path, pair["name"])
        for claim in audit.get("accuracy", []):
            if "truth" not in claim:
                continue
            stating.add(path)
            computed = accuracy.probability(audit["mechanism"], audit.get("params", {}), spec.records(claim["data"]), claim["event"])
            count("chance", claim["truth"], computed, None, path, claim["name"])
    summary = ", ".join(f"{count} {way}" for way, count in sorted(ways.items()))
    print(f"{sum(ways.values())} truths in {len(stating)} files: {summary}; {time.monotonic() - began:.0f} seconds")
    sys.exit(1 if NO_MODEL in ways or WRONG in ways else 0)


if __name__ == "__main__":
    main()
