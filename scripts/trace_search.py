#!/usr/bin/env python3
"""Which findings in Python libraries a search finds from the domain alone, with traces and with draws. Writes results/reference/trace_search.csv.

    scripts/setup_libraries.sh diffprivlib multi-freq-ldpy opendp
    cd python && maturin develop --release && cd ..
    python3 scripts/trace_search.py --seconds 60

The findings are those of the README's table in diffprivlib, OpenDP and multi-freq-ldpy, at the claims of audits/libraries. A search gets what a dataset may
be, and neither a pair nor what is wrong.
"""

import argparse
import csv
import functools
import importlib
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARIES = ROOT / "audits/libraries"

BYTES = {"type": "category", "values": ["1", "2", "4", "8", "16", "32", "64", "128"]}
UNIT = {"type": "number", "lower": 0.0, "upper": 10.0}


def of(folder, module, function, **params):
    """A function of audits/libraries, which takes (data, rng) or (data, rng, count)."""
    sys.path.insert(0, str(LIBRARIES / folder))
    return functools.partial(getattr(importlib.import_module(module), function), **params)


def people(folder, module, function, **params):
    """The same for one person with several attributes, who is the only record."""
    several = of(folder, module, function, **params)
    return lambda data, rng: several(data[0], rng)


# finding: environment, folder, module, function, parameters, ε, record, size, relation
CASES = {
    "OpenDP 0.14.1, integer Laplace": (
        "opendp-0.14.1", of, "opendp", "bugs", "integer_laplace", {"scale": 3.0, "epsilon": 1 / 3 + 1e-16},
        1 / 3 + 1e-16, {"type": "integer", "lower": 0, "upper": 1, "never": "nasty"}, (1, 1), "replace-one",
    ),
    "OpenDP 0.14.2, bit-vector randomized response": (
        "opendp-0.14.2", of, "opendp", "bugs", "bit_vector_response", {"f": 0.5, "epsilon": 2.1972245773362196},
        2.1972245773362196, {**BYTES, "never": "nasty"}, (1, 1), "replace-one",
    ),
    "OpenDP 0.12.1, counts of absent keys": (
        "opendp-0.12.1", of, "opendp", "polars_bugs", "absent_keys", {},
        1.0, {"type": "category", "values": ["a", "b", "c"], "never": "nasty"}, (0, 4), "add-remove",
    ),
    "multi-freq-ldpy 0.2.5, subset selection": (
        "multi-freq-ldpy-0.2.5", of, "multi-freq-ldpy", "protocols", "report", {"kind": "SS", "epsilon": 1.0, "k": 8},
        1.0, {"type": "integer", "lower": 0, "upper": 7, "never": "nasty"}, (1, 1), "replace-one",
    ),
    "multi-freq-ldpy 0.2.5, RS+FD with GRR": (
        "multi-freq-ldpy-0.2.5", people, "multi-freq-ldpy", "protocols", "several", {"kind": "RSpFD_GRR", "k": 2, "budget": [1.0]},
        1.0, {"type": "table", "columns": [{"name": name, "type": "integer", "lower": 0, "upper": 1, "never": "nasty"} for name in "abc"]}, (1, 1), "replace-one",
    ),
    "diffprivlib 0.6.6, tools.nanmean": (
        "diffprivlib-0.6.6", of, "diffprivlib", "releases", "release", {"shape": "summary", "tool": "nanmean", "epsilon": 1.0, "lower": 0.0, "upper": 10.0},
        1.0, {**UNIT, "never": ["infinite"]}, (1, 20), "replace-one",
    ),
    "diffprivlib 0.6.6, tools.histogram with weights": (
        "diffprivlib-0.6.6", of, "diffprivlib", "releases", "release", {"shape": "weighted_histogram", "epsilon": 1.0, "lower": 0.0, "upper": 10.0, "bins": 2},
        1.0, {"type": "table", "columns": [{"name": "value", **UNIT, "never": "nasty"}, {"name": "weight", **UNIT, "never": "nasty"}]}, (1, 20), "add-remove",
    ),
}


def search(finding, traced, seconds):
    """One search, in the environment of the release."""
    import dp_audit as dpa

    _, make, *where, params, epsilon, record, size, relation = CASES[finding]
    mechanism = make(*where, **params)
    if where[2] == "integer_laplace":
        whole = mechanism

        def mechanism(data, rng, count):
            return whole(data, rng, count)

    begun = time.monotonic()
    try:
        found = dpa.search(
            mechanism, claim=dpa.PureDp(epsilon), record=record, size=size, relation=relation, seconds=seconds, trace=traced, name=finding, progress=False,
        )
    except dpa.AuditError as error:
        return {"found": False, "note": str(error)[:200], "wall_seconds": round(time.monotonic() - begun, 1)}
    answer = {
        "found": found.found,
        "epsilon_lower": found.result.epsilon_lower,
        "left": repr(found.left),
        "right": repr(found.right),
        "wall_seconds": round(time.monotonic() - begun, 1),
    }
    answer["note"] = found.effort
    if traced and "traced" in found.history:
        worst = found.history["best"][0]["trace"]
        place = next((one for one in worst["findings"] if one["file"]), None)
        answer["note"] += f". The worst trace: {worst['verdict']}" + (f" at {pathlib.PurePath(place['file']).name}:{place['line']}" if place else "")
    return answer


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--only", default="", help="findings whose name contains this")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--traced", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "results/reference/trace_search.csv")
    given = parser.parse_args()
    if given.case:
        print(json.dumps(search(given.case, given.traced, given.seconds)))
        return
    columns = ["finding", "search", "found", "epsilon_lower", "left", "right", "wall_seconds", "note"]
    rows = []
    for finding, case in CASES.items():
        if given.only not in finding:
            continue
        for traced in (True, False):
            command = [str(ROOT / ".venv" / case[0] / "bin/python"), __file__, "--case", finding, "--seconds", str(given.seconds)]
            environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
            done = subprocess.run(command + ["--traced"] * traced, env=environment, capture_output=True, text=True)
            answer = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {"found": "", "note": done.stderr.strip().splitlines()[-1][:200]}
            rows.append({"finding": finding, "search": "traces" if traced else "draws", **answer})
            print(rows[-1], flush=True)
    with open(given.out, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
