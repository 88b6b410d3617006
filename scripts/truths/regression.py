"""The slope of a line through the origin, sum xy / sum x^2, clamped to [-R, R]."""

import math

from divergence import Pair, Then
from lines import Cut, Laplace


def fit(data, limits):
    """The slope and A = sum x^2."""
    products, squares = sum(x * y for x, y in data), sum(x * x for x, y in data)
    return min(max(products / squares, -limits["slope"]), limits["slope"]), squares


def influence(limits):
    """C = 2XY + RX^2: replacing a point moves the slope by at most C / max(A, A')."""
    return 2 * limits["x"] * limits["y"] + limits["slope"] * limits["x"] ** 2


def local_sensitivity(params, left, right, audit):
    """Noise of scale C / (A epsilon), A of the data."""
    limits = params["limits"]
    fits = [fit(data, limits) for data in (left, right)]
    return Pair(*({"slope": Laplace(slope, influence(limits) / (squares * params["epsilon"]))} for slope, squares in fits))


def bounded_sensitivity(params, left, right, audit):
    """L = A + Lap(X^2/epsilon_1) - X^2 ln(1/(2 delta))/epsilon_1, then the slope with Lap(C/(L epsilon_2)), or a refusal when L <= 0.

    The upper limit: epsilon_1 |A - A'| / X^2 for L, and epsilon_2 |slope - slope'| max(A, A') / C for the slope, but for delta.
    """
    limits, first, second = params["limits"], params["limit_epsilon"], params["slope_epsilon"]
    scale = limits["x"] ** 2 / first
    margin = math.log(1 / (2 * params["delta"])) * scale
    fits = [fit(data, limits) for data in (left, right)]
    sides = []
    for slope, squares in fits:
        line = Laplace(squares - margin, scale)
        noisy = lambda limit, slope=slope: {"slope": Laplace(slope, influence(limits) / second / limit)}
        sides.append({"refusal": Cut(line, high=0.0), "released": Then(Cut(line, low=0.0), noisy)})
    pair = Pair(*sides)
    (slope, squares), (other, others) = fits
    pair.bound = first * abs(squares - others) / limits["x"] ** 2 + second * abs(slope - other) * max(squares, others) / influence(limits)
    return pair


MODELS = {
    "regression/local-sensitivity": local_sensitivity,
    "regression/bounded-sensitivity": bounded_sensitivity,
}
