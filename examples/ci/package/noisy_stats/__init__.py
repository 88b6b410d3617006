"""Statistics with differential privacy."""

import math


def laplace(rng, scale):
    """A draw of the Laplace distribution."""
    return scale * math.log((1 - rng.random()) / (1 - rng.random()))


def noisy_count(data, rng, epsilon):
    """The number of records. One record more or less changes it by 1."""
    return len(data) + laplace(rng, 1 / epsilon)


def noisy_mean(data, rng, epsilon, upper):
    """The mean of values between 0 and `upper`. Another value in one record changes it by at most upper / n."""
    values = [min(max(value, 0), upper) for value in data]
    return sum(values) / len(values) + laplace(rng, 0.1 * upper / (len(values) * epsilon))
