"""Pairs of a domain to be traced: structures on which programs are known to fail first, then random ones."""

from __future__ import annotations

import itertools
import math
from typing import Any, Iterator, Mapping

import numpy as np

from .._neighbours import key

KINDS = ("number", "integer", "category", "label", "text", "table")
NASTY: dict[str, tuple[Any, ...]] = {
    "nan": (math.nan,),
    "infinite": (math.inf, -math.inf),
    "negative-zero": (-0.0,),
    "subnormal": (5e-324,),
}


def values(record: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """Ordinary values of a record, and nasty ones."""
    kind = record.get("type")
    if kind not in KINDS:
        raise ValueError(f"record: type is {kind!r}, must be one of {', '.join(KINDS)}")
    never = record.get("never", ())
    never = (never,) if isinstance(never, str) else tuple(never)
    all_nasty = "nasty" not in never
    nasty: list[Any] = [None] if record.get("nullable") else []
    if kind in ("number", "integer"):
        low, high = record.get("lower"), record.get("upper")
        if low is None or high is None or not low <= high:
            raise ValueError(f"record: lower is {low!r} and upper {high!r}; they must be numbers, and lower at most upper")
        middle = (low + high) / 2 if kind == "number" else (low + high) // 2
        ordinary = list(dict.fromkeys([low, high, middle]))
        if all_nasty and "outside" not in never:
            nasty += [high + 1, low - 1, high * 1000 + 1000, 2**31, -(2**63) if kind == "integer" else -1e300]
        if kind == "number" and all_nasty:
            nasty += [value for name, found in NASTY.items() if name not in never for value in found]
        return ordinary, nasty
    if kind in ("category", "label"):
        ordinary = list(record.get("values") or ())
        if not ordinary:
            raise ValueError("record: a category needs values, as in values = ['a', 'b']")
        return ordinary, nasty + (["", "unseen"] if all_nasty and "unseen" not in never else [])
    if kind == "text":
        length = int(record.get("length", 20))
        return ["a", "b" * min(length, 3), "c" * length], nasty + ([""] if all_nasty and "empty" not in never else []) + (
            ["d" * (length + 1)] if all_nasty and "long" not in never else []
        )
    columns = [values(column) for column in record.get("columns") or ()]
    if not columns:
        raise ValueError("record: a table needs columns")
    plain = [list(row) for row in itertools.islice(itertools.product(*(ordinary for ordinary, _ in columns)), 8)]
    bad = [[*(o[0] for o, _ in columns[:place]), value, *(o[0] for o, _ in columns[place + 1 :])] for place, (_, n) in enumerate(columns) for value in n]
    return plain, nasty + bad


def pairs(record: Mapping[str, Any], size: tuple[int, int], relation: str, seed: int) -> Iterator[tuple[list[Any], list[Any]]]:
    """Neighbours without end."""
    ordinary, nasty = values(record)
    least, most = size
    if not 0 <= least <= most:
        raise ValueError(f"size is {size}, must be two whole numbers, the first at most the second")
    rng = np.random.default_rng((seed, 7))

    def drawn() -> Any:
        if record.get("type") == "number" and rng.random() < 0.5:
            return float(rng.uniform(record["lower"], record["upper"]))
        if record.get("type") == "integer" and rng.random() < 0.5:
            return int(rng.integers(int(record["lower"]), int(record["upper"]) + 1))
        return ordinary[int(rng.integers(len(ordinary)))]

    def neighbours(base: list[Any], extra: Any) -> Iterator[tuple[list[Any], list[Any]]]:
        if relation == "replace-one":
            if base and key(base[-1]) != key(extra):
                yield base, [*base[:-1], extra]
        elif len(base) < most:
            yield base, [*base, extra]

    sizes = sorted({least, least + 1, 1, 2, 3, 5, 8, most} & set(range(least, most + 1)))
    for length in sizes:
        for fill in ordinary:
            for extra in [*ordinary, *nasty]:
                yield from neighbours([fill] * length, extra)
    while True:
        length = int(rng.integers(least, most + 1))
        base = [drawn() for _ in range(length)]
        if nasty and base and rng.random() < 0.2:
            base[int(rng.integers(length))] = nasty[int(rng.integers(len(nasty)))]
        extra = nasty[int(rng.integers(len(nasty)))] if nasty and rng.random() < 0.3 else drawn()
        yield from neighbours(base, extra)
        if most == 0 or length == most and least == most and relation != "replace-one":
            return
