"""A search that looks at pairs with traces, and certifies the worst with draws."""

from __future__ import annotations

import itertools
import math
import time
from typing import Any, Callable, Iterator

from .._claims import Claim
from .._neighbours import relation_of
from .run import trace
from .result import Trace

RUNS = 1  # of a trace during the race
TRACING_PART = 0.5  # of the time goes to traces at most
FINALISTS = 3
MOST_PAIRS = 3000
PATIENCE = 400  # pairs without a worse one before the race ends, once something is suspect


class Race:
    """Traces pairs and keeps the worst, one for each thing that is at fault."""

    def __init__(self, mechanism: Callable[..., Any], claim: Claim, options: dict[str, Any]) -> None:
        self.mechanism, self.claim, self.options = mechanism, claim, options
        self.tried = self.failed = 0
        self.best: dict[Any, tuple[float, Any, Any, Trace]] = {}

    def look(self, left: Any, right: Any, relation: str | None) -> Trace | None:
        """The trace of a pair; None if it cannot be run. The first pair runs twice, because what a program prepares once is no difference of data."""
        if self.tried == 0:
            self.tried = 1
            self.look(left, right, relation)
            self.tried = self.failed = 0
        self.tried += 1
        try:
            return trace(self.mechanism, left, right, claim=self.claim, runs=RUNS, relation=relation, brief=True, **self.options)
        except (ValueError, TypeError):
            raise
        except Exception:
            self.failed += 1
            return None

    def run(self, pairs: Iterator[tuple[Any, Any]], relation: str | None, seconds: float) -> None:
        end = time.monotonic() + seconds
        last = 0
        for left, right in itertools.islice(pairs, MOST_PAIRS):
            found = self.look(left, right, relation)
            if found is not None:
                first = found.findings[0] if found.findings else None
                key = (first.kind, first.site) if first is not None else None
                score = found.score - 1e-3 * (_length(left) + _length(right))
                if key not in self.best or score > self.best[key][0]:
                    self.best[key] = score, left, right, found
                    last = self.tried
            sure = any(kept[3].verdict == "suspect" for kept in self.best.values())
            if time.monotonic() > end or sure and self.tried - last > PATIENCE:
                break

    def finalists(self) -> list[tuple[Any, Any, Trace]]:
        ranked = sorted(self.best.values(), key=lambda kept: -kept[0])[:FINALISTS]
        return [(left, right, found) for _, left, right, found in ranked]

    def smaller(self, left: Any, right: Any, found: Trace, relation: str | None, end: float) -> tuple[Any, Any, Trace]:
        """Without records that both sides have, as long as the trace is as bad."""
        from .._search import Source

        source = Source(lambda rng: None, relation, True)
        go_on = True
        while go_on and time.monotonic() < end:
            go_on = False
            for one, other in source.smaller(left, right):
                again = self.look(one, other, relation)
                if again is not None and again.verdict == found.verdict and again.score >= 0.999 * found.score:
                    left, right, found, go_on = one, other, again, True
                    break
        return left, right, found


def tells(found: Trace) -> bool:
    """Whether a trace is a reason to choose a pair: a fault, or a loss above the claim."""
    untracked = found.reason is not None and found.reason.startswith("untracked")
    return found.verdict == "suspect" or found.verdict == "unclear" and not untracked and any(one.exceeded for one in found.compared)


def _length(data: Any) -> int:
    try:
        return len(data)
    except TypeError:
        return 0


def checked(pairs: Iterator[Any], relation: str | None) -> Iterator[tuple[Any, Any]]:
    for pair in pairs:
        if len(pair) != 2:
            raise ValueError(f"pairs gave {len(pair)} datasets, must give two")
        relation_of(*pair, relation)
        yield tuple(pair)  # type: ignore[misc]


def history(race: Race) -> dict[str, Any]:
    """The race in plain data."""
    kept = sorted(race.best.values(), key=lambda one: -one[0])
    return {
        "traced": race.tried,
        "could not be run": race.failed,
        "best": [{"left": repr(left), "right": repr(right), "trace": found.to_dict()} for score, left, right, found in kept if math.isfinite(score)],
    }
