"""Reports of one value out of several: generalized randomized response, unary and histogram encodings, hashing, subsets, Hadamard, d-bit flip."""

import itertools
import math

from divergence import Pair, Then, independent
from lines import Laplace
from local import finish, mix, reports


def logistic(x):
    return 1 / (1 + math.exp(-x))


def everyone(report):
    """A model of datasets, from one of single values. Only people whose values differ matter."""

    def model(params, left, right, audit):
        differing = [(int(a), int(b)) for a, b in zip(left, right, strict=True) if a != b]
        return independent(*([report(params, pair[side]) for pair in differing] for side in (0, 1)))

    return model


def response(epsilon, size, value, keep, lie="other"):
    """Generalized randomized response."""
    p = math.exp(epsilon) / (math.exp(epsilon) + size - 1)
    p = {"sized": p, "binary": logistic(epsilon), "swapped": 1 - p}[keep]
    if lie == "next":
        return {value: p, (value + 1) % size: 1 - p}
    return {other: p if other == value else (1 - p) / (size - 1) for other in range(size)}


def grr(params, value):
    return response(params["epsilon"], params["size"], value, params.get("keep", "sized"), params.get("lie", "other"))


def product(factors):
    """Independent outputs as one distribution over tuples."""
    return {tuple(key for key, _ in row): math.prod(p for _, p in row) for row in itertools.product(*(factor.items() for factor in factors))}


def bits(value, size, p, q):
    return product(reports([p if place == value else q for place in range(size)]))


def unary(params, value):
    epsilon = params["epsilon"]
    if params["encoding"] == "symmetric":
        p = logistic(epsilon if params.get("budget") == "whole" else epsilon / 2)
        q = 1 - p
    else:
        p, q = 0.5, logistic(-epsilon)
    if params.get("swapped"):
        p, q = q, p
    if params.get("background") == "missing":
        q = 0.0
    if params.get("set") == "or-background":
        p += (1 - p) * q
    ones = [p if place == value else q for place in range(params["size"])]
    if "plain" in params:
        ones[params["plain"]] = float(params["plain"] == value)
    return product(reports(ones))


def histogram_encoding(params, left, right, audit):
    """Of the places only the two that differ matter: (1, 0) against (0, 1), with noise."""
    (a, b), = [(x, y) for x, y in zip(left, right, strict=True) if x != y]
    assert a != b and len(left) == 1
    scale = params.get("sensitivity", 2) / params["epsilon"]
    noise, threshold = params.get("noise", "each"), params.get("threshold")
    if threshold is None:
        if noise != "each":
            # With noise in the own place only, the other is 0; with one noise for both, the difference is 1 or -1.
            return Pair({"first": 1.0}, {"second": 1.0})
        return Pair(*({"": Then(Laplace(first, scale), {"": Laplace(1 - first, scale)})} for first in (1, 0)))
    assert noise == "each" and 0 < threshold < 1
    p, q = 1 - math.exp((threshold - 1) / scale) / 2, math.exp(-threshold / scale) / 2
    return Pair(bits(0, 2, p, q), bits(1, 2, p, q))


def hashing(params, value):
    epsilon = params["epsilon"]
    buckets = 2 if params["buckets"] == "binary" else round(math.exp(epsilon)) + 1
    functions = params.get("functions", 16)
    chosen = [value % functions] if params.get("function") == "of-value" else range(functions)
    outputs = {}
    for function in chosen:
        bucket = finish(mix(mix(0x9E3779B97F4A7C15, function), value)) % buckets
        for reported, p in response(epsilon, buckets, bucket, params.get("keep", "sized")).items():
            outputs[function, reported] = p / len(chosen)
    return outputs


def subset(params, value):
    epsilon, size = params["epsilon"], params["size"]
    members = max(1, round(size / (math.exp(epsilon) + 1)))
    weight = members * math.exp(epsilon)
    p = logistic(epsilon) if params.get("include") == "unweighted" else weight / (weight + size - members)
    if params.get("others") == "next":
        following = [(value + step) % size for step in range(1, size)]
        return {frozenset([value, *following[: members - 1]]): p, frozenset(following[:members]): 1 - p}
    sets = [frozenset(chosen) for chosen in itertools.combinations(range(size), members)]
    having = sum(value in chosen for chosen in sets)
    return {chosen: p / having if value in chosen else (1 - p) / (len(sets) - having) for chosen in sets}


def hadamard(params, value):
    order = 1
    while order < params["size"] + 1:
        order *= 2
    keep = logistic(params["epsilon"])
    rows = [value] if params.get("row") == "of-value" else range(order)
    one = {}
    for row in rows:
        sign = (-1) ** bin(row & (value + 1)).count("1")
        kept = 1.0 if sign < 0 and params.get("flip") == "ones" else keep
        one[row, sign], one[row, -sign] = kept / len(rows), (1 - kept) / len(rows)
    return product([one] * params.get("coefficients", 1))


def d_bit_flip(params, value):
    epsilon, size, count = params["epsilon"], params["size"], params["bits"]
    keep = logistic(epsilon if params.get("budget") == "whole" else epsilon / 2)
    lie = 0.0 if params.get("background") == "missing" else 1 - keep
    choices = list(itertools.combinations(range(size), count))
    if params.get("positions") == "with-own":
        choices = [chosen for chosen in choices if value in chosen]
    outputs = {}
    for chosen in choices:
        for key, p in product(reports([keep if place == value else lie for place in chosen])).items():
            outputs[chosen, key] = p / len(choices)
    return outputs


MODELS = {
    "local/grr": everyone(grr),
    "local/unary": everyone(unary),
    "local/histogram-encoding": histogram_encoding,
    "local/hashing": everyone(hashing),
    "local/subset": everyone(subset),
    "local/hadamard": everyone(hadamard),
    "local/d-bit-flip": everyone(d_bit_flip),
}
