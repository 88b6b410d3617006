"""Releases of diffprivlib, one draw each, called as its documentation shows."""

import warnings
from functools import cache

from diffprivlib import mechanisms, tools

# Advice about bounds that would be taken from the data; all bounds are given here.
warnings.simplefilter("ignore")


@cache
def mechanism(kind, **params):
    return getattr(mechanisms, kind)(**params)


def noisy_count(data, rng, kind, **params):
    """A count with the noise of an additive mechanism."""
    return mechanism(kind, sensitivity=1, **params).randomise(len(data))


def most_frequent(data, rng, kind, epsilon, names):
    """The most frequent category, by a selection mechanism whose utility is the count."""
    return selection(kind, epsilon, tuple(data.count(name) for name in names)).randomise()


@cache
def selection(kind, epsilon, utility):
    return getattr(mechanisms, kind)(epsilon=epsilon, sensitivity=1, utility=list(utility))


def summary(data, rng, tool, epsilon, lower, upper):
    """A statistic of numbers between known bounds."""
    return getattr(tools, tool)([float(value) for value in data], epsilon=epsilon, bounds=(lower, upper))


def histogram(data, rng, epsilon, lower, upper, bins):
    counts, _ = tools.histogram(data, epsilon=epsilon, bins=bins, range=(lower, upper))
    return counts.tolist()


def weighted_histogram(data, rng, epsilon, lower, upper, bins):
    """A histogram of records (value, weight)."""
    values, weights = [value for value, _ in data], [weight for _, weight in data]
    counts, _ = tools.histogram(values, epsilon=epsilon, bins=bins, range=(lower, upper), weights=weights)
    return counts.tolist()
