#!/usr/bin/env python3
"""Measures what dp-audit costs beside the mechanism, in Python, as ratios of one run. Writes a table in Markdown.

    pip install ./python
    python scripts/python_speed.py > results/reference/python.md

Each figure is the median of several rounds; in a round everything is measured once, so that other work on the machine disturbs all alike.
"""

import concurrent.futures
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy

import dp_audit as dpa

ROUNDS = 5
VECTORISED = 40_000_000
ONE_BY_ONE = 500_000
BLOCK = 16_384  # draws in one call of a vectorised mechanism
LEFT, RIGHT = ["x"], ["x", "y"]
CLAIM = dpa.PureDp(1.0)
THREADS = os.cpu_count() or 1


def vectorised(data, rng, count):
    return len(data) + rng.laplace(size=count)


def one_by_one(data, rng):
    return len(data) + rng.expovariate(1.0) - rng.expovariate(1.0)


def seconds(work):
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def numpy_alone():
    def draw(seed):
        rng = numpy.random.default_rng(seed)
        for _ in range(VECTORISED // BLOCK // THREADS):
            vectorised(LEFT, rng, BLOCK)

    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(draw, range(THREADS)))


def bare_loop():
    rng = random.Random(1)
    for _ in range(ONE_BY_ONE):
        one_by_one(LEFT, rng)


def audit(mechanism, draws, **options):
    return dpa.audit(mechanism, LEFT, RIGHT, claim=CLAIM, draws=draws, progress=False, **options)


def worker(folder):
    """The same mechanism as a program, with the command of the same package."""
    command = [sys.executable, "-m", "dp_audit", "run", "audit.toml", "--draws", str(VECTORISED), "--quiet", "--csv", "audit.csv"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "mechanism.py").write_text("def vectorised(data, rng, count):\n    return len(data) + rng.laplace(size=count)\n")
        (folder / "audit.toml").write_text(
            'name = "count"\nmechanism = "command"\n'
            f'command = ["{sys.executable}", "{{worker}}", "mechanism.py:vectorised", "--batch", "--rng", "numpy"]\n'
            'claim = { epsilon = 1.0 }\nrelation = "add-remove"\n[[pair]]\nname = "pair"\nleft = ["x"]\nright = ["x", "y"]\n'
        )
        audit(vectorised, 10_000)
        names = ["numpy alone", "vectorised audit", "the same as a program", "bare loop", "audit of one draw at a time", "audit of 10,000 draws"]
        rounds = []
        for _ in range(ROUNDS):
            rounds.append(
                [
                    seconds(numpy_alone),
                    seconds(lambda: audit(vectorised, VECTORISED)),
                    seconds(lambda: worker(folder)),
                    seconds(bare_loop),
                    seconds(lambda: audit(one_by_one, ONE_BY_ONE, rng="python")),
                    seconds(lambda: audit(vectorised, 10_000)),
                ]
            )

    def ratio(one, other):
        return statistics.median(found[one] / found[other] for found in rounds)

    print("# What an audit costs in Python\n")
    print("Made by `python scripts/python_speed.py > results/reference/python.md`: the median of", ROUNDS, "rounds.")
    print(f"CPython {platform.python_version()}, numpy {numpy.__version__}, dp-audit {dpa.__version__}, {THREADS} cores.\n")
    print("| work | draws | seconds |\n|---|--:|--:|")
    draws = [VECTORISED, VECTORISED, VECTORISED, ONE_BY_ONE, ONE_BY_ONE, 10_000]
    for index, name in enumerate(names):
        print(f"| {name} | {draws[index]:,} | {statistics.median(found[index] for found in rounds):.3f} |")
    print("\n| ratio | measured | wanted |\n|---|--:|--:|")
    print(f"| vectorised audit / numpy alone, on the same threads | {ratio(1, 0):.2f} | at most 1.5 |")
    print(f"| vectorised audit / the same as a program | {ratio(1, 2):.2f} | at most 1 |")
    print(f"| audit of one draw at a time / bare loop | {ratio(4, 3):.2f} | at most 1.5 |")
    print("| seconds from the call to the verdict, 10,000 draws | "
          f"{statistics.median(found[5] for found in rounds):.3f} | less than 0.2 |")


if __name__ == "__main__":
    main()
