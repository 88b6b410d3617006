"""The exact loss of several independent releases: δ at each ε, rounded up and down.

A loss distribution on a grid has the probability P and Q of each step. The probability of a cell [a, b] is divided over its two ends so that both P and Q
of the cell are kept: then the pair on the grid can be turned into the true one, so its δ is never below the true δ (Doroshenko and others, "Connect
the dots", 2022). Composition is convolution.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from .kinds import erfc

CELLS = 4096  # of the grid over which one release spreads, if it is the only one
LONGEST = 1 << 20  # cells of a composed distribution
TAIL = 1e-15  # probability that may be moved to an infinite loss


@dataclasses.dataclass(frozen=True)
class Composed:
    """Releases that do not depend on each other, reduced to what their loss depends on."""

    gauss: float = 0.0
    """Σ (distance / scale)² of normal noise."""
    laplace: tuple[float, ...] = ()
    """distance / scale of each Laplace noise."""
    finite: tuple[tuple[tuple[float, ...], tuple[float, ...]], ...] = ()
    """ln P and ln Q of releases with finitely many outcomes."""
    beyond: float = 0.0
    """Probability that no bound is known for."""

    @property
    def pure(self) -> float:
        """The largest loss."""
        if self.gauss > 0 or self.beyond > 0:
            return math.inf
        widest = math.fsum(self.laplace)
        for p, q in self.finite:
            widest += max((a - b for a, b in zip(p, q) if a > -math.inf), default=0.0)
        return widest

    def delta(self, epsilon: float) -> float:
        """δ at this ε, rounded up: exact for normal noise alone."""
        if self.beyond >= 1:
            return 1.0
        if not self.laplace and not self.finite:
            return min(1.0, gauss_delta(math.sqrt(self.gauss), epsilon) + self.beyond)
        if self.pure <= epsilon:
            return 0.0
        losses, chances, infinite = self.grid()
        return min(1.0, infinite + float((chances * -np.expm1(np.minimum(epsilon - losses, 0))).sum()) + self.beyond)

    def renyi(self, order: float) -> float:
        """The Rényi divergence of this order, rounded up."""
        if self.beyond > 0:
            return math.inf
        total = order * self.gauss / 2
        for a in self.laplace:
            # Mironov (2017), Table II.
            x, y = (order - 1) * a, -order * a
            top = max(x, y)
            total += (
                top + math.log(order / (2 * order - 1) * math.exp(x - top) + (order - 1) / (2 * order - 1) * math.exp(y - top))
            ) / (order - 1)
        for p, q in self.finite:
            terms = [order * a - (order - 1) * b if b > -math.inf else math.inf for a, b in zip(p, q) if a > -math.inf]
            top = max(terms)
            total += (top + math.log(math.fsum(math.exp(t - top) for t in terms)) if top < math.inf else math.inf) / (order - 1)
        return total

    def grid(self) -> tuple[Any, Any, float]:
        """Losses, their probabilities under P, and the probability of an infinite loss: at least as distinguishable as the releases."""
        mu = math.sqrt(self.gauss)
        widest = self.pure if self.gauss == 0 else 9 * mu + self.gauss / 2 + math.fsum(self.laplace) + self._finite_range()
        number = (mu > 0) + len(self.laplace) + len(self.finite)
        step = max(widest / CELLS / max(1.0, math.sqrt(number)), 2 * widest / LONGEST * 2, 1e-9)
        composed, start, infinite = np.ones(1), 0, 0.0
        parts: list[tuple[Cells, int]] = []
        groups: dict[float, int] = {}
        for a in self.laplace:
            groups[a] = groups.get(a, 0) + 1
        for a, count in groups.items():
            if a > 0:
                parts.append((laplace_cells(a, step), count))
        for p, q in self.finite:
            parts.append((finite_cells(p, q, step), 1))
        if mu > 0:
            parts.append((gauss_cells(mu, step), 1))
        for (first, chances, lost), count in parts:
            powered, power_start = _power(chances, first, count)
            composed, start = _convolved(composed, powered), start + power_start
            infinite = infinite + (1 - infinite) * -math.expm1(count * math.log1p(-min(lost, 1 - 1e-16)))
        # Errors of the transform are far below this for each cell.
        slack = 1e-15 * composed.size
        return step * (start + np.arange(composed.size)), np.maximum(composed, 0), infinite + slack

    def _finite_range(self) -> float:
        return math.fsum(max((a - b for a, b in zip(p, q) if a > -math.inf and b > -math.inf), default=0.0) for p, q in self.finite)


def _convolved(one: Any, other: Any) -> Any:
    if one.size == 1 or other.size == 1 or min(one.size, other.size) < 64:
        return np.convolve(one, other)
    size = one.size + other.size - 1
    length = 1 << (size - 1).bit_length()
    return np.maximum(np.fft.irfft(np.fft.rfft(one, length) * np.fft.rfft(other, length), length)[:size], 0)


def _power(chances: Any, first: int, count: int) -> tuple[Any, int]:
    """The distribution of the sum of `count` losses."""
    found, start = np.ones(1), 0
    square, at = chances, first
    while count:
        if count & 1:
            found, start = _convolved(found, square), start + at
        count >>= 1
        if count:
            square, at = _convolved(square, square), 2 * at
    return found, start


def _phi(z: Any) -> Any:
    return erfc(-np.asarray(z, float) / math.sqrt(2)) / 2


def gauss_delta(mu: float, epsilon: float) -> float:
    """δ(ε) of N(μ, 1) against N(0, 1) (Balle and Wang, 2018)."""
    if mu == 0:
        return max(0.0, -math.expm1(epsilon)) if epsilon < 0 else 0.0
    upper = 0.5 * math.erfc((epsilon / mu - mu / 2) / math.sqrt(2))
    z = (epsilon / mu + mu / 2) / math.sqrt(2)
    if z > 25:
        return upper
    return max(0.0, upper - math.exp(min(epsilon, 700.0)) * 0.5 * math.erfc(z))


Cells = tuple[int, Any, float]


def _cells(step: float, first: int, p_cells: Any, q_cells: Any, low: float, lost: float) -> Cells:
    """Divides the probability of each cell over its ends. `low`: P of losses below the grid, which goes to its first step."""
    ends = step * (first + np.arange(p_cells.size + 1))
    left, right = ends[:-1], ends[1:]
    # α + β = P and α e^(−left) + β e^(−right) = Q; everything is multiplied by e^left.
    scaled = q_cells * np.exp(left)
    to_right = np.clip((p_cells - scaled) / -np.expm1(left - right), 0, p_cells)
    chances = np.zeros(p_cells.size + 1)
    chances[:-1] += p_cells - to_right
    chances[1:] += to_right
    chances[0] += low
    return first, chances, lost


def gauss_cells(mu: float, step: float) -> Cells:
    """The loss of N(μ, 1) against N(0, 1) is N(μ²/2, μ²) under P and N(−μ²/2, μ²) under Q."""
    first, last = math.floor((mu * mu / 2 - 8.5 * mu) / step), math.ceil((mu * mu / 2 + 8.5 * mu) / step)
    ends = step * np.arange(first, last + 1)
    p, q = ((ends - sign * mu * mu / 2) / mu for sign in (1, -1))
    return _cells(step, first, _mass(p), _mass(q), float(_phi(p[:1])[0]), float(_phi(-p[-1:])[0]))


def _mass(z: Any) -> Any:
    """P(z[i] < Z ≤ z[i+1]) of a standard normal, without cancellation in the upper tail."""
    upper, lower = _phi(-z), _phi(z)
    return np.where(z[:-1] > 0, upper[:-1] - upper[1:], lower[1:] - lower[:-1])


def laplace_cells(a: float, step: float) -> Cells:
    """The loss of Laplace noise moved by `a` scales: a with P = 1/2, −a with P = e^(−a)/2, between them density e^((l − a)/2)/4."""
    first, last = -math.ceil(a / step), math.ceil(a / step)
    ends = np.clip(step * np.arange(first, last + 1), -a, a)
    p = np.diff(np.exp((ends - a) / 2)) / 2
    q = np.diff(-np.exp((-ends - a) / 2)) / 2
    p[-1] += 0.5
    q[-1] += 0.5 * math.exp(-a)
    p[0] += 0.5 * math.exp(-a)
    q[0] += 0.5
    return _cells(step, first, p, q, 0.0, 0.0)


def finite_cells(p: tuple[float, ...], q: tuple[float, ...], step: float) -> Cells:
    """Each outcome goes to the two steps around its loss."""
    lost = math.fsum(math.exp(a) for a, b in zip(p, q) if a > -math.inf and b == -math.inf)
    known = [(a - b, math.exp(a), math.exp(b)) for a, b in zip(p, q) if a > -math.inf and b > -math.inf]
    if not known:
        return 0, np.zeros(1), lost
    first = min(math.floor(loss / step) for loss, _, _ in known)
    last = max(math.floor(loss / step) for loss, _, _ in known) + 1
    p_cells, q_cells = np.zeros(last - first), np.zeros(last - first)
    for loss, a, b in known:
        p_cells[math.floor(loss / step) - first] += a
        q_cells[math.floor(loss / step) - first] += b
    return _cells(step, first, p_cells, q_cells, 0.0, lost)
