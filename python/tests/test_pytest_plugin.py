"""The pytest plugin, run in sessions of its own."""

import json

import pytest

MECHANISMS = """
    import pytest
    from dp_audit import PureDp

    def count(data, rng, count):
        return len(data) + rng.laplace(size=count)

    PAIR = (["x"], ["x", "y"])
"""

RIGHT = MECHANISMS + """
    def test_right(dp_audit):
        dp_audit.assert_private(count, *PAIR, claim=PureDp(1.0))

    def test_broken_twin(dp_audit):
        assert dp_audit.assert_violated(count, *PAIR, claim=PureDp(0.5)).verdict == "violated"

    def test_something_else():
        pass
"""

WRONG = MECHANISMS + """
    def test_wrong(dp_audit):
        dp_audit.assert_private(count, *PAIR, claim=PureDp(0.5))
"""


@pytest.fixture
def session(pytester):
    def run(text, *options):
        pytester.makepyfile(text)
        return pytester.runpytest_subprocess("-p", "no:cacheprovider", "--dp-audit-draws", "2e5", *options)

    return run


def test_right_mechanisms_pass_and_the_summary_says_so(session):
    result = session(RIGHT)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["*= dp-audit =*", "✓ consistent*test_right*ε ≥ 0.9*", "✓ violated*test_broken_twin*", "2 audits; all bounds hold together with confidence 99.9 %."])


def test_a_wrong_mechanism_fails_in_a_few_lines(session):
    result = session(WRONG)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["PureDp(epsilon=0.5) is refuted: ε ≥ 0.5*1,* draws*", "The attacker guessed right*Rule: left if*", "Other draws: pytest *test_wrong* --dp-audit-seed 1"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_other_failures(session):
    result = session(
        MECHANISMS
        + """
    def test_not_violated(dp_audit):
        dp_audit.assert_violated(count, *PAIR, claim=PureDp(1.0))

    def test_blind(dp_audit):
        dp_audit.assert_private(lambda data, rng: rng.random(), *PAIR, claim=PureDp(1.0))

    def test_error(dp_audit):
        dp_audit.assert_private(lambda data, rng: object(), *PAIR, claim=PureDp(1.0))

    def test_confidence(dp_audit):
        dp_audit.assert_private(count, *PAIR, claim=PureDp(1.0), confidence=0.9)

    def test_plain(dp_audit):
        assert dp_audit(count, *PAIR, claim=PureDp(0.5)).verdict == "violated"
    """
    )
    result.assert_outcomes(failed=4, passed=1)
    result.stdout.fnmatch_lines(["*A violation was expected*", "*inconclusive (no-difference-seen)*", "*cannot be an output*", "*--dp-audit-confidence*"])


def test_the_error_rate_is_divided_over_the_session(session, pytester):
    session(
        MECHANISMS
        + """
    @pytest.mark.parametrize("index", range(4))
    def test_shares(dp_audit, index):
        for place in (1, 2):
            share = (1 - dp_audit(count, *PAIR, claim=PureDp(1.0)).confidence) * 4 * place * (place + 1)
            assert abs(share - 0.01) < 1e-9
    """,
        "--dp-audit-confidence",
        "0.99",
    ).assert_outcomes(passed=4)


def test_a_test_that_was_not_counted_fails(session):
    result = session(
        """
        import pytest

        @pytest.fixture
        def auditor(dp_audit):
            return dp_audit

        def test_hidden(request):
            request.getfixturevalue("dp_audit")

        def test_through_a_fixture(auditor):
            pass
        """
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*test_hidden gets the fixture dp_audit by getfixturevalue, so it was not counted*"])
    assert result.ret == 1


def test_options_choose_tests(session):
    session(RIGHT, "--dp-audit-only").assert_outcomes(passed=2, deselected=1)
    session(RIGHT, "--dp-audit-skip").assert_outcomes(passed=1, deselected=2)


def test_the_seed_of_a_session(session, pytester):
    for seed in (1, 2):
        session(RIGHT, "--dp-audit-seed", str(seed), "--dp-audit-json", f"{seed}.json").assert_outcomes(passed=3)
    first, second = (json.loads((pytester.path / f"{seed}.json").read_text()) for seed in (1, 2))
    assert first["settings"]["seed"] == 1 and second["settings"]["seed"] == 2
    assert first["audits"][0]["pairs"][0]["correct"] != second["audits"][0]["pairs"][0]["correct"]


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_reports_and_baselines(session, pytester, workers):
    if workers:
        pytest.importorskip("xdist")
    result = session(RIGHT, "--dp-audit-json", "now.json", "--dp-audit-html", "now.html", *workers)
    result.assert_outcomes(passed=3)
    report = json.loads((pytester.path / "now.json").read_text())
    assert sorted(audit["verdict"] for audit in report["audits"]) == ["consistent", "violated"]
    assert all(audit["as_expected"] for audit in report["audits"])
    assert (pytester.path / "now.html").read_text().startswith("<!DOCTYPE html>")
    session(RIGHT, "--dp-audit-baseline", "now.json", *workers).assert_outcomes(passed=3)
    # Tests that are deselected are not missed; a test that is gone is.
    session(RIGHT, "--dp-audit-baseline", "now.json", "-k", "not twin", *workers).assert_outcomes(passed=2, deselected=0 if workers else 1)
    gone = RIGHT.replace("def test_broken_twin", "def broken_twin")
    worse = session(gone, "--dp-audit-baseline", "now.json", *workers)
    assert worse.ret == 1
    worse.stdout.fnmatch_lines(["*worse than now.json*test_broken_twin*"])


@pytest.mark.parametrize(
    "option, words",
    [
        (["--dp-audit-confidence", "2"], "*must be greater than 0.5 and less than 1*"),
        (["--dp-audit-baseline", "missing.json"], "*there is no file missing.json*"),
        (["--dp-audit-json", "missing/now.json"], "*there is no folder missing*"),
        (["--dp-audit-only", "--dp-audit-skip"], "*leave no test*"),
        (["--dp-audit-draws", "0"], "*--dp-audit-draws*"),
    ],
)
def test_bad_options_are_usage_errors(session, option, words):
    result = session(RIGHT, *option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([words])
