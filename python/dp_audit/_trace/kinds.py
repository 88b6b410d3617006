"""The distributions of noise: how a standard one is drawn, its log-density, its distribution function.

A value with noise is `loc + factor * z`, where z is standard noise of a kind. All formulas are about z.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Callable

import numpy as np

Array = Any
LOG_TWO = math.log(2)

_erfc = np.frompyfunc(math.erfc, 1, 1)
_lgamma = np.frompyfunc(math.lgamma, 1, 1)


def erfc(z: Array) -> Array:
    return np.asarray(_erfc(np.asarray(z, float)), float)


def lgamma(z: Array) -> Array:
    return np.asarray(_lgamma(np.asarray(z, float)), float)


@dataclasses.dataclass(frozen=True)
class Kind:
    """A family of standard noise. Functions get z and the parameters of the family."""

    name: str
    draw: Callable[..., Array]
    """(generator, shape, *parameters) → z"""
    log_density: Callable[..., Array]
    cdf: Callable[..., Array] | None = None
    """P(Z ≤ z), where comparisons are tracked."""
    discrete: bool = False
    widest: Callable[..., float] | None = None
    """(distance, *parameters) → the largest loss if the location moves by `distance` factors and the factor stays; None: unbounded."""


def _inside(inside: Array, value: Array) -> Array:
    return np.where(inside, value, -np.inf)


def _whole(z: Array) -> Array:
    """Whether z is a whole number, up to rounding of the sums that made it."""
    return np.abs(z - np.round(z)) <= 1e-9 * np.maximum(1.0, np.abs(z))


def _laplace_cdf(z: Array) -> Array:
    tail = 0.5 * np.exp(-np.abs(z))
    return np.where(z < 0, tail, 1 - tail)


def _discrete_laplace_draw(rng: Any, shape: Any, q: float) -> Array:
    return rng.geometric(1 - q, shape) - rng.geometric(1 - q, shape)


KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "laplace",
            lambda rng, shape: rng.laplace(size=shape),
            lambda z: -np.abs(z) - LOG_TWO,
            _laplace_cdf,
            widest=lambda distance: distance,
        ),
        Kind(
            "normal",
            lambda rng, shape: rng.standard_normal(shape),
            lambda z: -z * z / 2 - math.log(2 * math.pi) / 2,
            lambda z: erfc(-np.asarray(z) / math.sqrt(2)) / 2,
        ),
        Kind(
            "exponential",
            lambda rng, shape: rng.standard_exponential(shape),
            lambda z: _inside(z >= 0, -z),
            lambda z: -np.expm1(-np.maximum(z, 0)),
        ),
        Kind(
            "gumbel",
            lambda rng, shape: rng.gumbel(size=shape),
            lambda z: -z - np.exp(-z),
            lambda z: np.exp(-np.exp(-z)),
        ),
        Kind(
            "logistic",
            lambda rng, shape: rng.logistic(size=shape),
            lambda z: -np.abs(z) - 2 * np.log1p(np.exp(-np.abs(z))),
            lambda z: 0.5 * (1 + np.tanh(z / 2)),
            widest=lambda distance: distance,
        ),
        Kind(
            "cauchy",
            lambda rng, shape: rng.standard_cauchy(shape),
            lambda z: -np.log1p(z * z) - math.log(math.pi),
            lambda z: 0.5 + np.arctan(z) / math.pi,
            # (1 + (z + d)²) / (1 + z²) is largest at z = (√(d² + 4) − d)/2, where it is e^(2 asinh(d/2)).
            widest=lambda distance: 2 * math.asinh(distance / 2),
        ),
        Kind(
            "student",
            lambda rng, shape, df: rng.standard_t(df, shape),
            lambda z, df: (
                math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(df * math.pi) / 2 - (df + 1) / 2 * np.log1p(z * z / df)
            ),
        ),
        Kind(
            "gamma",
            lambda rng, shape, k: rng.standard_gamma(k, shape),
            lambda z, k: _inside(z > 0, (k - 1) * np.log(np.maximum(z, 1e-300)) - z - math.lgamma(k)),
        ),
        Kind(
            "uniform",
            lambda rng, shape: rng.random(shape),
            lambda z: _inside((z >= 0) & (z < 1), 0.0 * z),
            lambda z: np.clip(z, 0.0, 1.0),
        ),
        Kind(
            "geometric",
            lambda rng, shape, p: rng.geometric(p, shape),
            lambda z, p: _inside((z > 0.5) & _whole(z), (z - 1) * (math.log1p(-p) if p < 1 else -1e300) + math.log(p)),
            discrete=True,
        ),
        Kind(
            "discrete laplace",
            _discrete_laplace_draw,
            lambda z, q: _inside(_whole(z), np.abs(z) * math.log(q) + math.log1p(-q) - math.log1p(q)),
            discrete=True,
            widest=lambda distance, q: distance * -math.log(q) if _whole(np.asarray(distance)) else math.inf,
        ),
        Kind(
            "poisson",
            lambda rng, shape, rate: rng.poisson(rate, shape),
            lambda z, rate: _inside((z > -0.5) & _whole(z), z * math.log(rate) - rate - lgamma(np.maximum(z, 0) + 1)),
            discrete=True,
        ),
        Kind(
            "binomial",
            lambda rng, shape, n, p: rng.binomial(n, p, shape),
            lambda z, n, p: _inside(
                (z > -0.5) & (z < n + 0.5) & _whole(z),
                math.lgamma(n + 1)
                - lgamma(np.clip(z, 0, n) + 1)
                - lgamma(n - np.clip(z, 0, n) + 1)
                + np.clip(z, 0, n) * math.log(p)
                + (n - np.clip(z, 0, n)) * math.log1p(-p),
            ),
            discrete=True,
        ),
        Kind(
            "integers",
            lambda rng, shape, low, high: rng.integers(low, high, shape),
            lambda z, low, high: _inside((z > low - 0.5) & (z < high - 0.5) & _whole(z), 0.0 * z - math.log(high - low)),
            discrete=True,
        ),
    )
}
