"""Audits of functions. Seeds are fixed; a claim that holds is refuted for at most one seed in a thousand."""

import dataclasses
import functools
import math
import random

import numpy
import pytest

import dp_audit as dpa

ONE, TWO = ["x"], ["x", "y"]


def laplace_count(data, rng, count, scale=1.0):
    return len(data) + rng.laplace(scale=scale, size=count)


def test_a_correct_count_is_consistent_and_half_the_noise_is_violated():
    right = dpa.audit(laplace_count, ONE, TWO, claim=dpa.PureDp(1.0), draws=200_000)
    assert right.verdict == "consistent"
    assert 0.9 < right.epsilon_lower <= 1.0 and right.reach == pytest.approx(right.epsilon_lower)
    wrong = dpa.audit(functools.partial(laplace_count, scale=0.5), ONE, TWO, claim=dpa.PureDp(1.0), draws=200_000, until="budget")
    assert wrong.verdict == "violated"
    assert 1.8 < wrong.epsilon_lower <= 2.0
    assert "y <" in wrong.rule and "guessed right" in wrong.sentence


def test_one_draw_at_a_time_is_the_same_mechanism():
    result = dpa.audit(lambda data, rng: len(data) + rng.laplace(), ONE, TWO, claim=dpa.PureDp(1.0), draws=100_000)
    assert result.verdict == "consistent"
    assert result.pairs[0].reproducible


def test_the_same_seed_gives_the_same_result_on_any_number_of_threads():
    def found(**options):
        return dpa.audit(laplace_count, ONE, TWO, claim=dpa.PureDp(1.0), draws=300_000, **options).pairs[0]

    first = found(threads=1, seed=3)
    assert found(threads=2, seed=3) == first
    assert found(threads=1, seed=4) != first


@pytest.mark.parametrize("rng, kind", [("numpy", numpy.random.Generator), ("python", random.Random)])
def test_the_generator_is_the_one_that_was_asked_for(rng, kind):
    seen = []

    def mechanism(data, generator):
        seen.append(type(generator))
        return len(data) + generator.random()

    dpa.audit(mechanism, ONE, TWO, claim=dpa.PureDp(1.0), draws=1000, rng=rng)
    assert set(seen) == {kind}


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda data, rng: len(data) + rng.laplace(),
        lambda data, rng, count: len(data) + rng.laplace(size=count),
        lambda data, count, rng: len(data) + rng.laplace(size=count),
        lambda data, num_samples: len(data) + numpy.random.default_rng().laplace(size=num_samples),
        lambda data: len(data) + numpy.random.default_rng().laplace(),
        lambda data, rng, count=1, scale=1.0: len(data) + rng.laplace(scale=scale, size=count),
    ],
)
def test_arguments_are_recognised(mechanism):
    result = dpa.audit(mechanism, ONE, TWO, claim=dpa.PureDp(1.0), draws=20_000, resolution=0.5)
    assert result.verdict == "consistent", result


def test_a_mechanism_without_a_generator_is_not_reproducible():
    result = dpa.audit(lambda data: len(data) + numpy.random.default_rng().laplace(), ONE, TWO, claim=dpa.PureDp(1.0), draws=20_000)
    assert result.pairs[0].reproducible is False


@pytest.mark.parametrize(
    "mechanism, words",
    [
        (3, "must be a function"),
        (lambda: 0, "takes no argument"),
        (lambda data, rng, epsilon: 0, "data, rng, epsilon"),
        (lambda data, *, epsilon: 0, "epsilon by name"),
    ],
)
def test_a_mechanism_that_cannot_be_called_is_a_type_error(mechanism, words):
    with pytest.raises(TypeError, match=words):
        dpa.audit(mechanism, ONE, TWO, claim=dpa.PureDp(1.0))


@dataclasses.dataclass
class Release:
    count: float
    note: str


NOISY = {
    "number": lambda n, rng: n + rng.laplace(),
    "numpy scalar": lambda n, rng: numpy.float32(n + rng.laplace()),
    "list": lambda n, rng: [0.0, n + rng.laplace()],
    "tuple": lambda n, rng: (n + rng.laplace(), "x"),
    "array": lambda n, rng: numpy.array([[0.0, n + rng.laplace()]]),
    "dict": lambda n, rng: {"count": n + rng.laplace()},
    "dataclass": lambda n, rng: Release(n + rng.laplace(), "n"),
    "text": lambda n, rng: f"about {n + rng.laplace()} people",
}


@pytest.mark.parametrize("kind", NOISY)
def test_all_kinds_of_outputs_are_seen(kind):
    result = dpa.audit(NOISY[kind], 0, 1, claim=dpa.PureDp(0.3), draws=20_000)
    assert result.verdict == "violated", result


DIFFERENT = {
    "None": (None, 1.0),
    "NaN": (math.nan, 1.0),
    "a key that is missing": ({"a": 1}, {"a": 1, "b": 2}),
    "length": ([1.0], [1.0, 1.0]),
    "text": ("yes", "no"),
    "bool": (True, False),
    "the sign of zero": (0.0, -0.0),
    "an infinity": (math.inf, -math.inf),
}


@pytest.mark.parametrize("kind", DIFFERENT)
def test_whatever_differs_is_seen(kind):
    # Each output is right with probability 0.9, so ε = ln 9 = 2.197.
    def mechanism(data, rng):
        return DIFFERENT[kind][data if rng.random() < 0.9 else 1 - data]

    result = dpa.audit(mechanism, 0, 1, claim=dpa.PureDp(1.0), draws=20_000)
    assert result.verdict == "violated" and result.epsilon_lower <= math.log(9), result


def test_an_exception_is_an_output():
    def mechanism(data, rng):
        if rng.random() < (0.9 if data else 0.1):
            raise ValueError("too few records")
        return 1.0

    result = dpa.audit(mechanism, 0, 1, claim=dpa.PureDp(1.0), draws=20_000)
    assert result.verdict == "violated"
    assert "error: ValueError: too few records" in result.rule
    assert "an exception is an output like any other" in result.pairs[0].note


def test_several_pairs_share_one_claim():
    def mechanism(data, rng, count):
        return sum(data) + rng.laplace(size=count)

    pairs = {"small": ([0.0], [0.0, 1.0]), "large": ([0.0], [0.0, 3.0])}
    result = dpa.audit(mechanism, pairs=pairs, claim=dpa.PureDp(1.0), draws=50_000)
    assert [pair.name for pair in result.pairs] == ["small", "large"]
    assert [pair.verdict for pair in result.pairs] == ["consistent", "violated"]
    assert result.verdict == "violated" and result.worst.name == "large"
    unnamed = dpa.audit(mechanism, pairs=[([0.0], [1.0])], claim=dpa.PureDp(1.0), draws=20_000)
    assert unnamed.pairs[0].name == "pair 1"


def test_features_are_what_the_attacker_knows():
    key = 0x9E3779B97F4A7C15
    inverse = pow(key, -1, 2**64)

    def mechanism(data, rng):
        return str((2 * int(rng.integers(2**32)) + data) * key % 2**64)

    def knowledge(output):
        return {"bit": int(output) * inverse % 2**64 & 1}

    result = dpa.audit(mechanism, 0, 1, claim=dpa.PureDp(1.0), draws=20_000, features=knowledge, until="budget")
    assert result.verdict == "violated" and "bit" in result.rule


@pytest.mark.parametrize("mechanism", [functools.partial(laplace_count, scale=0.5), lambda data, rng: len(data) + rng.laplace(scale=0.5)])
def test_a_refuted_claim_ends_the_audit(mechanism):
    # Half of the noise is refuted at 99.9 % after about 700 draws; 512 further ones are tested for dependence.
    result = dpa.audit(mechanism, ONE, TWO, claim=dpa.PureDp(1.0), draws=10_000_000)
    assert result.verdict == "violated" and result.draws < 10_000
    assert 1.0 <= result.epsilon_lower <= 2.0


def test_a_claim_that_holds_spends_all_draws_at_nearly_the_same_bound():
    ended, fixed = (dpa.audit(laplace_count, ONE, TWO, claim=dpa.PureDp(1.0), draws=300_000, until=until) for until in (None, "budget"))
    assert ended.verdict == fixed.verdict == "consistent" and ended.draws == fixed.draws == 300_000
    # The error rates of the final bounds are in the ratio 0.89 to 0.9375, which is 0.03 of a standard error; a bound varies by one, which is about 0.006.
    assert abs(ended.epsilon_lower - fixed.epsilon_lower) < 0.04


def test_until_decided_needs_fewer_draws():
    result = dpa.audit(functools.partial(laplace_count, scale=0.1), ONE, TWO, claim=dpa.PureDp(1.0), draws=1_000_000, until="decided")
    assert result.verdict == "violated" and result.draws < 10_000


def test_a_time_limit_cuts_the_draws():
    result = dpa.audit(laplace_count, ONE, TWO, claim=dpa.PureDp(1.0), draws=10**10, max_seconds=1.0)
    assert result.draws < 10**10
    assert "time limit" in result.pairs[0].note and result.epsilon_lower <= 1.0


@pytest.mark.parametrize(
    "claim, mechanism, verdict",
    [
        # Gaussian noise σ = 1 on a count is exactly 1-GDP, (1/2)-zCDP, and has Rényi divergence λ/2.
        (dpa.Gdp(1.0), 1.0, "consistent"),
        (dpa.Gdp(1.0), 0.5, "violated"),
        (dpa.Zcdp(0.5), 1.0, "consistent"),
        (dpa.Zcdp(0.5), 0.5, "violated"),
        (dpa.RenyiDp(2.0, 1.0), 1.0, "consistent"),
        (dpa.RenyiDp(2.0, 1.0), 0.5, "violated"),
        # δ(ε) = Φ(½ − ε) − e^ε·Φ(−½ − ε) is 0.1269 at ε = 1.
        (dpa.ApproximateDp(1.0, 0.127), 1.0, "consistent"),
        (dpa.Profile([(1.0, 0.127)]), 1.0, "consistent"),
        (dpa.Profile([(1.0, 0.05)]), 1.0, "violated"),
    ],
)
def test_claims_of_all_kinds(claim, mechanism, verdict):
    def gaussian(data, rng, count):
        return len(data) + mechanism * rng.standard_normal(count)

    result = dpa.audit(gaussian, ONE, TWO, claim=claim, draws=400_000, resolution=None)
    assert result.verdict == verdict, result


def test_stability_claims_are_about_functions_without_noise():
    def total(data):
        return sum(data)

    claim = dpa.Stability(1, 1.0, "l1")
    assert dpa.audit(total, [1.0], [1.0, 0.5], claim=claim, reach=(0.1, "a small record")).verdict == "consistent"
    assert dpa.audit(total, [1.0], [1.0, 5.0], claim=claim).verdict == "violated"


@pytest.mark.parametrize("make", [lambda: dpa.PureDp(-1), lambda: dpa.ApproximateDp(1, 1.5), lambda: dpa.Gdp(0), lambda: dpa.RenyiDp(1, 1), lambda: dpa.Profile([])])
def test_claims_out_of_range_are_value_errors(make):
    with pytest.raises(ValueError, match="must"):
        make()


@pytest.mark.parametrize(
    "options, words",
    [
        ({"draws": 0}, "draws is 0"),
        ({"draws": 1.5}, "draws is 1.5"),
        ({"confidence": 0.2}, "confidence"),
        ({"seed": -1}, "seed is -1"),
        ({"until": "later"}, "until is 'later'"),
        ({"rng": "torch"}, "rng is 'torch'"),
        ({"attacks": ["magic"]}, "magic"),
        ({"reach": 0.1}, "needs a reason"),
    ],
)
def test_bad_options_are_value_errors(options, words):
    with pytest.raises(ValueError, match=words):
        dpa.audit(laplace_count, ONE, TWO, claim=dpa.PureDp(1.0), **options)


def test_a_number_is_no_claim():
    with pytest.raises(TypeError, match="PureDp"):
        dpa.audit(laplace_count, ONE, TWO, claim=1.0)


class TestNeighbours:
    def check(self, left, right, **options):
        return dpa.audit(lambda data, rng: rng.random(), left, right, claim=dpa.PureDp(1.0), draws=100, **options).data["relation"]

    def test_lists_and_arrays_are_checked(self):
        assert self.check([1, 2], [2]) == "add-remove"
        assert self.check(numpy.zeros(3), numpy.array([0, 0, 1.0])) == "replace-one"
        with pytest.raises(ValueError, match="2 records that only left has and 2 that only right has"):
            self.check([1, 2], [3, 4])
        with pytest.raises(ValueError, match="not add-remove neighbours"):
            self.check([1, 2], [1, 3], relation="add-remove")

    def test_equal_datasets_are_no_neighbours(self):
        with pytest.raises(ValueError, match="in no record"):
            self.check([1, 2], [2, 1])
        assert self.check([1, 2], [2, 1], relation="the order is secret") == "custom"

    @pytest.mark.parametrize("relation", ["add_remove", "Add-Remove", "addremove", "add-remov", "Replace one", "replace-1ne"])
    def test_a_misspelt_relation_is_no_reason(self, relation):
        with pytest.raises(ValueError, match="did you mean"):
            self.check([1, 2], [3, 4], relation=relation)

    def test_a_stated_reason_is_printed(self):
        result = dpa.audit(lambda data, rng: rng.random(), [1, 2], [3, 4], claim=dpa.PureDp(1.0), draws=100, relation="one household")
        assert "not checked: one household" in str(result)

    def test_nan_and_the_sign_of_zero_are_records(self):
        assert self.check([math.nan, 1.0], [1.0]) == "add-remove"
        assert self.check([0.0], [-0.0]) == "replace-one"

    def test_frames_are_checked_by_rows(self):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]})
        assert self.check(frame, frame.iloc[:2]) == "add-remove"
        with pytest.raises(ValueError, match="neighbours"):
            self.check(frame, frame.iloc[:1])

    def test_polars_frames_are_checked_by_rows(self):
        polars = pytest.importorskip("polars")
        frame = polars.DataFrame({"a": [1, 2, 3]})
        assert self.check(frame, frame[:2]) == "add-remove"

    def test_other_objects_are_believed(self):
        assert self.check(0, 1) == "custom"


def test_a_claim_is_made_of_finite_numbers():
    with pytest.raises(TypeError, match="epsilon is '1'; it must be a number"):
        dpa.PureDp("1")
    with pytest.raises(TypeError, match="delta is None; it must be a number"):
        dpa.ApproximateDp(1.0, None)
    with pytest.raises(ValueError, match="mu is inf; it must be finite"):
        dpa.Gdp(float("inf"))


def test_a_partial_function_has_the_name_of_its_function():
    def noisy_count(data, rng, count, scale):
        return len(data) + rng.laplace(scale=scale, size=count)

    bound = functools.partial(functools.partial(noisy_count), scale=1.0)
    result = dpa.audit(bound, ["x"], ["x", "y"], claim=dpa.PureDp(1.0), draws=2000, progress=False)
    assert result.name == "noisy_count"


def test_outputs_with_a_fixed_seed_are_said_to_have_one():
    def fixed(data, rng):
        return len(data) + numpy.random.default_rng(3).laplace()

    result = dpa.audit(fixed, ["x"], ["x", "y"], claim=dpa.PureDp(1.0), draws=2000, progress=False)
    assert result.verdict == "violated"
    assert "a seed of its own would make all its outputs equal" in result.advice
