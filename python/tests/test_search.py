"""Searches for a pair. Confidence 99.9 %: a claim that holds is refuted for at most one seed in a thousand."""

import math
import re

import pytest

import dp_audit as dpa

NUMBERS = {"type": "number", "lower": 0.0, "upper": 1.0}


def mean_of_present(data, rng, count):
    """NaN in the data is seen at once."""
    total = sum(min(max(value, 0.0), 1.0) if not math.isnan(value) else value for value in data)
    return total + rng.laplace(size=count)


def noisy_sum(data, rng, count):
    return sum(min(max(value, 0.0), 1.0) for value in data if value == value) + rng.laplace(size=count)


def test_a_domain_with_nan_refutes_and_the_pair_is_small():
    found = dpa.search(mean_of_present, claim=dpa.PureDp(1.0), record=NUMBERS, size=(0, 10), seconds=30)
    assert found.found and found.result.verdict == "violated"
    assert len(found.left) + len(found.right) == 1
    assert math.isnan((found.left + found.right)[0])
    assert "nan" in found.toml and "tried" in found.effort and str(found).startswith("A pair refutes the claim")
    assert found.result.witness.replay(draws=10_000).confirmed


def test_a_claim_that_holds_is_not_refuted():
    found = dpa.search(noisy_sum, claim=dpa.PureDp(1.0), record=NUMBERS, size=(0, 10), draws=2_000_000, seconds=None)
    assert not found.found and found.result.epsilon_lower <= 1.0
    assert "no proof" in str(found)


def test_the_same_search_again_finds_the_same():
    def found(seed):
        return dpa.search(noisy_sum, claim=dpa.PureDp(0.5), record=NUMBERS, size=(0, 5), draws=1_000_000, seconds=None, seed=seed)

    first, second = found(1), found(1)
    assert first.found and (first.left, first.right, first.result.pairs) == (second.left, second.right, second.result.pairs)


def parity(data, rng, count):
    """Leaks whether there are at least four records."""
    return (5.0 if len(data) > 3 else 0.0) + rng.laplace(size=count)


def make_pair(rng):
    data = list(rng.integers(0, 10, size=int(rng.integers(0, 12))))
    return data, [*data, int(rng.integers(0, 10))]


def test_a_function_that_makes_pairs():
    found = dpa.search(parity, claim=dpa.PureDp(1.0), pairs=make_pair, seconds=30)
    assert found.found and (len(found.left), len(found.right)) == (3, 4), "the smallest pair by hand has three and four records"
    assert found.toml is None


def test_a_hypothesis_strategy():
    strategies = pytest.importorskip("hypothesis.strategies")
    lists = strategies.lists(strategies.integers(0, 9), max_size=12)
    pairs = lists.flatmap(lambda data: strategies.integers(0, 9).map(lambda more: (data, [*data, more])))
    found = dpa.search(parity, claim=dpa.PureDp(1.0), pairs=pairs, seconds=30)
    assert found.found and (len(found.left), len(found.right)) == (3, 4)


def test_data_on_which_it_fails_is_found():
    def fails_on_empty(data, rng):
        return sum(data) / len(data) * 0 + rng.laplace()

    found = dpa.search(fails_on_empty, claim=dpa.PureDp(1.0), record={**NUMBERS, "never": ["nan", "infinite"]}, size=(0, 5), seconds=30)
    assert found.found and [] in (found.left, found.right)
    assert "ZeroDivisionError" in found.result.rule


@pytest.mark.parametrize(
    "options, error, words",
    [
        ({}, TypeError, "either record"),
        ({"record": {"type": "nmber"}}, ValueError, "nmber"),
        ({"record": {"type": "number", "lower": 1, "upper": 0}}, ValueError, "record"),
        ({"pairs": 3}, TypeError, "pairs is a int"),
        ({"pairs": lambda rng: (1, 2, 3)}, ValueError, "3 datasets"),
        ({"pairs": lambda rng: ([1], [2, 3])}, ValueError, "not add-remove or replace-one neighbours"),
        ({"pairs": lambda rng: 1 / 0}, ZeroDivisionError, "division"),
        ({"record": NUMBERS, "draws": 0}, ValueError, "draws is 0"),
        ({"record": NUMBERS, "seconds": -1}, ValueError, "seconds"),
    ],
)
def test_bad_searches(options, error, words):
    with pytest.raises(error, match=words):
        dpa.search(parity, claim=dpa.PureDp(1.0), **options)


def test_messages_that_tell_datasets_apart_are_found():
    def mechanism(data, rng):
        raise ValueError(f"{len(data)} records are too few")

    found = dpa.search(mechanism, claim=dpa.PureDp(1.0), record=NUMBERS, size=(0, 5), seconds=10)
    assert found.found and "records are too few" in found.result.rule


def once(data, rng, count):
    if len(data) == 3 and rng.random() < 0.5:
        raise ValueError("now and then")
    return rng.laplace(size=count)


def changing(data, rng):
    if len(data) == 3:
        data.append(1.0)
    return rng.laplace()


@pytest.mark.parametrize("mechanism, words", [(once, "nobody knows in which"), (changing, "changed its dataset")])
def test_what_cannot_be_judged_is_an_error(mechanism, words):
    with pytest.raises(dpa.AuditError, match=words) as raised:
        dpa.search(mechanism, claim=dpa.PureDp(1.0), record={**NUMBERS, "never": ["nan", "infinite"]}, size=(0, 5), seconds=10)
    assert re.search(r"\(\[.*\] and \[.*\]\): ", str(raised.value)), "it names the datasets"
    assert any(pair.verdict != "error" for pair in raised.value.result.pairs), "other pairs are judged"


def test_a_mechanism_that_cannot_be_run_is_an_error():
    def mechanism(data, rng):
        raise RuntimeError("no database")

    with pytest.raises(dpa.AuditError, match="no database"):
        dpa.search(mechanism, claim=dpa.PureDp(1.0), record=NUMBERS, seconds=5)
