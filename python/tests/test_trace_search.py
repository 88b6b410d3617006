"""The race of `search(trace=True)`: which pairs traces find in a domain. What is found is certified by draws, as `audit` does it."""

import math

import pytest

import dp_audit as dpa
from dp_audit._trace import candidates, searching

NUMBERS = {"type": "number", "lower": 0.0, "upper": 1.0}
ONE = dpa.PureDp(1.0)


def mean_of_present(data, rng):
    total = sum(min(max(value, 0.0), 1.0) if not math.isnan(value) else value for value in data)
    return total + rng.laplace()


def unclipped(data, rng):
    return sum(value for value in data if math.isfinite(value)) + rng.laplace()


def noisy_sum(data, rng):
    return sum(min(max(value, 0.0), 1.0) for value in data if value == value) + rng.laplace()


def raced(program, record, seconds=6):
    race = searching.Race(program, ONE, {})
    race.run(candidates.pairs(record, (0, 10), "add-remove", 0), "add-remove", seconds)
    return race


def test_nan_in_a_domain_is_found_and_the_pair_is_small():
    race = raced(mean_of_present, NUMBERS)
    left, right, found = race.smaller(*race.finalists()[0], "add-remove", math.inf)
    assert found.verdict == "suspect" and len(left) + len(right) == 1 and math.isnan((left + right)[0])


def test_values_outside_the_bounds_are_tried_unless_they_never_occur():
    assert raced(unclipped, NUMBERS).finalists()[0][2].verdict == "suspect"
    assert raced(unclipped, {**NUMBERS, "never": "nasty"}).finalists()[0][2].verdict == "bounded"


def test_a_sound_sum_is_not_suspect():
    assert all(found.verdict == "bounded" for _, _, found in raced(noisy_sum, NUMBERS).finalists())


@pytest.mark.parametrize(
    "record",
    [
        {"type": "integer", "lower": 0, "upper": 3},
        {"type": "category", "values": ["a", "b"]},
        {"type": "text", "length": 4},
        {"type": "table", "columns": [{"type": "number", "lower": 0, "upper": 1}, {"type": "category", "values": ["x", "y"]}]},
    ],
)
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_candidates_are_neighbours(record, relation):
    from dp_audit._neighbours import relation_of

    for _, (left, right) in zip(range(200), candidates.pairs(record, (1, 6), relation, 3)):
        assert max(len(left), len(right)) <= 6
        assert relation_of(left, right, None) == relation


def test_where_traces_tell_nothing_draws_search():
    """The leak is in the library's own randomness, which a trace cannot follow."""
    import random

    def own_randomness(data, rng):
        return sum(data) > 2.5 + 0.2 * random.gauss(0, 1)

    record = {"type": "integer", "lower": 0, "upper": 3, "never": "nasty"}
    found = dpa.search(own_randomness, claim=ONE, record=record, size=(1, 1), relation="replace-one", seconds=12, trace=True, progress=False)
    assert found.found and "told none from another" in found.effort
