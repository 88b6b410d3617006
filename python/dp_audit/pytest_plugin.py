"""The pytest plugin: audits as tests, with one rate of false refutations for the whole session.

    def test_noisy_count(dp_audit):
        dp_audit.assert_private(noisy_count, ["x"], ["x", "y"], claim=PureDp(1.0))

    def test_broken_count(dp_audit):
        dp_audit.assert_violated(broken_count, ["x"], ["x", "y"], claim=PureDp(1.0))

The error rate 1 − confidence of the session is divided over the collected tests that use the fixture. The k-th audit of a test gets the part
1/(k(k + 1)) of the test's share; these parts add up to 1, however many there are. So the session refutes a claim that holds with a probability of
at most 1 − confidence. (An audit may also be inconclusive by chance.) A test that was not counted, because it gets the fixture by
request.getfixturevalue, fails.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Callable, Iterator, Sequence

import pytest

FIXTURE = "dp_audit"
SENT = "dp_audit_results"  # where a worker of pytest-xdist leaves its results
PARTIAL = "dp_audit_partial"  # and whether audits were deselected
STATE = pytest.StashKey["Session"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("dp-audit")
    group.addoption("--dp-audit-draws", type=whole, metavar="N", help="draws per pair, for audits that do not say (1,000,000)")
    group.addoption("--dp-audit-seed", type=int, default=0, metavar="N", help="the seed of all audits that do not say (0)")
    group.addoption(
        "--dp-audit-confidence", type=float, default=0.999, metavar="P", help="of all audits of the session together (0.999)"
    )
    group.addoption("--dp-audit-only", action="store_true", help="run only tests that use the fixture dp_audit")
    group.addoption("--dp-audit-skip", action="store_true", help="skip tests that use the fixture dp_audit")
    group.addoption("--dp-audit-json", metavar="FILE", help="write a JSON report")
    group.addoption("--dp-audit-html", metavar="FILE", help="write an HTML report")
    group.addoption("--dp-audit-evidence", metavar="FILE", help="add to the evidence of earlier sessions; needs a new --dp-audit-seed each time")
    group.addoption("--dp-audit-since", metavar="VERSION", help="count evidence from this version on")
    group.addoption("--dp-audit-baseline", metavar="FILE", help="an earlier JSON report; fail if something is worse or missing")


def whole(text: str) -> int:
    """A whole number, which may be written as 1e6."""
    value = float(text)
    if value != int(value) or value < 1:
        raise ValueError(text)
    return int(value)


def pytest_configure(config: pytest.Config) -> None:
    confidence = config.getoption("--dp-audit-confidence")
    if not 0.5 < confidence < 1:
        raise pytest.UsageError(f"--dp-audit-confidence is {confidence}, must be greater than 0.5 and less than 1")
    if config.getoption("--dp-audit-only") and config.getoption("--dp-audit-skip"):
        raise pytest.UsageError("--dp-audit-only and --dp-audit-skip leave no test; use one of them")
    baseline = config.getoption("--dp-audit-baseline")
    if baseline and not Path(baseline).is_file():
        raise pytest.UsageError(f"--dp-audit-baseline: there is no file {baseline}; make it with --dp-audit-json")
    if config.getoption("--dp-audit-since") and not config.getoption("--dp-audit-evidence"):
        raise pytest.UsageError("--dp-audit-since needs --dp-audit-evidence")
    for option in ("--dp-audit-json", "--dp-audit-html", "--dp-audit-evidence"):
        name = config.getoption(option)
        if name and not Path(name).resolve().parent.is_dir():
            raise pytest.UsageError(f"{option}: there is no folder {Path(name).parent}")
    config.stash[STATE] = Session(config)
    if config.pluginmanager.hasplugin("xdist"):
        config.pluginmanager.register(FromWorkers(config.stash[STATE]), "dp_audit_from_workers")


class Session:
    """The audits of a session."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.tests = 1
        self.reports: list[Any] = []
        self.lines: list[tuple[str, str]] = []
        self.problems: list[str] = []
        self.is_partial = False

    @property
    def is_worker(self) -> bool:
        return hasattr(self.config, "workerinput")

    def settings(self) -> dict[str, Any]:
        option = self.config.getoption
        return {
            "draws": option("--dp-audit-draws"),
            "seed": option("--dp-audit-seed"),
            "confidence": option("--dp-audit-confidence"),
            "until": "refuted",
        }

    def joined(self) -> Any:
        from . import _dp_audit

        return _dp_audit.Report.joined(self.reports, json.dumps(self.settings()))


class FromWorkers:
    """Collects what the workers of pytest-xdist found."""

    def __init__(self, session: Session) -> None:
        self.session = session

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: Any) -> None:
        from . import _dp_audit

        output = getattr(node, "workeroutput", {})
        self.session.is_partial |= output.get(PARTIAL, False)
        for text, *line in output.get(SENT, []):
            self.session.reports.append(_dp_audit.Report.parse(text))
            self.session.lines.append(tuple(line))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    only, skip = config.getoption("--dp-audit-only"), config.getoption("--dp-audit-skip")
    if only or skip:
        kept = [item for item in items if audits(item) == only]
        config.hook.pytest_deselected(items=[item for item in items if audits(item) != only])
        items[:] = kept
    config.stash[STATE].tests = max(1, sum(map(audits, items)))


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    for item in items:
        item.config.stash[STATE].is_partial |= audits(item)


def audits(item: pytest.Item) -> bool:
    return FIXTURE in getattr(item, "fixturenames", ())


@pytest.fixture
def dp_audit(request: pytest.FixtureRequest) -> "Iterator[Auditor]":
    """Audits mechanisms and asserts what they claim: `dp_audit.assert_private(mechanism, left, right, claim=PureDp(1.0))`."""
    if not audits(request.node):
        pytest.fail(
            f"{request.node.nodeid} gets the fixture {FIXTURE} by getfixturevalue, so it was not counted when the error rate was divided; "
            f"name {FIXTURE} among the arguments of the test",
            pytrace=False,
        )
    yield Auditor(request.config.stash[STATE], request.node.nodeid)


class Auditor:
    """The fixture `dp_audit`. It takes the arguments of `dp_audit.audit`, except for the confidence, which the session sets."""

    def __init__(self, session: Session, test: str) -> None:
        self.session = session
        self.test = test
        self.audits = 0

    def __call__(self, mechanism: Callable[..., Any], *pair: Any, **options: Any) -> Any:
        """Audits a mechanism and returns the result."""
        return self.audit("", mechanism, pair, options)

    def assert_private(self, mechanism: Callable[..., Any], *pair: Any, **options: Any) -> Any:
        """Fails if the claim is refuted, and also if the audit says nothing."""
        __tracebackhide__ = True
        result = self.audit("consistent", mechanism, pair, options)
        if result.verdict != "consistent":
            pytest.fail(self.message(result), pytrace=False)
        return result

    def assert_violated(self, mechanism: Callable[..., Any], *pair: Any, **options: Any) -> Any:
        """Fails unless the claim is refuted, for a broken twin of a mechanism."""
        __tracebackhide__ = True
        result = self.audit("violated", mechanism, pair, options)
        if result.verdict != "violated":
            pytest.fail(self.message(result), pytrace=False)
        return result

    def audit(self, expect: str, mechanism: Callable[..., Any], pair: tuple[Any, ...], options: dict[str, Any]) -> Any:
        __tracebackhide__ = True
        from . import _audit

        if "confidence" in options:
            raise TypeError("the confidence is that of the whole session; set it with --dp-audit-confidence")
        self.audits += 1
        alpha = (1 - self.session.config.getoption("--dp-audit-confidence")) / self.session.tests
        share = alpha / (self.audits * (self.audits + 1))
        settings = self.session.settings()
        options.setdefault("draws", settings["draws"] or _audit.DEFAULT_DRAWS)
        options.setdefault("seed", settings["seed"])
        if (path := self.session.config.getoption("--dp-audit-evidence")) and "evidence" not in options:
            options["evidence"] = _audit.SharedEvidence(path, settings["confidence"])
            options.setdefault("since", self.session.config.getoption("--dp-audit-since"))
        options.setdefault("progress", False)
        options.setdefault("name", self.test if self.audits == 1 else f"{self.test} ({self.audits})")
        result = _audit.audit(mechanism, *pair, confidence=1 - share, expect=expect or None, **options)
        # Without an expectation the test itself judges the result.
        mark = ("✓" if result.verdict == expect else "✗") if expect else "·"
        self.session.reports.append(result.report)
        self.session.lines.append((f"{mark} {result.verdict}", f"{result.name}  {summary(result)}"))
        return result

    def message(self, result: Any) -> str:
        """What leaked in two lines, and how to see it again."""
        seed = result.seed
        again = f"pytest '{self.test}' --dp-audit-seed {seed + 1}"
        if result.verdict == "violated":
            return (
                f"{result.claim} is refuted: {summary(result)}, with confidence {100 * self.session.settings()['confidence']:g} % for the session.\n"
                f"The attacker {result.sentence}. Rule: {result.rule}.\n"
                + "".join(f"{clue}.\n" for clue in result.worst.clues())
                + f"Other draws: {again}"
            )
        if result.verdict == "consistent":
            return f"{result.claim} is not refuted: {summary(result)}. A violation was expected.\nMore draws may show it: {again} --dp-audit-draws 1e7"
        return f"{result.claim}: inconclusive ({result.reason}), {summary(result)}.\nWhat to do: {result.advice}"


def summary(result: Any) -> str:
    from ._result import brief

    return f"ε ≥ {brief(result.epsilon_lower)}, δ ≥ {brief(result.delta_lower)}, reach {brief(result.reach)}, {result.draws:,} draws"


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    state = session.config.stash[STATE]
    if state.is_worker:
        sent = [(report.dump(), *line) for report, line in zip(state.reports, state.lines)]
        session.config.workeroutput.update({SENT: sent, PARTIAL: state.is_partial})  # type: ignore[attr-defined]
        return
    option = session.config.getoption
    wanted = [option(name) for name in ("--dp-audit-json", "--dp-audit-html", "--dp-audit-baseline")]
    if not any(wanted) or sys.exc_info()[0] is not None:
        return
    report = state.joined()
    as_json, as_html, baseline = wanted
    if as_json:
        Path(as_json).write_text(report.json(), encoding="utf-8")
    if as_html:
        Path(as_html).write_text(report.html(), encoding="utf-8")
    if baseline:
        before = Path(baseline).read_text(encoding="utf-8")
        state.problems = report.worse_than(with_audits_of(before, report) if state.is_partial else before)
        if state.problems and session.exitstatus == 0:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def with_audits_of(before: str, report: Any) -> str:
    """The earlier report without the audits that did not run now, because their tests were deselected."""
    kept = json.loads(before)
    names = {audit["audit"] for audit in json.loads(report.json())["audits"]}
    kept["audits"] = [audit for audit in kept["audits"] if audit["audit"] in names]
    return json.dumps(kept)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    state = config.stash[STATE]
    if not state.lines:
        return
    terminalreporter.section("dp-audit")
    confidence = 100 * config.getoption("--dp-audit-confidence")
    for verdict, line in state.lines:
        terminalreporter.write_line(f"{verdict:<14} {line}")
    number = len(state.lines)
    terminalreporter.write_line(f"{number} audit{'s' * (number > 1)}; all bounds hold together with confidence {confidence:g} %.")
    for option in ("--dp-audit-json", "--dp-audit-html"):
        if config.getoption(option):
            terminalreporter.write_line(f"Report: {config.getoption(option)}")
    for problem in state.problems:
        terminalreporter.write_line(f"✗ worse than {config.getoption('--dp-audit-baseline')}: {problem}", red=True)
