"""Measurements without a claim. Seeds are fixed; a bound is above the truth for at most one seed in a thousand."""

import math

import pytest

import dp_audit as dpa

ONE, TWO = ["x"], ["x", "y"]


def laplace_count(data, rng, count):
    return len(data) + rng.laplace(size=count)


def test_a_profile_is_bounded_from_below_at_every_delta():
    found = dpa.measure(laplace_count, ONE, TWO, draws=150_000, delta=[0.05])
    # ε(δ) = 1 + 2 ln(1 − δ).
    for delta, bound in found.table.items():
        truth = max(0.0, 1 + 2 * math.log(1 - delta))
        assert 0.8 * truth - 0.1 < bound <= truth, (delta, bound)
    assert 0.05 in found.table and found.epsilon(0.02) == found.table[0.05]
    assert 0.85 < found.mu_lower <= 1.031 and 0 < found.rho_lower <= 0.5
    assert "ε ≥" in str(found) and "consistent" not in str(found)
    assert list(found.to_pandas().columns) == ["delta", "epsilon_lower"]


def test_several_pairs_give_a_list():
    found = dpa.measure(laplace_count, pairs={"a": (ONE, TWO), "b": (TWO, ONE)}, draws=10_000)
    assert [one.pair for one in found] == ["a", "b"]


def test_what_fails_is_an_error_with_its_cause():
    def broken(data):
        raise MemoryError("no room")

    with pytest.raises(ValueError, match="delta has 2"):
        dpa.measure(laplace_count, ONE, TWO, delta=[2])
    with pytest.raises((dpa.AuditError, MemoryError)):
        dpa.measure(broken, ONE, TWO, draws=300)
