"""Searches for a pair of neighbours on which a claim fails."""

from __future__ import annotations

import collections
import dataclasses
import json
import time
from typing import Any, Callable, Iterable, Mapping

import numpy

from . import _dp_audit, worker
from ._audit import asked, audit, called, claim_checked, observed, refuse_unjudged, settings
from ._claims import Claim
from ._errors import AuditError
from ._function import Call, Function
from ._neighbours import relation_of
from ._progress import Show
from ._result import Result, result_of

EXAMPLES = 100  # pairs that a Hypothesis strategy makes at once


@dataclasses.dataclass(frozen=True)
class SearchResult:
    """What a search found."""

    found: bool
    """Whether a pair refutes the claim. That none was found is no proof."""
    left: Any
    """The dataset D of the smallest pair that refutes the claim, or of the best one."""
    right: Any
    """Its neighbour D'."""
    result: Result
    """What was certified on this pair, on draws that the search had not seen: bounds, reach, rule and witness are its own."""
    effort: str
    """How many candidates and draws it took, in words."""
    toml: str | None
    """The pair as it stands in an audit file; None if there is no notation for it."""
    history: Mapping[str, Any] = dataclasses.field(repr=False)
    """The race: candidates, rounds, what they promised."""

    def __str__(self) -> str:
        what = "A pair refutes the claim" if self.found else "No pair was found that refutes the claim; that is no proof. The best one"
        return f"{what}:\n  left  = {self.left!r}\n  right = {self.right!r}\n{self.result}\n{self.effort}."


def search(
    mechanism: Callable[..., Any],
    *,
    claim: Claim,
    record: Mapping[str, Any] | None = None,
    size: tuple[int, int] = (0, 20),
    pairs: Any = None,
    relation: str | None = None,
    shrink: bool = True,
    draws: int = 20_000_000,
    seconds: float | None = 60.0,
    seed: int = 0,
    confidence: float = 0.999,
    batch: bool | None = None,
    rng: str = "numpy",
    features: Callable[[Any], dict[str, Any]] | None = None,
    reach: float | tuple[float, str] | None = None,
    messages: bool = True,
    threads: int | None = None,
    progress: bool | Show | None = None,
    name: str | None = None,
    trace: bool = False,
) -> SearchResult:
    """Searches for two neighbours on which a claim fails, and makes the pair small.

    >>> import dp_audit as dpa
    >>> def noisy_mean(data, rng, count):
    ...     return sum(data) / max(len(data), 1) + rng.laplace(scale=0.2, size=count)
    >>> found = dpa.search(noisy_mean, claim=dpa.PureDp(1.0), record={"type": "number", "lower": 0, "upper": 1}, size=(0, 9), seconds=20)
    >>> found.found, len(found.left) + len(found.right)
    (True, 1)

    record, size: what a dataset may be, as in the section [search] of an audit file (docs/search.md): a list of records, each a number, integer,
        category, text or table, with nasty values unless `never` excludes them. Neighbours are those of `relation`, "add-remove" if absent.
    pairs: instead of a domain, a function `(rng) -> (left, right)`, or a Hypothesis strategy of such pairs. They must be neighbours, as in
        `audit`.
    shrink: whether a pair of `pairs` that refutes the claim is made smaller by leaving out records that both sides have.
    trace: whether candidates are traced instead of drawn (docs/traces.md): two executions a pair instead of thousands. The worst are certified by
        draws, as always. Then the domain is searched in Python, and `toml` is None. If traces tell no pair from another, draws search after all.
    draws, seconds: of the whole search. The other arguments are those of `audit`.

    Only the best few pairs are judged, on fresh draws, and each has its own share of the error rate. So the confidence holds, however many
    candidates were tried.
    """
    claim_checked(claim)
    if (record is None) == (pairs is None):
        raise TypeError("give either record, which says what a dataset may be, or pairs, which makes them")
    if trace:
        return search_traced(
            mechanism, claim, record, size, pairs, relation, shrink, draws, seconds, seed, confidence, batch, rng, features, reach, messages, threads,
            progress, name,
        )
    call = Call(mechanism, batch)
    shared = call.batch and threads != 1
    options: dict[str, Any] = {"batch": call.batch, "rng": rng, "features": features, "messages": messages}
    own_relation = relation if relation is not None else "add-remove"
    spec = {
        "name": name or called(mechanism),
        "subject": {"function": {"name": called(mechanism)}},
        "claim": claim.spelling(),
        "relation": own_relation if record is not None else {"custom": {"reason": relation or "as the pairs of the caller are"}},
        "attacks": None,
        "resolution": None,
        "reach": asked(reach),
        "settings": settings(None, seed, confidence, "budget", None),
    }
    whole = settings(draws, 0, 0.9, "budget", None)["draws"]
    job: Any = {"spec": json.dumps(spec), "shared": shared, "draws": whole, "seconds": seconds, "threads": threads}

    if record is not None:
        domain = json.dumps({"record": dict(record), "size": {"least": size[0], "most": size[1]}})

        def make(left: Any, right: Any) -> Function:
            return Function(mechanism, records(left), records(right), **options)

        def work(show: Any) -> Any:
            return _dp_audit.search_domain({**job, "make": make}, domain, show), None
    else:
        source = Source(pairs, relation, shrink)

        def make(left: Any, right: Any) -> Function:
            return Function(mechanism, left, right, **options)

        def work(show: Any) -> Any:
            return _dp_audit.search_source({**job, "make": make}, source, show), None

    try:
        (ended, finalists), _ = observed(work, progress)
    except RuntimeError as error:
        raise AuditError(f"{spec['name']}: {error}") from error
    report, refuting, history, effort = ended
    data = json.loads(report.json())
    if record is not None:
        sides = [(records(left), records(right)) for left, right, _ in finalists]
    else:
        sides = finalists
    functions = {pair["pair"]: Function(mechanism, *side, **options) for pair, side in zip(data["audits"][0]["pairs"], sides)}
    result = result_of(data["audits"][0], data["settings"], report, functions, shared)
    refuse_unjudged(result, functions)
    best = refuting if refuting is not None else max(range(len(sides)), key=lambda index: result.pairs[index].lower or 0.0)
    toml = finalists[best][2] if record is not None else None
    left, right = sides[best]
    only = report.only(result.pairs[best].name)
    data = json.loads(only.json())
    result = result_of(data["audits"][0], data["settings"], only, functions, shared)
    return SearchResult(refuting is not None, left, right, result, effort, toml, json.loads(history))


def search_traced(
    mechanism: Callable[..., Any],
    claim: Claim,
    record: Mapping[str, Any] | None,
    size: tuple[int, int],
    pairs: Any,
    relation: str | None,
    shrink: bool,
    draws: int,
    seconds: float | None,
    seed: int,
    confidence: float,
    batch: bool | None,
    rng: str,
    features: Callable[[Any], dict[str, Any]] | None,
    reach: float | tuple[float, str] | None,
    messages: bool,
    threads: int | None,
    progress: bool | Show | None,
    name: str | None,
) -> SearchResult:
    """Candidates are traced; the worst few are audited on draws, which share the error rate."""
    from ._trace import candidates, searching

    settings(draws, seed, confidence, "budget", seconds)
    if seconds is not None and not seconds > 0:
        raise ValueError(f"seconds is {seconds}, must be positive")
    seconds = 60.0 if seconds is None else seconds
    begun = time.monotonic()
    if record is not None:
        relation = relation or "add-remove"
        if relation not in ("add-remove", "replace-one"):
            raise ValueError(f"relation is {relation!r}; neighbours of a domain are 'add-remove' or 'replace-one'")
        source: Any = candidates.pairs(record, size, relation, seed)
    else:
        own = Source(pairs, relation, shrink)
        source = searching.checked(iter(lambda: own.next(int(numpy.random.default_rng((seed, race.tried)).integers(2**31)), []), None), relation)
    race = searching.Race(mechanism, claim, {"batch": batch, "rng": rng, "messages": messages})
    race.run(source, relation, searching.TRACING_PART * seconds)
    finalists = race.finalists()
    if not finalists:
        raise AuditError(f"{name or called(mechanism)}: no pair could be traced; audit one of them with dp_audit.trace to see why")
    if not any(searching.tells(found) for _, _, found in finalists):
        rest = max(1.0, seconds - (time.monotonic() - begun))
        by_draws = search(
            mechanism, claim=claim, record=record, size=size, pairs=pairs, relation=relation, shrink=shrink, draws=draws, seconds=rest, seed=seed,
            confidence=confidence, batch=batch, rng=rng, features=features, reach=reach, messages=messages, threads=threads, progress=progress, name=name,
        )
        return dataclasses.replace(by_draws, effort=f"Traces of {race.tried:,} pairs told none from another. {by_draws.effort}")
    if shrink:
        end = begun + (searching.TRACING_PART + 0.1) * seconds
        finalists = [race.smaller(left, right, found, relation, end) for left, right, found in finalists]
    left_over = max(1.0, seconds - (time.monotonic() - begun))
    named = {f"found {number}": (left, right) for number, (left, right, _) in enumerate(finalists, 1)}
    result = audit(
        mechanism, claim=claim, pairs=named, draws=max(draws // len(named), 1000), max_seconds=left_over / len(named), seed=seed, until="decided",
        confidence=confidence, relation=relation, batch=batch, rng=rng, features=features, reach=reach, messages=messages, threads=threads,
        progress=progress, name=name,
    )
    refuting = [place for place, pair in enumerate(result.pairs) if pair.verdict == "violated"]
    best = refuting[0] if refuting else max(range(len(named)), key=lambda place: result.pairs[place].lower or 0.0)
    left, right, _ = finalists[best]
    taken = sum(pair.draws or 0 for pair in result.pairs)
    effort = f"The search traced {race.tried:,} pairs ({race.failed:,} could not be run) and certified {len(named)} on {taken:,} draws"
    return SearchResult(bool(refuting), left, right, result, effort, None, searching.history(race))


def records(text: str) -> list[Any]:
    """The records of a dataset, as a mechanism gets them."""
    return [worker.record(value) for value in json.loads(text)]


class Source:
    """Pairs of a function or of a Hypothesis strategy, for the core."""

    def __init__(self, pairs: Any, relation: str | None, shrink: bool) -> None:
        self.relation = relation
        self.shrink = shrink
        self.waiting: collections.deque[tuple[Any, Any]] = collections.deque()
        if hasattr(pairs, "example") and hasattr(pairs, "map"):
            self.refill: Callable[[int], Iterable[tuple[Any, Any]]] = lambda seed: examples(pairs, seed)
        elif callable(pairs):
            self.refill = lambda seed: [pairs(numpy.random.default_rng(seed))]
        else:
            raise TypeError(f"pairs is a {type(pairs).__name__}; it must be a function (rng) -> (left, right) or a Hypothesis strategy")

    def next(self, seed: int, promising: list[tuple[Any, Any]]) -> tuple[Any, Any] | None:
        """The next pair."""
        if not self.waiting:
            self.waiting.extend(self.refill(seed))
        if not self.waiting:
            return None
        pair = tuple(self.waiting.popleft())
        if len(pair) != 2:
            raise ValueError(f"pairs gave {len(pair)} datasets, must give two")
        relation_of(*pair, self.relation)
        return pair  # type: ignore[return-value]

    def smaller(self, left: Any, right: Any) -> list[tuple[Any, Any]]:
        """Pairs without some of the records that both sides have: without half of them first, then without one."""
        if not self.shrink or not isinstance(left, (list, tuple)) or type(left) is not type(right):
            return []
        common = matched(left, right)
        found = []
        size = len(common)
        while size > 0:
            for start in range(0, len(common), size):
                without = common[start : start + size]
                found.append(tuple(type(side)(value for place, value in enumerate(side) if place not in {pair[index] for pair in without}) for index, side in enumerate((left, right))))
            size //= 2
        return found  # type: ignore[return-value]

    def shown(self, data: Any) -> str:
        text = repr(data)
        return text if len(text) <= 120 else f"{text[:119]}…"


def matched(left: Any, right: Any) -> list[tuple[int, int]]:
    """The places of records that both sides have.

    >>> matched([1, 2, 2], [2, 3, 1])
    [(0, 2), (1, 0)]
    """
    from ._neighbours import key

    free: dict[Any, list[int]] = collections.defaultdict(list)
    for place, record in enumerate(right):
        free[key(record)].append(place)
    return [(place, free[key(record)].pop(0)) for place, record in enumerate(left) if free[key(record)]]


def examples(strategy: Any, seed: int) -> list[tuple[Any, Any]]:
    """Some pairs of a Hypothesis strategy."""
    import hypothesis

    found: list[tuple[Any, Any]] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=EXAMPLES, database=None, deadline=None, phases=[hypothesis.Phase.generate], suppress_health_check=list(hypothesis.HealthCheck)
    )
    @hypothesis.given(strategy)
    def collect(pair: Any) -> None:
        found.append(pair)

    collect()
    return found
