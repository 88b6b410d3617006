"""The share of users who have a property: a of b users, released as a ratio."""

import math

from divergence import Pair
from lines import Laplace, ManyScales, Mixture, Quotient


def users(data):
    """a, the users with a 1, and b, all users."""
    return data.count(1.0), len(data)


def naive_line(params, data):
    """(a + Lap(2/epsilon)) / (b + Lap(2/epsilon))"""
    return Quotient(*users(data), 2 / params["epsilon"])


def naive(params, left, right, audit):
    return Pair(*({"ratio": naive_line(params, data)} for data in (left, right)))


def ones_and_zeros(params, left, right, audit):
    """A / (A + Z) with Laplace noise on the ones A and on the zeros Z: a one-to-one function of A / Z, so it leaks the same."""
    scale = params.get("sensitivity", 1.0) / params["epsilon"]
    sides = []
    for data in (left, right):
        a, b = users(data)
        sides.append({"ratio": Quotient(a, b - a, scale)})
    return Pair(*sides)


def local_sensitivity(params, left, right, audit):
    """a/b + Lap(LS/epsilon) with LS = max(a, b - a) / (b^2 - b), the largest move when a user leaves."""
    sides = []
    for data in (left, right):
        a, b = users(data)
        sides.append({"ratio": Laplace(a / b, max(a, b - a) / (b * b - b) / params["epsilon"])})
    return Pair(*sides)


# Noise whose probability is less than this is left out: far below any claimed delta.
LEAST = 1e-12
RARE = 1e-8


def discrete_laplace(rate):
    """P(k) = (1 - w) / (1 + w) w^|k| with w = e^(-rate)."""
    w = math.exp(-rate)
    reach = math.ceil(math.log(LEAST) / -rate)
    return [(k, (1 - w) / (1 + w) * w ** abs(k)) for k in range(-reach, reach + 1)]


def sensitivity_bounds(a, b, noise, reach, kind):
    """The bounds on the local sensitivity over all noisy ranges, as (weight, bound), and the weight of the ranges of b that reach down to 1.

    The ranges are [max(0, floor(a' - T)), ceil(a' + T)] and [floor(b' - T), ceil(b' + T)] with noisy counts a', b' and reach T. A zero that leaves moves
    the ratio by a / (b^2 - b), a one by (b - a) / (b^2 - b); the latter has its peak next to a + sqrt(a^2 - a). "printed" exchanges the ends of the range of a.
    """
    down, up = math.floor(-reach), math.ceil(reach)
    bailed, rows = 0.0, []
    for k, weight in noise:
        low, high = b + k + down, b + k + up
        if low <= 1:
            bailed += weight
        else:
            rows.append((weight, low, high, 1 / (low * low - low), 1 / (high * high - high)))
    if kind == "replace-one":
        # A flipped bit moves the ratio by 1/b.
        return [(weight, 1 / low) for weight, low, *_ in rows], bailed
    found = {}
    for k, weight_a in noise:
        low_a, high_a = max(0, a + k + down), a + k + up
        zero, one = (high_a, low_a) if kind == "proven" else (low_a, high_a)
        top = low_a + math.sqrt(low_a * low_a - low_a)
        peaks = [(x, (x - one) / (x * x - x)) for x in {math.floor(top), math.ceil(top)} if x > 1]
        for weight_b, low, high, at_low, at_high in rows:
            weight = weight_a * weight_b
            if weight < LEAST / 1000:
                continue
            bound = max((low - one) * at_low, (high - one) * at_high, zero * at_low)
            for x, value in peaks:
                if value > bound and low <= x <= high:
                    bound = value
            if bound <= 0:
                raise ValueError("a bound of 0: the ratio comes out exactly, which this model does not have")
            # Bounds within one percent become one, at their mean: an error of second order, about 1e-5.
            place = int(100 * math.log(bound))
            total = found.get(place)
            if total is None:
                found[place] = [weight, weight * bound]
            else:
                total[0] += weight
                total[1] += weight * bound
    # And so do neighbours that hardly ever occur.
    merged = []
    for _, (weight, moment) in sorted(found.items()):
        if merged and merged[-1][0] < RARE:
            merged[-1][0] += weight
            merged[-1][1] += moment
        else:
            merged.append([weight, moment])
    return [(weight, moment / weight) for weight, moment in merged], bailed


def bounded_line(params, data):
    """Noisy ranges of a and b at epsilon_1/2 each, then a/b + Lap(bound / epsilon_2), or the naive ratio at epsilon_2 where b may be 1 or less.

    With T = 2 ln(2/delta) / epsilon_1. The output is a mixture over all noisy ranges.
    """
    epsilon, part = params["epsilon"], params.get("range_fraction", 0.1)
    first, second = epsilon * part, epsilon - epsilon * part
    noise = discrete_laplace(first / 2)
    reach = 2 * math.log(2 / params["delta"]) / first
    a, b = users(data)
    bounds, bailed = sensitivity_bounds(a, b, noise, reach, params.get("bound", "proven"))
    line = ManyScales(a / b, [(weight, bound / second) for weight, bound in bounds])
    return Mixture([(1.0, line), (bailed, Quotient(a, b, 2 / second))]) if bailed else line


def bounded_sensitivity(params, left, right, audit):
    return Pair(*({"ratio": bounded_line(params, data)} for data in (left, right)))


MODELS = {
    "ratio/naive": naive,
    "ratio/ones-and-zeros": ones_and_zeros,
    "ratio/local-sensitivity": local_sensitivity,
    "ratio/bounded-sensitivity": bounded_sensitivity,
}
