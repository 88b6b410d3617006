#!/usr/bin/env python3
"""Simulates the schedule of a run on many workers, with task times that are measured here.

    cargo build --release
    python3 scripts/cluster_simulation.py

It measures the processor time of the exploration and of 16 parts of one pair on one thread, and the sizes of the files. Then it simulates
workers that take one task after the other; a worker that dies loses its task, which is run again. It prints the tables of
docs/many-machines.md and checks them against the formula there.
"""

import argparse
import heapq
import os
import random
import resource
import statistics
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("DP_AUDIT", ROOT / "target" / "release" / "dp-audit"))
PARTS = 16


def processor_seconds(command):
    """The processor time of a command, which a busy machine hardly changes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(draws):
    """Nanoseconds per draw of exploration and of each part, seconds that every task costs in any case, and bytes of rules and of a part."""
    audit = ROOT / "audits" / "basics" / "laplace-count.toml"
    with tempfile.TemporaryDirectory() as temporary:
        out = Path(temporary)
        plan = [str(audit), "--draws", str(draws), "--threads", "1"]
        explore = processor_seconds([PROGRAM, "explore", *plan, "--shards", str(PARTS), "--out", out])
        rules = (out / f"rules-for-{PARTS}.json").stat().st_size
        start = min(processor_seconds([PROGRAM, "show", str(audit)]) for _ in range(5))
        parts = [processor_seconds([PROGRAM, "run", *plan, "--shard", f"{part}/{PARTS}", "--out", out]) for part in range(1, PARTS + 1)]
        sizes = [file.stat().st_size for file in out.glob("*.jsonl")]
    certify = draws * 7 / 8 / PARTS
    return {
        "explore": (explore - start) / (draws / 8),
        "parts": [max(seconds - start, 0.0) / certify for seconds in parts],
        "start": start,
        "rules": rules,
        "part": statistics.median(sizes),
    }


def schedule(tasks, workers, death, rng):
    """The end of the last task, and how many were lost. A worker that dies comes back at once; its task goes to the end of the queue."""
    free = [0.0] * workers
    queue = list(reversed(tasks))
    lost = 0
    while queue:
        begin = heapq.heappop(free)
        task = queue.pop()
        if rng.random() < death:
            lost += 1
            heapq.heappush(free, begin + rng.random() * task)
            queue.insert(0, task)
        else:
            heapq.heappush(free, begin + task)
    return max(free), lost


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measured-draws", type=int, default=400_000_000)
    parser.add_argument("--cores", type=int, default=4, help="cores of each worker")
    arguments = parser.parse_args()
    measured = measure(arguments.measured_draws)
    each = statistics.mean(measured["parts"])
    print(f"Measured on one core: {measured['explore'] * 1e9:.2f} ns per draw to explore, {each * 1e9:.2f} ns to certify "
          f"({min(measured['parts']) * 1e9:.2f} to {max(measured['parts']) * 1e9:.2f}), {measured['start'] * 1e3:.0f} ms to start; "
          f"{measured['rules'] / 1e3:.0f} kB of rules, {measured['part'] / 1e3:.1f} kB a part.\n")
    rng, cores = random.Random(1), arguments.cores

    def pair(draws, workers, death=0.0):
        """Explore on one worker, then certify in one part per worker. Times of parts vary as they were measured to."""
        explore = draws / 8 * measured["explore"] / cores + measured["start"]
        certify = draws * 7 / 8 / workers / cores
        tasks = [certify * rng.choice(measured["parts"]) + measured["start"] for _ in range(workers)]
        end, lost = schedule(tasks, workers, death, rng)
        paper = explore + certify * max(measured["parts"]) + measured["start"]
        return explore, end, explore + end, lost, paper

    print(f"One pair, workers with {cores} cores, seconds:\n")
    print("| draws | workers | explore | certify | together | speed-up | with 1 % of the workers lost | sent to the driver |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|")
    for draws in (1e9, 1e12):
        one = draws / cores * (measured["explore"] / 8 + each * 7 / 8)
        for workers in (1, 4, 16, 100, 1000):
            explore, certify, together, _, paper = pair(draws, workers)
            assert together <= paper * 1.000001, "the formula is an upper limit without losses"
            died = statistics.median(pair(draws, workers, 0.01)[2] for _ in range(101))
            worst = paper + 3 * (paper - explore)
            assert died <= worst, (died, worst)
            sent = workers * measured["part"] + measured["rules"]
            print(f"| 10^{len(str(int(draws))) - 1} | {workers} | {explore:.1f} | {certify:.1f} | {together:.1f} | {one / together:.1f} | {died:.1f} | {sent / 1e6:.2f} MB |")
    print(f"\n10,000 audits of 10^7 draws, workers with {cores} cores, seconds:\n")
    print("| workers | time | speed-up | with 1 % of the workers lost |\n|--:|--:|--:|--:|")
    # Learning takes about 20 ms for each audit.
    audit = 1e7 / cores * (measured["explore"] / 8 + each * 7 / 8) + 0.02
    for workers in (1, 16, 100, 1000):
        def tasks():
            # A shard has its audits one after the other.
            return [10_000 / workers * audit * rng.uniform(0.9, 1.1) + measured["start"] for _ in range(workers)]
        end, _ = schedule(tasks(), workers, 0.0, rng)
        died = statistics.median(schedule(tasks(), workers, 0.01, rng)[0] for _ in range(101))
        print(f"| {workers} | {end:.1f} | {10_000 * audit / end:.1f} | {died:.1f} |")


if __name__ == "__main__":
    main()
