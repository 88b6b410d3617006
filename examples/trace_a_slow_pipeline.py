"""Traces of a pipeline that is too slow for draws: which line is at fault, and how much the right version loses at most.

    python examples/trace_a_slow_pipeline.py

A generator of synthetic data: noisy tables of pairs of columns, many rounds of fitting, rows drawn from the fit. One run takes half a second.
"""

import time

import numpy as np

import dp_audit as dpa

LEVELS = 6
PAIRS = [(0, 1), (1, 2), (0, 2)]


def tables(rows):
    return [np.histogram2d(rows[:, a], rows[:, b], bins=LEVELS, range=[[0, LEVELS]] * 2)[0] for a, b in PAIRS]


def fitted(noisy, steps):
    """A joint table whose margins are close to the noisy ones."""
    joint = np.ones((LEVELS,) * 3)
    for _ in range(steps):
        for (a, b), table in zip(PAIRS, noisy):
            (other,) = {0, 1, 2} - {a, b}
            wanted = np.maximum(np.asarray(table), 1e-3)
            joint *= np.expand_dims(wanted / np.maximum(joint.sum(axis=other), 1e-12), other)
    return joint / joint.sum()


def synthetic(rows, rng, steps=10_000):
    noisy = [np.asarray(table + rng.laplace(scale=3.0, size=table.shape)) for table in tables(rows)]
    joint = fitted(noisy, steps)
    cells = rng.choice(joint.size, size=1000, p=joint.reshape(-1))
    return np.stack(np.unravel_index(cells, joint.shape), axis=1)


def synthetic_of_true_size(rows, rng, steps=10_000):
    noisy = [np.asarray(table + rng.laplace(scale=3.0, size=table.shape)) for table in tables(rows)]
    joint = fitted(noisy, steps)
    cells = rng.choice(joint.size, size=len(rows), p=joint.reshape(-1))  # how many rows there are is private
    return np.stack(np.unravel_index(cells, joint.shape), axis=1)


def synthetic_with_little_noise(rows, rng, steps=10_000):
    noisy = [np.asarray(table + rng.laplace(scale=1.0, size=table.shape)) for table in tables(rows)]  # each table spends all of ε
    return fitted(noisy, steps)[:, :, 0]


if __name__ == "__main__":
    rows = np.random.default_rng(1).integers(0, LEVELS, size=(5000, 3)).astype(float)
    left, right = rows, rows[:-1]
    for program in (synthetic, synthetic_of_true_size, synthetic_with_little_noise):
        begun = time.perf_counter()
        program(left, np.random.default_rng(1))
        once = time.perf_counter() - begun
        begun = time.perf_counter()
        print(dpa.trace(program, left, right, claim=dpa.PureDp(1.0), runs=2, brief=program is synthetic_with_little_noise))
        print(f"One run takes {once:.1f} s, the traces took {time.perf_counter() - begun:.0f} s.\n")
