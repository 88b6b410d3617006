"""Releases of PyDP, one draw each, called as its documentation shows."""

from functools import cache

from pydp.algorithms import laplacian, numerical_mechanisms, partition_selection


def summary(data, rng, algorithm, epsilon, **bounds):
    """A statistic of numbers, each from another person."""
    return getattr(laplacian, algorithm)(epsilon=epsilon, dtype="float", **bounds).quick_result(data)


@cache
def mechanism(kind, **params):
    return getattr(numerical_mechanisms, kind)(**params)


def noisy_count(data, rng, kind, **params):
    """A count with the noise of an additive mechanism."""
    return mechanism(kind, sensitivity=1.0, **params).add_noise(float(len(data)))


@cache
def strategy(kind, epsilon, delta):
    return partition_selection.create_partition_strategy(kind, epsilon, delta, 1)


def partition(data, rng, kind, epsilon, delta):
    """Whether a key of a histogram is released, given its users."""
    return "kept" if strategy(kind, epsilon, delta).should_keep(len(data)) else "dropped"
