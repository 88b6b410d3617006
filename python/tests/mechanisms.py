"""Mechanisms that other processes import."""

import os
import time
from pathlib import Path


def laplace_count(data, rng, count):
    return len(data) + rng.laplace(size=count)


def always_fails(data, rng):
    raise RuntimeError("no database")


class DiesOnce:
    """Kills the process of a worker, once, in the middle of certification."""

    __name__ = "laplace_count"

    def __init__(self, marker, driver):
        self.marker, self.driver = str(marker), driver

    def __call__(self, data, rng, count):
        if count > 10_000 and os.getpid() != self.driver:
            try:
                Path(self.marker).touch(exist_ok=False)
            except FileExistsError:
                pass
            else:
                os._exit(9)
        return len(data) + rng.laplace(size=count)


class DiesAlways:
    """Kills the process of every worker."""

    def __init__(self, driver):
        self.driver = driver

    def __call__(self, data, rng, count):
        if os.getpid() != self.driver:
            os._exit(9)
        return rng.random(count)


def slow(data, rng):
    time.sleep(0.002)
    return len(data) + rng.laplace()
