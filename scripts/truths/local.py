"""Bits that everyone randomises alone: randomized response and RAPPOR."""

import math

from divergence import Pair, independent


def keep(params, kind):
    """The probabilities of keeping a 0 and of keeping a 1."""
    if kind == "die":
        return [params.get("faces", 4) / 6] * 2
    if "epsilon" in params:
        return [1 / (1 + math.exp(-params["epsilon"]))] * 2
    return [params["keep"]] * 2 if "keep" in params else params["keep-each"]


def bits(data, kept):
    """The probability that each record is reported as 1."""
    return [kept[1] if bit == 1 else 1 - kept[0] for bit in data]


def reports(ones):
    return [{1: one, 0: 1 - one} for one in ones]


def response(kind):
    def model(params, left, right, audit):
        kept = keep(params, kind)
        return independent(reports(bits(left, kept)), reports(bits(right, kept)))

    return model


def debiased_average(params, left, right, audit):
    """A one-to-one function of the number of reported ones, which is a sum of independent bits."""
    kept = keep(params, "generalized")
    sides = []
    for data in (left, right):
        total = [1.0]
        for one in bits(data, kept):
            total = [a * (1 - one) + b * one for a, b in zip(total + [0.0], [0.0] + total)]
        sides.append(dict(enumerate(total)))
    return Pair(*sides)


WORD = 2**64 - 1


def mix(hash_, word):
    """One step of the hash that places bits in the filter: multiply, rotate by 29, add."""
    hash_ = (hash_ ^ word) * 0xFF51AFD7ED558CCD & WORD
    return ((hash_ << 29 | hash_ >> 35) + 0x52DCE729) & WORD


def finish(z):
    """The last step of SplitMix64."""
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB & WORD
    return z ^ z >> 31


def bloom_filter(text, size, hashes):
    """Hash i takes i, the length of the text and its bytes, one word each."""
    set_bits = set()
    for i in range(hashes):
        value = mix(0x9E3779B97F4A7C15, i)
        encoded = text.encode()
        for word in (len(encoded), *encoded):
            value = mix(value, word)
        set_bits.add(finish(value) % size)
    return [bit in set_bits for bit in range(size)]


def rappor(params, left, right, audit):
    """A set bit stays with probability 1 - f/2; the report then says 1 with q for a 1 and with p for a 0 (Erlingsson, Pihur, Korolova 2014)."""
    report = params.get("report", {"q": 1.0, "p": 0.0})

    def one(bit):
        stays = 1 - params["f"] / 2 if bit else 0.0 if params.get("background") == "missing" else params["f"] / 2
        return stays * report["q"] + (1 - stays) * report["p"]

    size, hashes = params.get("bits", 20), params.get("hashes", 4)
    sides = [reports([one(bit) for text in data for bit in bloom_filter(text, size, hashes)]) for data in (left, right)]
    return independent(*sides)


MODELS = {
    "randomized-response/die": response("die"),
    "randomized-response/generalized": response("generalized"),
    "randomized-response/debiased-average": debiased_average,
    "rappor": rappor,
}
