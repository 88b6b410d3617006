"""What an audit found."""

from __future__ import annotations

import dataclasses
import json
import math
import secrets
import textwrap
from typing import Any, Iterator, Mapping

from . import _dp_audit
from ._claims import Claim, claim_of
from ._errors import AuditError
from ._function import Function

CONSISTENT_IS_NO_PROOF = "This is not a proof: another pair or a better attack may break the claim."


def number(value: Any) -> float | None:
    """A number of a JSON report, in which infinities are texts."""
    return None if value is None else float(value)


def brief(value: float | None) -> str:
    """A bound with four digits, rounded down.

    >>> brief(1.23456), brief(0.0), brief(math.inf)
    ('1.234', '0', '∞')
    """
    if value is None:
        return "–"
    if math.isinf(value):
        return "∞"
    if value == 0:
        return "0"
    factor = 10.0 ** (3 - math.floor(math.log10(abs(value))))
    return f"{math.floor(value * factor) / factor:g}"


def missed(pair: Mapping[str, Any]) -> str | None:
    """What a pass could have missed: from which excess on it would have been caught.

    >>> missed({"detectable": 1.04, "claimed": 1.0})
    '  A leak of this shape would have been caught in at least 90 % of runs from 4 % above the claim on.'
    """
    detectable, claimed = number(pair.get("detectable")), number(pair.get("claimed"))
    if detectable is None or not claimed or math.isinf(detectable):
        return None
    percent = max(0.0, 100 * (detectable / claimed - 1))
    return f"  A leak of this shape would have been caught in at least 90 % of runs from {math.ceil(percent * 10 - 1e-6) / 10:g} % above the claim on."


@dataclasses.dataclass(frozen=True)
class Contribution:
    """What one column shows by itself: an estimate from exploration, not a bound."""

    column: str
    estimate: float
    """The bound, in the unit of the claim, that is to be expected from this column alone."""
    share: float
    """Its part of the bound that is to be expected from the strongest rule."""


@dataclasses.dataclass(frozen=True)
class Example:
    """An output that betrays the dataset."""

    output: Mapping[str, float | str]
    """Its cells by their columns: numbers, and the names of everything else."""
    side: str
    """The dataset that it betrays: left or right."""
    left: int
    """How often exploration saw outputs like it on D."""
    right: int
    """How often on D'."""

    def __str__(self) -> str:
        # A whole text comes after the parts of it.
        ordered = sorted(self.output.items(), key=lambda entry: isinstance(entry[1], str) and len(entry[1]) > 40)
        cells = [f"{column} = {value:.4g}" if isinstance(value, float) else f"{column} = {value[:40]}" for column, value in ordered]
        more = f" and {len(cells) - 4} more" if len(cells) > 4 else ""
        return f"{', '.join(cells[:4])}{more}: {self.side} (outputs like it: {self.left:,} on left, {self.right:,} on right)"


def cell(value: Any) -> float | str:
    """A cell of an example.

    >>> cell("inf"), cell("⊥"), cell(1)
    (inf, '⊥', 1.0)
    """
    return float(value) if not isinstance(value, str) or value in ("inf", "-inf") else value


@dataclasses.dataclass(frozen=True)
class PairResult:
    """What was found on one pair of datasets."""

    name: str
    """The name of the pair."""
    left: str | None
    """D in short; `datasets` of the JSON report has all of it. None if it is not known."""
    right: str | None
    """D' in short."""
    verdict: str
    """violated, consistent, inconclusive or error."""
    reason: str | None
    """Why it is inconclusive."""
    error: str | None
    """Why it could not be judged."""
    epsilon_lower: float | None
    """The mechanism's ε at the claimed δ is at least this."""
    delta_lower: float | None
    """Its δ at the claimed ε is at least this."""
    lower: float | None
    """The bound in the unit of the claim."""
    reach: float | None
    """The part of the claim that was seen; above 1 the claim is refuted."""
    draws: int | None
    """All draws, including those from which the rule was learned."""
    rule: str | None
    """The rule by which the attacker guesses, in words."""
    simplest_rule: str | None
    """A rule about one column with one threshold or one value that refutes the claim too; None if the rule is as simple, or if there is none."""
    simplest_lower: float | None
    """What the simplest rule shows by itself, in the unit of the claim; None if a run ended before it was judged."""
    contributions: tuple[Contribution, ...]
    """What each column shows by itself, the largest first, if the claim is refuted and there are several columns."""
    examples: tuple[Example, ...]
    """Outputs that betray the dataset, if the claim is refuted."""
    sentence: str | None
    """How often the attacker guessed right, and what the claim allows."""
    note: str | None
    """A note about the draws."""
    reproducible: bool | None
    """Whether the same seed gives the same result."""
    unread: tuple[str, ...]
    """Columns of texts or identifiers that never repeat, so that no attack can read them."""
    needed_draws: int | None
    """How many draws would probably be enough, if there were too few."""
    picture: Mapping[str, Any] | None = dataclasses.field(repr=False)
    """The curves behind the pictures: distribution, profile, wealth."""
    evidence_runs: int | None = None
    """How many runs the evidence has, if it is collected over many."""
    evidence_share: float | None = None
    """Their share of the way to a refutation, on a logarithmic scale; at 1 or more all runs together refute the claim."""

    @classmethod
    def of(cls, pair: Mapping[str, Any]) -> "PairResult":
        return cls(
            name=pair["pair"],
            left=pair.get("left"),
            right=pair.get("right"),
            verdict=pair["verdict"],
            reason=pair.get("reason"),
            error=pair.get("error"),
            epsilon_lower=number(pair.get("epsilon_lower")),
            delta_lower=number(pair.get("delta_lower")),
            lower=number(pair.get("lower")),
            reach=number(pair.get("reach")),
            draws=pair.get("draws"),
            rule=pair.get("rule"),
            simplest_rule=pair.get("simplest_rule"),
            simplest_lower=number(pair.get("simplest_lower")),
            contributions=tuple(
                Contribution(one["column"], float(one["estimate"]), one["share"]) for one in pair.get("contributions") or ()
            ),
            examples=tuple(
                Example({column: cell(value) for column, value in one["output"]}, one["guess"], one["left"], one["right"])
                for one in pair.get("examples") or ()
            ),
            sentence=pair.get("sentence"),
            note=pair.get("note"),
            reproducible=pair.get("reproducible"),
            unread=tuple(pair.get("unread") or ()),
            needed_draws=pair.get("needed_draws"),
            picture=pair.get("picture"),
            evidence_runs=pair.get("evidence_runs"),
            evidence_share=pair.get("evidence_share"),
        )

    def clues(self) -> list[str]:
        """What people can act on, in words."""
        clues = []
        if self.simplest_rule:
            not_judged = " (learned from all draws and not judged on others)"
            shown = f"; this alone shows ≥ {brief(self.simplest_lower)}" if self.simplest_lower else not_judged
            clues.append(f"Or: {self.simplest_rule}{shown}")
        worth = [one for one in self.contributions if one.share >= 0.01][:5]
        if worth:
            clues.append("Each column alone, estimated: " + "; ".join(f"{one.column} ≈ {brief(one.estimate)}" for one in worth))
        # A threshold of the only column says all that an example could.
        if self.simplest_rule or self.contributions:
            clues.extend(f"For example {example}" for example in self.examples[:2])
        return clues

    def severity(self) -> tuple[bool, bool, float]:
        return (self.verdict == "violated", self.verdict == "error", self.reach or 0.0)


@dataclasses.dataclass(frozen=True)
class Replay:
    """What fresh draws say about a refuted claim."""

    confirmed: bool
    """Whether they refute the claim again."""
    epsilon_lower: float
    delta_lower: float
    lower: float
    """The bound in the unit of the claim."""
    correct: int
    wrong: int
    abstained: int
    draws: int
    seed: int
    """The seed of the fresh draws; the same seed repeats them."""
    confidence: float

    def __str__(self) -> str:
        what = "CONFIRMED" if self.confirmed else "not confirmed"
        return (
            f"{what} by {self.draws:,} fresh draws with confidence {100 * self.confidence:g} %: ε ≥ {brief(self.epsilon_lower)}, "
            f"δ ≥ {brief(self.delta_lower)}; {self.correct:,} right, {self.wrong:,} wrong, {self.abstained:,} without a guess; seed {self.seed}"
        )


@dataclasses.dataclass(frozen=True)
class Witness:
    """A refuted claim that can be checked: the pair and the frozen rule."""

    pair: str
    rule: str
    text: str = dataclasses.field(repr=False)
    """The content of a witness file."""
    draws: int
    confidence: float
    function: Function | None = dataclasses.field(repr=False, compare=False)
    shared: bool = dataclasses.field(default=False, repr=False)

    def replay(self, *, draws: int | None = None, seed: int | None = None, confidence: float | None = None, threads: int | None = None) -> Replay:
        """Judges the rule on fresh draws. Without a seed, the draws come from the system's entropy, so no rule can know them."""
        if self.function is None:
            raise AuditError("this result was loaded or sent, so its mechanism is not here; audit the mechanism again")
        draws = draws or self.draws
        seed = secrets.randbits(63) if seed is None else seed
        confidence = confidence or self.confidence
        function = self.function.fresh()
        confirmed, lower, epsilon, delta, counts = _dp_audit.replay(self.text, function, draws, seed, confidence, threads, self.shared)
        return Replay(confirmed, epsilon, delta, lower, *counts, draws=draws, seed=seed, confidence=confidence)


@dataclasses.dataclass(frozen=True)
class Result:
    """What an audit found. `print` describes it in a few sentences, and a notebook shows its card."""

    name: str
    claim: Claim | None
    verdict: str
    """violated, consistent, inconclusive or error."""
    reason: str | None
    """Why it is inconclusive: too-few-draws, claim-not-reached, no-difference-seen, unread-columns, control-not-caught."""
    advice: str | None
    """What to do about it."""
    reach: float | None
    """How much of its claim the mechanism was seen to use, on the best pair. Above 1 the claim is refuted."""
    pairs: tuple[PairResult, ...]
    confidence: float
    """The confidence of all bounds together."""
    seed: int
    as_expected: bool | None
    """Whether the verdict is the expected one; None if the audit is inconclusive."""
    data: Mapping[str, Any] = dataclasses.field(repr=False, compare=False)
    """The audit as the JSON report has it."""
    report: Any = dataclasses.field(repr=False, compare=False)
    """The report of the core; None if the result was loaded from a file."""
    functions: Mapping[str, Function] = dataclasses.field(default_factory=dict, repr=False, compare=False)
    shared: bool = dataclasses.field(default=False, repr=False, compare=False)
    trace: Any = dataclasses.field(default=None, repr=False, compare=False)
    """The trace of the worst pair, with `trace=True`: the file and the line at fault."""

    @property
    def worst(self) -> PairResult | None:
        """The pair that speaks for the audit: a refuted one, otherwise one that could not be judged, otherwise the one with the largest reach."""
        return max(self.pairs, key=PairResult.severity, default=None)

    def largest(self, name: str) -> float:
        return max((getattr(pair, name) or 0.0 for pair in self.pairs), default=0.0)

    @property
    def canaries(self) -> tuple[Any, ...]:
        """The canary audits of an audit file, each a `CanaryResult`."""
        from ._canaries import canary_result

        settings = {"confidence": self.confidence, "seed": self.seed}
        return tuple(canary_result(one, self.data.get("claim"), settings, None) for one in self.data.get("canaries") or ())

    @property
    def epsilon_lower(self) -> float:
        """The mechanism's ε at the claimed δ is at least this."""
        return self.largest("epsilon_lower")

    @property
    def delta_lower(self) -> float:
        """Its δ at the claimed ε is at least this."""
        return self.largest("delta_lower")

    @property
    def lower(self) -> float:
        """The bound in the unit of the claim."""
        return self.largest("lower")

    @property
    def draws(self) -> int:
        """All draws of all pairs."""
        return sum(pair.draws or 0 for pair in self.pairs)

    @property
    def rule(self) -> str | None:
        """The rule by which the attacker guesses on the worst pair, in words."""
        return self.worst.rule if self.worst else None

    @property
    def simplest_rule(self) -> str | None:
        """A rule about one column with one threshold or one value that refutes the claim on the worst pair too; None if `rule` is as simple."""
        return self.worst.simplest_rule if self.worst else None

    @property
    def contributions(self) -> tuple[Contribution, ...]:
        """What each column of the outputs shows by itself on the worst pair, if the claim is refuted."""
        return self.worst.contributions if self.worst else ()

    @property
    def examples(self) -> tuple[Example, ...]:
        """Outputs that betray the dataset of the worst pair, if the claim is refuted."""
        return self.worst.examples if self.worst else ()

    @property
    def sentence(self) -> str | None:
        """How often the attacker guessed right on the worst pair, and what the claim allows."""
        return self.worst.sentence if self.worst else None

    @property
    def witness(self) -> Witness | None:
        """What refutes the claim, for a replay with fresh draws; None if it is not refuted."""
        text = self.report.witness() if self.report is not None else json.dumps(self.data.get("witness"))
        content = json.loads(text) if text else None
        if content is None:
            return None
        witness = content["witness"]
        rule = next(pair.rule for pair in self.pairs if pair.name == witness["pair"])
        function = self.functions.get(witness["pair"])
        return Witness(witness["pair"], rule or "", text, witness["draws"], self.confidence, function, self.shared)

    def __str__(self) -> str:
        confidence = f"{100 * self.confidence:.6g} %"
        said = {
            "violated": f"the claim is refuted with confidence {confidence}.",
            "consistent": f"the claim is not refuted (confidence {confidence}).",
            "inconclusive": f"inconclusive ({self.reason}): the claim is not refuted, but this says nothing.",
            "error": "could not be judged.",
        }[self.verdict]
        lines = [f"{self.name}: {said}"]
        claim = f" Claimed: {self.claim}." if self.claim is not None else ""
        reason = self.data.get("relation_reason")
        if reason and reason != "as the caller says":
            lines.append(f"  Neighbours, as stated and not checked: {reason}.")
        for pair in self.pairs:
            if pair.verdict == "error":
                lines.append(f"  {pair.name}: {pair.error}")
                continue
            unit = self.data["pairs"][0].get("unit")
            own = f"{unit} ≥ {brief(pair.lower)}, " if unit not in (None, "epsilon", "delta") else ""
            lines.append(
                f"  {pair.name}: {own}ε ≥ {brief(pair.epsilon_lower)}, δ ≥ {brief(pair.delta_lower)}; reach {brief(pair.reach)} with {pair.draws:,} draws."
                + claim
            )
            claim = ""
            if pair.rule and pair.sentence:
                lines.append(f"  The attacker {pair.sentence}. Rule: {pair.rule}.")
            lines.extend(f"  {clue}." for clue in pair.clues())
            if pair.note:
                lines.append(f"  Note: {pair.note}.")
        if self.verdict == "consistent":
            lines.extend(line for line in map(missed, self.data["pairs"][:1]) if line)
            lines.append(CONSISTENT_IS_NO_PROOF)
        elif self.advice:
            lines.append(f"What to do: {self.advice.rstrip('.')}.")
        if self.trace is not None:
            lines.append(f"Trace: {self.trace.headline()}. {' '.join(f'{finding}.' for finding in self.trace.findings[:2])}".rstrip())
        return "\n".join(textwrap.fill(line, 100, subsequent_indent="    ") for line in lines)

    def _repr_html_(self) -> str | None:
        if self.report is None:
            return None
        return self.report.cards() + (self.trace._repr_html_() if self.trace is not None else "")

    def to_dict(self) -> dict[str, Any]:
        """The audit as the JSON report has it."""
        return json.loads(json.dumps(self.data))

    def to_json(self) -> str:
        """The JSON report of this audit alone."""
        if self.report is None:
            return json.dumps(self.data, ensure_ascii=False)
        return self.report.json()

    def to_html(self) -> str:
        """The HTML report of this audit alone, a whole page."""
        if self.report is None:
            raise AuditError("this result was loaded from a file, which has no pages; open the HTML report of that run")
        return self.report.html()

    def to_pandas(self) -> Any:
        """A pandas DataFrame with a row for each pair, and the columns of the CSV."""
        import pandas

        rows = [{key: value for key, value in pair.items() if not isinstance(value, (dict, list))} for pair in self.data["pairs"]]
        return pandas.DataFrame(rows)

    def plot(self, pair: str | None = None, axes: Any = None) -> Any:
        """Draws the distributions with the rule, the privacy profile with the claim, and the path of the evidence. Needs matplotlib."""
        from ._plot import plot

        return plot(self, pair, axes)

    def plot_profile(self, pair: str | None = None, ax: Any = None) -> Any:
        """Draws the privacy profile with the claim. Needs matplotlib."""
        from ._plot import plot_profile

        return plot_profile(self, pair, ax)

    def assert_consistent(self) -> "Result":
        """Fails unless the claim is not refuted and this means something: enough draws, and a reach of what is asked for."""
        if self.verdict != "consistent":
            raise AssertionError(str(self))
        return self

    def assert_not_violated(self) -> "Result":
        """Fails if the claim is refuted or could not be judged. This also passes if the audit is inconclusive."""
        if self.verdict not in ("consistent", "inconclusive"):
            raise AssertionError(str(self))
        return self

    def assert_violated(self) -> "Result":
        """Fails unless the claim is refuted, for a broken twin of a mechanism."""
        if self.verdict != "violated":
            raise AssertionError(str(self))
        return self

    def __getstate__(self) -> dict[str, Any]:
        # A mechanism need not be something that can be sent.
        return {**self.__dict__, "functions": {}}


def result_of(data: Mapping[str, Any], settings: Mapping[str, Any], report: Any = None, functions: Mapping[str, Function] | None = None, shared: bool = False) -> Result:
    """The result of one audit of a JSON report."""
    return Result(
        name=data["audit"],
        claim=claim_of(data["claim"]) if data.get("claim") else None,
        verdict=data["verdict"] or "error",
        reason=data.get("reason"),
        advice=data.get("advice") or next((pair.get("error") for pair in data["pairs"] if pair.get("error")), None) or advice_on(data),
        reach=number(data.get("reach")),
        pairs=tuple(map(PairResult.of, data["pairs"])),
        confidence=settings["confidence"],
        seed=settings["seed"],
        as_expected=data.get("as_expected"),
        data=data,
        report=report,
        functions=functions or {},
        shared=shared,
    )


def advice_on(data: Mapping[str, Any]) -> str | None:
    if data["verdict"] != "violated":
        return None
    if any(pair["verdict"] == "violated" and pair["correct"] and not pair["wrong"] and not pair["abstained"] for pair in data["pairs"]):
        return "every guess was right: check that the mechanism draws from the rng that it gets; a seed of its own would make all its outputs equal"
    return "find out what the rule sees; result.witness.replay() judges it on fresh draws"


@dataclasses.dataclass(frozen=True)
class Run:
    """What a run of audit files found: its results in their order, and the report."""

    results: tuple[Result, ...]
    settings: Mapping[str, Any]
    report: Any = dataclasses.field(repr=False, compare=False)
    """The report of the core; None if it was loaded from a file."""
    data: Mapping[str, Any] = dataclasses.field(repr=False, compare=False)
    """The JSON report."""

    @classmethod
    def of_report(cls, report: Any) -> "Run":
        data = json.loads(report.json())
        parts = report.split()
        results = tuple(result_of(audit, data["settings"], part) for audit, part in zip(data["audits"], parts))
        return cls(results, data["settings"], report, data)

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    def __getitem__(self, key: int | str) -> Result:
        """An audit by its place or by its name."""
        if isinstance(key, int):
            return self.results[key]
        for result in self.results:
            if result.name == key:
                return result
        raise KeyError(key)

    @property
    def surprises(self) -> tuple[Result, ...]:
        """The audits whose verdict is not the expected one."""
        return tuple(result for result in self.results if result.as_expected is False)

    @property
    def exit_code(self) -> int:
        """The exit code of `dp-audit run`: 0 if every verdict is as expected."""
        if self.report is None:
            raise AuditError("this run was loaded from a file; its exit code is not known")
        return self.report.exit_code()

    def to_json(self) -> str:
        """The JSON report."""
        return json.dumps(self.data, ensure_ascii=False) if self.report is None else self.report.json()

    def to_html(self) -> str:
        """The HTML report, a whole page."""
        if self.report is None:
            raise AuditError("this run was loaded from a file, which has no pages; open the HTML report of that run")
        return self.report.html()

    def to_pandas(self) -> Any:
        """A pandas DataFrame with a row for each pair, and the columns of the CSV."""
        import pandas

        return pandas.concat([result.to_pandas() for result in self.results], ignore_index=True)

    def _repr_html_(self) -> str | None:
        return self.report.cards() if self.report is not None else None

    def __str__(self) -> str:
        summary = self.data["summary"]
        surprises = f"Not as expected: {', '.join(result.name for result in self.surprises)}." if self.surprises else "All as expected."
        return (
            f"{len(self)} audits, {summary['draws']:,} draws: {summary['violated']} claims refuted, {summary['consistent']} consistent, "
            f"{summary['inconclusive']} inconclusive, {summary['not_run']} not run. {surprises}"
        )
