"""Audits of functions, of arrays and of files."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import os
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping, Sequence


import numpy

from . import _dp_audit, worker
from ._claims import Claim
from ._errors import AuditError, Interrupted
from ._executor import DIVIDED_DRAWS, draw_on, run_on
from ._function import HINTS, Function, flat, listed
from ._neighbours import relation_of
from ._progress import Show, progress as make_progress
from ._result import Result, Run, result_of

DEFAULT_DRAWS = 1_000_000
MISSING: Any = object()

Pairs = Mapping[str, tuple[Any, Any]] | Iterable[tuple[Any, Any]]


def audit(
    mechanism: Callable[..., Any],
    left: Any = MISSING,
    right: Any = MISSING,
    *,
    claim: Claim,
    pairs: Pairs | None = None,
    draws: int = DEFAULT_DRAWS,
    seed: int = 0,
    confidence: float = 0.999,
    until: str | None = None,
    max_seconds: float | None = None,
    relation: str | None = None,
    batch: bool | None = None,
    rng: str = "numpy",
    features: Callable[[Any], dict[str, Any]] | None = None,
    attacks: Sequence[str] | None = None,
    reach: float | tuple[float, str] | None = None,
    ignore: Mapping[str, str] | None = None,
    resolution: float | None = None,
    messages: bool = True,
    threads: int | None = None,
    progress: bool | Show | None = None,
    name: str | None = None,
    expect: str | None = None,
    executor: Any = None,
    tasks: int | None = None,
    trace: bool = False,
    evidence: str | os.PathLike[str] | None = None,
    since: str | None = None,
) -> Result:
    """Audits a mechanism: does it leak more than it claims?

    The mechanism is `mechanism(data, rng)`, which makes one draw, or `mechanism(data, rng, count)`, which returns an array with `count` draws on
    its first axis and is much faster. `rng` may be left out; then the same seed need not give the same result. What it returns is what an
    attacker sees: numbers, strings, None, arrays, lists, dicts, dataclasses; exceptions and NaN are outputs too.

    >>> import dp_audit as dpa
    >>> def noisy_count(data, rng, count):
    ...     return len(data) + rng.laplace(size=count)
    >>> result = dpa.audit(noisy_count, ["x"], ["x", "y"], claim=dpa.PureDp(1.0), draws=200_000)
    >>> result.verdict, result.epsilon_lower > 0.9
    ('consistent', True)
    >>> dpa.audit(noisy_count, ["x"], ["x", "y"], claim=dpa.PureDp(0.5), draws=200_000).verdict
    'violated'

    left, right: two neighbouring datasets, any Python objects. Or `pairs`: a list of such pairs, or a dict of named ones; the claim must hold
        for all of them.
    claim: PureDp, ApproximateDp, Gdp, Zcdp, RenyiDp, Profile or Stability.
    draws: draws per pair.
    seed: the same seed gives the same result, on any number of threads.
    confidence: of all bounds of this audit together.
    until: "refuted" ends as soon as the claim is refuted, so a broken mechanism takes few draws, and its bound is just above the claim; one that
        is not refuted spends all draws. "budget" always spends them, for the largest bound. "decided" ends earlier still, and shows less about a
        claim that is not refuted. If absent: "refuted", or "budget" where an executor divides the draws of a pair, which it can do only with
        a number of draws that is fixed in advance.
    max_seconds: the time that each pair may take; then the number of draws depends on the speed.
    relation: "add-remove" or "replace-one", which are checked, or the reason why the datasets are neighbours. Without it, datasets that have
        records (lists, arrays, frames) must differ in one record.
    batch: whether the mechanism takes `count`; found out from its arguments if absent.
    rng: "numpy" for a numpy Generator, "python" for a random.Random.
    features: a function of one output that returns a dictionary of further columns, for an attacker who knows a key.
    attacks: the attacks to try, as in audit files.
    reach: the part of the claim that the attack must be seen to reach, and why if it is less than half: (0.2, "the proof is conservative").
    ignore: columns that never repeat and need not be read, and why they cannot leak: {"token": "a random session"}. Without it, an audit with
        such a column is inconclusive, because a leak there would not be seen.
    resolution: the excess over the claim that a consistent audit could have detected; a tenth of the claim if absent.
    messages: whether the message of an exception is part of the output.
    threads: threads of dp-audit. A mechanism that makes one draw is called by one thread at a time, a vectorised one by all of them.
    progress: True or False; a function of (draws, planned draws, bound, audits finished); shown in terminals and notebooks if absent.
    expect: the verdict that is expected, "consistent" or "violated"; reports say whether it came.
    executor: runs the audit in other processes: anything with `submit`, as concurrent.futures.Executor has it (a process pool, Dask, MPI,
        submitit), or the module ray. The result is the same. From 2^19 draws on, those of a pair are divided too. `tasks` is the number of tasks
        to divide it into.
    evidence: a file in which the evidence of many runs is collected, each with a new seed; all of them together refute a leak that none shows
        (docs/how-to/evidence.md). Half of the error rate is for this, half for the audit itself. `since` names a version with which the
        evidence begins anew.
    trace: whether the worst pair is traced too (docs/traces.md): `result.trace` names the line at fault. Draws alone decide the verdict.

    Raises AuditError if the mechanism could not be audited. After Ctrl-C, raises Interrupted (a KeyboardInterrupt), whose `result` has what is
    known so far.
    """
    given = named_pairs(left, right, pairs)
    claim_checked(claim)
    if executor is not None and evidence is not None:
        raise ValueError("evidence is not collected by an executor; leave out one of them")
    divided = executor is not None and draws >= DIVIDED_DRAWS
    if until is None:
        until = "budget" if divided else "refuted"
    relations = [relation_of(one, other, relation) for one, other in given.values()]
    functions = {
        pair: Function(mechanism, one, other, batch=batch, rng=rng, features=features, messages=messages) for pair, (one, other) in given.items()
    }
    shared = next(iter(functions.values())).call.batch and threads != 1
    spec = {
        "name": name or called(mechanism),
        "subject": {"function": {"name": called(mechanism)}},
        "claim": claim.spelling(),
        "relation": relations[0] if all(found == relations[0] for found in relations) else {"custom": {"reason": "one record"}},
        "attacks": list(attacks) if attacks is not None else None,
        "resolution": resolution,
        "reach": asked(reach),
        "ignore": ignored(ignore),
        "expect": expect,
        "datasets": {pair: [notation(one), notation(other)] for pair, (one, other) in given.items()},
        "settings": settings(draws, seed, confidence, until, max_seconds) | {"evidence": evidence is not None},
        "evidence": collected(evidence, since, confidence),
    }

    def work(show: Any) -> tuple[Any, BaseException | None]:
        if executor is not None and not divided:
            draw_on(executor, functions)
        if not divided:
            return _dp_audit.audit(json.dumps(spec), list(functions.items()), threads, shared, show)
        job = _dp_audit.job_of_function(json.dumps(spec), list(functions))
        return run_on(executor, job, functions, shared, tasks, threads, show), None

    result = judged(work, progress, functions, shared)
    if not trace:
        return result
    from ._trace import trace as looked_at

    worst = given[result.worst.name] if result.worst is not None else next(iter(given.values()))
    found = looked_at(mechanism, *worst, claim=claim, seed=seed, relation=relation or "as in the audit", batch=batch, rng=rng, messages=messages, name=name)
    return dataclasses.replace(result, trace=found)


NOTED_RECORDS = 10_000  # longer datasets are only named in reports
NOTED_CHARACTERS = 10_000


def notation(data: Any) -> list[Any]:
    """A dataset as reports show it: its records, or a text about what has no such notation.

    >>> notation([1, 2.5, ("a", None)]), notation({"a": 1}), notation([math.nan])
    ([1, 2.5, ['a', None]], ["{'a': 1}"], ['[nan]'])
    """
    length = len(data) if hasattr(data, "__len__") else 0
    if length > NOTED_RECORDS:
        return [f"a {type(data).__name__} of length {length:,}"]
    listed = data.tolist() if isinstance(data, numpy.ndarray) else data
    if isinstance(listed, (list, tuple)) and all(map(is_record, listed)):
        return [list(record) if isinstance(record, tuple) else record for record in listed]
    try:
        text = " ".join(repr(data).split())
    except Exception:  # a report does not fail because of it
        text = f"a {type(data).__name__}"
    if " at 0x" in text:  # an address, which differs from run to run
        text = f"a {type(data).__name__}"
    return [text if len(text) <= NOTED_CHARACTERS else text[: NOTED_CHARACTERS - 1] + "…"]


def is_record(value: Any) -> bool:
    """Whether a value has the notation of a record: a number, a text, nothing, or a list of these."""
    if isinstance(value, (list, tuple)):
        return all(map(is_record, value))
    if type(value) is int:
        return abs(value) <= 2**53
    return value is None or type(value) is str or (type(value) is float and math.isfinite(value))


def called(mechanism: Callable[..., Any]) -> str:
    """What a mechanism is called in reports."""
    while isinstance(mechanism, functools.partial):
        mechanism = mechanism.func
    return getattr(mechanism, "__name__", type(mechanism).__name__)


def claim_checked(claim: Any) -> Claim:
    if not isinstance(claim, Claim):
        raise TypeError(f"claim is a {type(claim).__name__}; it must be a claim such as PureDp(1.0) or ApproximateDp(1.0, 1e-5)")
    return claim


def named_pairs(left: Any, right: Any, pairs: Pairs | None) -> dict[str, tuple[Any, Any]]:
    """The pairs by their names."""
    if pairs is None:
        if left is MISSING or right is MISSING:
            raise TypeError("there is no pair; give left and right, or pairs")
        return {"left and right": (left, right)}
    if left is not MISSING or right is not MISSING:
        raise TypeError("there are left and right as well as pairs; give one of them")
    if isinstance(pairs, Mapping):
        found = {str(name): tuple(pair) for name, pair in pairs.items()}
    else:
        found = {f"pair {index}": tuple(pair) for index, pair in enumerate(pairs, 1)}
    if not found:
        raise ValueError("pairs is empty; give at least one pair of datasets")
    for name, pair in found.items():
        if len(pair) != 2:
            raise ValueError(f"{name} has {len(pair)} datasets, must have two")
    return found  # type: ignore[return-value]


def asked(reach: float | tuple[float, str] | None) -> dict[str, Any] | None:
    if reach is None:
        return None
    at_least, because = reach if isinstance(reach, tuple) else (reach, None)
    return {"at_least": at_least, "because": because}


def ignored(ignore: Mapping[str, str] | None) -> dict[str, str]:
    """The columns that need not be read; each with a reason."""
    found = dict(ignore or {})
    for column, reason in found.items():
        if not isinstance(reason, str) or not reason.strip():
            raise ValueError(f"ignore gives no reason for {column!r}; say why it cannot leak")
    return found


def settings(draws: int | None, seed: int, confidence: float, until: str, max_seconds: float | None) -> dict[str, Any]:
    """The settings of a run, in the form that the core has."""
    if until not in ("budget", "refuted", "decided"):
        raise ValueError(f"until is {until!r}, must be 'budget', 'refuted' or 'decided'")
    if draws is not None:
        if draws != int(draws) or not 1 <= draws <= 10**12:
            raise ValueError(f"draws is {draws}, must be a whole number from 1 to 1e12")
        draws = int(draws)
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed is {seed}, must be a whole number from 0 to 2^64 − 1")
    return {"draws": draws, "seed": seed, "confidence": confidence, "until": until, "max_seconds": max_seconds}


def collected(evidence: str | os.PathLike[str] | None, since: str | None, confidence: float) -> dict[str, Any] | None:
    """Where evidence of many runs is collected. Tests that share a file also share the confidence of their session."""
    if evidence is None:
        if since is not None:
            raise ValueError(f"since is {since!r}, but there is no file of evidence; give evidence too")
        return None
    confidence = evidence.confidence if isinstance(evidence, SharedEvidence) else confidence
    return {"path": os.fspath(evidence), "since": since, "confidence": confidence}


class SharedEvidence(os.PathLike):  # type: ignore[type-arg]
    """A file of evidence for several audits, whose confidence together is this."""

    def __init__(self, path: str | os.PathLike[str], confidence: float) -> None:
        self.path = path
        self.confidence = confidence

    def __fspath__(self) -> str:
        return os.fspath(self.path)


def observed(work: Callable[[Any], tuple[Any, BaseException | None]], progress: bool | Show | None) -> tuple[Any, BaseException | None]:
    """Does the work with progress."""
    show = make_progress(progress)
    try:
        return work(show)
    finally:
        if show is not None:
            show.close()


def judged(
    work: Callable[[Any], tuple[Any, BaseException | None]],
    progress: bool | Show | None,
    functions: Mapping[str, Function],
    shared: bool,
) -> Result:
    """The result of one audit. What could not be judged is an exception."""
    report, interrupted = observed(work, progress)
    data = json.loads(report.json())
    result = result_of(data["audits"][0], data["settings"], report, functions, shared)
    if isinstance(interrupted, KeyboardInterrupt):
        raise Interrupted(result) from interrupted
    if interrupted is not None:
        raise interrupted
    refuse_unjudged(result, functions)
    return result


def refuse_unjudged(result: Result, functions: Mapping[str, Function]) -> None:
    """A pair that could not be judged is an exception, unless another one refutes the claim."""
    failed = next((pair for pair in result.pairs if pair.verdict == "error"), None)
    if failed is not None and result.verdict != "violated":
        cause = functions[failed.name].error if failed.name in functions else None
        place = f" ({failed.name})" if len(result.pairs) > 1 else ""
        raise AuditError(f"{result.name}{place}: {failed.error}", result) from cause


def samples(
    left: Any,
    right: Any,
    *,
    claim: Claim,
    ordered: bool = True,
    seed: int = 0,
    confidence: float = 0.999,
    until: str = "budget",
    features: Callable[[Any], dict[str, Any]] | None = None,
    attacks: Sequence[str] | None = None,
    reach: float | tuple[float, str] | None = None,
    ignore: Mapping[str, str] | None = None,
    resolution: float | None = None,
    threads: int | None = None,
    progress: bool | Show | None = None,
    name: str = "samples",
) -> Result:
    """Audits outputs that were collected before: one entry or row for each, from independent runs on two neighbouring datasets.

    >>> import dp_audit as dpa, numpy
    >>> rng = numpy.random.default_rng(1)
    >>> left, right = rng.laplace(0, 1, 50_000), rng.laplace(1, 1, 50_000)
    >>> dpa.samples(left, right, claim=dpa.PureDp(0.5)).verdict
    'violated'

    ordered: whether the outputs are in the order in which they were drawn. Then they are tested for dependence.
    """
    claim_checked(claim)
    outputs = []
    for which, side in (("left", left), ("right", right)):
        found = listed(side)
        if found is None:
            raise TypeError(f"{which} is a {type(side).__name__}; it must be an array or a list with one entry or row for each output")
        if len(found) == 0:
            raise ValueError(f"{which} has no outputs")
        outputs.append(found)
    try:
        columns = worker.Columns(None, features, [output for side in outputs for output in side], HINTS)
        packed = [columns.pack(side) for side in outputs]
    except worker.Refusal as error:
        raise AuditError(str(error)) from error
    blocks = [flat(*side) for side in packed]
    spec = {
        "name": name,
        "subject": {"given": {"kind": "recorded"}},
        "claim": claim.spelling(),
        "relation": {"custom": {"reason": "as the caller says"}},
        "attacks": list(attacks) if attacks is not None else None,
        "resolution": resolution,
        "reach": asked(reach),
        "ignore": ignored(ignore),
        "settings": settings(None, seed, confidence, until, None),
    }
    names = columns.all_names()
    width = columns.width + len(columns.names)
    first, second = blocks
    return judged(lambda show: _dp_audit.samples(json.dumps(spec), first, second, width, names, ordered, threads, show), progress, {}, False)


def run(
    *paths: str | os.PathLike[str],
    filter: str | None = None,
    draws: int | None = None,
    seed: int = 0,
    confidence: float = 0.999,
    until: str = "budget",
    max_seconds: float | None = None,
    controls: bool = False,
    threads: int | None = None,
    progress: bool | Show | None = None,
    executor: Any = None,
    tasks: int | None = None,
    evidence: str | os.PathLike[str] | None = None,
    since: str | None = None,
) -> Run:
    """Runs audit files, as `dp-audit run` does, and returns what they found. Nothing is written.

    paths: audit files and folders of them; audits/ if there are none.
    filter: only audits whose name, mechanism or file contains this text.
    The other arguments are those of `audit`.
    """
    if executor is not None and evidence is not None:
        raise ValueError("evidence is not collected by an executor; leave out one of them")
    chosen = settings(draws, seed, confidence, until, max_seconds) | {"controls": controls, "evidence": evidence is not None}
    where = collected(evidence, since, confidence)
    files = [os.fspath(path) for path in paths] or ["audits"]

    def work(show: Any) -> tuple[Any, BaseException | None]:
        if executor is None:
            return _dp_audit.run(files, json.dumps(chosen), filter, threads, show, json.dumps(where) if where else None)
        return run_on(executor, _dp_audit.job_of_files(files, json.dumps(chosen), filter), None, False, tasks, threads, show), None

    report, interrupted = observed(work, progress)
    found = Run.of_report(report)
    if isinstance(interrupted, KeyboardInterrupt):
        raise Interrupted(found) from interrupted
    if interrupted is not None:
        raise interrupted
    return found


def load(source: str | os.PathLike[str]) -> Run:
    """Reads a JSON report: the name of a file that `--json` wrote, or its text."""
    text = os.fspath(source)
    if not text.lstrip().startswith("{"):
        text = Path(text).read_text(encoding="utf-8")
    data = json.loads(text)
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != "dp-audit-report/1":
        raise ValueError(f"the schema is {schema}, must be dp-audit-report/1; use a report that was written with --json or to_json")
    return Run(tuple(result_of(audit, data["settings"]) for audit in data["audits"]), data["settings"], None, data)
