"""Medians: at local sensitivity, by propose-test-release, at the smooth sensitivity."""

import math

from divergence import Pair
from lines import Gaussian, Laplace, Mixture, PowerTail
from numeric import INF


class Sorted:
    """Records in order between the ends of the public range; rank m is the median, the lower of two."""

    def __init__(self, values, params):
        self.padded = [float(params["lower"]), *sorted(values), float(params["upper"])]
        self.n = len(values)
        self.m = (self.n + 1) // 2
        self.median = self.padded[self.m]

    def gaps(self):
        """The gaps x[j] - x[i] that can open around the median, i <= m <= j, with the distance k = j - i - 1 at which they do (0 for j - i <= 1).

        Of equal records only those next to the median matter: a nearer one gives the same gap at a smaller distance.
        """
        x, m = self.padded, self.m
        lower = [i for i in range(m + 1) if i == m or x[i] != x[i + 1]]
        upper = [j for j in range(m, len(x)) if j == m or x[j] != x[j - 1]]
        return [(x[j] - x[i], max(j - i - 1, 0)) for i in lower for j in upper]

    def within(self, k):
        """A(k), the largest local sensitivity of a dataset at distance k (Nissim, Raskhodnikova & Smith 2007): the largest gap that opens up to k."""
        return max(gap for gap, distance in self.gaps() if distance <= k)

    def distance_to(self, bound):
        """The fewest changes to a dataset of at least this local sensitivity; n changes reach any dataset."""
        return min([self.n] + [distance for gap, distance in self.gaps() if gap >= bound])

    def smooth(self, beta, nearest):
        """max over k >= nearest of e^(-beta k) A(k)."""
        return max(gap * math.exp(-beta * max(distance, nearest)) for gap, distance in self.gaps())


def noisy(centre, scale):
    """Laplace noise, or the number itself when the scale is 0."""
    return {"number": Laplace(centre, scale)} if scale > 0 else {("number", centre): 1.0}


def local_sensitivity(params, left, right, audit):
    sides = [Sorted(data, params) for data in (left, right)]
    return Pair(*(noisy(side.median, side.within(0) / params["epsilon"]) for side in sides))


def propose_test_release(params, left, right, audit):
    """The median with Lap(bound/epsilon) where the distance to a local sensitivity of at least `bound`, plus Lap(1/epsilon), exceeds ln(1/delta)/epsilon."""
    epsilon, variant = params["epsilon"], params.get("variant", "correct")
    limit = math.log(1 / params["delta"]) / (1 if variant == "threshold-without-epsilon" else epsilon)
    outputs = []
    for data in (left, right):
        side = Sorted(data, params)
        distance = side.distance_to(params["bound"])
        if variant == "noiseless-test":
            passed = 1.0 if distance > limit else 0.0
        else:
            passed = Laplace(float(distance), 1 / epsilon).mass(limit, INF)
        noise = side.within(0) if variant == "release-at-local-sensitivity" else params["bound"]
        output = {"bottom": 1 - passed}
        if passed:
            for key, part in noisy(side.median, noise / epsilon).items():
                output[key] = part * passed if isinstance(part, float) else Mixture([(passed, part)])
        outputs.append(output)
    return Pair(*outputs)


def admissible(params, dimension):
    """alpha and beta of the noise, as the notes or the paper have them, or as somebody got them wrong."""
    epsilon, noise, constants = params["epsilon"], params["noise"], params.get("constants", "printed")
    if constants == "epsilon":
        return epsilon, epsilon
    if constants == "half":
        return epsilon / 2, epsilon / 2
    if isinstance(noise, dict):
        gamma = noise["power-tail"]
        if constants == "printed":
            return epsilon / (2 * gamma + 1), epsilon / (2 * gamma + 1)
        alpha = epsilon / (2 * (gamma + 1))
        return alpha, alpha / dimension
    log_delta = math.log(2 / params["delta"])
    if noise == "laplace":
        return epsilon / 2, epsilon / (2 * log_delta) if dimension == 1 else epsilon / (4 * (dimension + log_delta))
    return epsilon / (5 * math.sqrt(2 * log_delta)), epsilon / (4 * (dimension + log_delta))


class Alike:
    """Independent coordinates with the same two distributions: the suprema of the loss add up, and delta is 0 from there on."""

    def __init__(self, pair, times):
        self.pair, self.times = pair, times

    def epsilon(self, delta):
        return self.times * self.pair.epsilon(0.0) if delta == 0 else None

    def delta(self, epsilon):
        return 0.0 if epsilon >= self.epsilon(0.0) else None


def smooth_sensitivity(params, left, right, audit):
    """The median of each attribute plus noise of scale S / alpha, where S is the sum of the smooth sensitivities."""
    epsilon, noise, kind = params["epsilon"], params["noise"], params.get("sensitivity", "smooth")
    sides = []
    for data in (left, right):
        columns = list(zip(*data)) if isinstance(data[0], tuple) else [data]
        alpha, beta = admissible(params, len(columns))
        rate, nearest = {
            "smooth": (beta, 0),
            "easier": (epsilon * math.log(2), 1),
            "easier-with-beta": (beta * math.log(2), 1),
        }[kind]
        ordered = [Sorted(column, params) for column in columns]
        scale = sum(column.smooth(rate, nearest) for column in ordered) / alpha
        sides.append([(column.median, scale) for column in ordered])

    def line(centre, scale):
        if isinstance(noise, dict):
            return PowerTail(centre, scale, noise["power-tail"])
        return Laplace(centre, scale) if noise == "laplace" else Gaussian(centre, scale)

    coordinates = set(zip(*sides))
    if len(coordinates) != 1:
        return None
    ((p, q),) = coordinates
    pair = Pair({"median": line(*p)}, {"median": line(*q)})
    return pair if len(sides[0]) == 1 else Alike(pair, len(sides[0]))


MODELS = {
    "median/local-sensitivity": local_sensitivity,
    "median/propose-test-release": propose_test_release,
    "median/smooth-sensitivity": smooth_sensitivity,
}
