"""Histograms that show only bins above a threshold, and the thresholds themselves."""

import math

from divergence import Pair
from lines import Cut, Laplace
from numeric import INF
from spec import counts, universe


def threshold(params):
    """ln(1/delta) / epsilon as printed, or with 1/(2 delta), the tight one; larger by 1 when correct. The logarithm does not fall below 0."""
    tail = lambda p: max(0.0, math.log(1 / p)) / params["epsilon"]
    delta = params["delta"]
    return {
        "printed": tail(delta),
        "corrected": 1 + tail(delta),
        "tight-without-one": tail(2 * delta),
        "tight": 1 + tail(2 * delta),
    }[params["threshold"]]


def thresholded(params, left, right, audit):
    """An empty bin is absent; another one is shown with noise of scale 1/epsilon if that reaches the threshold. Bins are independent."""
    categories = universe(left, right)
    moved = [(a, b) for a, b in zip(counts(left, categories), counts(right, categories)) if a != b]
    if len(moved) != 1:
        return None
    limit = threshold(params)
    sides = []
    for count in moved[0]:
        line = Laplace(float(count), 1 / params["epsilon"])
        sides.append({"shown": Cut(line, low=limit), "absent": line.mass(-INF, limit)} if count else {"absent": 1.0})
    return Pair(*sides)


MODELS = {"histogram/thresholded": thresholded}
