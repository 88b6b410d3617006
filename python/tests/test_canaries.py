"""Training runs with canaries: scores, guesses, counts, coins, and what is refused."""

import json
import pickle

import numpy
import pytest

import dp_audit as dpa

CLAIM = dpa.ApproximateDp(1.0, 1e-5)


def scored(m=1000, shift=4.0, seed=2):
    """Scores N(shift, 1) and N(0, 1), and coins."""
    coins = dpa.coin_flips(m, seed=seed)
    return shift * numpy.asarray(coins) + numpy.random.default_rng(seed).normal(size=m), coins


def test_a_leak_is_refuted_and_the_result_says_so():
    scores, coins = scored()
    found = dpa.canaries(scores, coins, claim=CLAIM)
    assert found.verdict == "violated" and found.claim == CLAIM and found.confidence == 0.95
    # 1,000 canaries can show at most about ln(1000/3) = 5.81.
    assert 3.5 < found.lower == found.epsilon_lower < found.ceiling < 5.82
    assert found.canaries == 1000 and found.runs == 1 and found.correct <= found.guesses
    text = str(found)
    assert "refuted (confidence 95 %)" in text and "can show at most ε = 5." in text and "guessed right" in text
    assert "<svg" in found._repr_html_() and found.to_html().startswith("<!DOCTYPE html>")
    assert found.to_dict()["verdict"] == "violated" and json.loads(found.to_json())["schema"] == "dp-audit-report/1"
    assert found.assert_violated() is found
    with pytest.raises(AssertionError, match="refuted"):
        found.assert_not_violated()
    assert pickle.loads(pickle.dumps(found)) == found
    assert dpa.load(found.to_json())[0].canaries[0].lower == found.lower


def test_no_leak_is_inconclusive_because_the_canaries_are_weak_or_few():
    scores, coins = scored(shift=0.0)
    found = dpa.canaries(scores, coins, claim=CLAIM)
    assert found.verdict == "inconclusive" and found.lower < 1 and found.reason in ("canaries-too-weak", "too-few-canaries")
    few = dpa.canaries(*scored(m=100), claim=dpa.ApproximateDp(8.0, 1e-5))
    assert few.reason == "too-few-canaries" and few.ceiling < 3.5 and few.advice


def test_all_ways_in_agree():
    scores, coins = scored()
    inside = numpy.asarray(coins)
    whole = dpa.canaries(scores, inside, claim=CLAIM)
    assert dpa.canaries(in_scores=scores[inside], out_scores=scores[~inside], claim=CLAIM).lower == whole.lower
    assert dpa.canaries(list(scores), [int(coin) for coin in coins], claim=CLAIM).lower == whole.lower
    # Guesses at a threshold that was fixed beforehand, as guesses, as a confusion matrix, as counts.
    says = scores > 2.0
    guessed = dpa.canaries(guesses=numpy.where(says, 1, -1), included=inside, claim=CLAIM)
    table = tuple(int(n) for n in ((says & inside).sum(), (says & ~inside).sum(), (~says & ~inside).sum(), (~says & inside).sum()))
    assert dpa.canaries(confusion=table, claim=CLAIM).lower == guessed.lower
    counted = dpa.canaries(counts=(1000, 1000, table[0] + table[2]), claim=CLAIM)
    assert counted.lower == guessed.lower > 2.5 and guessed.correct == table[0] + table[2]
    words = ["in" if one else "out" for one in says]
    assert dpa.canaries(guesses=words, included=inside, claim=CLAIM).lower == guessed.lower
    # Only the positives are guesses.
    only = dpa.canaries(confusion=table, claim=CLAIM, sides="in")
    assert (only.guesses, only.correct) == (table[0] + table[1], table[0])


def test_a_number_of_guesses_that_is_not_fixed_costs_something():
    counts = (1000, 100, 95)
    opened = dpa.canaries(counts=counts, claim=CLAIM).lower
    fixed = dpa.canaries(counts=counts, claim=CLAIM, fixed_guesses=True).lower
    assert 0 < opened <= fixed
    assert dpa.canaries(counts=counts, claim=dpa.Gdp(1.0), fixed_guesses=True).lower > 0
    with pytest.raises(dpa.AuditError, match="fixed_guesses"):
        dpa.canaries(counts=counts, claim=dpa.Gdp(1.0))


def test_several_runs_show_more_than_one_and_steps_have_fresh_coins():
    runs = [scored(shift=1.0, seed=seed) for seed in range(4)]
    scores, coins = [run[0] for run in runs], [run[1] for run in runs]
    several = dpa.canaries(scores, coins, claim=dpa.Gdp(1.0))
    assert several.runs == 4 and several.canaries == 4000 and several.unit == "mu" and several.epsilon_lower is None
    assert several.lower > dpa.canaries(*runs[0], claim=dpa.Gdp(1.0)).lower
    fresh = dpa.coin_flips(200, seed=3, steps=12)
    values = 5 * numpy.asarray(fresh) + numpy.random.default_rng(3).normal(size=(12, 200))
    steps = dpa.canaries(values, fresh, claim=dpa.Gdp(1.0), step=True)
    assert steps.runs == 12 and steps.verdict == "violated"
    assert dpa.canaries(counts=[(500, 100, 99), (500, 100, 98)], claim=CLAIM).runs == 2


def test_coins_are_fair_kept_and_checked(tmp_path):
    coins = dpa.coin_flips(10_000, seed=5)
    inside = int(numpy.asarray(coins).sum())
    assert abs(inside - 5000) < 250, "five standard deviations of a fair coin"
    assert coins == dpa.coin_flips(10_000, seed=5) != dpa.coin_flips(10_000, seed=6)
    # The first byte of SHA-256 of sixteen bytes of the seed and eight of the block, by hashlib alone.
    import hashlib

    first = hashlib.sha256((5).to_bytes(16, "little") + bytes(8)).digest()[0]
    assert [int(coin) for coin in coins[:8]] == [first >> bit & 1 for bit in range(7, -1, -1)]
    assert dpa.coin_flips(100) != dpa.coin_flips(100)
    path = tmp_path / "coins.json"
    coins.save(path)
    again = dpa.CoinFlips.load(path)
    assert again == coins
    with pytest.raises(FileExistsError):
        coins.save(path)
    other = numpy.asarray(coins).copy()
    other[7] = not other[7]
    with pytest.raises(ValueError, match="1 of 10,000 coins"):
        coins.check(other)
    path.write_text(path.read_text().replace('"canaries": 10000', '"canaries": 9999'))
    with pytest.raises(ValueError, match="was changed"):
        dpa.CoinFlips.load(path)
    path.write_text("{}")
    with pytest.raises(ValueError, match="no file of coins"):
        dpa.CoinFlips.load(path)


def test_a_half_is_refused_unless_the_coins_say_otherwise():
    scores = numpy.random.default_rng(1).normal(size=100)
    with pytest.raises(dpa.AuditError, match="exactly half"):
        dpa.canaries(scores, [True, False] * 50, claim=CLAIM)
    assert dpa.canaries(scores, [True, False] * 50, claim=CLAIM, independent_coins=True).verdict == "inconclusive"


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({}, TypeError, "nothing to judge"),
        ({"scores": [1.0] * 20}, TypeError, "included"),
        ({"scores": [1.0] * 20, "included": [1] * 19}, dpa.AuditError, "20 scores and 19 coins"),
        ({"scores": ["a"] * 20, "included": [1, 0] * 10}, TypeError, "must be numbers"),
        ({"scores": [float("nan")] * 20, "included": [1, 0] * 10}, dpa.AuditError, "NaN"),
        ({"scores": range(20), "included": [2, 0] * 10}, ValueError, "True or 1"),
        ({"scores": range(20), "included": [1] * 20}, dpa.AuditError, "all 20 canaries are in"),
        ({"scores": range(7), "included": [1, 0, 1, 0, 1, 0, 1]}, dpa.AuditError, "at least 10"),
        ({"in_scores": [1.0] * 20}, TypeError, "go together"),
        ({"scores": range(20), "included": [1, 0] * 10, "counts": (1, 1, 1)}, TypeError, "both scores and counts"),
        ({"counts": (100, 200, 3)}, dpa.AuditError, "of 200 guesses about 100"),
        ({"counts": (100, 50)}, ValueError, "counts must be"),
        ({"guesses": [True] * 20, "included": [1, 0] * 10}, TypeError, "nobody knows"),
        ({"guesses": [0.5] * 20, "included": [1, 0] * 10}, ValueError, "the guess about canary 1"),
        ({"guesses": [1, -1, 1] * 10, "included": [1, 0, 1] * 10, "sides": "in"}, dpa.AuditError, "is out"),
        ({"scores": range(20), "included": [1, 0] * 10, "sides": "up"}, ValueError, "sides is 'up'"),
    ],
)
def test_what_is_wrong_is_said(arguments, error, message):
    with pytest.raises(error, match=message):
        dpa.canaries(**arguments, claim=CLAIM)


def test_a_plan_says_how_many_canaries_a_claim_needs():
    plan = dpa.plan_canaries(dpa.ApproximateDp(8.0, 1e-5), 1000)
    assert 5.7 < plan.ceiling < 5.82 and 8_000 < plan.needed < 12_000
    # Theory: 1,000 right guesses show μ = 2.37, and a plan for a small claim makes fewer guesses.
    assert 1 < dpa.plan_canaries(dpa.Gdp(1.0), 1000).ceiling < 2.37


def test_names_of_jax_privacy_work():
    scores, coins = scored()
    inside = numpy.asarray(coins)
    auditor = dpa.CanaryScoreAuditor(scores[inside], scores[~inside])
    assert auditor.epsilon_one_run(0.05, 1e-5) == dpa.canaries(scores, coins, claim=CLAIM).lower
    assert 0 < auditor.epsilon_one_run(0.05, 1e-5, one_sided=True) < 5.2
    assert 1 < auditor.mu_one_run(0.05) < 4


def test_pictures(monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    scores, coins = scored()
    found = dpa.canaries(scores, coins, claim=CLAIM)
    axes = found.plot()
    assert [ax.get_title() for ax in axes] == ["which canaries were in", "how many guesses", "scores"]
    ax = found.plot_roc()
    assert ax.get_xscale() == ax.get_yscale() == "log" and len(ax.lines) == 4
    with pytest.raises(ValueError, match="nothing to draw"):
        dpa.canaries(counts=(1000, 100, 90), claim=CLAIM).plot_roc()
