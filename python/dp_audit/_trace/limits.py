"""Limits of the mean of values in [0, 1], on both sides, for a number of values that is fixed beforehand.

If E[X] ≥ m, then for every λ in [0, 1/(1 − m)] the wealth Π (1 − λ (x − m)) is nonnegative and its mean is at most 1, for any number of independent
values; so is an average of such wealths. By Markov's inequality it exceeds 1/α with probability at most α. Each wealth grows with m (for λ = c/(1 − m)
the derivative of 1 − c (x − m)/(1 − m) is c (1 − x)/(1 − m)² ≥ 0), so the means that are not refuted are an interval. (Waudby-Smith and Ramdas, 2024.)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# Parts c of the largest stake, one for each order of magnitude of a mean that should be found tightly. More of them cost ln(number) in the exponent.
STAKES = np.concatenate([[1.0 - 1e-9], 0.9 * 0.5 ** np.arange(14)])


def upper_limit(values: Any, alpha: float) -> float:
    """The mean is at most this with confidence 1 − α."""
    values, counts = np.unique(np.asarray(values, float), return_counts=True)
    if values.size == 0:
        return 1.0
    if values[0] < 0 or values[-1] > 1:
        raise ValueError("values must be in [0, 1]")

    def refuted(mean: float) -> bool:
        with np.errstate(divide="ignore", invalid="ignore"):
            stakes = 1 - STAKES[:, None] * ((values - mean) / (1 - mean))[None, :]
            logs = np.log(np.maximum(stakes, 0)) @ counts
        top = logs.max()
        return top > -math.inf and top + math.log(np.exp(logs - top).mean()) >= -math.log(alpha)

    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if 1 - middle < 1e-12:
            break
        if refuted(middle):
            high = middle
        else:
            low = middle
    return high


def limits(values: Any, alpha: float) -> tuple[float, float]:
    """The mean is between these with confidence 1 − α."""
    values = np.asarray(values, float)
    return max(0.0, 1 - upper_limit(1 - values, alpha / 2)), upper_limit(values, alpha / 2)
