#!/usr/bin/env python3
"""How time and memory grow with draws, output width, number of values, dataset size, pairs and audits.

    cargo build --release && python3 scripts/growth.py --most-draws 1e9 > results/reference/growth.md

Prints Markdown tables: CPU seconds (user and system, all threads), wall seconds, peak memory. Each line is a separate process.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

PROGRAM = os.environ.get("DP_AUDIT", os.path.join(os.path.dirname(__file__), "..", "target", "release", "dp-audit"))


def audit(name, mechanism, params, pairs, relation="custom"):
    lines = [f'name = "{name}"', f'mechanism = "{mechanism}"', f"params = {params}", "claim = { epsilon = 1.0 }", f'relation = "{relation}"']
    if relation == "custom":
        lines.append('reason = "to measure time and memory"')
    for index, (left, right) in enumerate(pairs):
        lines += ["[[pair]]", f'name = "{index}"', f"left = {left}", f"right = {right}"]
    return "\n".join(lines) + "\n"


def measure(audits, draws):
    """CPU seconds, wall seconds and peak memory in MB of one run of these audits."""
    with tempfile.TemporaryDirectory() as folder:
        for index, text in enumerate(audits):
            with open(os.path.join(folder, f"{index}.toml"), "w") as file:
                file.write(text)
        command = [PROGRAM, "run", folder, "--draws", str(draws), "--quiet", "--csv", os.path.join(folder, "out.csv"), "--witnesses", os.path.join(folder, "witnesses")]
        started = time.monotonic()
        process = subprocess.Popen(command)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - started
        # 2 and 3 are verdicts, which do not matter here.
        if os.waitstatus_to_exitcode(status) not in (0, 2, 3):
            sys.exit(f"{' '.join(command)} failed")
        return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024


def table(title, why, header, cases):
    print(f"\n## {title}\n\n{why}\n\n| {header} | CPU s | wall s | peak MB |\n|--:|--:|--:|--:|", flush=True)
    for label, audits, draws in cases:
        cpu, wall, memory = measure(audits, draws)
        print(f"| {label} | {cpu:.2f} | {wall:.2f} | {memory:.0f} |", flush=True)


def count(name="count", pairs=1):
    return audit(name, "laplace", '{ query = "count", epsilon = 1.0 }', [('["x"]', '["x", "x"]')] * pairs)


def values(width):
    left, right = [0] * width, [1] + [0] * (width - 1)
    return audit("values", "laplace", '{ query = "values", epsilon = 1.0 }', [(left, right)])


def response(values):
    """One of so many values, kept or replaced by another one."""
    return audit("response", "local/grr", f"{{ epsilon = 1.0, size = {values} }}", [([0], [1])], "replace-one")


def total(size):
    """Summed once when the mechanism is prepared, so that a draw does not depend on the size."""
    data = lambda n: f"[{{ value = 1, times = {n} }}]"
    return audit("sum", "laplace", "{ query = { sum = { lower = 0.0, upper = 1.0 } }, epsilon = 1.0 }", [(data(size), data(size + 1))])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most-draws", type=float, default=1e8)
    most = int(parser.parse_args().most_draws)
    powers = [10**k for k in range(6, 10) if 10**k <= most]
    print("# Time and memory\n\nMade by `scripts/growth.py`: CPU seconds (user and system, all threads), wall seconds and peak memory, each line a process of its own.")
    table(
        "Draws (Laplace count)",
        "Time grows with the draws. Memory does not, once the rows are full that exploration keeps (262,144 of one cell): the others are counted.",
        "draws",
        [(f"{n:,}", [count()], n) for n in powers],
    )
    table(
        "Output width (Laplace on every value, one differs; 200,000 draws)",
        "Time grows with the cells that are drawn. Memory grows with the kept rows, which become fewer the wider they are, down to 4,096.",
        "cells",
        [(f"{w:,}", [values(w)], 200_000) for w in (1, 3, 10, 30, 100, 300, 1000)],
    )
    table(
        "Very wide outputs (1,000 draws)",
        "A cell has eight bytes. With more draws 4,096 rows are kept, 3.3 GB of 100,000 cells.",
        "cells",
        [(f"{w:,}", [values(w)], 1000) for w in (1000, 10_000, 100_000)],
    )
    table(
        "Different values (randomised response; 1,000,000 draws)",
        "What occurs rarely shares a bin, so the number of values costs little.",
        "values",
        [(f"{n:,}", [response(n)], 1_000_000) for n in (10, 1000, 60_000)],
    )
    table(
        "Dataset size (Laplace sum; 1,000,000 draws)",
        "The sum is computed once. Memory is the dataset's, on both sides of the pair.",
        "records",
        [(f"{n:,}", [total(n)], 1_000_000) for n in (10, 1000, 100_000, 1_000_000)],
    )
    table(
        "Pairs of one audit (Laplace count; 100,000 draws each)",
        "At most 16 pairs run at once, and the results of all are kept.",
        "pairs",
        [(f"{n:,}", [count(pairs=n)], 100_000) for n in (1, 10, 100)],
    )
    table("Very many pairs (2,000 draws each)", "The same.", "pairs", [(f"{n:,}", [count(pairs=n)], 2000) for n in (100, 1600, 16_000)])
    table(
        "Audits (Laplace count; 100,000 draws each)",
        "As pairs, with a file, a row of the journal and a witness each.",
        "audits",
        [(f"{n:,}", [count(f"count {i}") for i in range(n)], 100_000) for n in (1, 10, 100)],
    )


if __name__ == "__main__":
    main()
