"""Densities on the real line. Each knows its log density, the log mass of an interval and its behaviour far out.

`knots` are the places where the density is not smooth; between two knots of both sides the privacy loss is smooth.
`scale` is a typical distance over which the density changes; beyond `reach` scales from the knots nothing new happens.
`tail(sign)` gives (q, l, g, c) with log density = q t^2 + l t + g log t + c + o(1) as y = sign * t goes to infinity, so that limits of the privacy loss
are exact and not read off some far point.
"""

import math

import mpmath

from numeric import INF, RULE, log, log_sum


class Line:
    """What all densities share."""

    low, high = -INF, INF
    # Whether the log density is a linear function between two knots.
    linear = False
    # The log density of Laplace and Gaussian noise grows so fast that its differences lose digits farther out.
    reach = 1e3

    def mass(self, a, b):
        return math.exp(self.log_mass(a, b))


class Laplace(Line):
    """Density e^(-|y - centre| / scale) / (2 scale)."""

    linear = True

    def __init__(self, centre, scale):
        self.centre, self.scale, self.knots = centre, scale, (centre,)

    def log_density(self, y):
        return -abs(y - self.centre) / self.scale - math.log(2 * self.scale)

    def log_mass(self, a, b):
        u, v = (a - self.centre) / self.scale, (b - self.centre) / self.scale
        if u >= v:
            return -INF
        if v <= 0:
            u, v = -v, -u
        if u >= 0:
            return math.log(0.5) - u + log(-math.expm1(u - v))
        return log(-0.5 * math.expm1(u) - 0.5 * math.expm1(-v))

    def tail(self, sign):
        return (0.0, -1 / self.scale, 0.0, sign * self.centre / self.scale - math.log(2 * self.scale))


class Gaussian(Line):
    """The normal density."""

    def __init__(self, centre, sigma):
        self.centre, self.scale, self.knots = centre, sigma, (centre,)
        self.constant = -math.log(sigma * math.sqrt(2 * math.pi))

    def log_density(self, y):
        z = (y - self.centre) / self.scale
        return -z * z / 2 + self.constant

    def log_mass(self, a, b):
        u, v = (a - self.centre) / self.scale / math.sqrt(2), (b - self.centre) / self.scale / math.sqrt(2)
        if u >= v:
            return -INF
        if v <= 0:
            u, v = -v, -u
        if u >= 0:
            return log(0.5 * (math.erfc(u) - math.erfc(v)))
        return log(0.5 * (math.erf(v) - math.erf(u)))

    def tail(self, sign):
        square = self.scale**2
        return (-0.5 / square, sign * self.centre / square, 0.0, -self.centre**2 / (2 * square) + self.constant)


class PowerTail(Line):
    """Density proportional to 1 / (1 + |z|^gamma), z = (y - centre) / scale. Its integral is 2 pi / (gamma sin(pi / gamma))."""

    reach = 1e8

    def __init__(self, centre, scale, gamma):
        self.centre, self.scale, self.gamma, self.knots = centre, scale, gamma, (centre,)
        self.half = math.pi / (gamma * math.sin(math.pi / gamma))
        self.constant = -math.log(2 * self.half * scale)

    def log_density(self, y):
        z = abs(y - self.centre) / self.scale
        if z == 0:
            return self.constant
        power = self.gamma * math.log(z)
        return self.constant - (power + math.log1p(math.exp(-power)) if power > 0 else math.log1p(math.exp(power)))

    def _beyond(self, z):
        """P(Z > z) for z >= 0, from the integral of z^(-gamma) / (1 + z^(-gamma)), a hypergeometric function."""
        if z == INF:
            return 0.0
        if z == 0:
            return 0.5
        g = mpmath.mpf(self.gamma)
        if z >= 1:
            part = mpmath.mpf(z) ** (1 - g) / (g - 1) * mpmath.hyp2f1(1, 1 - 1 / g, 2 - 1 / g, -mpmath.mpf(z) ** -g)
            return float(part / (2 * self.half))
        part = z * mpmath.hyp2f1(1, 1 / g, 1 + 1 / g, -mpmath.mpf(z) ** g)
        return float(mpmath.mpf(0.5) - part / (2 * self.half))

    def log_mass(self, a, b):
        u, v = (a - self.centre) / self.scale, (b - self.centre) / self.scale
        if u >= v:
            return -INF
        if v <= 0:
            u, v = -v, -u
        if u >= 0:
            return log(self._beyond(u) - self._beyond(v))
        return log(1 - self._beyond(-u) - self._beyond(v))

    def tail(self, sign):
        return (0.0, 0.0, -self.gamma, self.constant + self.gamma * math.log(self.scale))


class ManyScales(Line):
    """Laplace noise around one centre whose scale is random: weights and scales."""

    def __init__(self, centre, parts):
        self.centre, self.parts, self.knots = centre, sorted(parts), (centre,)
        self.widest = max(scale for _, scale in parts)
        total = sum(weight for weight, _ in parts)
        self.scale = sum(weight * scale for weight, scale in parts) / total
        self._density = [(weight / (2 * scale), 1 / scale - 1 / self.widest) for weight, scale in parts]
        self._mass = [(weight / 2, 1 / scale - 1 / self.widest) for weight, scale in parts]
        self._total = total

    def _sum(self, parts, distance):
        if distance == INF:
            return -INF
        return -distance / self.widest + log(sum(weight * math.exp(-distance * rate) for weight, rate in parts))

    def log_density(self, y):
        return self._sum(self._density, abs(y - self.centre))

    def log_mass(self, a, b):
        beyond = lambda distance: math.exp(self._sum(self._mass, distance))
        u, v = a - self.centre, b - self.centre
        if u >= v:
            return -INF
        if v <= 0:
            u, v = -v, -u
        if u >= 0:
            return log(beyond(u) - beyond(v))
        return log(self._total - beyond(-u) - beyond(v))

    def tail(self, sign):
        weight = sum(weight for weight, scale in self.parts if scale == self.widest)
        return (0.0, -1 / self.widest, 0.0, sign * self.centre / self.widest + math.log(weight / (2 * self.widest)))


class Mixture(Line):
    """A weighted sum of densities; the weights need not add up to 1."""

    def __init__(self, parts):
        self.parts = [(math.log(weight), line) for weight, line in parts if weight > 0]
        lines = [line for _, line in self.parts]
        self.linear = len(lines) == 1 and lines[0].linear
        self.low, self.high = min(line.low for line in lines), max(line.high for line in lines)
        self.scale, self.reach = min(line.scale for line in lines), max(line.reach for line in lines)
        ends = {end for line in lines for end in (line.low, line.high) if math.isfinite(end)}
        self.knots = tuple(sorted({knot for line in lines for knot in line.knots} | ends))

    def log_density(self, y):
        return log_sum(weight + line.log_density(y) for weight, line in self.parts)

    def log_mass(self, a, b):
        return log_sum(weight + line.log_mass(a, b) for weight, line in self.parts)

    def tail(self, sign):
        tails = [(*line.tail(sign)[:3], weight + line.tail(sign)[3]) for weight, line in self.parts]
        heaviest = max(tail[:3] for tail in tails)
        return (*heaviest, log_sum(tail[3] for tail in tails if tail[:3] == heaviest))


class Cut(Line):
    """The part of a density between low and high, not rescaled."""

    def __init__(self, line, low=-INF, high=INF):
        self.line, self.scale, self.reach, self.linear = line, line.scale, line.reach, line.linear
        self.low, self.high = max(low, line.low), min(high, line.high)
        self.knots = tuple(knot for knot in line.knots if self.low < knot < self.high)

    def log_density(self, y):
        return self.line.log_density(y) if self.low <= y <= self.high else -INF

    def log_mass(self, a, b):
        a, b = max(a, self.low), min(b, self.high)
        return self.line.log_mass(a, b) if a < b else -INF

    def tail(self, sign):
        return self.line.tail(sign)


class Largest(Line):
    """The largest of several independent numbers, each a value plus Laplace or exponential noise: the distribution function is the product of theirs."""

    def __init__(self, values, scale, noise):
        self.values, self.scale, self.laplace = values, scale, noise == "laplace"
        self.knots = tuple(sorted(set(values)))
        # Exponential noise is never negative, so the largest is at least the largest value.
        self.low = -INF if self.laplace else max(values)

    def _parts(self, y):
        """log F and log f of each number at y."""
        for value in self.values:
            z = (y - value) / self.scale
            if self.laplace:
                below = math.log(0.5) + z if z < 0 else math.log1p(-0.5 * math.exp(-z))
                yield below, -abs(z) - math.log(2 * self.scale)
            else:
                yield log(-math.expm1(-z)) if z > 0 else -INF, -z - math.log(self.scale) if z >= 0 else -INF

    def log_density(self, y):
        parts = list(self._parts(y))
        # sum over i of f_i times the product of the other F_j
        return log_sum(f + sum(other for j, (other, _) in enumerate(parts) if j != i) for i, (_, f) in enumerate(parts))

    def log_mass(self, a, b):
        upto = lambda y: 0.0 if y == INF else -INF if y == -INF else sum(below for below, _ in self._parts(y))
        lower, upper = upto(a), upto(b)
        return upper + log(-math.expm1(lower - upper)) if lower < upper else -INF

    def tail(self, sign):
        half = 2 if self.laplace else 1
        if sign > 0:
            return (0.0, -1 / self.scale, 0.0, log_sum(v / self.scale for v in self.values) - math.log(half * self.scale))
        n = len(self.values)
        # Far below all values F_i = e^((y - v_i) / scale) / 2 and f_i = F_i / scale: n F_1 ... F_n / scale.
        return (0.0, -n / self.scale, 0.0, math.log(n / self.scale) - n * math.log(2) - sum(self.values) / self.scale)


class Quotient(Line):
    """A / B with A = a + Lap(s) and B = b + Lap(s), in closed form: all integrals are of exponentials of linear functions."""

    reach = 1e8

    def __init__(self, a, b, s):
        self.a, self.b, self.s = a, b, s
        self.knots = tuple(sorted({0.0, a / b} if b else {0.0}))
        self.scale = s / max(abs(b), s)

    def _cuts(self, y):
        cuts = {0.0, float(self.b)}
        if y:
            cuts.add(self.a / y)
        return [-INF, *sorted(cuts), INF]

    def log_density(self, y):
        return log(self._density(y))

    def _density(self, y):
        """g(y) = integral of |t| f_A(y t) f_B(t) dt."""
        exponent = lambda t: -(abs(y * t - self.a) + abs(t - self.b)) / self.s
        cuts = self._cuts(y)
        total = 0.0
        for low, high in zip(cuts, cuts[1:]):
            total += abs(_integral(exponent, low, high, self.s, moment=True))
        return total / (4 * self.s**2)

    def _upto(self, y):
        """P(A/B <= y) = integral over t > 0 of f_B(t) P(A <= y t) plus integral over t < 0 of f_B(t) P(A >= y t)."""
        if y in (-INF, INF):
            return 0.0 if y < 0 else 1.0
        cuts = self._cuts(y)
        base = lambda t: -abs(t - self.b) / self.s
        both = lambda t: -(abs(y * t - self.a) + abs(t - self.b)) / self.s
        total = 0.0
        for low, high in zip(cuts, cuts[1:]):
            middle = _middle(low, high)
            # The wanted event has probability e^(-d) / 2 where its boundary lies beyond a, and 1 - e^(-d) / 2 where before.
            wanted_is_likely = (y * middle >= self.a) == (middle > 0)
            tail = _integral(both, low, high, self.s) / 2
            total += _integral(base, low, high, self.s) - tail if wanted_is_likely else tail
        return total / (2 * self.s)

    def log_mass(self, a, b):
        return log(self._upto(b) - self._upto(a)) if a < b else -INF

    def tail(self, sign):
        # Far out B is close to 0: g(y) -> f_B(0) E|A| / y^2, and E|A| = |a| + s e^(-|a| / s).
        size = abs(self.a) + self.s * math.exp(-abs(self.a) / self.s)
        return (0.0, 0.0, -2.0, -abs(self.b) / self.s - math.log(2 * self.s) + math.log(size))


def _middle(low, high):
    if low == -INF:
        return high - 1
    return low + 1 if high == INF else (low + high) / 2


def _integral(exponent, low, high, s, moment=False):
    """Integral of e^E(t), or of t e^E(t), where E is linear between low and high and goes to -inf at infinite ends."""
    if low >= high:
        return 0.0
    a, b = (high - s, high) if low == -INF else (low, low + s) if high == INF else (low, high)
    slope = (exponent(b) - exponent(a)) / (b - a)
    if math.isfinite(low) and math.isfinite(high) and abs(slope) * (high - low) < 1:
        half, middle = (high - low) / 2, (high + low) / 2
        points = ((middle + half * x, half * w) for x, w in RULE)
        return sum(w * math.exp(exponent(t)) * (t if moment else 1) for t, w in points)
    # The antiderivative is (t / k - 1 / k^2) e^E with the factor t, and e^E / k without.
    at = lambda t: 0.0 if math.isinf(t) else math.exp(exponent(t)) * ((t / slope - 1 / slope**2) if moment else 1 / slope)
    return at(high) - at(low)
