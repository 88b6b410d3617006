"""The sparse vector technique: which answers lie above a noisy threshold (Lyu, Su & Li 2017).

With rho the noise of the threshold t and nu_i that of answer i, answer i is above iff q_i + nu_i >= t + rho. Given rho all answers are independent, so the
probability of a row is an integral over rho of a product. A row ends with its c-th answer above.

Rows with equally many answers above and below among the equal answers have the same probabilities on both sides, so they count as one output.
"""

import bisect
import itertools
import math
from collections import Counter

from divergence import Pair
from lines import Laplace
from numeric import INF, RULE, log, nodes, peak
from spec import query, universe


def settings(algorithm, epsilon, cutoff):
    """The scales of rho and nu, and what is released for an answer above: only that it is, what was compared, or fresh noise of a scale."""
    c = cutoff or 0
    return {
        "svt1": (2 / epsilon, 4 * c / epsilon, "symbol"),
        "svt2": (2 * c / epsilon, 4 * c / epsilon, "symbol"),
        "svt3": (2 / epsilon, 2 * c / epsilon, "compared"),
        "svt4": (4 / epsilon, 4 / (3 * epsilon), "symbol"),
        "svt5": (2 / epsilon, 0.0, "symbol"),
        "svt6": (2 / epsilon, 2 / epsilon, "symbol"),
        "numerical": (3 / epsilon, 6 * c / epsilon, 3 * c / epsilon),
    }[algorithm]


def rows(answers, cutoff):
    """All rows as (answers above, answers below), each a sorted tuple of (left, right); and how many rows there are of each kind."""
    found = Counter()
    for number in range(min(cutoff or len(answers), len(answers)) + 1):
        for above in itertools.combinations(range(len(answers)), number):
            end = above[-1] + 1 if number == cutoff else len(answers)
            below = [answers[i] for i in range(end) if i not in above]
            found[tuple(sorted(answers[i] for i in above)), tuple(sorted(below))] += 1
    return found


class Threshold:
    """Integrals over rho for the answers of one side."""

    def __init__(self, threshold, rho, nu, answers):
        self.line, self.t, self.nu = Laplace(0.0, rho), threshold, nu
        kinks = sorted({0.0} | {answer - threshold for answer in answers})
        far = 45 * rho
        self.kinks = [kinks[0] - far, *kinks, kinks[-1] + far]
        self.width = min(rho, nu) if nu else rho

    def below(self, r, answer):
        """P(answer + nu < t + r)"""
        z = self.t + r - answer
        if self.nu == 0:
            return float(z > 0)
        return 0.5 * math.exp(z / self.nu) if z < 0 else 1 - 0.5 * math.exp(-z / self.nu)

    def product(self, r, above, below):
        value = 1.0
        for answer, times in Counter(below).items():
            value *= self.below(r, answer) ** times
        for answer, times in Counter(above).items():
            value *= (1 - self.below(r, answer)) ** times
        return value

    def probability(self, above, below):
        """Of a row, by quadrature from kink to kink; without nu the product is constant between kinks."""
        if self.nu == 0:
            ends = [-INF, *self.kinks[1:-1], INF]
            middles = [(a + b) / 2 for a, b in zip(self.kinks, self.kinks[1:])]
            return sum(self.line.mass(a, b) * self.product(r, above, below) for a, b, r in zip(ends, ends[1:], middles))
        return sum(weight * math.exp(self.line.log_density(r)) * self.product(r, above, below) for r, weight in nodes(self.kinks, self.width))

    def upto(self, below):
        """G(m) = integral over rho <= m of the product of all answers below, as a function of m."""
        f = lambda r: math.exp(self.line.log_density(r)) * self.product(r, (), below)

        def panel(a, b):
            half, middle = (b - a) / 2, (a + b) / 2
            return sum(half * w * f(middle + half * x) for x, w in RULE)

        ends = [self.kinks[0]]
        for a, b in zip(self.kinks, self.kinks[1:]):
            panels = math.ceil((b - a) / self.width)
            ends += [a + (b - a) * k / panels for k in range(1, panels + 1)]
        sums = [0.0, *itertools.accumulate(panel(a, b) for a, b in zip(ends, ends[1:]))]

        def integral(m):
            k = min(bisect.bisect_right(ends, m), len(ends)) - 1
            return sums[k] + (panel(ends[k], m) if ends[k] < m < ends[-1] else 0.0)

        return integral


class Pure:
    """The supremum of the loss in each direction, and an upper bound of it that is proven."""

    def __init__(self, largest, bound):
        self._largest, self.bound = largest, bound

    def largest(self, way):
        return self._largest[way]

    def epsilon(self, delta):
        return max(self._largest.values()) if delta == 0 else None

    def delta(self, epsilon):
        return 0.0 if epsilon >= self.epsilon(0.0) else None


def compared(sides, kinds, nu):
    """Releases q_i + nu_i itself, which is at least t + rho. A row with numbers y has density G(min y - t) times the product of f_nu(y_i - q_i).

    The smallest number is m; every other number goes where its own loss is largest, which is at m or at infinity, for the loss of Laplace noise is
    monotone. The proven bound: an answer below gives at most (q' - q)^+ / nu, a number at most |q' - q| / nu.
    """
    left, right = sides
    largest, bound = {1: 0.0, -1: 0.0}, 0.0
    low, high = min(left.kinks[0], right.kinks[0]) + left.t, max(left.kinks[-1], right.kinks[-1]) + left.t
    for above, below in kinds:
        g, h = left.upto([a for a, _ in below]), right.upto([b for _, b in below])
        for way in (1, -1):
            bound = max(bound, sum(max(0.0, way * (b - a)) for a, b in below) / nu + sum(abs(a - b) for a, b in above) / nu)

            def loss(m):
                total = way * (log(g(m - left.t)) - log(h(m - left.t)))
                here = [way * (abs(m - b) - abs(m - a)) / nu for a, b in above]
                best = [max(now, way * (a - b) / nu) for now, (a, b) in zip(here, above)]
                # One of the numbers is m itself: the one that loses least by it.
                return total + sum(best) - min((x - now for x, now in zip(best, here)), default=0.0)

            if not above:
                largest[way] = max(largest[way], loss(high))
                continue
            # At the far left both integrals are 0; start where they are not.
            places = sorted({low + (high - low) * k / 400 for k in range(40, 401)} | {value for pair in above + below for value in pair})
            values = [loss(m) for m in places]
            top = max(range(len(places)), key=values.__getitem__)
            refined = peak(loss, places[max(top - 1, 0)], places[min(top + 1, len(places) - 1)])[1]
            largest[way] = max(largest[way], values[top], refined)
    return Pure(largest, bound)


def one(algorithm, params, left, right):
    epsilon, cutoff = params["epsilon"], params.get("cutoff")
    rho, nu, release = settings(algorithm, epsilon, cutoff)
    if algorithm == "svt2" and cutoff != 1:
        return None
    both = [query(params, data, universe(left, right))[0] for data in (left, right)]
    sides = [Threshold(params["threshold"], rho, nu, answers) for answers in both]
    kinds = rows(list(zip(*both, strict=True)), cutoff)
    if release == "compared":
        return compared(sides, kinds, nu)
    outputs = [{}, {}]
    for kind, times in kinds.items():
        for side in (0, 1):
            above, below = ([answers[side] for answers in part] for part in kind)
            outputs[side][kind] = times * sides[side].probability(above, below)
    if release == "symbol":
        return Pair(*outputs)
    # Fresh noise on each number: their losses come on top, each up to |q' - q| over its scale in either direction. Proven: epsilon.
    numbers = {kind: sum(abs(a - b) for a, b in kind[0]) / release for kind in kinds}
    largest = {way: max(way * math.log(outputs[0][kind] / outputs[1][kind]) + numbers[kind] for kind in kinds) for way in (1, -1)}
    return Pure(largest, epsilon)


def sparse_vector(params, left, right, audit):
    return one(params["algorithm"], params, left, right)


def parallel(params, left, right, audit):
    """Independent runs on the same input: the suprema add up. The bounds of Lyu, Su & Li: k epsilon / (2c) for k answers, and (1 + 6c) epsilon / 4."""
    parts = [one(algorithm, params, left, right) for algorithm in params["algorithms"]]
    epsilon, c = params["epsilon"], params["cutoff"]
    proven = {"svt1": epsilon, "svt2": epsilon, "svt3": len(left) * epsilon / (2 * c), "svt4": (1 + 6 * c) * epsilon / 4}
    if None in parts or not all(algorithm in proven for algorithm in params["algorithms"]):
        return None
    largest = {way: sum(part.largest(way) for part in parts) for way in (1, -1)}
    return Pure(largest, sum(proven[algorithm] for algorithm in params["algorithms"]))


MODELS = {"sparse-vector": sparse_vector, "sparse-vector/parallel": parallel}
