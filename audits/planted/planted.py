"""Ten mechanisms with a planted bug that only one kind of value or structure shows. With fixed=True each is correct.

`dp-audit search audits/planted/planted.toml` finds the pairs. Nothing here knows about dp-audit.
"""

import math
from collections import Counter


def laplace(rng, scale):
    return scale * math.log((1 - rng.random()) / (1 - rng.random()))


def nan_mean(data, rng, fixed, epsilon=1.0):
    """The mean of a known number of values between 0 and 100. The clamp lets NaN through: every comparison with it is false."""
    values = [0.0 if fixed and math.isnan(x) else min(max(x, 0.0), 100.0) for x in data]
    return sum(values) / len(values) + laplace(rng, 100 / (len(values) * epsilon))


def overflowing_sum(data, rng, fixed, epsilon=1.0):
    """A sum of integers between 0 and 2^62 in 64 bits. It wraps, or with the fix stops at the limit."""
    most = 2**62
    total = sum(int(min(max(x, 0), most)) for x in data)
    total = min(total, 2**63 - 1) if fixed else (total + 2**63) % 2**64 - 2**63
    return total + laplace(rng, most / epsilon)


def histogram(data, rng, fixed, epsilon=1.0):
    """Counts of known keys. A key that is not known raises KeyError."""
    counts = {"a": 0, "b": 0, "c": 0}
    for key in data:
        if not fixed or key in counts:
            counts[key] += 1
    return [count + laplace(rng, 1 / epsilon) for count in counts.values()]


def median(data, rng, fixed, epsilon=1.0):
    """The median of values between 0 and 100, with noise for its whole range. Where two values are in the middle, the noise is forgotten."""
    values = sorted(min(max(x, 0.0), 100.0) for x in data)
    if not values:
        return laplace(rng, 100 / epsilon)
    middle = len(values) // 2
    if len(values) % 2 == 0 and not fixed:
        return (values[middle - 1] + values[middle]) / 2
    return values[middle] + laplace(rng, 100 / epsilon)


def first_two(data, rng, fixed, epsilon=1.0):
    """Rows are [priority, value]. The sum of the values, between 0 and 1, of the two rows with the least priority.

    One row more exchanges at most one of the two. But rows of equal priority keep their order in the table, and a table has no order.
    """
    rows = sorted(data) if fixed else sorted(data, key=lambda row: row[0])
    return sum(min(max(value, 0.0), 1.0) for _, value in rows[:2]) + laplace(rng, 1 / epsilon)


def positive(data, rng, fixed, epsilon=0.5):
    """How many values are at least 0, of values that all are: the clamp forgets that −0.0 has a sign."""
    clamped = [max(x, 0.0) + 0.0 if fixed else max(x, 0.0) for x in data]
    return sum(math.copysign(1.0, x) for x in clamped) + laplace(rng, 1 / epsilon)


def sum_with_range(data, rng, fixed, epsilon=1.0):
    """A sum of values between 0 and 100. It looks up the largest value, which an empty dataset does not have."""
    if not fixed:
        max(data)
    return sum(min(max(x, 0.0), 100.0) for x in data) + laplace(rng, 100 / epsilon)


def mean_of_known(data, rng, fixed, epsilon=1.0):
    """A mean of values between 0 and 100, some of which are missing. It divides by the number of known values, which is not public."""
    known = [min(max(x, 0.0), 100.0) for x in data if x is not None]
    count = len(data) if fixed else max(len(known), 1)
    return sum(known) / count + laplace(rng, 100 / (len(data) * epsilon))


def majority(data, rng, fixed, epsilon=1.0):
    """The more frequent of two answers, by noisy counts. A tie is reported as such."""
    yes, no = data.count("yes"), data.count("no")
    if yes == no and yes > 0 and not fixed:
        return "tie"
    return "yes" if yes + laplace(rng, 2 / epsilon) > no + laplace(rng, 2 / epsilon) else "no"


def group_sizes(data, rng, fixed, epsilon=1.0):
    """The sizes of three groups. A group with a single member needs no noise, somebody thought."""
    counts = Counter(data)
    sizes = [counts[key] for key in ("a", "b", "c")]
    return [size if size == 1 and not fixed else size + laplace(rng, 1 / epsilon) for size in sizes]
