"""Training runs, audited with canaries: which of them were in the training data?"""

from __future__ import annotations

import dataclasses
import json
import os
from typing import Any, Mapping, Sequence

import numpy

from . import _dp_audit
from ._audit import asked, claim_checked, settings
from ._claims import ApproximateDp, Claim, claim_of
from ._coins import CoinFlips
from ._errors import AuditError
from ._result import brief, number

MISSING: Any = object()


@dataclasses.dataclass(frozen=True)
class CanaryResult:
    """What a canary audit found. `print` describes it in a few sentences, and a notebook shows its card."""

    verdict: str
    """violated, consistent, inconclusive or error."""
    reason: str | None
    """Why it is inconclusive: too-few-canaries or canaries-too-weak."""
    advice: str | None
    """What to do about it."""
    error: str | None
    """Why it could not be judged; only in runs of audit files."""
    name: str
    claim: Claim | None
    unit: str
    """The unit of the claim: epsilon, delta, mu, rho, …"""
    lower: float
    """The bound in the unit of the claim: every value up to this is refuted."""
    epsilon_lower: float | None
    """The training's ε at the claimed δ is at least this. None if the claim is in another unit: its bound is on the whole curve."""
    ceiling: float
    """The bound if all guesses were right: no audit of so many canaries shows more."""
    reach: float
    """The part of the claim that was shown; above 1 the claim is refuted."""
    canaries: int
    runs: int
    """The runs, or the steps with fresh coins."""
    guesses: int
    """The guesses that the bound rests on most."""
    correct: int
    """How many of them are right."""
    sentence: str | None
    """The same in words, and what the claim allows."""
    confidence: float
    seed: int
    """The seed that breaks ties between scores."""
    data: Mapping[str, Any] = dataclasses.field(repr=False, compare=False)
    """The canary audit as the JSON report has it."""
    report: Any = dataclasses.field(repr=False, compare=False)
    """The report of the core; None if the result was loaded from a file."""

    @property
    def ceiling_sentence(self) -> str | None:
        """"1,000 canaries can show at most ε = 5.81 at this confidence"."""
        return self.data.get("ceiling_sentence")

    def __str__(self) -> str:
        said = {
            "violated": "the claim is refuted",
            "consistent": "the claim is not refuted",
            "inconclusive": f"inconclusive ({self.reason}): the claim is not refuted, but this says little",
            "error": f"could not be judged: {self.error}",
        }[self.verdict]
        if self.verdict == "error":
            return f"{self.name}: {said}"
        symbol = SYMBOLS.get(self.unit, self.unit)
        lines = [
            f"{self.name}: {said} (confidence {100 * self.confidence:.6g} %). Claimed: {self.claim}.",
            f"  {symbol} ≥ {brief(self.lower)}; {self.ceiling_sentence}.",
            f"  The attacker {self.sentence}.",
        ]
        if self.verdict == "consistent":
            lines.append("This is not a proof: stronger canaries or better scores may break the claim.")
        elif self.advice:
            lines.append(f"What to do: {self.advice.rstrip('.')}.")
        return "\n".join(lines)

    def _repr_html_(self) -> str | None:
        return self.report.cards() if self.report is not None else None

    def to_dict(self) -> dict[str, Any]:
        """The canary audit as the JSON report has it."""
        return json.loads(json.dumps(self.data))

    def to_json(self) -> str:
        """The JSON report of this audit alone."""
        return json.dumps(self.data, ensure_ascii=False) if self.report is None else self.report.json()

    def to_html(self) -> str:
        """The HTML report of this audit alone, a whole page."""
        if self.report is None:
            raise AuditError("this result was loaded from a file, which has no pages; open the HTML report of that run")
        return self.report.html()

    def to_pandas(self) -> Any:
        """A pandas DataFrame with one row and the columns of the CSV."""
        import pandas

        return pandas.DataFrame([{key: value for key, value in self.data.items() if not isinstance(value, (dict, list))}])

    def plot(self, axes: Any = None) -> Any:
        """Draws the ROC curve, the bound along the ladder of guesses, and the scores. Needs matplotlib."""
        from ._canary_plot import plot

        return plot(self, axes)

    def plot_roc(self, ax: Any = None) -> Any:
        """Draws the ROC curve on logarithmic axes, with what the claim and the bound allow. Needs matplotlib."""
        from ._canary_plot import plot_roc

        return plot_roc(self, ax)

    def assert_consistent(self) -> "CanaryResult":
        """Fails unless the claim is not refuted and the canaries showed enough of it."""
        return self.assert_verdict("consistent")

    def assert_not_violated(self) -> "CanaryResult":
        """Fails if the claim is refuted. This also passes if the audit is inconclusive, the usual outcome for a sound training."""
        return self.assert_verdict("consistent", "inconclusive")

    def assert_violated(self) -> "CanaryResult":
        """Fails unless the claim is refuted, for a broken twin of a training."""
        return self.assert_verdict("violated")

    def assert_verdict(self, *allowed: str) -> "CanaryResult":
        if self.verdict not in allowed:
            raise AssertionError(str(self))
        return self


SYMBOLS = {"epsilon": "ε", "delta": "δ", "mu": "μ", "rho": "ρ"}


def canary_result(data: Mapping[str, Any], claim: Any, settings: Mapping[str, Any], report: Any) -> CanaryResult:
    """The result of one canary audit of a JSON report."""
    count = lambda key: int(data.get(key) or 0)  # noqa: E731
    epsilon = number(data.get("epsilon_lower"))
    return CanaryResult(
        verdict=data["verdict"],
        reason=data.get("reason"),
        advice=data.get("advice"),
        error=data.get("error"),
        name=data["pair"],
        claim=claim_of(claim) if claim else None,
        unit=data.get("unit") or "epsilon",
        lower=number(data.get("lower")) or 0.0,
        epsilon_lower=epsilon,
        ceiling=number(data.get("ceiling")) or 0.0,
        reach=number(data.get("reach")) or 0.0,
        canaries=count("draws"),
        runs=count("runs"),
        guesses=count("correct") + count("wrong"),
        correct=count("correct"),
        sentence=data.get("sentence"),
        confidence=settings["confidence"],
        seed=settings["seed"],
        data=data,
        report=report,
    )


def canaries(
    scores: Any = None,
    included: Any = None,
    *,
    claim: Claim,
    in_scores: Any = None,
    out_scores: Any = None,
    guesses: Any = None,
    counts: Any = None,
    confusion: Any = None,
    step: bool = False,
    sides: str = "both",
    fixed_guesses: bool = False,
    independent_coins: bool = False,
    confidence: float = 0.95,
    seed: int = 0,
    reach: float | tuple[float, str] | None = None,
    name: str = "canaries",
) -> CanaryResult:
    """Audits one training run, or several, with canaries: m examples, each put into the training data by its own fair coin.

    >>> import dp_audit as dpa, numpy
    >>> coins = dpa.coin_flips(1000, seed=7)
    >>> scores = 4 * numpy.asarray(coins) + numpy.random.default_rng(1).normal(size=1000)      # training and scoring
    >>> dpa.canaries(scores, coins, claim=dpa.ApproximateDp(1.0, 1e-5)).verdict
    'violated'

    What there is, one of these:

    scores, included: a number for each canary, high where it seems to have been in, and its coin. Best, because the order of the scores is used.
    in_scores, out_scores: the scores of the canaries that were in and of those that were out.
    guesses, included: 1 or "in", -1 or "out", 0 or None for each canary about which nothing is guessed.
    counts: (canaries, guesses, right guesses). Nobody can check the coins then.
    confusion: (tp, fp, tn, fn) at a threshold that was chosen without the coins; with sides="in" only the positives are guesses.

    Several runs: lists of arrays, or arrays with two dimensions; for counts and confusion a list of tuples.

    step: whether the runs are steps of one training, each with coins of its own. The claim is then about one step.
    sides: "both", or "in" or "out" if only such guesses are made. Chosen before the scores are seen, as the claim is.
    fixed_guesses: states that the number of guesses was fixed before the scores were seen. Needed for guesses and counts under a claim in μ, ρ,
        Rényi or a profile; under (ε, δ) it makes the bound a little larger.
    independent_coins: states that each canary had its own coin although exactly half of them are in. Coins of `coin_flips` say so themselves.
    confidence, seed, reach: as in `audit`; the seed breaks ties between scores.

    What breaks the assumptions, as far as it can be seen, is an AuditError that says what to do.
    """
    claim_checked(claim)
    if sides not in ("both", "in", "out"):
        raise ValueError(f"sides is {sides!r}, must be 'both', 'in' or 'out'")
    ways = {
        "scores": scores is not None,
        "in_scores and out_scores": in_scores is not None or out_scores is not None,
        "guesses": guesses is not None,
        "counts": counts is not None,
        "confusion": confusion is not None,
    }
    given = [way for way, is_given in ways.items() if is_given]
    if len(given) != 1:
        what = "nothing to judge" if not given else f"both {' and '.join(given)}"
        raise TypeError(f"there is {what}; give one of: {', '.join(ways)}")
    if (scores is not None or guesses is not None) == (included is None):
        raise TypeError("included says of each canary whether it was in; " + ("it is missing" if included is None else "it goes with scores or guesses only"))
    counted = None
    independent = independent_coins
    if scores is not None or guesses is not None:
        values, coins = several(scores if scores is not None else guesses), several(included)
        if len(values) != len(coins):
            raise ValueError(f"there are scores of {len(values)} runs and coins of {len(coins)}; give one list of each for every run")
        read = scored if scores is not None else guessed
        trials = [(read(one), coin(other)) for one, other in zip(values, coins)]
        if isinstance(included, CoinFlips) or all(isinstance(one, CoinFlips) for one in coins):
            independent = True
    elif in_scores is not None or out_scores is not None:
        if in_scores is None or out_scores is None:
            raise TypeError("in_scores and out_scores go together; score the canaries that stayed out, too")
        inside, outside = several(in_scores), several(out_scores)
        if len(inside) != len(outside):
            raise ValueError(f"in_scores has {len(inside)} runs and out_scores {len(outside)}")
        trials = [joined(scored(one), scored(other)) for one, other in zip(inside, outside)]
    elif confusion is not None:
        trials = [confused(row, sides) for row in rows(confusion, 4, "confusion", "(tp, fp, tn, fn)")]
        fixed_guesses = fixed_guesses or sides == "both"
    else:
        runs = rows(counts, 3, "counts", "(canaries, guesses, right guesses)")
        counted = {"runs": [dict(zip(("canaries", "guesses", "correct"), run)) for run in runs], "fixed": fixed_guesses}
        trials = []
    noun = "step" if step else "run"
    spec = {
        "name": name,
        "subject": {"given": {"kind": "recorded counts" if counted else "recorded guesses" if guesses is not None or confusion is not None else "recorded scores"}},
        "claim": claim.spelling(),
        "relation": "add-remove",
        "attacks": None,
        "resolution": None,
        "reach": asked(reach),
        "settings": settings(None, seed, confidence, "budget", None),
    }
    options = {
        "sides": sides,
        "independent_coins": independent,
        "fixed_guesses": fixed_guesses,
        "steps": step,
        "guesses": guesses is not None or confusion is not None,
        "counts": counted,
    }
    named = [(f"{noun} {index}" if len(trials) > 1 else "", *trial) for index, trial in enumerate(trials, 1)]
    report = _dp_audit.canaries(json.dumps(spec), json.dumps(options), named)
    data = json.loads(report.json())
    audit = data["audits"][0]
    found = canary_result({"advice": audit.get("advice"), **audit["canaries"][0]}, audit["claim"], data["settings"], report)
    if found.verdict == "error":
        raise AuditError(f"{name}: {found.error}")
    return found


def several(values: Any) -> list[Any]:
    """The values of each run: of one run, unless they have two dimensions."""
    if isinstance(values, CoinFlips):
        return [values] if values.steps is None else list(values.included)
    if isinstance(values, numpy.ndarray):
        if values.ndim not in (1, 2):
            raise ValueError(f"an array of {values.ndim} dimensions; give one list for each run")
        return list(values) if values.ndim == 2 else [values]
    values = list(values)
    nested = bool(values) and all(isinstance(one, (list, tuple, numpy.ndarray, CoinFlips)) or hasattr(one, "__array__") and numpy.ndim(one) == 1 for one in values)
    return values if nested else [values]


def scored(values: Any) -> list[float]:
    found = numpy.asarray(values)
    if found.ndim != 1 or found.dtype.kind not in "fiub":
        raise TypeError("scores must be numbers, one for each canary")
    return found.astype(float).tolist()


GUESSES = {1: 1.0, -1: -1.0, 0: 0.0, None: 0.0, "in": 1.0, "out": -1.0, "": 0.0}


def guessed(values: Any) -> list[float]:
    found = []
    for place, value in enumerate(numpy.asarray(values, dtype=object).tolist(), 1):
        if isinstance(value, (bool, numpy.bool_)):
            raise TypeError("guesses are True and False, and nobody knows whether False is \"out\" or no guess; use 1, -1 and 0, or \"in\", \"out\" and None")
        try:
            found.append(GUESSES[value])
        except (KeyError, TypeError):
            raise ValueError(f"the guess about canary {place} is {value!r}, must be 1 or 'in', -1 or 'out', 0 or None; for other numbers give scores") from None
    return found


def coin(values: Any) -> list[bool]:
    found = numpy.asarray(values)
    if found.ndim != 1:
        raise ValueError("included must have one entry for each canary")
    if found.dtype.kind not in "biuf" or not numpy.isin(found, (0, 1)).all():
        raise ValueError("included must be True or 1 for each canary that was in, and False or 0 for each that was out")
    return found.astype(bool).tolist()


def joined(inside: list[float], outside: list[float]) -> tuple[list[float], list[bool]]:
    return inside + outside, [True] * len(inside) + [False] * len(outside)


def rows(values: Any, width: int, what: str, shape: str) -> list[list[int]]:
    """One row of counts for each run."""
    found = [values] if values and not isinstance(values[0], (list, tuple, numpy.ndarray)) else list(values)
    for row in found:
        if len(row) != width or any(value != int(value) or not 0 <= value <= 10**9 for value in row):
            raise ValueError(f"{what} must be {shape}, or a list of these, with whole numbers from 0 to 1e9")
    return [[int(value) for value in row] for row in found]


def confused(row: Sequence[int], sides: str) -> tuple[list[float], list[bool]]:
    """Guesses and coins with this confusion matrix."""
    tp, fp, tn, fn = row
    positive, negative = (0.0 if sides == "out" else 1.0), (0.0 if sides == "in" else -1.0)
    if sum(row) > 10**7:
        raise ValueError("confusion has more than 1e7 canaries; give counts")
    return (
        [positive] * (tp + fp) + [negative] * (tn + fn),
        [True] * tp + [False] * fp + [False] * tn + [True] * fn,
    )


@dataclasses.dataclass(frozen=True)
class CanaryPlan:
    """What canaries can show, before there is a run."""

    claim: Claim
    needed: int | None
    """With fewer canaries in one run, even an attacker who is always right refutes nothing. None if a billion are not enough."""
    ceiling: float | None
    """What the given number of canaries can show at most, in the unit of the claim."""


def plan_canaries(claim: Claim, canaries: int | None = None, *, runs: int = 1, sides: str = "both", confidence: float = 0.95) -> CanaryPlan:
    """How many canaries a claim needs, and what so many can show at most.

    >>> plan_canaries(ApproximateDp(8.0, 1e-5), 1000)
    CanaryPlan(claim=ApproximateDp(epsilon=8.0, delta=1e-05), needed=10041, ceiling=5.809)
    """
    claim_checked(claim)
    if canaries is not None and (canaries != int(canaries) or not 1 <= canaries <= 10**9):
        raise ValueError(f"canaries is {canaries}, must be a whole number from 1 to 1e9")
    if runs != int(runs) or not 1 <= runs <= 65_535:
        raise ValueError(f"runs is {runs}, must be a whole number from 1 to 65,535")
    if sides not in ("both", "in", "out"):
        raise ValueError(f"sides is {sides!r}, must be 'both', 'in' or 'out'")
    found = _dp_audit.canaries_needed(json.dumps(claim.spelling()), json.dumps(sides), confidence, canaries, int(runs))
    return CanaryPlan(claim, found[0], found[1])


class CanaryScoreAuditor:
    """The scores of the canaries that were in and of those that were out, under the names that users of jax_privacy know.

    >>> import numpy
    >>> rng = numpy.random.default_rng(1)
    >>> auditor = CanaryScoreAuditor(rng.normal(4, 1, 510), rng.normal(0, 1, 490))
    >>> 3.5 < auditor.epsilon_one_run(0.05, 1e-5) < 5.81
    True

    The bounds hold whatever the scores depend on. They are those of `canaries`, which also has verdicts, reports and pictures.
    """

    def __init__(self, in_canary_scores: Any, out_canary_scores: Any, *, independent_coins: bool = False, seed: int = 0) -> None:
        self.in_canary_scores = in_canary_scores
        self.out_canary_scores = out_canary_scores
        self.independent_coins = independent_coins
        self.seed = seed

    def audit(self, claim: Claim, significance: float = 0.05, one_sided: bool = False) -> CanaryResult:
        """The whole result for a claim."""
        return canaries(
            in_scores=self.in_canary_scores,
            out_scores=self.out_canary_scores,
            claim=claim,
            confidence=1.0 - significance,
            sides="in" if one_sided else "both",
            independent_coins=self.independent_coins,
            seed=self.seed,
        )

    def epsilon_one_run(self, significance: float, delta: float = 0.0, one_sided: bool = False) -> float:
        """The ε at this δ is at least this."""
        return self.audit(ApproximateDp(1.0, delta), significance, one_sided).lower

    def mu_one_run(self, significance: float, one_sided: bool = False) -> float:
        """The training is not μ-Gaussian differentially private for any μ up to this."""
        from ._claims import Gdp

        return self.audit(Gdp(1.0), significance, one_sided).lower
