#!/usr/bin/env python3
"""Compares runs on executors with plain runs: the same bytes but for the seconds, and what it costs.

    pip install ./python distributed submitit
    python scripts/executors_check.py --draws 1e9

Dask runs twice: as a LocalCluster of 4 processes, and as a scheduler with workers that are started as separate programs, one of which is killed
in the middle.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import dp_audit as dpa
from shards_check import LAPLACE


def without_seconds(run):
    report = json.loads(run.to_json())
    for audit in report["audits"]:
        for row in audit["pairs"]:
            row.pop("seconds")
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=float, default=1e9)
    draws = int(parser.parse_args().draws)
    folder = Path(tempfile.mkdtemp())
    file = folder / "audit.toml"
    file.write_text(LAPLACE)

    def timed(**options):
        begun = time.perf_counter()
        run = dpa.run(file, draws=draws, progress=False, **options)
        return run, time.perf_counter() - begun

    plain, alone = timed()
    print(f"plain run: {alone:.2f} s")

    def compare(name, executor, tasks):
        run, seconds = timed(executor=executor, tasks=tasks)
        same = without_seconds(run) == without_seconds(plain)
        print(f"{name}: {seconds:.2f} s, {100 * (seconds / alone - 1):+.0f} %, {'the same bytes' if same else 'DIFFERENT'}", flush=True)
        return same

    same = []
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        compare("process pool, first tasks start the processes", pool, 4)
        same.append(compare("process pool", pool, 4))
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        compare("Dask, first tasks import dp-audit", client.get_executor(pure=False), 4)
        same.append(compare("Dask, LocalCluster of 4 processes", client.get_executor(pure=False), 4))
    scheduler_file = folder / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--scheduler-file", str(scheduler_file), "--no-dashboard"]
    scheduler = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    worker_command = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(scheduler_file), "--nthreads", "1", "--no-dashboard", "--no-nanny"]
    workers = [subprocess.Popen(worker_command, stderr=subprocess.DEVNULL, cwd=folder) for _ in range(3)]
    try:
        with Client(scheduler_file=str(scheduler_file)) as client:
            client.wait_for_workers(3)
            same.append(compare("Dask, scheduler and 3 worker programs", client.get_executor(pure=False), 6))
            killer = subprocess.Popen([sys.executable, "-c", f"import os, time; time.sleep({0.4 * alone}); os.kill({workers[0].pid}, {int(signal.SIGKILL)})"])
            same.append(compare("the same, one worker killed in the middle", client.get_executor(pure=False, retries=3), 6))
            killer.wait()
    finally:
        for process in [*workers, scheduler]:
            process.kill()
    try:
        import submitit
    except ImportError:
        print("submitit is not installed")
    else:
        executor = submitit.AutoExecutor(folder=folder / "submitit", cluster="local")
        executor.update_parameters(timeout_min=10)
        same.append(compare("submitit, local", executor, 4))
    sys.exit(0 if all(same) else 1)


if __name__ == "__main__":
    main()
