#!/usr/bin/env python3
"""Checks that shards, run one after another and merged, give the reports of a single run, byte for byte but for the seconds.

    cargo build --release
    python3 scripts/shards_check.py                        # the default suite in 16 shards, then one pair of 10^9 draws in 16
    python3 scripts/shards_check.py --draws 1e5 --only suite

Each part is done in a shuffled order, and some shards are killed (SIGKILL) while they run and then resumed or run again. The suite is divided by
the seconds of its single run (`--costs`). It prints how long everything took, the processor time of the longest shard over that of the mean, and
ends with `All reports are equal.`
"""

import argparse
import csv
import io
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("DP_AUDIT", ROOT / "target" / "release" / "dp-audit"))
REPORTS = ["csv", "html", "json", "junit", "code-quality", "markdown"]

LAPLACE = """
name = "Laplace count"
mechanism = "laplace"
params = { query = "count", epsilon = 1.0 }
claim = { epsilon = 1.0 }
relation = "add-remove"

[[pair]]
name = "one record more"
left = ["x"]
right = ["x", "x"]
"""


def report_options(folder):
    return [word for report in REPORTS for word in (f"--{report}", str(folder / f"report.{report}"))] + [
        "--witnesses", str(folder / "witnesses"), "--plots", str(folder / "plots"),
    ]


def without_seconds(name, text):
    """The text of a report without what may differ: the seconds, and the folder of the witnesses."""
    text = re.sub(r'"seconds": ?[0-9.e+-]+', "", text)
    # Where the time of programs went.
    text = re.sub(r'"timing": ?(\{[^}]*\}|null)', "", text)
    text = re.sub(r' (time|timestamp)="[^"]*"', "", text)
    text = re.sub(r"(/tmp/|/var/)\S*?/(single|merged\S*?)/", "", text)
    if name.endswith(".csv"):
        rows = list(csv.reader(io.StringIO(text)))
        column = rows[0].index("seconds")
        text = "\n".join(repr(row[:column] + row[column + 1:]) for row in rows)
    return text


def compare(one, other):
    names = sorted(str(path.relative_to(one)) for path in one.rglob("*") if path.is_file())
    others = sorted(str(path.relative_to(other)) for path in other.rglob("*") if path.is_file())
    assert names == others, f"files differ: {set(names) ^ set(others)}"
    different = 0
    for name in names:
        texts = [without_seconds(name, (folder / name).read_text()) for folder in (one, other)]
        if texts[0] != texts[1]:
            lines = [text.splitlines() for text in texts]
            first = next((pair for pair in zip(*lines) if pair[0] != pair[1]), ("", "one is longer"))
            print(f"{name} differs:\n- {first[0][:400]}\n+ {first[1][:400]}")
            different += 1
    if different:
        sys.exit(f"{different} of {len(names)} files differ.")
    print(f"  {len(names)} files are equal")


def processor_seconds():
    """The processor time of all commands so far, which a busy machine hardly changes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(command, **options):
    started = time.monotonic()
    code = subprocess.run(command, **options).returncode
    return code, time.monotonic() - started


def check(name, what, shards):
    """Runs `what` once as a whole and once in shards, and compares."""
    print(f"{name}: {' '.join(what)}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        # In a folder of its own, so that reports name no commit, which may change meanwhile.
        shutil.copytree(ROOT / "audits", folder / "audits")
        os.chdir(folder)
        if name == "pair":
            (folder / "laplace.toml").write_text(LAPLACE)
            what = [str(folder / "laplace.toml"), *what]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        code, seconds = timed([PROGRAM, "run", "-q", *what, *report_options(folder / "single")], **quiet)
        print(f"  single run: exit code {code}, {seconds:.1f} s")
        out = folder / "shards"
        costs = ["--costs", str(folder / "single" / "report.csv")] if name == "suite" else []
        order = list(range(1, shards + 1))
        random.Random(7).shuffle(order)
        times, used = [], []
        for place, shard in enumerate(order):
            command = [PROGRAM, "run", "-q", *what, "--shard", f"{shard}/{shards}", *costs, "--out", str(out)]
            if place % 4 == 0:
                process = subprocess.Popen(command, **quiet)
                time.sleep(0.2 if name == "pair" else 0.6)
                process.kill()
                process.wait()
                # Half of them continue, half of them start over.
                command += ["--resume"] if place % 8 == 0 else []
            before = processor_seconds()
            failed, seconds = timed(command, **({} if place else {"stdout": subprocess.DEVNULL}))
            if failed:
                # It had ended before it was killed.
                failed, seconds = timed([*command, "--resume"])
            assert failed == 0, f"shard {shard} ended with exit code {failed}"
            times.append(seconds)
            if "--resume" not in command:
                used.append(processor_seconds() - before)
        size = sum(file.stat().st_size for file in out.iterdir())
        print(f"  {shards} shards: {sum(times):.1f} s together, {max(times):.1f} s the longest, {size / 1e6:.2f} MB")
        print(f"  processor time of the longest shard / mean: {max(used) * len(used) / sum(used):.2f}, of those that were not resumed")
        merged, seconds = timed([PROGRAM, "merge", "-q", str(out), *report_options(folder / "merged")], **quiet)
        print(f"  merge: exit code {merged}, {seconds:.1f} s")
        assert merged == code, f"exit code {merged}, and {code} of the single run"
        compare(folder / "single", folder / "merged")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shards", type=int, default=16)
    parser.add_argument("--draws", default=None, help="draws of each pair of the suite (default: as in its files)")
    parser.add_argument("--pair-draws", default="1e9")
    parser.add_argument("--only", choices=["suite", "pair"])
    arguments = parser.parse_args()
    # The HTML report has a date.
    os.environ["SOURCE_DATE_EPOCH"] = str(int(time.time()))
    draws = ["--draws", arguments.draws] if arguments.draws else []
    if arguments.only != "pair":
        check("suite", draws, arguments.shards)
    if arguments.only != "suite":
        check("pair", ["--draws", arguments.pair_draws], arguments.shards)
    print("All reports are equal.")


if __name__ == "__main__":
    main()
