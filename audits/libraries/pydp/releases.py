"""Releases of PyDP, one draw each, called as its documentation shows."""

from functools import cache

from pydp.algorithms import laplacian, numerical_mechanisms, partition_selection
from pydp.algorithms.quantile_tree import QuantileTree


def release(data, rng, shape, **params):
    """All releases, so that one process serves all of them."""
    return globals()[shape](data, rng, **params)


def summary(data, rng, algorithm, epsilon, dtype="float", **params):
    """A statistic of numbers, each from another person."""
    records = [float(value) if dtype == "float" else int(value) for value in data]
    return getattr(laplacian, algorithm)(epsilon=epsilon, dtype=dtype, **params).quick_result(records)


def in_parts(data, rng, algorithm, epsilon, **params):
    """The same with records that are added one by one, on two machines whose results are merged."""
    first, second = (getattr(laplacian, algorithm)(epsilon=epsilon, dtype="float", **params) for _ in range(2))
    for place, value in enumerate(data):
        (first, second)[place % 2].add_entry(float(value))
    first.merge(second.serialize())
    return first.result()


def quantile_tree(data, rng, epsilon, delta, noise, quantiles, lower_bound, upper_bound):
    """Several quantiles from one tree of noisy counts."""
    tree = QuantileTree(lower_bound, upper_bound, 4, 16)
    for value in data:
        tree.add_entry(float(value))
    return tree.compute_quantiles(epsilon, delta, 1, 1, quantiles, noise)


@cache
def mechanism(kind, **params):
    return getattr(numerical_mechanisms, kind)(**params)


def noisy_count(data, rng, kind, **params):
    """A count with the noise of an additive mechanism."""
    return mechanism(kind, sensitivity=1.0, **params).add_noise(float(len(data)))


@cache
def strategy(kind, epsilon, delta, pre_threshold):
    return partition_selection.create_partition_strategy(kind, epsilon, delta, 1, pre_threshold)


def partition(data, rng, kind, epsilon, delta, pre_threshold=None):
    """Whether a key of a histogram is released, given its users."""
    return "kept" if strategy(kind, epsilon, delta, pre_threshold).should_keep(len(data)) else "dropped"


@cache
def geometric(kind, epsilon, probability):
    from pydp.ml.mechanisms import geometric as kinds  # needs numpy, which PyDP does not name

    mechanism = getattr(kinds, kind)().set_epsilon(epsilon).set_sensitivity(1)
    if kind == "GeometricTruncated":
        mechanism.set_bounds(0, 1000)
    return mechanism.set_probability(probability)


def geometric_count(data, rng, kind, epsilon, probability):
    """A count with the geometric mechanism of pydp.ml."""
    return int(geometric(kind, epsilon, probability).randomise(len(data)))
