"""One of several candidates: the exponential mechanism, report noisy max, the mode by noisy counts."""

import math

from divergence import Pair
from lines import Largest
from numeric import nodes
from spec import counts, query, universe


def exponential(params, left, right, audit):
    """Candidate i with probability proportional to e^(rate u_i). Raw weights are computed in doubles and may all be 0: an error."""
    rate = params["epsilon"] / (1 if params.get("exponent", "half") == "whole" else 2)
    sides = []
    for data in (left, right):
        utilities = query(params, data, universe(left, right))[0]
        start = 0.0 if params.get("weights", "relative") == "raw" else max(utilities)
        weights = [math.exp(rate * (utility - start)) for utility in utilities]
        total = sum(weights)
        sides.append({i: weight / total for i, weight in enumerate(weights)} if total > 0 else {"error": 1.0})
    return Pair(*sides)


def index_of_largest(values, scale, noise):
    """P(i) = integral of f(y - v_i) times the product over j != i of F(y - v_j), from knot to knot."""
    knots = sorted(set(values))
    reach = 60 * scale
    points = ([knots[0] - reach] if noise == "laplace" else []) + knots + [knots[-1] + reach]
    grid = nodes(points, scale)

    def upto(y, value):
        z = (y - value) / scale
        if noise == "laplace":
            return 0.5 * math.exp(z) if z < 0 else 1 - 0.5 * math.exp(-z)
        return -math.expm1(-z) if z > 0 else 0.0

    def density(y, value):
        z = (y - value) / scale
        if noise == "laplace":
            return math.exp(-abs(z)) / (2 * scale)
        return math.exp(-z) / scale if z > 0 else 0.0

    kinds = sorted(set(values))
    found = {kind: 0.0 for kind in kinds}
    for y, weight in grid:
        at = {kind: upto(y, kind) for kind in kinds}
        for kind in kinds:
            product = 1.0
            for other in kinds:
                product *= at[other] ** (values.count(other) - (other == kind))
            found[kind] += weight * density(y, kind) * product
    return [found[value] for value in values]


def report_noisy_max(params, left, right, audit):
    """The index, or the value, of the largest answer with noise of scale 2 / epsilon."""
    scale, noise = 2 / params["epsilon"], params["noise"]
    both = [query(params, data, universe(left, right))[0] for data in (left, right)]
    if params["release"] == "value":
        return Pair(*({"value": Largest(values, scale, noise)} for values in both))
    return Pair(*(dict(enumerate(index_of_largest(values, scale, noise))) for values in both))


def noisy_argmax(params, left, right, audit):
    """The category with the largest noisy count. Ties have probability 0."""
    categories, scale = universe(left, right), params["sensitivity"] / params["epsilon"]
    return Pair(*(dict(enumerate(index_of_largest(counts(data, categories), scale, "laplace"))) for data in (left, right)))


MODELS = {
    "exponential": exponential,
    "report-noisy-max": report_noisy_max,
    "mode/noisy-argmax": noisy_argmax,
}
