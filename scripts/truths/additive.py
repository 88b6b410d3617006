"""A query plus noise: Laplace, Gaussian, geometric; what is done with the noisy answer; and the count of a random sample."""

import math

from divergence import Pair
from lines import Cut, Gaussian, Laplace, Mixture
from numeric import INF, root
from spec import query, universe


def answers(params, left, right):
    """The answers on both sides, and the sensitivity for each: the query's own unless one is given."""
    categories = universe(left, right)
    found = [query(params, data, categories) for data in (left, right)]
    sensitivities = [params.get("sensitivity", own) for _, own in found]
    return found[0][0], found[1][0], sensitivities


class LaplaceVector:
    """Independent Laplace noise on several answers that all move by `loss` scales.

    The loss of one answer under P is `loss` with probability 1/2 (the noise points away from the other answer), -loss with probability
    e^(-loss) / 2, and loss - 2u with density e^(-u) / 2 between. So, with e = loss and d_n the delta of n answers,

        d_n(x) = d_(n-1)(x - e) / 2 + e^(-e) d_(n-1)(x + e) / 2 + integral from x-e to x+e of e^(-(v - x + e) / 2) d_(n-1)(v) / 4 dv,

    which is the integral of p delta(epsilon - loss) for products. Both directions are alike by symmetry.
    """

    def __init__(self, loss, answers):
        self.loss, self.answers, self.tables = loss, answers, {}

    def epsilon(self, delta):
        top = self.loss * self.answers
        if delta == 0:
            return top
        f = lambda x: self.delta(x) - delta
        return root(f, 0.0, top, f(0.0), f(top)) if f(0.0) > 0 else 0.0

    def delta(self, epsilon):
        if epsilon >= self.loss * self.answers:
            return 0.0
        # The trapezium rule is off by a multiple of h^2 (all kinks lie on the grid), which the rule at h/2 takes away.
        coarse, fine = (self._at(epsilon, per_loss) for per_loss in (256, 512))
        return (4 * fine - coarse) / 3

    def _table(self, per_loss):
        """d_n on a grid that reaches `answers` times the loss to both sides."""
        if per_loss not in self.tables:
            e, n = self.loss, self.answers
            h = e / per_loss
            places = range(-(n + 1) * per_loss, (n + 1) * per_loss + 1)
            table = {i: max(0.0, -math.expm1(i * h)) for i in places}
            outside = lambda i: 0.0 if i > 0 else -math.expm1(i * h)
            for _ in range(n):
                sums, total, before = {places[0]: 0.0}, 0.0, None
                for i in places:
                    here = math.exp(-i * h / 2) * table[i]
                    if before is not None:
                        total += h * (before + here) / 2
                        sums[i] = total
                    before = here
                new = {}
                for i in places:
                    low, high = i - per_loss, i + per_loss
                    if low < places[0] or high > places[-1]:
                        new[i] = outside(i)
                        continue
                    part = math.exp((i * h - e) / 2) * (sums[high] - sums[low]) / 4
                    new[i] = table[low] / 2 + math.exp(-e) * table[high] / 2 + part
                table = new
            self.tables[per_loss] = table
        return self.tables[per_loss]

    def _at(self, epsilon, per_loss):
        """Cubic interpolation of the table."""
        table, h = self._table(per_loss), self.loss / per_loss
        i = math.floor(epsilon / h)
        t = epsilon / h - i
        a, b, c, d = (table[j] for j in range(i - 1, i + 3))
        return -t * (t - 1) * (t - 2) / 6 * a + (t + 1) * (t - 1) * (t - 2) / 2 * b - (t + 1) * t * (t - 2) / 2 * c + (t + 1) * t * (t - 1) / 6 * d


def laplace_answers(left, right, scales):
    """Independent Laplace noise on vectors of answers; answers that do not move drop out."""
    moved = [(a, b) for a, b in zip(left, right, strict=True) if a != b or scales[0] != scales[1]]
    if not moved:
        return Pair({"same": 1.0}, {"same": 1.0})
    if len(moved) == 1:
        (a, b), (s, t) = moved[0], scales
        if max(math.ulp(a), math.ulp(b)) > 0.001 * min(s, t):
            return rounded(a, b, s)
        return Pair({"answer": Laplace(a, s)}, {"answer": Laplace(b, t)})
    losses = [abs(a - b) / scales[0] for a, b in moved]
    if scales[0] != scales[1] or max(losses) - min(losses) > 1e-12:
        return None
    return LaplaceVector(losses[0], len(losses))


def rounded(a, b, scale, cells=20):
    """Noise that is small beside the distance between doubles: the noisy answer is rounded to a multiple of that distance.

    A cell has the mass of all noise that is rounded to it. Beyond 20 cells to either side the ratio no longer changes; the rest is one output.
    """
    step = math.ulp(max(abs(a), abs(b)))
    middle = round((a + b) / 2 / step)
    sides = []
    for centre in (a, b):
        line = Laplace(0.0, scale)
        edge = lambda k: (middle + k) * step - centre
        side = {k: line.mass(edge(k) - step / 2, edge(k) + step / 2) for k in range(-cells, cells + 1)}
        side["below"] = line.mass(-INF, edge(-cells) - step / 2)
        side["above"] = line.mass(edge(cells) + step / 2, INF)
        sides.append(side)
    return Pair(*sides)


def laplace(params, left, right, audit):
    a, b, sensitivities = answers(params, left, right)
    scales = [s / params["epsilon"] * params.get("scale_factor", 1.0) for s in sensitivities]
    if "float-bits" in audit.get("attacks", []):
        return float_bits(a, b)
    copies = params.get("copies", 1)
    return laplace_answers(a * copies, b * copies, scales)


def float_bits(left, right):
    """What an attacker sees who looks at all bits: outputs are doubles, and some doubles are no sum of the answer and a double.

    A witness is an output that one side reaches and the other does not. There are as many as of the noise with those low bits, so they have a
    positive probability; only epsilon is computed.
    """
    (a,), (b,) = left, right
    low_bits = [2.0**-60] + [k / 2 + 2.0**-bits for k in range(-1, 2) for bits in range(49, 53)]
    witnesses = [y for y in low_bits if reaches(a, y) != reaches(b, y)]

    class Bits:
        def epsilon(self, delta):
            return INF if witnesses else None

        def delta(self, epsilon):
            return None

    return Bits()


def reaches(answer, output):
    """Whether some double z has answer + z = output: the nearest doubles to output - answer are tried."""
    z = output - answer
    near = [z, math.nextafter(z, INF), math.nextafter(z, -INF)]
    return any(answer + noise == output for noise in near)


def reused_noise(params, left, right, audit):
    a, b, sensitivities = answers(params, left, right)
    scales = [s / params["epsilon"] for s in sensitivities]
    drawn = params["drawn"]
    if drawn == "per-component":
        return laplace_answers(a, b, scales)
    if drawn == "from-fixed-seed":
        # The noise is a constant: the output is a function of the answers.
        return Pair({tuple(a): 1.0}, {tuple(b): 1.0})
    # Shared noise: the differences from the first answer are exact, and the first answer has the noise.
    shape = lambda values: tuple(value - values[0] for value in values)
    return Pair({shape(a): Laplace(a[0], scales[0])}, {shape(b): Laplace(b[0], scales[1])})


def clamped(params, left, right, audit):
    """min(answer + noise, ceiling): the ceiling is an output of its own, with the mass of all that lies above it."""
    a, b, sensitivities = answers(params, left, right)
    sides = []
    for (answer,), data, sensitivity in ((a, left, sensitivities[0]), (b, right, sensitivities[1])):
        ceiling = max(data) if params["ceiling"] == "data" else float(params["ceiling"]["public"])
        line = Laplace(answer, sensitivity / params["epsilon"])
        sides.append({"below": Cut(line, high=ceiling), ceiling: line.mass(ceiling, INF)})
    return Pair(*sides)


def suppressed(params, left, right, audit):
    """A noisy count that is shown, or nothing."""
    sides = []
    for data in (left, right):
        line, least = Laplace(float(len(data)), 1 / params["epsilon"]), params["least"]
        if params["decides"] == "exact":
            sides.append({"shown": line} if len(data) >= least else {"nothing": 1.0})
        else:
            sides.append({"shown": Cut(line, low=least), "nothing": line.mass(-INF, least)})
    return Pair(*sides)


def sampled_count(params, left, right, audit):
    """A binomial number of records plus noise: Laplace if the parameters have an epsilon, else Gaussian."""
    rate = params["rate"]
    if "epsilon" in params:
        noisy = lambda size: Laplace(float(size), 1 / params["epsilon"])
    else:
        noisy = lambda size: Gaussian(float(size), params["sigma"] * params.get("scale_factor", 1.0))
    sides = []
    for data in (left, right):
        n = len(data)
        weights = [math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)]
        sides.append({"answer": Mixture([(weight, noisy(k)) for k, weight in enumerate(weights)])})
    return Pair(*sides)


def sampled_sum(params, left, right, audit):
    """The sum of a random sample plus Gaussian noise: a mixture over all samples of the clamped records."""
    rate, low, high = params["rate"], params["lower"], params["upper"]
    s = sigma(params["calibration"], max(abs(low), abs(high))) * params.get("scale_factor", 1.0)
    sides = []
    for data in (left, right):
        weights = {0.0: 1.0}
        for value in (min(max(value, low), high) for value in data):
            after = {}
            for total, weight in weights.items():
                after[total] = after.get(total, 0.0) + weight * (1 - rate)
                after[total + value] = after.get(total + value, 0.0) + weight * rate
            weights = after
        sides.append({"answer": Mixture([(weight, Gaussian(total, s)) for total, weight in weights.items()])})
    return Pair(*sides)


def gaussian_delta(mu, epsilon):
    """Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu): delta of answers mu standard deviations apart (Balle & Wang 2018, theorem 8)."""
    phi = lambda x: 0.5 * math.erfc(-x / math.sqrt(2))
    return phi(mu / 2 - epsilon / mu) - math.exp(epsilon) * phi(-mu / 2 - epsilon / mu)


def sigma(calibration, sensitivity):
    """The standard deviation that a calibration gives."""
    (kind, value), = calibration.items()
    if kind == "sigma":
        return value
    if kind == "mu":
        return sensitivity / value
    if kind == "rho":
        return sensitivity / math.sqrt(2 * value)
    epsilon, delta = value["epsilon"], value["delta"]
    if kind == "classic":
        # Dwork & Roth 2014, theorem A.1
        return sensitivity * math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    if kind == "slides":
        return 2 * sensitivity * math.sqrt(math.log(1 / delta)) / epsilon
    # The least: delta falls as sigma grows.
    f = lambda s: gaussian_delta(1 / s, epsilon) - delta
    low, high = 0.05, 1e4
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) > 0 else (low, middle)
    return sensitivity * high


def gaussian(params, left, right, audit):
    """Noise of the same size in every direction: only the distance of the two vectors matters."""
    a, b, sensitivities = answers(params, left, right)
    s, t = (sigma(params["calibration"], own) * params.get("scale_factor", 1.0) for own in sensitivities)
    if s != t:
        return None
    return Pair({"answer": Gaussian(0.0, s)}, {"answer": Gaussian(math.dist(a, b), t)})


def composed(params, left, right, audit):
    """Independent releases. Gaussian noise on k copies of the answers is Gaussian noise on answers that are sqrt(k) times as far apart."""
    times, inner = params["times"], params.get("params", {})
    if params["mechanism"] != "gaussian":
        return None
    a, b, sensitivities = answers(inner, left, right)
    s, t = (sigma(inner["calibration"], own) * inner.get("scale_factor", 1.0) for own in sensitivities)
    if s != t:
        return None
    return Pair({"answer": Gaussian(0.0, s)}, {"answer": Gaussian(math.sqrt(times) * math.dist(a, b), t)})


def discrete_gaussian(params, left, right, audit):
    """Integers with P(k) proportional to e^(-k^2 / 2 sigma^2) around the answer, on a grid. Beyond 38 sigma doubles have nothing left.

    Only for claims with a positive delta: without one, the loss has no limit.
    """
    a, b, sensitivities = answers(params, left, right)
    moved = [(x, y) for x, y in zip(a, b, strict=True) if x != y]
    if len(moved) != 1 or sensitivities[0] != sensitivities[1]:
        return None
    grid = params.get("grid", 1.0)
    s = sigma(params["calibration"], math.ceil(sensitivities[0] / grid) * grid) * params.get("scale_factor", 1.0) / grid
    centres = [round(x / grid) for x in moved[0]]
    reach = math.ceil(38 * s)
    sides = []
    for centre in centres:
        weights = {k: math.exp(-((k - centre) ** 2) / (2 * s * s)) for k in range(min(centres) - reach, max(centres) + reach + 1)}
        total = math.fsum(weights.values())
        sides.append({k: weight / total for k, weight in weights.items()})
    return Pair(*sides)


def whitened(factor, vector):
    """The length of x with L x = vector, where L is lower triangular: the distance in units of noise with covariance L L^T."""
    x = []
    for row, value in zip(factor, vector, strict=True):
        *before, diagonal = row
        x.append((value - sum(p * q for p, q in zip(before, x, strict=True))) / diagonal)
    return math.hypot(*x)


def correlated(params, left, right, audit):
    """Noise sigma L z. Outputs in the coordinates of z differ in one direction only, by the whitened distance of the answers."""
    a, b, (sensitivity, _) = answers(params, left, right)
    factor = params["factor"]
    units = [[float(i == k) for i in range(len(a))] for k in range(len(a))]
    # Neighbours differ in one answer.
    own = sensitivity * max(whitened(factor, unit) for unit in units)
    s = sigma(params["calibration"], own) * params.get("scale_factor", 1.0)
    distance = whitened(factor, [x - y for x, y in zip(a, b, strict=True)])
    return Pair({"answer": Gaussian(0.0, s)}, {"answer": Gaussian(distance, s)})


def discrete_laplace(params, left, right, audit):
    """Integers with P(k) proportional to e^(-|k| rate) around the answer, on a grid, possibly cut.

    Without a cut, P(k) = (1 - w) / (1 + w) w^|k| with w = e^(-rate), and P(k or more) = w^k / (1 + w) for k > 0.
    Beyond both answers the ratio no longer changes, so the rest is one output on each side.
    """
    a, b, sensitivities = answers(params, left, right)
    moved = [(x, y) for x, y in zip(a, b, strict=True) if x != y]
    if len(moved) != 1 or sensitivities[0] != sensitivities[1]:
        return None
    grid = params.get("grid", 1.0)
    rate = params["epsilon"] / (math.ceil(sensitivities[0] / grid) * params.get("scale_factor", 1.0))
    centres = [round(x / grid) for x in moved[0]]
    low, high = min(centres), max(centres)
    cut = params.get("cut")
    sides = []
    for centre in centres:
        if cut is not None:
            weights = {centre + k: math.exp(-abs(k) * rate) for k in range(-cut, cut + 1)}
            total = sum(weights.values())
            sides.append({k: weight / total for k, weight in weights.items()})
            continue
        w = math.exp(-rate)
        side = {k: (1 - w) / (1 + w) * w ** abs(k - centre) for k in range(low, high + 1)}
        side["below"] = w ** (centre - low + 1) / (1 + w)
        side["above"] = w ** (high + 1 - centre) / (1 + w)
        sides.append(side)
    return Pair(*sides)


def truncated_geometric(params, left, right, audit):
    """GeoSample (Balcer & Vadhan 2018): the distribution function over 0 ... n in integers, F(n) = d."""
    n = params["largest"]
    k = max(0, math.ceil((math.log2 if params.get("base", "e") == "two" else math.log)(2 / params["epsilon"])))
    x, y = 2**k, 2**k + 1
    d = (2 ** (k + 1) + 1) * y ** (n - 1)
    sides = []
    for data in (left, right):
        (count,) = (int(value) for value in query(params, data, universe(left, right))[0])
        upto = [x ** (count - z) * y ** (n - count + z) if z < count else d - x ** (z - count + 1) * y ** (n - 1 - z + count) for z in range(n)] + [d]
        sides.append({z: (upto[z] - (upto[z - 1] if z else 0)) / d for z in range(n + 1)})
    return Pair(*sides)


def command(params, left, right, audit):
    """The programs of audits/examples: a sum plus Laplace noise of scale cap / epsilon."""
    function = audit["command"][-1].split(":")[-1]
    clip = {"noisy_sum": True, "noisy_sums": True, "unclipped": False}.get(function)
    if clip is None:
        return None
    cap = params["cap"]
    total = lambda data: sum(min(max(value, 0.0), cap) if clip else value for value in data)
    return laplace_answers([total(left)], [total(right)], [cap / params["epsilon"]] * 2)


MODELS = {
    "laplace": laplace,
    # Differences undo running sums, so they leak what the noisy answers leak.
    "prefix-sum": laplace,
    # Nine decimals of whole answers: rounding moves no output across an answer.
    "laplace/printed": laplace,
    "laplace/reused-noise": reused_noise,
    "laplace/clamped": clamped,
    "laplace/suppressed-count": suppressed,
    "laplace/sampled-count": sampled_count,
    "gaussian/sampled-count": sampled_count,
    "gaussian/sampled-sum": sampled_sum,
    "gaussian": gaussian,
    "gaussian/correlated": correlated,
    "discrete-gaussian": discrete_gaussian,
    "discrete-laplace": discrete_laplace,
    "truncated-geometric": truncated_geometric,
    "composed": composed,
    "command": command,
}
