"""A count with the noise of numpy's generator and of `random.Random`: what traces assume to be right."""

import math

STOP = 1 - math.exp(-1)  # of geometric noise, whose loss is then 1 for a step

NUMPY = {
    "laplace": lambda rng, size: rng.laplace(size=size),
    "normal": lambda rng, size: rng.normal(size=size),
    "standard_normal": lambda rng, size: rng.standard_normal(size),
    "exponential": lambda rng, size: rng.exponential(size=size) - rng.exponential(size=size),
    "gumbel": lambda rng, size: rng.gumbel(size=size) - rng.gumbel(size=size),
    "logistic": lambda rng, size: rng.logistic(size=size),
    # ln((1 + (z + d)²) / (1 + z²)) is at most 2 asinh(d / 2), which is 1 for d = 2 sinh(1/2).
    "standard_cauchy": lambda rng, size: rng.standard_cauchy(size) / (2 * math.sinh(0.5)),
    "geometric": lambda rng, size: rng.geometric(STOP, size) - rng.geometric(STOP, size),
}

PYTHON = {
    "gauss": lambda rng: rng.gauss(0, 1),
    "normalvariate": lambda rng: rng.normalvariate(0, 1),
    "expovariate": lambda rng: rng.expovariate(1.0) - rng.expovariate(1.0),
}


def numpy_count(data, rng, count, noise):
    return len(data) + NUMPY[noise](rng, count)


def python_count(data, rng, noise):
    return len(data) + PYTHON[noise](rng)


def numpy_choice(data, rng, count, sampler):
    """One of four values, the true one e times as likely as each other: by weights, or kept with a probability and otherwise any of the four."""
    true = int(data[0])
    weights = [math.e if value == true else 1.0 for value in range(4)]
    shares = [weight / sum(weights) for weight in weights]
    if sampler == "choice":
        return rng.choice(4, size=count, p=shares)
    kept = rng.random(count) < shares[true] - min(shares)
    return kept * true + ~kept * rng.integers(0, 4, count)
