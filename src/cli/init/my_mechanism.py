"""A mechanism to replace by your own: a function of the data, a random generator and the parameters, which makes one draw."""

import math


def noisy_sum(data, rng, epsilon):
    """The sum of values between 0 and 100, with Laplace noise."""
    # NaN passes every min and max: each comparison with it is false.
    values = [min(max(x, 0.0), 100.0) for x in data if not math.isnan(x)]
    scale = 100.0 / epsilon  # one value more moves the sum by at most 100
    noise = scale * math.log((1 - rng.random()) / (1 - rng.random()))
    return sum(values) + noise
