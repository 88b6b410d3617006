"""Fair coins that decide which canaries are in the training data."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from pathlib import Path
from typing import Any, Iterator

import numpy

SCHEMA = "dp-audit-coins/1"


class CoinFlips:
    """Fair, independent coins, one for each canary; with `steps`, one for each canary and step. It can be used like an array of bools.

    >>> coins = coin_flips(1000, seed=7)
    >>> len(coins), coins.included[:4].tolist()
    (1000, [True, False, True, False])

    `save` stores how the coins were made and what they were; `CoinFlips.load` makes them again and checks them. Keep them from whatever computes
    scores.
    """

    def __init__(self, canaries: int, seed: int, steps: int | None = None) -> None:
        for what, value in (("canaries", canaries), ("steps", 1 if steps is None else steps)):
            if value != int(value) or not 1 <= value <= 10**8:
                raise ValueError(f"{what} is {value}, must be a whole number from 1 to 1e8")
        if not 0 <= seed < 2**128:
            raise ValueError(f"seed is {seed}, must be a whole number from 0 to 2^128 − 1")
        self.canaries = int(canaries)
        self.seed = int(seed)
        self.steps = None if steps is None else int(steps)
        shape = (self.canaries,) if self.steps is None else (self.steps, self.canaries)
        self.included = flipped(self.seed, int(numpy.prod(shape))).reshape(shape)
        self.included.flags.writeable = False

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return numpy.array(self.included, dtype=dtype)

    def __len__(self) -> int:
        return len(self.included)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.included.tolist())

    def __getitem__(self, key: Any) -> Any:
        return self.included[key]

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, CoinFlips) and (self.canaries, self.seed, self.steps) == (other.canaries, other.seed, other.steps)

    def __repr__(self) -> str:
        steps = "" if self.steps is None else f", steps={self.steps}"
        return f"CoinFlips({self.canaries} canaries{steps}, {int(self.included.sum())} in)"

    @property
    def digest(self) -> str:
        """A fingerprint of the coins."""
        return hashlib.sha256(numpy.packbits(self.included).tobytes()).hexdigest()

    def check(self, included: Any) -> None:
        """Raises a ValueError unless these are the coins."""
        found = numpy.asarray(included)
        if found.shape != self.included.shape:
            raise ValueError(f"there are coins of shape {found.shape}, and {self.included.shape} were flipped")
        differing = int((found.astype(bool) != self.included).sum())
        if differing:
            raise ValueError(
                f"{differing:,} of {found.size:,} coins are not those that were flipped; a canary that was left out or put in afterwards makes "
                "every bound invalid, so train again with the coins as they are"
            )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Stores the coins in a file, which must not exist: coins are flipped once."""
        text = json.dumps({"schema": SCHEMA, "canaries": self.canaries, "steps": self.steps, "seed": f"{self.seed:032x}", "sha256": self.digest})
        with open(path, "x", encoding="utf-8") as file:
            file.write(text + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "CoinFlips":
        """Reads coins that were saved, makes them again, and checks that they are the same."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
            if data["schema"] != SCHEMA:
                raise ValueError(f"its schema is {data['schema']!r}")
            coins = cls(data["canaries"], int(data["seed"], 16), data["steps"])
            stored = data["sha256"]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{os.fspath(path)} is no file of coins: {error}; CoinFlips.save writes one") from error
        if coins.digest != stored:
            raise ValueError(f"{os.fspath(path)}: the coins of its seed are not those that were stored; the file was changed")
        return coins


def flipped(seed: int, count: int) -> Any:
    """The bits of SHA-256 in counter mode: the same on every machine and with every version of numpy."""
    key = seed.to_bytes(16, "little")
    blocks = (hashlib.sha256(key + block.to_bytes(8, "little")).digest() for block in range((count + 255) // 256))
    return numpy.unpackbits(numpy.frombuffer(b"".join(blocks), dtype=numpy.uint8))[:count].astype(bool)


def coin_flips(canaries: int, seed: int | None = None, *, steps: int | None = None) -> CoinFlips:
    """Flips a fair coin for each canary; with `steps`, fresh coins at each step.

    >>> coins = coin_flips(1000, seed=7)
    >>> data = [canary for canary, is_in in zip(range(1000), coins) if is_in]     # what is added to the training data
    >>> coins.check(coins.included)

    Without a seed, the coins come from the system's entropy. Give the coins no seed that training or scoring use too.
    """
    return CoinFlips(canaries, secrets.randbits(128) if seed is None else seed, steps)
