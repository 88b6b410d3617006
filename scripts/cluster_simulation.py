#!/usr/bin/env python3
"""Simulates the schedule of a run on many workers, with task times that are measured here.

    cargo build --release
    python3 scripts/cluster_simulation.py

It measures the processor time of parts of one pair, on one thread: every part explores and certifies its draws. The difference between 16 and 64 parts
is that of certifying; that between a part of 10^12 draws and one of few is that of exploring, for learning takes as long for both. Then it simulates workers that take one task after the other; a worker that dies loses its task, which is run again. It prints the tables
of docs/many-machines.md and checks them against the formula there.
"""

import argparse
import heapq
import math
import os
import random
import resource
import statistics
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("DP_AUDIT", ROOT / "target" / "release" / "dp-audit"))
PARTS = (16, 64)
MOST, MOST_PARTS = 10**12, 100_000


def processor_seconds(command):
    """The processor time of a command, which a busy machine hardly changes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def exploring(draws):
    """How many of these draws explore (src/sample/schedule.rs)."""
    limit = min(draws, 1 << 27)
    return math.isqrt(math.isqrt(draws * limit) * limit) // 8


def measure(draws):
    """Seconds per draw of each part and of exploration, seconds that every task costs in any case and to learn, and the bytes of a part."""
    audit = ROOT / "audits" / "basics" / "laplace-count.toml"
    with tempfile.TemporaryDirectory() as temporary:
        out = Path(temporary)

        def part(draws, number, parts):
            # The least of three, because other work on the machine slows some of them.
            plan = [str(audit), "--draws", str(draws), "--threads", "1", "--shard", f"{number}/{parts}"]
            return min(processor_seconds([PROGRAM, "run", *plan, "--out", str(out / str(turn))]) for turn in range(3))

        start = min(processor_seconds([PROGRAM, "show", str(audit)]) for _ in range(5))
        # As many parts of each kind, in turn, so that a change of the machine's speed affects all of them.
        coarse, fine, large = zip(*((part(draws, number, PARTS[0]), part(draws, number, PARTS[1]), part(MOST, number, MOST_PARTS)) for number in range(1, PARTS[0] + 1)))
        sizes = [file.stat().st_size for file in out.glob(f"0/*-of-{PARTS[0]}.jsonl")]
    certify = [(draws - exploring(draws)) / parts for parts in PARTS]
    each = (statistics.median(coarse) - statistics.median(fine)) / (certify[0] - certify[1])
    few, many = statistics.median(fine) - certify[1] * each, statistics.median(large) - (MOST - exploring(MOST)) / MOST_PARTS * each
    explore = (many - few) / (exploring(MOST) - exploring(draws))
    learn = few - start - exploring(draws) * explore
    rest = start + learn + exploring(draws) * explore
    return {
        "explore": explore,
        "learn": max(learn, 0.0),
        "each": each,
        "parts": [max(seconds - rest, 0.0) / certify[0] for seconds in coarse],
        "start": start,
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
    each = measured["each"]
    print(f"Measured on one core: {measured['explore'] * 1e9:.2f} ns per draw to explore, {each * 1e9:.2f} ns to certify "
          f"({min(measured['parts']) * 1e9:.2f} to {max(measured['parts']) * 1e9:.2f}), {measured['learn'] * 1e3:.0f} ms to learn, {measured['start'] * 1e3:.0f} ms to start; "
          f"{measured['part'] / 1e3:.1f} kB a part.\n")
    rng, cores = random.Random(1), arguments.cores

    def alone(draws):
        """The seconds of one worker that does everything."""
        return measured["learn"] + (exploring(draws) * measured["explore"] + (draws - exploring(draws)) * each) / cores

    def pair(draws, workers, death=0.0):
        """Each worker explores and certifies one part. Times of parts vary as they were measured to."""
        explore = measured["start"] + measured["learn"] + exploring(draws) * measured["explore"] / cores
        certify = (draws - exploring(draws)) / workers / cores
        tasks = [explore + certify * rng.choice(measured["parts"]) for _ in range(workers)]
        end, _ = schedule(tasks, workers, death, rng)
        paper = explore + certify * max(measured["parts"])
        return explore, end, paper

    print(f"One pair, workers with {cores} cores, seconds:\n")
    print("| draws | workers | explore | together | speed-up | with 1 % of the workers lost | shard files |")
    print("|--:|--:|--:|--:|--:|--:|--:|")
    for exponent in (9, 12):
        draws = 10**exponent
        for workers in (1, 4, 16, 100, 1000):
            explore, together, paper = pair(draws, workers)
            assert together <= paper * 1.000001, "the formula is an upper limit without losses"
            died = statistics.median(pair(draws, workers, 0.01)[1] for _ in range(101))
            assert died <= 4 * paper, (died, paper)
            print(f"| 10^{exponent} | {workers} | {explore:.2f} | {together:.2f} | {alone(draws) / together:.1f} | {died:.2f} | {workers * measured['part'] / 1e6:.2f} MB |")
    print(f"\n10,000 audits of 10^7 draws, workers with {cores} cores, seconds:\n")
    print("| workers | time | speed-up | with 1 % of the workers lost |\n|--:|--:|--:|--:|")
    audit = alone(10**7)
    for workers in (1, 16, 100, 1000):
        def tasks():
            # A shard has its audits one after the other.
            return [10_000 / workers * audit * rng.uniform(0.9, 1.1) + measured["start"] for _ in range(workers)]
        end, _ = schedule(tasks(), workers, 0.0, rng)
        died = statistics.median(schedule(tasks(), workers, 0.01, rng)[0] for _ in range(101))
        print(f"| {workers} | {end:.1f} | {10_000 * audit / end:.1f} | {died:.1f} |")


if __name__ == "__main__":
    main()
