"""A private test of a distance, then an exact answer: the mode, subsample and aggregate, the guarded mean."""

import math

from divergence import Pair, Then
from histogram import threshold
from lines import Cut, Laplace, Mixture
from numeric import INF
from spec import counts, universe


def leader(votes):
    """The largest count, the first of equals."""
    return votes.index(max(votes))


def gap(votes):
    ordered = sorted(votes, reverse=True)
    return ordered[0] - (ordered[1] if len(ordered) > 1 else 0)


def replacements(votes):
    """The fewest replaced records that change the mode, by trying: each takes from the leader and gives to one rival."""
    first, best = leader(votes), None
    for rival in range(len(votes)):
        if rival != first:
            moved, steps = list(votes), 0
            while leader(moved) == first:
                moved[first] -= 1
                moved[rival] += 1
                steps += 1
            best = steps if best is None else min(best, steps)
    return best


def exact_mode(params, left, right, audit):
    categories = universe(left, right)
    return Pair(*({leader(counts(data, categories)): 1.0} for data in (left, right)))


def tested(params, cases, show_distance):
    """The outputs of the test: cases are (weight, distance, answer). The noisy distance decides, and is shown or not."""
    limit, scale = threshold(params), 1 / params["epsilon"]
    output = {}
    for weight, distance, answer in cases:
        line = Laplace(float(distance), scale)
        for key, part in ((("answer", answer), Cut(line, low=limit)), ("bottom", Cut(line, high=limit))):
            output.setdefault(key, []).append((weight, part))
    if show_distance:
        return {key: Mixture(parts) for key, parts in output.items()}
    return {key: sum(weight * line.mass(-INF, INF) for weight, line in parts) for key, parts in output.items()}


def tested_mode(show_distance):
    def model(params, left, right, audit):
        categories = universe(left, right)
        distance = gap if params.get("distance", "gap") == "gap" else replacements
        votes = [counts(data, categories) for data in (left, right)]
        return Pair(*(tested(params, [(1.0, distance(side), leader(side))], show_distance) for side in votes))

    return model


def hypergeometric(marked, all_, drawn, k):
    """The probability of k marked records among those drawn."""
    return math.comb(marked, k) * math.comb(all_ - marked, drawn - k) / math.comb(all_, drawn)


def block_answers(data, categories, params):
    """How likely each number of blocks is that answer with the second of two categories."""
    n, marked, size = len(data), data.count(categories[1]), params["size"]
    if params["statistic"] == "largest":
        second = lambda k: k > 0
    else:
        second = lambda k: k > size - k
    if params["subsets"] == "independent":
        one = sum(hypergeometric(marked, n, size, k) for k in range(size + 1) if k <= marked and size - k <= n - marked and second(k))
        blocks = params["blocks"]
        return {k: math.comb(blocks, k) * one**k * (1 - one) ** (blocks - k) for k in range(blocks + 1)}
    # Disjoint blocks one after another: what is left, and how many blocks answered with the second category.
    states = {(marked, 0): 1.0}
    for block in range(params["blocks"]):
        left, new = n - block * size, {}
        for (rest, answers), weight in states.items():
            for k in range(min(rest, size) + 1):
                if size - k <= left - rest:
                    key = (rest - k, answers + second(k))
                    new[key] = new.get(key, 0.0) + weight * hypergeometric(rest, left, size, k)
        states = new
    return {answers: weight for (_, answers), weight in states.items()}


def subsample(params, left, right, audit):
    """The stable mode of the answers on random blocks: a mixture over all numbers of blocks."""
    categories = universe(left, right)
    if len(categories) != 2:
        return None
    sides = []
    for data in (left, right):
        cases = []
        for second, weight in block_answers(data, categories, params).items():
            votes = [params["blocks"] - second, second]
            cases.append((weight, replacements(votes), leader(votes)))
        sides.append(tested(params, [case for case in cases if case[0] > 0], True))
    return Pair(*sides)


def guarded_mean(params, left, right, audit):
    """The noisy distance max(0, n - k + 1); above the threshold also the mean with Lap(1/(k epsilon)), or a refusal below k records."""
    limit, least, epsilon = threshold(params), params["least"], params["epsilon"]
    sides = []
    for data in (left, right):
        n = len(data)
        line = Laplace(float(max(0, n - least + 1)), 1 / epsilon)
        above, below = Cut(line, low=limit), Cut(line, high=limit)
        if n >= least:
            sides.append({"bottom": below, "mean": Then(above, {"mean": Laplace(sum(data) / n, 1 / (least * epsilon))})})
        else:
            sides.append({"bottom": below, "too few": above})
    return Pair(*sides)


MODELS = {
    "mode/exact": exact_mode,
    "mode/propose-test-release": tested_mode(False),
    "mode/stability": tested_mode(True),
    "subsample-and-aggregate/stable-mode": subsample,
    "test-release/guarded-mean": guarded_mean,
}
