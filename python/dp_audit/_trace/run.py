"""Traces of a pair: record on one side, play back on the other, both ways, several times."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from .._audit import called, claim_checked
from .._claims import ApproximateDp, Claim, Profile, PureDp
from .._errors import AuditError
from .._function import Unchanged
from .._neighbours import relation_of
from .. import worker
from .compare import Failed, difference, numbers, structure
from .execute import Program, prepared
from .judge import Compared, Measured, compared, points_of
from .locate import follow, mixed
from .pairing import Call, Part, pair_up, worst_of
from .result import Finding, Trace, short
from .sites import Site
from .tape import BIT, FULL, Tape, released

REDRAWS = 12  # with other coins, to see whether an output depends on them
PROBED = 24  # released values of which it is tried whether the output shows them

ASSUMING = (
    "the samplers are right, in real arithmetic (audits/libraries/samplers audits those of numpy and random)",
    "inputs of later runs move no further than in the runs seen",
)


def trace(
    mechanism: Callable[..., Any],
    left: Any,
    right: Any,
    *,
    claim: Claim,
    runs: int = 50,
    seed: int = 0,
    confidence: float = 0.999,
    relation: str | None = None,
    batch: bool | None = None,
    rng: str = "numpy",
    messages: bool = True,
    name: str | None = None,
    brief: bool = False,
) -> Trace:
    """Looks inside: which call of noise is at fault, and how much privacy the calls lose on this pair.

    The mechanism runs on one dataset with its noise recorded, and on the other with what was released played back, both ways. What then still
    differs is data that went around the noise. The mechanism must draw from the generator that it gets, from functions marked `primitive`, or from
    a library that has an adapter.

    >>> import dp_audit as dpa
    >>> def noisy_mean(data, rng):
    ...     return sum(data) / len(data) + rng.laplace(scale=1.0 / len(data))
    >>> found = dpa.trace(noisy_mean, [0.2], [0.2, 1.0], claim=dpa.PureDp(1.0))
    >>> found.verdict, found.findings[0].kind
    ('suspect', 'scale')

    runs: executions of the mechanism each way; twice as many are played back.
    confidence: of `delta_limits`.
    brief: whether it is enough to say that something is wrong: lines where data goes around the noise are not looked for.
    The other arguments are those of `audit`.

    The verdict is `suspect`, `bounded` or `unclear`, never `violated` or `consistent`: those come from draws. docs/traces.md says what each means.
    """
    claim_checked(claim)
    if runs != int(runs) or runs < 2 - brief:
        raise ValueError(f"runs is {runs}, must be a whole number of at least {2 - brief}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}, must be between 0 and 1")
    if rng not in ("numpy", "python"):
        raise ValueError(f"rng is {rng!r}, must be 'numpy' or 'python'")
    relation_of(left, right, relation)
    compared(claim, [], 0.5)  # a claim that a trace cannot judge is an error before anything runs
    program = Program(mechanism, left, right, batch, rng, messages)
    guards = [Unchanged(left), Unchanged(right)]
    with prepared():
        ways = [Way(program, side, seed, int(runs), brief) for side in (0, 1)]
    try:
        for guard in guards:
            guard.check(always=True)
    except worker.Refusal as error:
        raise AuditError(str(error)) from error
    with prepared():
        return concluded(name or called(mechanism), claim, ways, confidence, brief)


class Way:
    """The traces in one direction: recorded on `side`, played back on the other."""

    def __init__(self, program: Program, side: int, seed: int, runs: int, brief: bool = False) -> None:
        self.program, self.side, self.runs, self.brief, self.seed = program, side, runs, brief, seed
        self.calls: list[list[Call]] = []
        self.losses: list[float] = []
        self.untracked: dict[str, Site | None] = {}
        self.findings: list[Finding] = []
        self.coins_matter = False
        self.first: tuple[Tape, Any, Tape, Any] | None = None
        self.shows: list[bool] = []
        located = False
        for run in range(runs):
            key = (seed, side, run)
            one, output = program.execute(side, (*key, 0))
            other, answer = program.execute(1 - side, (*key, 1), one)
            self.untracked.update(one.untracked)
            self.untracked.update(other.untracked)
            if run == 0:
                self.first = one, output, other, answer
            if run == 0 and not brief:
                self.check_repeatable(key, one, output)
            calls = pair_up(one, other)
            for call in calls:
                if call.problem == "unknown":
                    self.untracked.setdefault(f"what {call.what} guarantees for these inputs is not known", call.site)
            loss = math.fsum(call.loss for call in calls) if not any(math.isinf(call.loss) for call in calls) else math.inf
            apart = difference(output, answer)
            if apart is None and isinstance(output, Failed):
                self.untracked.setdefault(f"the mechanism failed on both sides: {output}", program.raised)
            if apart is not None:
                loss = math.inf
                if not located:
                    located = True
                    self.output_differs(key, one, output, answer, apart, calls)
            self.calls.append(calls)
            self.losses.append(loss)

    def check_repeatable(self, key: tuple[int, ...], one: Tape, output: Any) -> None:
        """On the same data, with all noise played back, the program must do the same."""
        again, repeated = self.program.execute(self.side, (*key, 2), one)
        self.untracked.update(again.untracked)
        moved = [call for call in pair_up(one, again) if call.problem not in (None, "nan", "sensitivity") or call.loss and math.isfinite(call.loss)]
        if difference(output, repeated) is not None or moved:
            self.untracked.setdefault("the program does something else when it runs again on the same data with the same noise", moved[0].site if moved else None)

    def output_differs(self, key: tuple[int, ...], one: Tape, output: Any, answer: Any, apart: tuple[str, str, str], calls: list[Call]) -> None:
        """Data went around the noise: where?"""
        program = self.program
        path, of_left, of_right = apart if self.side == 0 else (apart[0], apart[2], apart[1])
        if self.depends_on_coins(key, one, output, answer):
            self.coins_matter = True
            return
        site = None
        if isinstance(answer, Failed) or isinstance(output, Failed):
            program.raised = None
            program.execute(self.side if isinstance(output, Failed) else 1 - self.side, (*key, 1), None if isinstance(output, Failed) else one)
            site = program.raised
        lone = next((call for call in calls if call.problem == "one-sided"), None)
        if lone is not None and site is None:
            site = lone.site
            counts = [sum(call.left is not None for call in calls), sum(call.right is not None for call in calls)]
            if counts[0] != counts[1]:
                before, after = counts if self.side == 0 else counts[::-1]
                self.findings.append(Finding("calls", site, "the calls of noise depend on the data", f"{before} calls", f"{after} calls", 6.0))
            else:
                self.findings.append(Finding("calls", site, "noise that only one side releases, or of another length", of_left, of_right, 6.0))
        if site is None and not self.brief:
            followed = [
                follow(lambda: program.execute(self.side, (*key, 3), one)),
                follow(lambda: program.execute(1 - self.side, (*key, 1), one)),
                follow(lambda: program.execute(self.side, (*key, 4))),
            ]
            site = mixed(*followed)
        text = f"the output differs although all noise was played back: {path}"
        self.findings.append(Finding("output", site, text, of_left, of_right, 5.0))

    def depends_on_coins(self, key: tuple[int, ...], one: Tape, output: Any, answer: Any) -> bool:
        """Whether other coins change the outputs, and leave nothing that only data explains: the form of the output."""
        if not one.coins and not any(source.bits for source in one.sources):
            return False
        changed, forms = False, ({str(structure(output))}, {str(structure(answer))})
        for redraw in range(REDRAWS):
            for place, (side, before) in enumerate(((self.side, output), (1 - self.side, answer))):
                _, again = self.program.execute(side, (*key, 10 + redraw, place), one, True)
                changed = changed or difference(before, again) is not None
                forms[place].add(str(structure(again)))
        return changed and not (len(forms[0]) == len(forms[1]) == 1 and forms[0] != forms[1])

    def find_visible(self) -> bool:
        """Whether the output shows all released values: each one, changed by itself, changes the output in its own way."""
        if self.brief or self.first is None or any(math.isinf(loss) for loss in self.losses):
            return True
        one, output, _, _ = self.first
        loud = {id(call): call for call in self.calls[0] if call.loss}
        places = [(source, place) for source in one.sources for place in np.flatnonzero(released(source.state))]
        if not loud or not places:
            return True
        if len(places) > PROBED:
            chosen = np.random.default_rng((self.seed, 99)).choice(len(places), PROBED, replace=False)
            places = [places[index] for index in chosen]
        base = numbers(output)
        columns = []
        for source, place in places:
            best = None
            for step in (0.5, -3.0, 25.0):
                changed = self.probe(one, source, int(place), step)
                if changed is None:
                    continue
                keys = sorted(set(base) | set(changed))
                column = {key: changed.get(key, 0.5) - base.get(key, -0.5) for key in keys if changed.get(key) != base.get(key)}
                if column:
                    best = column
                    break
            if best is None:
                return False
            columns.append(best)
        keys = sorted({key for column in columns for key in column})
        matrix = np.array([[column.get(key, 0.0) for key in keys] for column in columns])
        if not np.isfinite(matrix).all():
            return False
        matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
        return int(np.linalg.matrix_rank(matrix, tol=1e-6)) == len(columns)

    def probe(self, one: Tape, source: Any, place: int, step: float) -> dict[tuple[str, int], float] | None:
        """The output if one released value had been another."""
        undo: Callable[[], None]
        if source.state[place] == FULL:
            old = source.t[place]
            change = step * abs(source.factor[place])
            source.t[place] = old + (round(change) or 1 if source.kind.discrete else change)

            def undo() -> None:
                source.t[place] = old
        elif source.state[place] == BIT:
            bits = next(found for found in source.bits if place in found.places)
            at = int(np.flatnonzero(bits.places == place)[0])
            bits.outcome = bits.outcome.copy()
            bits.outcome[at] = not bits.outcome[at]

            def undo() -> None:
                bits.outcome[at] = not bits.outcome[at]
        else:
            old_pick = source.pick.outcome
            if source.pick.log_chances.size < 2:
                return None
            source.pick.outcome = (old_pick + 1) % source.pick.log_chances.size

            def undo() -> None:
                source.pick.outcome = old_pick
        try:
            _, changed = self.program.execute(self.side, (0, 5), one)
        finally:
            undo()
        return numbers(changed)


def concluded(name: str, claim: Claim, ways: list[Way], confidence: float, brief: bool) -> Trace:
    """The verdict."""
    measured = []
    for way in ways:
        composed, alike = worst_of(way.calls)
        if way.untracked or any(math.isinf(loss) for loss in way.losses):
            composed, alike = None, False  # the calls are not all that is released
        unbounded = any(call.unbounded for calls in way.calls for call in calls)
        measured.append(Measured(composed, alike and len({len(calls) for calls in way.calls}) == 1, unbounded, np.array(way.losses), brief))
    alpha = 1 - confidence
    found = compared(claim, measured, alpha)
    epsilon = points_of(claim)[0][0] if isinstance(claim, (PureDp, ApproximateDp, Profile)) else None
    delta_limits = None
    if epsilon is not None and not brief and not any(way.untracked for way in ways):
        both = [m.sampled(epsilon, alpha / 2) for m in measured]
        delta_limits = max(low for low, _ in both), max(high for _, high in both)
    untracked = {text: site for way in ways for text, site in way.untracked.items()}
    findings = [finding for way in ways for finding in way.findings] + problems(ways)
    exceeded = next((c for c in found if c.exceeded), None)
    finite = [c.lower for c in found if c.exceeded and math.isfinite(c.lower)]
    sure = [finding for finding in findings if finding.kind in ("output", "calls", "nan")]
    scaled = any(finding.kind == "scale" for finding in findings)
    if exceeded is not None and not sure and not scaled and (finite or not any(way.coins_matter for way in ways)):
        findings.append(at_most_fault(ways, exceeded))
    reason = None
    suspect = bool(sure) and not untracked
    if sure and untracked:
        suspect = any(finding.kind == "nan" for finding in sure)
    if not suspect and exceeded is not None and not untracked and not any(way.coins_matter for way in ways) and all(way.find_visible() for way in ways):
        suspect = True
    if any(finding.kind == "sensitivity" for finding in findings):
        suspect = True
    if suspect:
        verdict = "suspect"
    elif untracked:
        text, site = next(iter(untracked.items()))
        verdict, reason = "unclear", f"untracked: {text}" + (f" ({site})" if site is not None else "")
    elif any(way.coins_matter for way in ways):
        verdict, reason = "unclear", "the output depends on data and on coins to which no noise is added; draws decide"
    elif exceeded is not None:
        verdict, reason = "unclear", "the values with noise lose more than is claimed, but the output does not show all of them; draws decide"
    elif all(c.holds for c in found):
        verdict = "bounded"
    else:
        verdict, reason = "unclear", "no limit is low enough; more runs or draws decide"
    findings.sort(key=lambda finding: -finding.weight)
    unique = list({(f.kind, f.site): f for f in reversed(findings)}.values())
    unique.sort(key=lambda finding: -finding.weight)
    if untracked and verdict == "unclear":
        unique = [Finding("untracked", site, text, "", "", 9.0) for text, site in untracked.items()] + unique
    worst = max(ways, key=lambda way: max(way.losses))
    calls = worst.calls[int(np.argmax(worst.losses))]
    losses = np.array(ways[0].losses), np.array(ways[1].losses)
    return Trace(name, claim, verdict, reason, tuple(unique), tuple(found), delta_limits, tuple(calls), ASSUMING, ways[0].runs, confidence, losses)


def problems(ways: list[Way]) -> list[Finding]:
    """What single calls did."""
    found: dict[tuple[str, Site], Finding] = {}
    for way in ways:
        for calls in way.calls:
            for call in calls:
                if call.problem in (None, "one-sided", "unknown"):
                    continue
                text, left, right, weight = described(call)
                if way.side == 1:
                    left, right = right, left
                found.setdefault((call.problem, call.site), Finding(call.problem, call.site, text, left, right, weight))  # type: ignore[arg-type]
    return list(found.values())


def described(call: Call) -> tuple[str, str, str, float]:
    inputs = short(call.input_left), short(call.input_right)
    if call.problem == "nan":
        return (f"NaN or an infinity at a primitive ({call.what})", *inputs, 4.0)
    if call.problem == "scale":
        return (f"the scale of the noise ({call.what}) depends on the data", short(call.scale_left), short(call.scale_right), 3.0)
    if call.problem == "kind":
        left, _, right = call.what.partition(", ")
        return ("the kind of the noise depends on the data", left, right, 3.0)
    return (f"the input moved by {short(call.moved)}, further than the sensitivity {short(call.scale_left)} ({call.what})", *inputs, 3.5)


def at_most_fault(ways: list[Way], exceeded: Compared) -> Finding:
    """The call that adds most to a loss above the claim."""

    def size(call: Call) -> float:
        return call.part.size if call.part is not None else abs(call.loss)

    way, call = max(((way, call) for way in ways for calls in way.calls for call in calls), key=lambda pair: size(pair[1]))
    left, right = short(call.input_left), short(call.input_right)
    if way.side == 1:
        left, right = right, left
    scale = f" with noise of scale {short(call.scale_left)}" if call.scale_left is not None else ""
    text = f"the input moved by {short(call.moved)}{scale} ({call.what}); {exceeded.unit} is at least {short(exceeded.lower)}, claimed {short(exceeded.allowed)}"
    return Finding("loss", call.site, text, left, right, 2.0)


__all__ = ["trace", "Part"]
