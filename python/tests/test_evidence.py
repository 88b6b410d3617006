"""Evidence over many runs. Seeds are fixed."""

import functools
import json

import pytest

import dp_audit as dpa

ONE, TWO = ["x"], ["x", "y"]


def count(data, rng, count, scale):
    return len(data) + rng.laplace(scale=scale, size=count)


def night(path, seed, scale=1 / 1.02, **options):
    """A night of few draws. Without other options the mechanism leaks 2 % more than it claims."""
    mechanism = functools.partial(count, scale=scale)
    return dpa.audit(mechanism, ONE, TWO, claim=dpa.PureDp(1.0), draws=50_000, seed=seed, evidence=path, name="count", **options)


def test_a_leak_that_no_night_shows_is_refuted_by_all_of_them(tmp_path):
    # A night wins about 1, and 11 refute at 99.9 %.
    for seed in range(1, 61):
        result = night(tmp_path / "evidence.jsonl", seed)
        pair = result.pairs[0]
        assert pair.evidence_runs == seed
        if pair.evidence_share >= 1:
            break
    assert result.verdict == "violated" and seed > 3
    assert pair.evidence_share >= 1 and f"refuted by the evidence of {seed} runs" in result.sentence
    assert "all runs" in result.to_html()
    # It remains refuted when the mechanism is repaired, and begins anew with a version.
    assert night(tmp_path / "evidence.jsonl", 100, scale=1.0).verdict == "violated"
    anew = night(tmp_path / "evidence.jsonl", 101, scale=1.0, since="2.0")
    assert anew.verdict != "violated" and anew.pairs[0].evidence_runs == 1
    assert night(tmp_path / "evidence.jsonl", 102, scale=1.0).pairs[0].evidence_runs == 2


def test_a_seed_counts_once(tmp_path):
    night(tmp_path / "evidence.jsonl", 1)
    before = (tmp_path / "evidence.jsonl").read_bytes()
    for options in ({}, {"since": "2.0"}):
        with pytest.raises(ValueError, match="seed 1 before"):
            night(tmp_path / "evidence.jsonl", 1, **options)
    assert (tmp_path / "evidence.jsonl").read_bytes() == before


@pytest.mark.parametrize("options, words", [({"confidence": 0.9}, "confidence 0.999"), ({"executor": object()}, "executor")])
def test_what_does_not_fit_is_refused(tmp_path, options, words):
    night(tmp_path / "evidence.jsonl", 1)
    with pytest.raises(ValueError, match=words):
        night(tmp_path / "evidence.jsonl", 2, **options)


def test_since_needs_a_file():
    with pytest.raises(ValueError, match="evidence"):
        dpa.audit(lambda data, rng: rng.random(), ONE, TWO, claim=dpa.PureDp(1.0), since="2.0")


def test_a_broken_file_is_named_with_its_line(tmp_path):
    night(tmp_path / "evidence.jsonl", 1)
    text = (tmp_path / "evidence.jsonl").read_text()
    (tmp_path / "evidence.jsonl").write_text(text[:-20])
    with pytest.raises(ValueError, match="evidence.jsonl: line 2"):
        night(tmp_path / "evidence.jsonl", 2)


TESTS = """
    from dp_audit import PureDp

    def count(data, rng, count):
        return len(data) + rng.laplace(size=count)

    def test_one(dp_audit):
        dp_audit.assert_private(count, ["x"], ["x", "y"], claim=PureDp(1.0))

    def test_other(dp_audit):
        dp_audit(count, ["x"], ["x", "y"], claim=PureDp(1.0))
"""


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_sessions_share_a_file(pytester, workers):
    if workers:
        pytest.importorskip("xdist")
    pytester.makepyfile(TESTS)

    def session(seed):
        options = ["--dp-audit-draws", "1e5", "--dp-audit-seed", str(seed), "--dp-audit-evidence", "evidence.jsonl", *workers]
        return pytester.runpytest_subprocess("-p", "no:cacheprovider", *options)

    for seed in (1, 2):
        session(seed).assert_outcomes(passed=2)
    again = session(2)
    again.assert_outcomes(failed=2)
    again.stdout.fnmatch_lines(["*seed 2 before*"])
    lines = [json.loads(line) for line in (pytester.path / "evidence.jsonl").read_text().splitlines()]
    assert lines[0]["confidence"] == 0.999
    # Each test brought a pair of its own, in a group of its own.
    assert sorted(line["group"] for line in lines[1:]) == [1, 2]
    assert all([run["seed"] for run in line["runs"]] == [1, 2] for line in lines[1:])
