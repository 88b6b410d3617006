"""A sum with Laplace noise, right and wrong: an example of a mechanism in Python."""

import math


def noisy_sum(data, rng, epsilon, cap):
    """Values are clipped to [0, cap], so one record more or less changes the sum by at most cap."""
    total = sum(min(max(value, 0.0), cap) for value in data)
    return total + cap / epsilon * math.log((1 - rng.random()) / (1 - rng.random()))


def unclipped(data, rng, epsilon, cap):
    """The bug: the noise is for clipped values, and nobody clips them."""
    return sum(data) + cap / epsilon * math.log((1 - rng.random()) / (1 - rng.random()))


def noisy_sums(data, rng, count, epsilon, cap):
    """The right one, vectorised: `count` draws at once. `rng` is a numpy Generator (--rng numpy)."""
    return sum(min(max(value, 0.0), cap) for value in data) + rng.laplace(scale=cap / epsilon, size=count)
