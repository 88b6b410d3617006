"""What the losses of a pair say about a claim. A trace alone never refutes a claim and never confirms one."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from .._claims import ApproximateDp, Claim, Gdp, Profile, PureDp, RenyiDp, Zcdp
from .composition import Composed, gauss_delta
from .limits import limits

ROUNDING = 1e-9  # relative, of sums and logarithms
GDP_POINTS = 41


@dataclasses.dataclass(frozen=True)
class Measured:
    """The losses of one direction: D's outputs against D', or the reverse."""

    composed: Composed | None
    """Call by call the worst of all runs; None if a call has no simple loss distribution."""
    alike: bool
    """Whether all runs had the same inputs and scales up to a shift, so that `composed` is what they lose and no more."""
    unbounded: bool
    """Whether the loss of a call has no largest value."""
    losses: Any
    """The loss of each run; infinite where the sides could be told apart for sure."""
    brief: bool = False
    """Whether a mean will do instead of limits, to compare pairs."""

    def delta(self, epsilon: float) -> float | None:
        """δ at this ε is at most this if no run moves an input further than those that were seen."""
        return None if self.composed is None else self.composed.delta(epsilon)

    def sampled(self, epsilon: float, alpha: float) -> tuple[float, float]:
        """δ of the released values at this ε, with limits on both sides, from the losses of independent runs."""
        losses = np.asarray(self.losses, float)
        with np.errstate(all="ignore"):
            values = np.where(losses > epsilon, -np.expm1(epsilon - losses), 0.0)
        if self.brief:
            return float(values.mean()), 1.0
        return limits(np.where(np.isinf(losses), (losses > 0) * 1.0, values), alpha)


@dataclasses.dataclass(frozen=True)
class Compared:
    """A claim beside what was found, in the unit of the claim."""

    unit: str
    allowed: float
    upper: float | None
    """At most this, assuming that no run moves an input further than those that were seen."""
    lower: float
    """The released values lose at least this."""

    @property
    def holds(self) -> bool:
        return self.upper is not None and self.upper <= self.allowed * (1 + ROUNDING) + 1e-300

    @property
    def exceeded(self) -> bool:
        return self.lower > self.allowed * (1 + ROUNDING)


def points_of(claim: Claim) -> list[tuple[float, float]]:
    """The points (ε, δ) at which a claim is looked at."""
    if isinstance(claim, PureDp):
        return [(claim.epsilon, 0.0)]
    if isinstance(claim, ApproximateDp):
        return [(claim.epsilon, claim.delta)]
    if isinstance(claim, Profile):
        return list(claim.points)
    if isinstance(claim, Gdp):
        return [(e, gauss_delta(claim.mu, e)) for e in np.linspace(0, 6 * claim.mu + claim.mu**2, GDP_POINTS).tolist()]
    return []


def compared(claim: Claim, measured: list[Measured], alpha: float) -> list[Compared]:
    """The claim in its own unit, for the worse direction."""
    if isinstance(claim, PureDp):
        uppers = [m.composed.pure if m.composed is not None else None for m in measured]
        seen_unbounded = any(m.unbounded for m in measured)
        uppers = [math.inf if m.unbounded or np.isinf(m.losses).any() else upper for m, upper in zip(measured, uppers)]
        seen = max((float(m.losses.max()) for m in measured if m.losses.size), default=0.0)
        exact = [m.composed.pure for m in measured if m.composed is not None and m.alike] + [math.inf] * seen_unbounded
        return [Compared("ε", claim.epsilon, _worst(uppers), max([seen, 0.0, *exact]))]
    if isinstance(claim, (ApproximateDp, Profile, Gdp)):
        if isinstance(claim, Gdp) and measured and all(m.composed is not None and not m.composed.laplace and not m.composed.finite for m in measured):
            mus = [math.sqrt(m.composed.gauss) for m in measured]  # type: ignore[union-attr]
            lower = max([0.0, *(mu for mu, m in zip(mus, measured) if m.alike)])
            if max(mus) <= claim.mu * (1 + ROUNDING) or lower > claim.mu * (1 + ROUNDING):
                return [Compared("μ", claim.mu, max(mus), lower)]
        points = points_of(claim)
        found = []
        for epsilon, delta in points:
            sampled = [m.sampled(epsilon, alpha / (2 * len(points))) for m in measured]
            uppers = [m.delta(epsilon) for m in measured]
            if any(upper is None for upper in uppers):
                uppers = [high for _, high in sampled]
            # The grid of a composition rounds up by far less than this part.
            exact = [0.999 * m.delta(epsilon) - 1e-10 for m in measured if m.composed is not None and m.alike]  # type: ignore[operator]
            found.append(Compared(f"δ at ε = {epsilon:.4g}", delta, _worst(uppers), max([0.0, *(low for low, _ in sampled), *exact])))
        return found
    if isinstance(claim, RenyiDp):
        uppers = [m.composed.renyi(claim.order) if m.composed is not None else None for m in measured]
        exact = [m.composed.renyi(claim.order) for m in measured if m.composed is not None and m.alike]
        return [Compared(f"Rényi divergence of order {claim.order:g}", claim.epsilon, _worst(uppers), max([0.0, *exact]))]
    if isinstance(claim, Zcdp):
        uppers, exact = [], [0.0]
        for m in measured:
            if m.composed is None:
                uppers.append(None)
                continue
            finite = [max(Composed(finite=((p, q),)).pure, Composed(finite=((q, p),)).pure) for p, q in m.composed.finite]
            uppers.append(m.composed.gauss / 2 + sum(a * a / 2 for a in (*m.composed.laplace, *finite)))
            if m.alike:
                exact += [m.composed.renyi(order) / order for order in (1.0001, 1.1, 1.5, 2.0, 4.0, 16.0)]
        return [Compared("ρ", claim.rho, _worst(uppers), max(exact))]
    raise TypeError(f"a trace knows claims about privacy, not {type(claim).__name__}; use dp_audit.audit")


def _worst(values: list[Any]) -> float | None:
    if math.inf in values:
        return math.inf
    return None if any(value is None for value in values) else max(values, default=0.0)
