"""The probability of an event, which is what an accuracy claim is about.

A model returns the outputs as cases (weight, components). The components of a case are independent of each other; each is a list of parts
(weight, value or line). A component that no event asks for is None.
"""

import math

import ratio
import selection
import stability
from histogram import threshold
from lines import Cut, Laplace, Quotient
from local import bits, keep
from numeric import INF
from spec import counts, freeze, query, universe

ABSENT, BOTTOM = "∅", "⊥"


def laplace(params, data):
    """Each answer with Laplace noise of its own."""
    found, own = query(params, data, universe(data, data))
    scale = params.get("sensitivity", own) / params["epsilon"] * params.get("scale_factor", 1.0)
    return [(1.0, [[(1.0, Laplace(answer, scale))] for answer in found])]


def discrete_laplace(params, data):
    """P(k) = (1 - w) / (1 + w) w^|k|"""
    found, own = query(params, data, universe(data, data))
    rate = params["epsilon"] / params.get("sensitivity", own)
    return [(1.0, [[(weight, answer + k) for k, weight in ratio.discrete_laplace(rate)] for answer in found])]


def thresholded(params, data):
    """A bin is absent if its noisy count is below the threshold."""
    limit, components = threshold(params), []
    for count in counts(data, universe(data, data)):
        line = Laplace(float(count), 1 / params["epsilon"])
        components.append([(1.0, Cut(line, low=limit)), (line.mass(-INF, limit), ABSENT)])
    return [(1.0, components)]


def tested(params, cases, shows_distance):
    """The answer if the noisy distance is above the threshold, or bottom. Cases are (weight, distance, answer)."""
    limit, found = threshold(params), []
    for weight, distance, answer in cases:
        passed = Laplace(float(distance), 1 / params["epsilon"]).mass(limit, INF)
        parts = [(passed, answer), (1 - passed, BOTTOM)]
        found.append((weight, [None, parts] if shows_distance else [parts]))
    return found


def tested_mode(shows_distance):
    def model(params, data):
        categories = universe(data, data)
        votes = counts(data, categories)
        distance = stability.gap if params.get("distance", "gap") == "gap" else stability.replacements
        return tested(params, [(1.0, distance(votes), categories[stability.leader(votes)])], shows_distance)

    return model


def subsample(params, data):
    """A mixture over the numbers of blocks that answer with the second of two categories."""
    categories, cases = universe(data, data), []
    for second, weight in stability.block_answers(data, categories, params).items():
        votes = [params["blocks"] - second, second]
        cases.append((weight, stability.replacements(votes), categories[stability.leader(votes)]))
    return tested(params, cases, True)


def noisy_argmax(params, data):
    categories = universe(data, data)
    chances = selection.index_of_largest(counts(data, categories), params["sensitivity"] / params["epsilon"], "laplace")
    return [(1.0, [list(zip(chances, categories))])]


def debiased_average(params, data):
    """The mean of ((e^epsilon + 1) y - 1) / (e^epsilon - 1) over all reported bits y."""
    total, n, odds = [1.0], len(data), math.exp(params["epsilon"])
    for one in bits(data, keep(params, "generalized")):
        total = [a * (1 - one) + b * one for a, b in zip(total + [0.0], [0.0] + total)]
    value = lambda ones: ((odds + 1) * ones / n - 1) / (odds - 1)
    return [(1.0, [[(weight, value(ones)) for ones, weight in enumerate(total)]])]


class Share:
    """A / (A + Z) for two noisy counts: between 0 < low and high where Z / A is between 1/high - 1 and 1/low - 1."""

    def __init__(self, a, zeros, scale):
        self.line = Quotient(zeros, a, scale)

    def mass(self, low, high):
        if low <= 0:
            raise ValueError("this model has only events above 0")
        return self.line.mass(1 / high - 1, 1 / low - 1)


def ones_and_zeros(params, data):
    a, b = ratio.users(data)
    return Share(a, b - a, params.get("sensitivity", 1.0) / params["epsilon"])


def single(line):
    """A mechanism with one output on a line."""
    return lambda params, data: [(1.0, [[(1.0, line(params, data))]])]


MODELS = {
    "laplace": laplace,
    "discrete-laplace": discrete_laplace,
    "histogram/thresholded": thresholded,
    "mode/propose-test-release": tested_mode(False),
    "mode/stability": tested_mode(True),
    "mode/noisy-argmax": noisy_argmax,
    "subsample-and-aggregate/stable-mode": subsample,
    "randomized-response/debiased-average": debiased_average,
    "ratio/naive": single(ratio.naive_line),
    "ratio/ones-and-zeros": single(ones_and_zeros),
    "ratio/bounded-sensitivity": single(ratio.bounded_line),
}


def interval(event, index):
    """The numbers that the event accepts at a place; None if it asks for values."""
    if "within" in event:
        centre = event["of"][index] if isinstance(event["of"], list) else event["of"]
        return float(centre) - event["within"], float(centre) + event["within"]
    if "at_least" in event or "at_most" in event:
        return event.get("at_least", -INF), event.get("at_most", INF)
    return None


def accepted(event, index):
    """The values that the event accepts at a place."""
    if "one_of" in event:
        return [freeze(value) for value in event["one_of"]]
    value = event.get("equals", event.get("contains"))
    return [freeze(value[index] if isinstance(value, list) else value)]


def meets(event, index, component):
    """The probability that one component meets the condition."""
    total, numbers = 0.0, interval(event, index)
    for weight, part in component:
        if part == ABSENT and "absent" in event:
            part = float(event["absent"])
        if isinstance(part, (float, str)):
            if numbers:
                total += weight * (not isinstance(part, str) and numbers[0] <= part <= numbers[1])
            else:
                total += weight * (part in accepted(event, index))
        elif numbers:
            total += weight * part.mass(*numbers)
    return total


def probability(mechanism, params, data, event):
    """The probability of the event; None without a model."""
    model = MODELS.get(mechanism)
    if model is None:
        return None
    total = 0.0
    for weight, components in model(params, data):
        which = event.get("component", "any" if "contains" in event else "all")
        if which == "all":
            chance = math.prod(meets(event, index, component) for index, component in enumerate(components))
        elif which == "any":
            # A continuous number that no event asks for equals no value.
            chance = 1 - math.prod(1 - meets(event, index, component) for index, component in enumerate(components) if component)
        else:
            chance = meets(event, which - 1, components[which - 1])
        total += weight * chance
    return total
