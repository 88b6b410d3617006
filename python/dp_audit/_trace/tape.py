"""The noise of one execution. With the tape of another execution, what that one released is played back.

A *source* is one call of a sampler: an array of standard noise z. A program uses `loc + factor * z`, and what it learns of that is a *release*:

full   the value t = loc + factor z. Under playback t is the recorded one, so z is (t − loc)/factor with the locations of this side.
bit    whether the value is above a threshold that has no noise.
pick   at which place of an array the value is largest.

A *coin* is a source to which nothing is ever added: an index, a shuffle. The same coins fall on both sides; they have no privacy loss.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from .kinds import KINDS, Kind
from .sites import Site, here

UNUSED, FULL, BIT, PICK, COIN, MERGED = range(6)


def released(state: Any) -> Any:
    """Which elements a program has learned something of."""
    return (state >= FULL) & (state <= PICK)


@dataclasses.dataclass
class Bits:
    """A comparison with thresholds: which elements of a source, P(above), and what came out."""

    places: Any
    above: Any
    outcome: Any


@dataclasses.dataclass
class Pick:
    """The place of a maximum: ln P(place) for all places, and which one came out."""

    places: Any
    log_chances: Any
    outcome: int


@dataclasses.dataclass
class Step:
    """Something without noise was added to a value with noise."""

    site: Site
    value: Any


class Source:
    """One call of a sampler."""

    def __init__(self, number: int, kind: Kind, params: tuple[float, ...], z: Any, site: Site) -> None:
        self.number = number
        self.kind = kind
        self.params = params
        self.z = np.asarray(z, float).reshape(-1)
        self.site = site
        size = self.z.size
        self.state = np.zeros(size, np.int8)
        self.loc = np.zeros(size)
        self.factor = np.ones(size)
        self.t = np.zeros(size)
        self.bits: list[Bits] = []
        self.pick: Pick | None = None
        self.steps: list[Step] = []
        self.peer: Source | None = None

    @property
    def size(self) -> int:
        return self.z.size

    def comparable(self) -> bool:
        """Whether this and the source that is played back are as long as each other."""
        return self.peer is not None and self.peer.size == self.size


@dataclasses.dataclass
class Declared:
    """A call of a primitive that says itself what it guarantees."""

    name: str
    site: Site
    value: Any
    out: Any
    sensitivity: Any
    loss: Any
    """(value on the left, value on the right) → the largest loss of this call, None if it is not known; no function if the call only has an input."""
    guarantee: tuple[Any, ...] = ()


class Tape:
    """What one execution drew and released."""

    def __init__(self, rng: Any, recorded: "Tape | None" = None, fresh_coins: bool = False) -> None:
        self.rng = rng
        self.recorded = recorded
        self.fresh_coins = fresh_coins
        self.sources: list[Source] = []
        self.declared: list[Declared] = []
        self.untracked: dict[str, Site] = {}
        self.coins = 0

    def cannot_track(self, what: str, site: Site | None = None) -> None:
        self.untracked.setdefault(what, site or here())

    def draw(self, kind: str, shape: Any, *params: float) -> Source:
        """Standard noise of a kind."""
        return self.source(KINDS[kind], KINDS[kind].draw(self.rng, shape, *params), params)

    def source(self, kind: Kind, z: Any, params: tuple[float, ...] = ()) -> Source:
        number = len(self.sources)
        made = Source(number, kind, tuple(map(float, params)), z, here())
        if self.recorded is not None and number < len(self.recorded.sources):
            made.peer = self.recorded.sources[number]
        self.sources.append(made)
        return made

    def coin(self, source: Source, places: Any) -> None:
        """These elements are used as they are."""
        new = places[source.state[places] == UNUSED]
        source.state[new] = COIN
        self.coins += 1
        peer = source.peer
        if not self.fresh_coins and source.comparable() and peer.kind is source.kind and peer.params == source.params:  # type: ignore[union-attr]
            same = new[peer.state[new] == COIN]  # type: ignore[union-attr]
            source.z[same] = peer.z[same]  # type: ignore[union-attr]

    def release(self, source: Source, places: Any, loc: Any, factor: Any) -> Any:
        """The values loc + factor z of these elements."""
        new = source.state[places] == UNUSED
        # Noise that was compared before is released as a whole after all.
        for bits in source.bits:
            if np.intersect1d(bits.places, places).size:
                self.widen(source, bits.places)
        if source.pick is not None and np.intersect1d(source.pick.places, places).size:
            self.widen(source, source.pick.places)
        if (source.state[places] == MERGED).any():
            self.cannot_track("noise is used again after it was added to other noise", source.site)
        first = np.zeros(places.size, bool)
        first[np.unique(places, return_index=True)[1]] = True
        new &= first & (factor != 0)
        where = places[new]
        source.loc[where], source.factor[where] = loc[new], factor[new]
        t = loc[new] + factor[new] * source.z[where]
        if source.comparable():
            played = source.peer.state[where] == FULL  # type: ignore[union-attr]
            t = np.where(played, source.peer.t[where], t)  # type: ignore[union-attr]
            with np.errstate(all="ignore"):
                source.z[where] = np.where(played, (t - loc[new]) / factor[new], source.z[where])
        source.t[where] = t
        source.state[where] = FULL
        # Elements that were released before have no noise left: their z is known.
        with np.errstate(all="ignore"):
            value = loc + factor * source.z[places]
        value[new] = t
        known = ~new & (source.state[places] == FULL)
        if known.any():
            same = known & (loc == source.loc[places]) & (factor == source.factor[places])
            value[same] = source.t[places][same]
            rest = known & ~same
            if rest.any() and source.comparable():
                value[rest] = self.settled(source, places[rest], value[rest])
            elif rest.any():
                self.later(source)[places[rest]] = value[rest]
        return value

    def settled(self, source: Source, places: Any, value: Any) -> Any:
        """Values that follow from released ones are those of the recording if they differ by rounding only."""
        recorded = getattr(source.peer, "again", None)
        if recorded is None:
            return value
        before = recorded[places]
        unit = np.abs(source.t[places]) + np.abs(source.loc[places]) + np.abs(value)
        return np.where(np.abs(before - value) <= 1e-12 * unit, before, value)

    def later(self, source: Source) -> Any:
        if not hasattr(source, "again"):
            source.again = np.full(source.size, np.nan)  # type: ignore[attr-defined]
        return source.again  # type: ignore[attr-defined]

    def widen(self, source: Source, places: Any) -> None:
        """A comparison or a pick becomes a full release with the location that it had."""
        open_ = places[np.isin(source.state[places], (BIT, PICK))]
        source.state[open_] = FULL
        source.t[open_] = source.loc[open_] + source.factor[open_] * source.z[open_]
        if source.comparable() and (source.peer.state[open_] != FULL).any():  # type: ignore[union-attr]
            self.cannot_track("noise is compared on one side and released on the other", source.site)
        source.bits = [bits for bits in source.bits if not np.isin(bits.places, open_).any()]
        if source.pick is not None and np.isin(source.pick.places, open_).any():
            source.pick = None

    def compare(self, source: Source, places: Any, loc: Any, factor: Any, threshold: Any) -> Any | None:
        """Whether the values are above the thresholds; None if that is no simple event, and they must be released."""
        kind = source.kind
        peer = source.peer if source.comparable() else None
        played_in_full = peer is not None and (peer.state[places] == FULL).any()
        simple = kind.cdf is not None and (source.state[places] == UNUSED).all() and np.unique(places).size == places.size
        if not simple or played_in_full or not np.isfinite(loc + factor).all() or np.isnan(threshold).any() or (factor == 0).any():
            return None
        with np.errstate(all="ignore"):
            at = (threshold - loc) / factor
            below = kind.cdf(at, *source.params)  # type: ignore[misc]
            above = np.where(factor > 0, 1 - below, below)
        outcome = loc + factor * source.z[places] > threshold
        if peer is not None and (peer.state[places] == BIT).all():
            for bits in peer.bits:
                if np.array_equal(bits.places, places):
                    fair = self.fresh_coins and np.array_equal(bits.above, above)
                    outcome = outcome if fair else bits.outcome
        source.state[places] = BIT
        source.loc[places], source.factor[places] = loc, factor
        source.bits.append(Bits(places, above, outcome))
        return outcome

    def largest(self, source: Source, places: Any, loc: Any, factor: Any) -> int | None:
        """The place of the largest value; None if all values must be released."""
        peer = source.peer if source.comparable() else None
        simple = (source.state[places] == UNUSED).all() and np.unique(places).size == places.size
        if not simple or (peer is not None and peer.pick is None) or not np.isfinite(loc).all() or not (factor == factor[0]).all():
            return None
        chances = log_chances_of_largest(source.kind, source.params, loc, factor[0])
        if chances is None:
            return None
        outcome = int(np.argmax(loc + factor * source.z[places]))
        if peer is not None and np.array_equal(peer.pick.places, places):  # type: ignore[union-attr]
            outcome = peer.pick.outcome  # type: ignore[union-attr]
        source.state[places] = PICK
        source.loc[places], source.factor[places] = loc, factor
        source.pick = Pick(places, chances, outcome)
        return outcome


GRID = 4001


def log_chances_of_largest(kind: Kind, params: tuple[float, ...], loc: Any, factor: float) -> Any | None:
    """ln P(value i is the largest) for independent values loc_i + factor z_i. Exact for Gumbel noise, an integral for others."""
    if factor <= 0 or kind.cdf is None or kind.discrete:
        return None
    if kind.name == "gumbel":
        scaled = loc / factor
        top = scaled.max()
        return scaled - top - np.log(np.exp(scaled - top).sum())
    if kind.name not in ("laplace", "normal", "logistic", "exponential"):
        return None
    # P(i) = ∫ f(x − l_i) Π_{j≠i} F(x − l_j) dx. Gauss–Legendre between the places where a density is not smooth.
    scaled = np.asarray(loc, float) / factor
    if scaled.size > 64 or scaled.max() - scaled.min() > 200:
        return None
    edges = np.unique(np.concatenate([[scaled.max() - 45.0], scaled, [scaled.max() + 45.0]]))
    steps = np.unique(np.concatenate([np.linspace(a, b, 2 + int((b - a) / 0.5)) for a, b in zip(edges, edges[1:])]))
    nodes, weights = np.polynomial.legendre.leggauss(12)
    half = np.diff(steps)[:, None] / 2
    x = (steps[:-1, None] + half + half * nodes).reshape(-1)
    w = (half * weights).reshape(-1)
    z = x[None, :] - scaled[:, None]
    with np.errstate(all="ignore"):
        log_f = kind.log_density(z, *params)
        log_cdf = np.log(np.maximum(kind.cdf(z, *params), 1e-300))
    others = log_cdf.sum(axis=0)[None, :] - log_cdf
    return np.log(np.maximum((np.exp(log_f + others) * w).sum(axis=1), 1e-300))
