"""The least epsilon and delta of two output distributions.

P and Q are (epsilon, delta)-indistinguishable iff delta >= sup over events S of P(S) - e^epsilon Q(S), in both directions. The best event is where the
privacy loss ln(p/q) exceeds epsilon, so

    delta(epsilon) = integral of (p - e^epsilon q)^+,

and epsilon at delta is the least epsilon >= 0 with delta(epsilon) <= delta: for delta = 0 the supremum of the loss.
(Dwork & Roth 2014, section 3.5; Balle & Wang 2018.)

A distribution is a dict. Keys are what is visible (a symbol, a label); a value is a probability, a `Line` (a density that need not have mass 1) or
`Then(line, second)`: a number from the line, and after it an output of the second distribution, which may be a function of that number.
"""

import math

from numeric import INF, nodes, peak, root

# Parameters are rounded to doubles, so a delta that is met exactly may be missed by a rounding error.
SLACK = 1e-9
# Distances from a knot at which the loss is looked at, in units of the scale.
REACH = [10 ** (k / 4) for k in range(-12, 33)]


class Then:
    """A number from `line`, then an output of `second`: a distribution, or a function from the number to one."""

    def __init__(self, line, second):
        self.line, self.second = line, second


class Atom:
    """A single output."""

    def __init__(self, p, q):
        self.p, self.q = p, q

    def largest(self, way):
        p, q = (self.p, self.q)[::way]
        return -INF if p == 0 else INF if q == 0 else math.log(p / q)

    def certain(self, way):
        """The mass of P where Q has none."""
        p, q = (self.p, self.q)[::way]
        return p if q == 0 else 0.0

    def delta(self, way, epsilon):
        p, q = (self.p, self.q)[::way]
        return p if q == 0 else max(0.0, p - math.exp(min(epsilon + math.log(q), 700.0)))


class Piece:
    """A stretch between two knots, cut at the extrema of the loss: monotone from each point to the next."""

    def __init__(self, p, q, low, high):
        self.p, self.q = p, q
        self.scale = min(p.scale, q.scale)
        loss = self.loss = lambda y: p.log_density(y) - q.log_density(y)
        places = {low, high}
        # A linear loss has its extrema at the ends.
        reaches = [] if p.linear and q.linear else [reach for reach in REACH if reach <= max(p.reach, q.reach)]
        for end, sign, other in ((low, 1, high), (high, -1, low)):
            if math.isfinite(end):
                # Up to the middle from both ends, or all the way when the other end is infinite.
                limit = abs(other - end) / 2
                places |= {end + sign * self.scale * reach for reach in reaches if self.scale * reach < limit}
        if reaches and math.isfinite(low) and math.isfinite(high):
            places |= {low + (high - low) * k / 32 for k in range(1, 32)}
        places = sorted(places)
        values = [limit_of_loss(p, q, y) if math.isinf(y) else loss(y) for y in places]
        points = list(zip(places, values))
        extra = []
        for (a, before), (_, here), (b, after) in zip(points, points[1:], points[2:]):
            if math.isfinite(a) and math.isfinite(b) and (here - before) * (after - here) < 0 and max(abs(here - before), abs(here - after)) > 1e-13:
                sign = 1 if here > before else -1
                place, value = peak(lambda y: sign * loss(y), a, b)
                if a < place < b and value > sign * here:
                    extra.append((place, sign * value))
        self.points = sorted(points + extra)

    def largest(self, way):
        return max(way * value for _, value in self.points)

    def certain(self, way):
        return 0.0

    def delta(self, way, epsilon):
        p, q = (self.p, self.q)[::way]
        total, start = 0.0, None
        for (a, left), (b, right) in zip(self.points, self.points[1:]):
            above = way * left > epsilon, way * right > epsilon
            if above[0] and start is None:
                start = a
            if above[0] != above[1]:
                cross = self._cross(a, b, way * left - epsilon, way * right - epsilon, way, epsilon)
                if above[1]:
                    start = cross
                else:
                    total += excess(p, q, start, cross, epsilon)
                    start = None
        if start is not None:
            total += excess(p, q, start, self.points[-1][0], epsilon)
        return total

    def _cross(self, a, b, fa, fb, way, epsilon):
        f = lambda y: way * self.loss(y) - epsilon
        # From an infinite end, walk out until the sign changes.
        for end, sign in ((b, 1), (a, -1)):
            if math.isinf(end):
                near, f_near = (a, fa) if sign > 0 else (b, fb)
                step = self.scale
                while step < 1e280:
                    far = near + sign * step
                    f_far = f(far)
                    if (f_far > 0) != (f_near > 0):
                        return root(f, near, far, f_near, f_far)
                    step *= 4
                return end
        return root(f, a, b, fa, fb)


class Alone:
    """A stretch where only one side has outputs."""

    def __init__(self, line, low, high, way):
        self.line, self.ends, self.way = line, (low, high), way

    def certain(self, way):
        return self.line.mass(*self.ends) if way == self.way else 0.0

    def largest(self, way):
        return INF if self.certain(way) > 0 else -INF

    def delta(self, way, epsilon):
        return self.certain(way)


class Joint:
    """A number, and after it a second output: delta(epsilon) = integral of p(y) delta_y(epsilon - loss(y)) dy."""

    def __init__(self, p, q, low, high):
        self.first = Piece(p.line, q.line, low, high)
        constant = self.constant = not callable(p.second)
        second = Pair(p.second, q.second) if constant else None
        at = (lambda y: second) if constant else (lambda y: Pair(p.second(y), q.second(y)))
        self.parts = []
        points = self.first.points
        if constant and abs(points[0][1] - points[-1][1]) < 1e-12 and self.first.largest(1) - points[0][1] < 1e-12:
            # The loss of the number is the same all over: no integral is needed.
            self.parts.append((p.line.mass(low, high), q.line.mass(low, high), points[0][1], second))
        else:
            # Laplace tails have e^-40 left beyond 40 scales.
            far = 40 * self.first.scale
            centres = p.line.knots + q.line.knots or [end for end in (low, high) if math.isfinite(end)]
            a, b = max(low, min(centres) - far), min(high, max(centres) + far)
            for y, weight in nodes([a, b], min((b - a) / 20, self.first.scale)):
                self.parts.append((weight * math.exp(p.line.log_density(y)), weight * math.exp(q.line.log_density(y)), self.first.loss(y), at(y)))

    def largest(self, way):
        # The suprema of both outputs add up. When the second depends on the first, take it for infinite: the search for epsilon at a positive delta
        # then looks for an upper end by itself.
        if not self.constant:
            return INF
        return self.first.largest(way) + self.parts[0][3].largest(way)

    def certain(self, way):
        return sum((p if way > 0 else q) * second.certain(way) for p, q, _, second in self.parts)

    def delta(self, way, epsilon):
        return sum((p if way > 0 else q) * second.one_way(way, epsilon - way * loss) for p, q, loss, second in self.parts)


def excess(p, q, a, b, epsilon):
    """P(a, b) - e^epsilon Q(a, b), in logarithms, for e^epsilon may be too large for a float and Q too small."""
    return max(0.0, math.exp(p.log_mass(a, b)) - math.exp(min(epsilon + q.log_mass(a, b), 700.0)))


def limit_of_loss(p, q, end):
    """The limit of the loss at an infinite end: the first terms that differ decide."""
    sign = 1 if end > 0 else -1
    for a, b in zip(p.tail(sign)[:3], q.tail(sign)[:3]):
        if a != b and abs(a - b) > 1e-13 * max(abs(a), abs(b)):
            return INF if a > b else -INF
    return p.tail(sign)[3] - q.tail(sign)[3]


class Pair:
    """The outputs on two neighbours."""

    # An upper limit of epsilon that is proven, where an audit states that instead of the exact value.
    bound = None

    def __init__(self, left, right):
        self.parts = []
        for key in left.keys() | right.keys():
            p, q = left.get(key, 0.0), right.get(key, 0.0)
            if isinstance(p, (int, float)) and isinstance(q, (int, float)):
                if p or q:
                    self.parts.append(Atom(p, q))
            else:
                self.parts += stretches(p, q)

    def largest(self, way):
        """The supremum of the loss in one direction; never below 0."""
        return max([0.0] + [part.largest(way) for part in self.parts])

    def certain(self, way):
        return sum(part.certain(way) for part in self.parts)

    def one_way(self, way, epsilon):
        return sum(part.delta(way, epsilon) for part in self.parts)

    def delta(self, epsilon):
        return max(self.one_way(way, epsilon) for way in (1, -1))

    def epsilon(self, delta):
        return max(self._epsilon(way, delta) for way in (1, -1))

    def _epsilon(self, way, delta):
        top = self.largest(way)
        if delta == 0 or top == 0:
            return top
        delta *= 1 + SLACK
        excess_at = lambda epsilon: self.one_way(way, epsilon) - delta
        if self.certain(way) > delta:
            return INF
        at_zero = excess_at(0.0)
        if at_zero <= 0:
            return 0.0
        if top == INF:
            top = 1.0
            while excess_at(top) > 0:
                top *= 2
            return root(excess_at, top / 2 if top > 1 else 0.0, top, excess_at(top / 2) if top > 1 else at_zero, excess_at(top))
        return root(excess_at, 0.0, top, at_zero, excess_at(top))


def stretches(p, q):
    """Two densities, or one against nothing, from knot to knot."""
    line = lambda part: part.line if isinstance(part, Then) else part
    lines = [line(part) for part in (p, q) if not isinstance(part, (int, float))]
    knots = {knot for part in lines for knot in (*part.knots, part.low, part.high)} | {-INF, INF}
    knots = sorted(knots)
    for low, high in zip(knots, knots[1:]):
        here = [0.0 if isinstance(part, (int, float)) or high <= line(part).low or low >= line(part).high else part for part in (p, q)]
        if here[0] and here[1]:
            yield Joint(*here, low, high) if isinstance(here[0], Then) else Piece(*here, low, high)
        elif here[0] or here[1]:
            yield Alone(line(here[0] or here[1]), low, high, 1 if here[0] else -1)


def independent(left, right):
    """Two lists of distributions of independent outputs, all made of atoms: the product, without the outputs that do not depend on the side."""
    product = [{(): 1.0}, {(): 1.0}]
    for p, q in zip(left, right, strict=True):
        if p != q:
            for side, factor in enumerate((p, q)):
                product[side] = {key + (value,): a * b for key, a in product[side].items() for value, b in factor.items()}
    return Pair(*product)
