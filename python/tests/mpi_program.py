"""Run by `mpiexec -n 3 python -m mpi4py.futures`: compares an audit on the workers with one in this process."""

import json
import sys
from pathlib import Path

from mpi4py.futures import MPIPoolExecutor

import dp_audit as dpa

sys.path.insert(0, str(Path(__file__).parent))
import mechanisms  # noqa: E402


def audit(**options):
    found = dpa.audit(mechanisms.laplace_count, ["x"], ["x", "y"], claim=dpa.PureDp(1.0), draws=2_000_000, until="budget", **options)
    pair = json.loads(found.to_json())["audits"][0]["pairs"][0]
    pair.pop("seconds")
    return pair


if __name__ == "__main__":
    with MPIPoolExecutor(path=[str(Path(__file__).parent)]) as executor:
        print("the same" if audit(executor=executor, tasks=3) == audit() else "different")
