"""Traces: planted bugs are named with their line, sound programs are not suspected, limits are on the right side of the truth."""

import math
import os
import pathlib
import random
import uuid

import numpy as np
import pytest
import traced_programs
from traced_programs import DATA, FOOLING, MORE, ONE, PLANTED, SOUND, clip, line_at_fault

import dp_audit as dpa
from dp_audit._trace.compare import difference, settle
from dp_audit._trace.composition import Composed, gauss_delta
from dp_audit._trace.limits import limits, upper_limit


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_named_with_its_line(name):
    program, left, right, claim = PLANTED[name]
    found = dpa.trace(program, left, right, claim=claim, runs=20)
    assert found.verdict == "suspect"
    assert found.at_fault.file == traced_programs.__file__ and found.at_fault.line == line_at_fault(program), str(found)


@pytest.mark.parametrize("name", PLANTED)
def test_the_order_of_the_sides_does_not_matter(name):
    program, left, right, claim = PLANTED[name]
    assert dpa.trace(program, right, left, claim=claim, runs=5).verdict == "suspect"


def test_there_are_as_many_as_the_documents_say():
    page = (pathlib.Path(__file__).parents[2] / "docs/traces.md").read_text(encoding="utf-8")
    assert set(FOOLING) <= set(PLANTED)
    assert f"{len(PLANTED)} planted bugs" in page and f"{len(SOUND)} sound programs" in page


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_program_is_not_suspect(name):
    program, left, right, claim = SOUND[name]
    for seed in range(3):
        found = dpa.trace(program, left, right, claim=claim, runs=20, seed=seed)
        assert found.verdict == ("unclear" if name == "randomised_response" else "bounded"), str(found)


@pytest.mark.parametrize("name", [name for name in SOUND if name not in ("randomised_response",)])
def test_a_bounded_claim_is_not_bounded_at_a_smaller_loss(name):
    """What the trace calls at most ε is no less than what it saw: a claim below the loss of a run is never bounded."""
    program, left, right, _ = SOUND[name]
    assert dpa.trace(program, left, right, claim=dpa.PureDp(1e-6), runs=20).verdict != "bounded"


def not_from_the_generator(draw):
    def mechanism(data, rng):
        return len(data) + draw()

    return mechanism


_own = np.random.default_rng(5)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: np.random.laplace(),
        lambda: random.gauss(0, 1),
        lambda: random.SystemRandom().random(),
        lambda: os.urandom(1)[0],
        lambda: uuid.uuid4().int % 7,
        lambda: np.random.default_rng().laplace(),
        lambda: _own.laplace(),
        lambda: np.random.RandomState().laplace(),
    ],
)
def test_other_randomness_is_said(draw):
    found = dpa.trace(not_from_the_generator(draw), DATA, MORE, claim=ONE, runs=5)
    assert found.verdict == "unclear" and found.reason.startswith("untracked"), str(found)


class Model:
    """Its representation hides what it knows."""

    def __init__(self, secret):
        self.secret = secret

    def __repr__(self):
        return "Model()"


class Slotted:
    __slots__ = ("secret",)

    def __init__(self, secret):
        self.secret = secret


@pytest.mark.parametrize(
    "hide",
    [
        lambda data, rng: Model(max(data)),
        lambda data, rng: [Slotted(max(data))],
        lambda data, rng: rng.choice(len(data), 1, replace=False) + 0 * len(data),
        lambda data, rng: (value for value in data),
        lambda data, rng: lambda: max(data),
        lambda data, rng: np.ma.masked_array([max(data), 1.0], [True, False]),
        lambda data, rng: f"{max(data)!r}",
        lambda data, rng: {max(data)},
        lambda data, rng: np.float32(max(data)),
    ],
)
def test_what_an_output_hides_does_not_pass(hide):
    def mechanism(data, rng):
        return len(data) + rng.laplace(), hide(data, rng)

    assert dpa.trace(mechanism, DATA, MORE, claim=ONE, runs=10).verdict != "bounded"


def inverse_sampling(data, rng):
    u = rng.random() - 0.5
    return len(data) - math.copysign(math.log1p(-2 * abs(u)), u)


def squared(data, rng):
    return len(data) + rng.normal() ** 2


def two_laplaces(data, rng):
    return (rng.laplace() + rng.laplace()) + len(data)


def sign_and_exponential(data, rng):
    return len(data) + float(np.sign(rng.normal())) * float(rng.exponential())


def unknown_call(data, rng):
    return len(data) + rng.weibull(2.0)


@pytest.mark.parametrize("program", [inverse_sampling, squared, two_laplaces, sign_and_exponential, unknown_call])
def test_noise_that_is_transformed_first_is_untracked(program):
    found = dpa.trace(program, DATA, MORE, claim=ONE, runs=5)
    assert found.verdict == "unclear" and "untracked" in found.reason, str(found)
    assert found.upper is None or found.upper == math.inf


@dpa.primitive(input="value", noise="laplace", scale="scale")
def own_laplace(value, scale, rng):
    u = rng.random() - 0.5
    return value - scale * math.copysign(math.log1p(-2 * abs(u)), u)


@dpa.primitive(input="value", epsilon=1.0, sensitivity=1.0)
def own_snapping(value, rng):
    return round(value + rng.laplace())


def test_a_primitive_of_the_user():
    assert isinstance(own_laplace(1.0, 1.0, random.Random(1)), float), "outside a trace nothing changes"

    def right(data, rng):
        return own_laplace(len(data), 1.0, rng)

    def wrong(data, rng):
        return own_laplace(sum(data) * 3, 1.0, rng)

    def declared(data, rng):
        return own_snapping(sum(data) * 3, rng)

    for kind in ("numpy", "python"):
        assert dpa.trace(right, DATA, MORE, claim=ONE, rng=kind).verdict == "bounded"
        assert dpa.trace(wrong, DATA, MORE, claim=ONE, rng=kind).findings[0].kind == "loss"
    found = dpa.trace(declared, DATA, MORE, claim=ONE)
    assert found.verdict == "suspect" and found.findings[0].kind == "sensitivity"


@pytest.mark.parametrize(
    "options, words",
    [
        ({"input": "value"}, "either noise"),
        ({"input": "value", "noise": "lapalce", "scale": 1.0}, "lapalce"),
        ({"input": "value", "epsilon": 1.0}, "sensitivity"),
        ({"input": "valeu", "epsilon": 1.0, "sensitivity": 1.0}, "no argument valeu"),
    ],
)
def test_bad_primitives(options, words):
    with pytest.raises(TypeError, match=words):
        dpa.primitive(**options)(lambda value: value)


def test_a_random_random():
    def program(data, rng):
        rng.shuffle(list(data))
        return sum(map(clip, data)) + rng.gauss(0, 6), len(data) + rng.expovariate(1.0) - rng.expovariate(1.0)

    found = dpa.trace(program, DATA, MORE, claim=dpa.ApproximateDp(1.5, 0.01), rng="python")
    assert found.verdict == "bounded", str(found)
    assert dpa.trace(program, DATA, MORE, claim=dpa.ApproximateDp(0.5, 0.001), rng="python").verdict == "suspect"


def test_a_vectorised_mechanism():
    def program(data, rng, count):
        return len(data) + rng.laplace(scale=0.5, size=count)

    assert dpa.trace(program, DATA, MORE, claim=dpa.PureDp(2.0)).verdict == "bounded"
    assert dpa.trace(program, DATA, MORE, claim=ONE).verdict == "suspect"


def test_noise_that_hides_behind_functions_is_still_the_same_noise():
    """The generator that records draws what an ordinary one draws, and values act as numbers."""

    def program(data, rng):
        a = rng.laplace(2.0, 3.0, size=3)
        b = rng.normal(size=(2, 2))
        a[0] += 1
        c = rng.integers(0, 5) + 2
        return [float(a[0]), a[1:].sum(), np.clip(a, 0, 1), b.T @ np.ones(2), round(float(b[0, 0]), 2), f"{a[1]:.2f}", c // 2, list(range(3))[rng.integers(3)]]

    from dp_audit._trace.recorder import recorder
    from dp_audit._trace.tape import Tape

    expected = program(None, np.random.default_rng(7))
    seen = settle(program(None, recorder(Tape(np.random.default_rng(7)), "numpy")))
    for one, other in zip(expected, seen):
        assert np.all(one == other) if isinstance(one, str) else np.allclose(one, other)


def test_a_mechanism_that_changes_its_data_is_an_error():
    def program(data, rng):
        data.append(1.0)
        return len(data) + rng.laplace()

    with pytest.raises(dpa.AuditError, match="changed its dataset"):
        dpa.trace(program, [0.2], [0.2, 1.0], claim=ONE)


def test_a_mechanism_that_fails_does_not_pass():
    def broken(data, rng):
        return math.hypot(len(data) + rng.laplace(), undefined)  # noqa: F821

    found = dpa.trace(broken, DATA, MORE, claim=ONE)
    assert found.verdict == "unclear" and "NameError" in found.reason

    def too_many(data, rng, count):
        return rng.laplace(size=count + 1)

    with pytest.raises(dpa.AuditError, match="asked for 1 output"):
        dpa.trace(too_many, DATA, MORE, claim=ONE)


@pytest.mark.parametrize(
    "options, error, words",
    [
        ({"claim": 1.0}, TypeError, "must be a claim"),
        ({"claim": dpa.Stability(1, 1, "l1")}, TypeError, "use dp_audit.audit"),
        ({"runs": 1}, ValueError, "runs is 1"),
        ({"confidence": 1.0}, ValueError, "confidence"),
        ({"rng": "torch"}, ValueError, "torch"),
        ({"right": [1.0, 2.0, 3.0, 4.0]}, ValueError, "not add-remove or replace-one"),
    ],
)
def test_bad_traces(options, error, words):
    given = {"claim": ONE, "left": DATA, "right": MORE, **options}
    with pytest.raises(error, match=words):
        dpa.trace(traced_programs.laplace_sum, given.pop("left"), given.pop("right"), **given)


def test_what_is_shown():
    found = dpa.trace(traced_programs.half_the_noise, DATA, MORE, claim=ONE)
    assert "SUSPECT at traced_programs.py" in str(found) and "draws do" in str(found)
    assert found.to_dict()["findings"][0]["line"] == found.at_fault.line
    assert "class=fault" in found.to_html() and "rng.laplace(scale=0.5)" in found._repr_html_()
    for word in ("violated", "consistent"):
        assert word not in str(found) and word not in found.to_html()


@pytest.mark.parametrize(
    "one, other, place",
    [
        (np.array([1.0, np.nan]), np.array([1.0, -np.nan]), None),
        (np.array([[1.0, 2.0], [0.0, 3.0]]), np.array([[1.0, 2.0], [-0.0, 3.0]]), "output[1, 0]"),
        ({"a": [np.arange(3)]}, {"a": [np.array([0, 1, 3])]}, "output['a'][0][2]"),
        (np.array([1.0]), np.array([1.0], np.float32), "output"),
        (np.zeros(2), np.zeros(3), "output"),
        (np.array([True, False]), np.array([True, True]), "output[1]"),
        (np.array([1 + 2j]), np.array([1 + 3j]), "output[0]"),
        (np.float64(3.0), np.array(3.0), "output"),
    ],
)
def test_where_two_outputs_differ(one, other, place):
    found = difference(settle(one), settle(other))
    assert (found and found[0]) == place


# The arithmetic, against integrals and closed forms.


@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_delta_of_normal_noise(mu, epsilon):
    x = np.linspace(-12 - mu, 12 + mu, 400_001)
    p, q = (np.exp(-((x - at) ** 2) / 2) / math.sqrt(2 * math.pi) for at in (mu, 0.0))
    truth = np.trapezoid(np.maximum(p - math.exp(epsilon) * q, 0), x) if hasattr(np, "trapezoid") else np.trapz(np.maximum(p - math.exp(epsilon) * q, 0), x)
    assert gauss_delta(mu, epsilon) == pytest.approx(truth, abs=1e-8)
    on_grid = Composed(gauss=mu * mu, finite=(((0.0,), (0.0,)),)).delta(epsilon)
    assert truth - 1e-9 <= on_grid <= truth * 1.0001 + 1e-9


@pytest.mark.parametrize("epsilon", [0.0, 0.7, 1.5])
def test_delta_of_two_laplaces_and_a_coin_is_not_below_an_integral(epsilon):
    a, b = 1.0, 0.6
    coin = ((math.log(0.6), math.log(0.4)), (math.log(0.4), math.log(0.6)))
    x = np.linspace(-25, 25, 4001)
    p, q = np.exp(-np.abs(x)) / 2, np.exp(-np.abs(x - a)) / 2
    r, s = np.exp(-np.abs(x)) / 2, np.exp(-np.abs(x - b)) / 2
    cell = (x[1] - x[0]) ** 2
    truth = sum(
        float(np.maximum(u * np.outer(p, r) - math.exp(epsilon) * v * np.outer(q, s), 0).sum()) * cell for u, v in ((0.6, 0.4), (0.4, 0.6))
    )
    found = Composed(laplace=(a, b), finite=(coin,)).delta(epsilon)
    assert truth * (1 - 1e-3) <= found <= truth * 1.002 + 1e-4


def test_limits_are_wrong_no_more_often_than_they_say():
    """α = 5 % on each side; with probability below 1e-6 more than 5 % + 5σ of 500 limits are wrong."""
    rng = np.random.default_rng(11)
    for truth, draw in ((0.02, lambda n: (rng.random(n) < 0.02) * 1.0), (0.25, lambda n: rng.random(n) ** 3), (0.5, lambda n: rng.random(n))):
        wrong = sum(not low <= truth <= high for low, high in (limits(draw(100), 0.05) for _ in range(500)))
        assert wrong <= 25 + 5 * math.sqrt(500 * 0.05 * 0.95), (truth, wrong)
    assert upper_limit(np.zeros(1000), 0.001) < 0.012
    assert limits(np.ones(1000), 0.001)[0] > 0.985


def test_the_loss_of_a_run_has_the_right_mean():
    """E[e^(−L)] = 1 for every pair: it fails if the densities, the playback or the scales are wrong."""

    def program(data, rng):
        count = len(data) + 2 * rng.laplace()
        scale = 2.0 + abs(float(count)) % 1
        return count, (sum(data) + rng.normal(scale=scale)) / 2, data[0] + rng.gumbel(scale=3.0), len(data) + rng.standard_cauchy() * 3

    found = dpa.trace(program, DATA, MORE, claim=ONE, runs=600)
    for losses in found.losses:
        values = np.exp(-np.asarray(losses))
        assert abs(values.mean() - 1) < 6 * values.std() / math.sqrt(len(values))
