"""Two executions side by side: what moved, and the privacy loss of what was released."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from .composition import Composed
from .sites import Site
from .tape import FULL, Declared, Source, Tape, released


@dataclasses.dataclass
class Part:
    """What a call adds to the loss, in the form in which it is composed."""

    gauss: float = 0.0
    laplace: Any = dataclasses.field(default_factory=lambda: np.zeros(0))
    finite: list[tuple[tuple[float, ...], tuple[float, ...]]] = dataclasses.field(default_factory=list)
    exact: bool = True

    @property
    def pure(self) -> float:
        return Composed(self.gauss, tuple(self.laplace), tuple(self.finite)).pure

    @property
    def size(self) -> float:
        """How much it adds, for a comparison of calls."""
        return Composed(0.0, tuple(self.laplace), tuple(self.finite)).pure + math.sqrt(self.gauss)


def randomised_response(widest: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Two outcomes that are at least as distinguishable as any release whose loss is at most `widest` on both sides (Kairouz and others, 2015)."""
    less = -math.log1p(math.exp(widest)) if widest < 700 else -widest
    return (widest + less, less), (less, widest + less)


@dataclasses.dataclass
class Call:
    """One call of a primitive on both sides."""

    what: str
    left: Site | None
    right: Site | None
    elements: int
    input_left: float | None = None
    input_right: float | None = None
    scale_left: float | None = None
    scale_right: float | None = None
    moved: float = 0.0
    """The largest distance of an input."""
    released: float | None = None
    loss: float = 0.0
    """The loss of this release."""
    part: Part | None = dataclasses.field(default_factory=Part)
    """None if the loss distribution has no simple form."""
    unbounded: bool = False
    """Whether its loss has no largest value, because the noise is wider here than there."""
    problem: str | None = None
    """nan, scale, one-sided, sensitivity, kind, unknown"""
    line: Site | None = None
    """The line that moved the input."""

    @property
    def site(self) -> Site:
        return self.line or self.right or self.left  # type: ignore[return-value]


def pair_up(left: Tape, right: Tape) -> list[Call]:
    """All calls of both sides, in their order."""
    calls = []
    for number in range(max(len(left.sources), len(right.sources))):
        one = left.sources[number] if number < len(left.sources) else None
        other = right.sources[number] if number < len(right.sources) else None
        calls.append(_call(one, other))
    for number in range(max(len(left.declared), len(right.declared))):
        first = left.declared[number] if number < len(left.declared) else None
        second = right.declared[number] if number < len(right.declared) else None
        calls.append(_declared(first, second))
    return [call for call in calls if call is not None]


def _shows(source: Source | None) -> bool:
    """Whether something of it was released to which data had been added."""
    return source is not None and bool(released(source.state).any()) and bool(source.steps)


def _call(one: Source | None, other: Source | None) -> Call | None:
    if one is None or other is None or one.size != other.size:
        if not _shows(one) and not _shows(other):
            return None
        some = one or other
        assert some is not None
        sizes = [source.size if source is not None else 0 for source in (one, other)]
        return Call(some.kind.name, one and one.site, other and other.site, max(sizes), problem="one-sided", part=Part())
    if not released(one.state).any() and not released(other.state).any():
        return None
    call = Call(one.kind.name, one.site, other.site, one.size)
    full = (one.state == FULL) & (other.state == FULL)
    lone = (one.state == FULL) ^ (other.state == FULL)
    part = Part()
    if lone.any() and (_shows(one) or _shows(other)):
        call.problem = "one-sided"
    if full.any():
        part = _full(call, one, other, full)
    _events(call, one, other, part)
    call.part = part
    call.line = _moved_by(one, other)
    return call


def _full(call: Call, one: Source, other: Source, full: Any) -> Part | None:
    """The loss of released values, and its distribution if it has a simple form."""
    t = one.t[full]
    loc, loc2, by, by2 = one.loc[full], other.loc[full], one.factor[full], other.factor[full]
    with np.errstate(all="ignore"):
        z, z2 = (t - loc) / by, (t - loc2) / by2
        moved = np.abs(loc - loc2)
        worst = int(np.nanargmax(np.where(np.isnan(moved), np.inf, moved / np.abs(by))))
        losses = one.kind.log_density(z, *one.params) - other.kind.log_density(z2, *other.params)
        if not one.kind.discrete:
            losses = losses - np.log(np.abs(by)) + np.log(np.abs(by2))
    call.input_left, call.input_right = float(loc[worst]), float(loc2[worst])
    call.scale_left, call.scale_right = float(abs(by[worst])), float(abs(by2[worst]))
    call.moved, call.released = float(moved[worst]), float(t[worst])
    same_scale = np.array_equal(np.abs(by), np.abs(by2)) and one.params == other.params and one.kind is other.kind
    if not np.isfinite(np.concatenate([loc, loc2, by, by2])).all():
        call.problem, call.loss = "nan", math.inf
        at = int(np.argmax(~np.isfinite(loc + loc2 + by + by2)))
        call.input_left, call.input_right = float(loc[at]), float(loc2[at])
        return Part(finite=[((0.0,), (-math.inf,))], exact=False)
    identical = moved <= 1e-12 * np.abs(by)
    if same_scale and identical.all():
        return Part()
    call.loss = float(np.sum(losses)) if not np.isnan(losses).any() else math.inf
    if one.kind is not other.kind or one.kind.discrete != other.kind.discrete:
        call.problem = "kind"
        call.what = f"{one.kind.name}, {other.kind.name}"
        return None
    if not same_scale:
        call.problem = "scale"
        call.unbounded = one.kind.name in ("laplace", "normal", "logistic") and bool((np.abs(by) > np.abs(by2)).any())
        if one.params != other.params:
            call.scale_left, call.scale_right = one.params[-1], other.params[-1]
        else:
            at = int(np.argmax(np.abs(np.abs(by) - np.abs(by2))))
            call.scale_left, call.scale_right = float(abs(by[at])), float(abs(by2[at]))
            call.input_left, call.input_right, call.released = float(loc[at]), float(loc2[at]), float(t[at])
        return None
    apart = np.where(identical, 0.0, moved / np.abs(by))
    if one.kind.name == "normal":
        return Part(gauss=float((apart**2).sum()))
    if one.kind.name == "laplace":
        return Part(laplace=apart)
    if one.kind.widest is not None:
        widths = [one.kind.widest(float(d), *one.params) for d in apart if d]
        if all(math.isfinite(width) for width in widths):
            return Part(finite=[randomised_response(width) for width in widths], exact=False)
    return None


def _events(call: Call, one: Source, other: Source, part: Part | None) -> None:
    """Comparisons and picks."""
    for bits, bits2 in zip(one.bits, other.bits):
        if not np.array_equal(bits.places, bits2.places):
            call.problem = "one-sided"
            continue
        with np.errstate(all="ignore"):
            for p, p2, outcome in zip(bits.above, bits2.above, bits.outcome):
                if p == p2:
                    continue
                logs, logs2 = (tuple(float(x) for x in np.log([chance, 1 - chance])) for chance in (p, p2))
                call.loss += logs[0 if outcome else 1] - logs2[0 if outcome else 1]
                call.input_left, call.input_right, call.moved = float(p), float(p2), float(abs(p - p2))
                if part is not None:
                    part.finite.append((logs, logs2))
        call.what = f"{one.kind.name}, compared"
    if len(one.bits) != len(other.bits) or (one.pick is None) != (other.pick is None):
        call.problem = "one-sided"
    if one.pick is not None and other.pick is not None and one.pick.log_chances.size == other.pick.log_chances.size:
        logs, logs2 = one.pick.log_chances, other.pick.log_chances
        call.loss += float(logs[one.pick.outcome] - logs2[one.pick.outcome])
        at = int(np.argmax(np.abs(one.loc[one.pick.places] - other.loc[one.pick.places])))
        call.input_left, call.input_right = float(one.loc[one.pick.places][at]), float(other.loc[one.pick.places][at])
        call.scale_left, call.scale_right = float(one.factor[one.pick.places][at]), float(other.factor[one.pick.places][at])
        call.moved, call.what = abs(call.input_left - call.input_right), f"{one.kind.name}, place of the largest"
        if call.scale_left != call.scale_right:
            call.problem = "scale"
        if part is not None and not np.array_equal(logs, logs2):
            part.finite.append((tuple(map(float, logs)), tuple(map(float, logs2))))


def _moved_by(one: Source, other: Source) -> Site | None:
    """The line whose summand differs most between the sides."""
    best, found = 0.0, None
    for first, second in zip(one.steps, other.steps):
        if first.value.shape != second.value.shape:
            return second.site
        with np.errstate(all="ignore"):
            apart = np.abs(first.value - second.value)
        apart = np.where(np.isnan(apart), np.inf, apart)
        if apart.size and apart.max() > best and not np.array_equal(first.value, second.value, equal_nan=True):
            best, found = float(apart.max()), second.site
    return found


def _declared(one: Declared | None, other: Declared | None) -> Call | None:
    """A call of a primitive that declares its guarantee."""
    if one is None or other is None or one.name != other.name:
        some = one or other
        assert some is not None
        return Call(some.name, one and one.site, other and other.site, 1, problem="one-sided", part=Part())
    call = Call(one.name, one.site, other.site, int(np.size(one.value)) if _is_number(one.value) else 1)
    if one.guarantee != other.guarantee:
        call.problem = "scale"
    if _is_number(one.value) and _is_number(other.value) and np.shape(one.value) == np.shape(other.value):
        first, second = np.asarray(one.value, float).reshape(-1), np.asarray(other.value, float).reshape(-1)
        with np.errstate(all="ignore"):
            apart = np.abs(first - second)
        at = int(np.argmax(np.where(np.isnan(apart), np.inf, apart))) if apart.size else 0
        if apart.size:
            call.input_left, call.input_right = float(first[at]), float(second[at])
        call.moved = float(apart.sum()) if not np.array_equal(first, second, equal_nan=True) else 0.0
        if not (np.isfinite(first).all() and np.isfinite(second).all()):
            call.problem = "nan"
    if one.sensitivity is not None:
        call.scale_left, call.scale_right = float(one.sensitivity), float(other.sensitivity)
        if call.moved > call.scale_left * (1 + 1e-9) and call.problem is None:
            call.problem = "sensitivity"
    loss = one.loss(one.value, other.value) if one.loss is not None else 0.0
    if call.problem == "scale":
        loss = math.inf
    if loss is None:
        call.part, call.problem = None, "unknown"
    elif isinstance(loss, Part):
        call.part, call.loss = loss, loss.size
    elif math.isinf(loss):
        call.part, call.loss = Part(finite=[((0.0,), (-math.inf,))], exact=False), math.inf
    else:
        call.part = Part(finite=[randomised_response(loss)] if loss > 0 else [], exact=False)
        call.loss = loss
    return call


def _is_number(value: Any) -> bool:
    try:
        return np.asarray(value).dtype.kind in "biuf"
    except Exception:
        return False


def worst_of(runs: list[list[Call]]) -> tuple[Composed | None, bool]:
    """Call by call the worst of all runs, composed; and whether all runs were alike, so that this is the loss and not only a bound.

    None if the loss of a call has no simple form.
    """
    gauss, laplace, finite, alike = 0.0, [], [], True
    for number in range(max(map(len, runs), default=0)):
        parts = [run[number].part for run in runs if number < len(run)]
        if any(part is None for part in parts):
            return None, False
        alike = alike and len(parts) == len(runs) and all(part.exact for part in parts)  # type: ignore[union-attr]
        known: list[Part] = parts  # type: ignore[assignment]
        most = max(part.gauss for part in known)
        alike = alike and min(part.gauss for part in known) >= most * (1 - 1e-9)
        gauss += most
        width = max(part.laplace.size for part in known)
        wide = np.array([np.pad(part.laplace, (0, width - part.laplace.size)) for part in known])
        if width:
            top = wide.max(axis=0)
            alike = alike and bool((wide.min(axis=0) >= top * (1 - 1e-9)).all())
            laplace += [float(a) for a in top if a > 0]
        for place in range(max(len(part.finite) for part in known)):
            some = {part.finite[place] for part in known if place < len(part.finite)}
            if len(some) == 1:
                finite.append(some.pop())
                alike = alike and all(place < len(part.finite) for part in known)
            else:
                alike = False
                widest = 0.0
                for p, q in some:
                    widest = max(widest, Composed(finite=((p, q),)).pure, Composed(finite=((q, p),)).pure)
                finite.append(((0.0,), (-math.inf,)) if math.isinf(widest) else randomised_response(widest))
    return Composed(gauss, tuple(laplace), tuple(finite)), alike
