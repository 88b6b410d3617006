"""A Laplace count that keeps its promise, released together with one bit that no number shows.

`CASES` has one way to hide the bit for each kind of value: the type, digits beyond a double, the spelling, a rare entry, the order of keys. The
broken release hides which dataset it was; its honest twin tosses a coin. A rare case hides the bit in one of 500 outputs.
"""

import decimal
import math


# An exception that two modules have.
Failures = [type("Failure", (Exception,), {"__module__": module}) for module in ("one", "other")]
RARE = 0.002


def fail(error):
    raise error


def letters(rng, count):
    return "".join("abcdefghijklmnopqrstuvwxyz"[int(26 * rng.random())] for _ in range(count))


def shuffled(parts, rng):
    return sorted(parts, key=lambda _: rng.random())


def sometimes(rng, share=0.3):
    return rng.random() < share


CASES = {
    # A value that occurs in one of 500 outputs.
    "rare-key": lambda bit, y, rng: {"count": y, **({"flag": 1 + bit} if sometimes(rng, RARE) else {})},
    "rare-key-number": lambda bit, y, rng: {"count": y, **({"x": rng.random() + bit} if sometimes(rng, RARE) else {})},
    "rare-number-in-text": lambda bit, y, rng: f"count {y}" + (f" code {3 + bit}" if sometimes(rng, RARE) else ""),
    "rare-change": lambda bit, y, rng: {"count": y, "version": 6 + bit if sometimes(rng, RARE) else 5},
    # The type of a value.
    "int-or-float": lambda bit, y, rng: [y, 1 if bit else 1.0],
    "true-or-1": lambda bit, y, rng: [y, True if bit else 1],
    "none-or-null": lambda bit, y, rng: [y, None if bit else "null"],
    "nan-or-text": lambda bit, y, rng: [y, math.nan if bit else "NaN"],
    "list-or-tuple": lambda bit, y, rng: (y, 1.0) if bit else [y, 1.0],
    "sign-of-nan": lambda bit, y, rng: [y, math.copysign(math.nan, 1 - 2 * bit)],
    "module-of-exception": lambda bit, y, rng: fail(Failures[bit]("x")) if sometimes(rng) else y,
    "hexadecimal-in-message": lambda bit, y, rng: fail(ValueError(f"bad 0x{1234567 + bit:08x}")) if sometimes(rng) else y,
    # Digits that a double does not have.
    "large-integer": lambda bit, y, rng: (int(1000 * y) << 60) + bit,
    "digits-of-decimal": lambda bit, y, rng: decimal.Decimal(f"{y:.15f}") + decimal.Decimal(f"{1 + bit}e-24"),
    "digits-in-text": lambda bit, y, rng: f"{y:.17f}00{1 + bit}",
    # How JSON and texts are written.
    "repeated-key": lambda bit, y, rng: f'{{"n": {bit}, "n": 0, "count": {y}}}',
    "order-of-keys": lambda bit, y, rng: {"id": letters(rng, 8), **({"a": 1, "b": y} if bit else {"b": y, "a": 1})},
    "exponent": lambda bit, y, rng: f"{y:.6f} 1{'eE'[bit]}5",
    # Where a text says it.
    "last-number": lambda bit, y, rng: f"{y} " + "0.5 " * int(5 * rng.random()) + str(7 + bit),
    "number-after-word": lambda bit, y, rng: " ".join(shuffled([f"count {y}", f"limit {7 + bit}"], rng)),
    "capital": lambda bit, y, rng: letters(rng, 4) + ("X" if bit else "x") + letters(rng, 4) + f" {y}",
    "first-letter": lambda bit, y, rng: "abcdmn"[int(3 * rng.random()) + 3 * bit] + letters(rng, 8) + f" {y}",
    "hexadecimal-token": lambda bit, y, rng: f"{letters(rng, 6)} {'3f2a' if bit else '3f2b'} {y}",
    "word-41": lambda bit, y, rng: " ".join(letters(rng, 3) for _ in range(40)) + f" {'yes' if bit else 'no'} {y}",
}

try:
    import numpy
    import pandas
except ImportError:
    pass
else:
    CASES |= {
        "mask": lambda bit, y, rng: numpy.ma.array([y, 0.5], mask=[False, bool(bit)]),
        "index": lambda bit, y, rng: pandas.Series([y, 0.5], index=["a", "bc"[bit]]),
        "integers-of-an-array": lambda bit, y, rng: numpy.array([int(1000 * y), 2**60 + bit]),
    }


def release(data, rng, case, honest):
    """The noisy count, and a bit in the form of this case."""
    y = len(data) + math.log((1 - rng.random()) / (1 - rng.random()))
    bit = rng.random() < 0.5 if honest else len(data) == 2
    return CASES[case](int(bit), y, rng)
