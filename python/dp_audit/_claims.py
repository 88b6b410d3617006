"""What is claimed of a mechanism. Each claim is a small frozen class; a value out of its range is a ValueError."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any, Sequence

from . import _dp_audit


@dataclasses.dataclass(frozen=True)
class Claim:
    """What all claims have in common. Use one of its subclasses."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            if field.type != "float":
                continue
            value = getattr(self, field.name)
            if value is None or isinstance(value, (str, bytes, bool)):
                raise TypeError(f"{field.name} is {value!r}; it must be a number")
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"{field.name} is {value}; it must be finite")
        _dp_audit.check_claim(json.dumps(self.spelling()))

    def spelling(self) -> dict[str, Any]:
        """The claim as an audit file has it."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class PureDp(Claim):
    """ε-differential privacy.

    >>> PureDp(1.0)
    PureDp(epsilon=1.0)
    """

    epsilon: float

    def spelling(self) -> dict[str, Any]:
        return {"epsilon": self.epsilon}


@dataclasses.dataclass(frozen=True)
class ApproximateDp(Claim):
    """(ε, δ)-differential privacy.

    >>> ApproximateDp(1.0, 1e-5)
    ApproximateDp(epsilon=1.0, delta=1e-05)
    >>> ApproximateDp(1.0, 2.0)
    Traceback (most recent call last):
      ...
    ValueError: delta: is 2, must be at least 0 and less than 1
    """

    epsilon: float
    delta: float

    def spelling(self) -> dict[str, Any]:
        return {"epsilon": self.epsilon, "delta": self.delta}


@dataclasses.dataclass(frozen=True)
class Gdp(Claim):
    """μ-Gaussian differential privacy. ε is reported at the δ `at_delta`."""

    mu: float
    at_delta: float = 1e-5

    def spelling(self) -> dict[str, Any]:
        return {"mu": self.mu, "at_delta": self.at_delta}


@dataclasses.dataclass(frozen=True)
class Zcdp(Claim):
    """ρ-zero-concentrated differential privacy. ε is reported at the δ `at_delta`."""

    rho: float
    at_delta: float = 1e-5

    def spelling(self) -> dict[str, Any]:
        return {"rho": self.rho, "at_delta": self.at_delta}


@dataclasses.dataclass(frozen=True)
class RenyiDp(Claim):
    """The Rényi divergence of this order is at most ε. ε of (ε, δ) is reported at the δ `at_delta`."""

    order: float
    epsilon: float
    at_delta: float = 1e-5

    def spelling(self) -> dict[str, Any]:
        return {"renyi": {"order": self.order, "epsilon": self.epsilon}, "at_delta": self.at_delta}


@dataclasses.dataclass(frozen=True)
class Profile(Claim):
    """All of these points (ε, δ) hold.

    >>> Profile([(0.5, 0.2), (1.0, 0.05)]).points
    ((0.5, 0.2), (1.0, 0.05))
    """

    points: Sequence[tuple[float, float]]
    at_delta: float = 1e-5

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", tuple((float(epsilon), float(delta)) for epsilon, delta in self.points))
        super().__post_init__()

    def spelling(self) -> dict[str, Any]:
        return {"profile": [list(point) for point in self.points], "at_delta": self.at_delta}


@dataclasses.dataclass(frozen=True)
class Stability(Claim):
    """Datasets at most `input` steps apart have outputs at most `output` apart: a function without noise.

    The metric is l1, l2, linf, hamming, symmetric or insert-delete.
    """

    input: float
    output: float
    metric: str

    def spelling(self) -> dict[str, Any]:
        return {"stability": {"input": self.input, "output": self.output, "metric": self.metric}}


def claim_of(spelling: dict[str, Any]) -> Claim:
    """The claim that is spelled like this.

    >>> claim_of({"epsilon": 1.0, "delta": 0.0})
    PureDp(epsilon=1.0)
    """
    at_delta = {"at_delta": spelling["at_delta"]} if spelling.get("at_delta") is not None else {}
    if spelling.get("epsilon") is not None:
        delta = spelling.get("delta") or 0.0
        return ApproximateDp(spelling["epsilon"], delta) if delta else PureDp(spelling["epsilon"])
    if "mu" in spelling:
        return Gdp(spelling["mu"], **at_delta)
    if "rho" in spelling:
        return Zcdp(spelling["rho"], **at_delta)
    if "stability" in spelling:
        return Stability(**spelling["stability"])
    if "profile" in spelling:
        return Profile(spelling["profile"], **at_delta)
    if isinstance(spelling.get("renyi"), dict):
        return RenyiDp(**spelling["renyi"], **at_delta)
    return OtherClaim(json.dumps(spelling))


@dataclasses.dataclass(frozen=True)
class OtherClaim(Claim):
    """A claim that only an audit file can make, such as several Rényi orders together, as JSON."""

    text: str

    def spelling(self) -> dict[str, Any]:
        return json.loads(self.text)
