"""Runs audits on Dask workers: `python dask_run.py` makes a cluster here, `python dask_run.py tcp://scheduler:8786 audits` uses one that runs."""

import sys

from distributed import Client

import dp_audit as dpa

if __name__ == "__main__":
    address, *paths = sys.argv[1:] or [None]
    with Client(address) if address else Client(n_workers=4, threads_per_worker=1, dashboard_address=None) as client:
        run = dpa.run(*paths, executor=client.get_executor(pure=False, retries=3))
    print(run)
    sys.exit(run.exit_code)
