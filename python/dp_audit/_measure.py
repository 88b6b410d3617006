"""Measurements: how much a mechanism leaks, without a claim."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any, Callable, Mapping, Sequence

from . import _dp_audit
from ._audit import DEFAULT_DRAWS, MISSING, Pairs, called, ignored, named_pairs, observed, settings
from ._claims import PureDp
from ._errors import AuditError, Interrupted
from ._function import Function
from ._neighbours import relation_of
from ._progress import Show
from ._result import brief

DELTAS = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1)
LENSES = 3  # audits of which a measurement of a pair consists


@dataclasses.dataclass(frozen=True)
class Measurement:
    """Lower bounds on the privacy profile of a mechanism on one pair. All of them hold together."""

    name: str
    pair: str
    table: Mapping[float, float]
    """For each δ: the mechanism's ε is at least this."""
    mu_lower: float
    """Its μ (Gaussian DP) is at least this."""
    rho_lower: float
    """Its ρ (zero-concentrated DP) is at least this."""
    profile: tuple[tuple[float, float], ...] = dataclasses.field(repr=False)
    """Points (ε, δ): at this ε, δ is at least this."""
    draws: int
    confidence: float
    """Of all bounds of all pairs together."""
    unread: tuple[str, ...]
    """Columns that no attack can read; a leak there is not seen."""
    data: Mapping[str, Any] = dataclasses.field(repr=False, compare=False)
    """All of it, as in the JSON report of `dp-audit measure`."""

    def epsilon(self, delta: float) -> float:
        """A lower bound on ε at this δ: the one at the next larger δ of the table. 0 beyond it."""
        return max((bound for at, bound in self.table.items() if at >= delta), default=0.0)

    def __str__(self) -> str:
        lines = [f"{self.name} / {self.pair}: lower bounds that hold together with confidence {100 * self.confidence:.6g} %"]
        lines += [f"  at δ = {delta:<7g} ε ≥ {brief(bound)}" for delta, bound in self.table.items()]
        lines.append(f"  μ ≥ {brief(self.mu_lower)}, ρ ≥ {brief(self.rho_lower)}; {self.draws:,} draws")
        if self.unread:
            lines.append(f"  Not read, because nothing in it repeats: {', '.join(self.unread)}. A leak there is not seen.")
        return "\n".join(lines)

    def to_pandas(self) -> Any:
        """A pandas DataFrame with a row for each δ."""
        import pandas

        return pandas.DataFrame({"delta": list(self.table), "epsilon_lower": list(self.table.values())})

    def plot(self, ax: Any = None) -> Any:
        """Draws δ as a function of ε. Needs matplotlib."""
        import matplotlib.pyplot as pyplot

        if ax is None:
            _, ax = pyplot.subplots(layout="constrained")
        points = [point for point in self.profile if point[1] > 0]
        if points:
            ax.plot(*zip(*points), label="δ is at least this")
            ax.set_yscale("log")
        ax.set_title(f"{self.name} / {self.pair}")
        ax.set_xlabel("ε")
        ax.set_ylabel("δ")
        ax.legend()
        return ax


def measure(
    mechanism: Callable[..., Any],
    left: Any = MISSING,
    right: Any = MISSING,
    *,
    pairs: Pairs | None = None,
    delta: Sequence[float] = (),
    draws: int = DEFAULT_DRAWS,
    seed: int = 0,
    confidence: float = 0.999,
    relation: str | None = None,
    batch: bool | None = None,
    rng: str = "numpy",
    features: Callable[[Any], dict[str, Any]] | None = None,
    ignore: Mapping[str, str] | None = None,
    messages: bool = True,
    threads: int | None = None,
    progress: bool | Show | None = None,
    name: str | None = None,
) -> Any:
    """Measures how much a mechanism leaks: lower bounds on ε at every δ, on μ and on ρ. Nothing is claimed and nothing judged.

    >>> import dp_audit as dpa
    >>> def noisy_count(data, rng, count):
    ...     return len(data) + rng.laplace(size=count)
    >>> found = dpa.measure(noisy_count, ["x"], ["x", "y"], draws=300_000)
    >>> 0.9 < found.epsilon(0) <= 1.0 and found.epsilon(0.1) < 0.8
    True

    left, right: two neighbouring datasets; a Measurement is returned. Or `pairs`, as in `audit`; then a list of them is returned.
    delta: more δ for the table.
    draws: draws per pair. They are divided over three audits, whose rules are learned for ε at δ = 0, for ε at δ = 1e-5, and for μ.
    The other arguments are those of `audit`.
    """
    given = named_pairs(left, right, pairs)
    for value in delta:
        if not 0 <= value <= 1:
            raise ValueError(f"delta has {value}, must be between 0 and 1")
    relations = [relation_of(one, other, relation) for one, other in given.values()]

    def functions(pair: tuple[Any, Any]) -> list[Function]:
        return [Function(mechanism, *pair, batch=batch, rng=rng, features=features, messages=messages) for _ in range(LENSES)]

    prepared = {name: functions(pair) for name, pair in given.items()}
    shared = next(iter(prepared.values()))[0].call.batch and threads != 1
    spec = {
        "name": name or called(mechanism),
        "subject": {"function": {"name": called(mechanism)}},
        "claim": PureDp(1.0).spelling(),
        "relation": relations[0] if all(found == relations[0] for found in relations) else {"custom": {"reason": "one record"}},
        "attacks": None,
        "resolution": None,
        "reach": None,
        "ignore": ignored(ignore),
        "settings": settings(draws, seed, confidence, "budget", None),
    }
    deltas = sorted({*DELTAS, *map(float, delta)})

    def work(show: Any) -> Any:
        return _dp_audit.measure(json.dumps(spec), list(prepared.items()), deltas, threads, shared, show)

    text, interrupted = observed(work, progress)
    if isinstance(interrupted, KeyboardInterrupt):
        raise Interrupted(None) from interrupted
    if interrupted is not None:
        raise interrupted
    found = [measurement(one, prepared) for one in json.loads(text)["measurements"]]
    return found[0] if pairs is None else found


def measurement(data: Mapping[str, Any], functions: Mapping[str, list[Function]]) -> Measurement:
    """A measurement from its JSON. What could not be measured is an exception."""
    if data["error"]:
        cause = next((function.error for function in functions.get(data["pair"], []) if function.error), None)
        raise AuditError(f"{data['audit']} ({data['pair']}): {data['error']}") from cause
    number = lambda value: math.inf if value is None else float(value)  # noqa: E731
    return Measurement(
        name=data["audit"],
        pair=data["pair"],
        table={at["delta"]: number(at["epsilon_lower"]) for at in data["epsilon"]},
        mu_lower=number(data["mu_lower"]),
        rho_lower=number(data["rho_lower"]),
        profile=tuple((at["epsilon"], at["delta_lower"]) for at in data["profile"]),
        draws=data["draws"],
        confidence=data["confidence"],
        unread=tuple(data["unread"]),
        data=data,
    )
