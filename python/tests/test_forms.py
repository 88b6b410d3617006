"""What an attacker sees of an output beside its number. The mechanisms are those of audits/forms."""

import decimal
import importlib.util
from pathlib import Path

import numpy
import pandas
import pytest

import dp_audit as dpa
from dp_audit import worker

FILE = Path(__file__).parents[2] / "audits" / "forms" / "forms.py"
spec = importlib.util.spec_from_file_location("forms", FILE)
forms = importlib.util.module_from_spec(spec)
spec.loader.exec_module(forms)


# What is random in these cases is an identifier: honest or not, nobody could read it.
IDENTIFIERS = {
    "order-of-keys": {"y word 2": "random letters", "y.id": "random letters"},
    "capital": {"y word 1": "random letters"},
    "first-letter": {"y word 1": "random letters"},
    "hexadecimal-token": {"y word 1": "random letters"},
}


@pytest.mark.parametrize("case", forms.CASES)
def test_a_hidden_bit_is_found_and_a_coin_is_not(case):
    draws = 1_000_000 if case.startswith("rare") else 200_000

    def found(honest, **options):
        mechanism = lambda data, rng: forms.release(data, rng, case, honest)
        return dpa.audit(mechanism, ["x"], ["x", "x"], claim=dpa.PureDp(1.0), draws=draws, rng="python", **options)

    assert found(honest=False).verdict == "violated"
    identifiers = IDENTIFIERS.get(case, {})
    if identifiers:
        assert found(honest=True, until="budget").reason == "unread-columns"
    assert found(honest=True, ignore=identifiers, until="budget").verdict == "consistent"


@pytest.mark.parametrize("case", ["int-or-float", "digits-of-decimal"])
def test_recorded_outputs_have_forms(case):
    def verdict(honest):
        rng = numpy.random.default_rng(5)
        left, right = ([forms.release(data, rng, case, honest) for _ in range(100_000)] for data in (["x"], ["x", "x"]))
        return dpa.samples(left, right, claim=dpa.PureDp(1.0)).verdict

    assert verdict(honest=False) == "violated"
    assert verdict(honest=True) == "consistent"


def test_vectorised_functions_have_forms():
    def masked(data, rng, count):
        return numpy.ma.array(len(data) + rng.laplace(size=count), mask=numpy.full(count, len(data) == 2))

    def whole(data, rng, count):
        return 2**60 + rng.integers(0, 2**20, size=count) * 2**30 + len(data)

    for mechanism in (masked, whole):
        assert dpa.audit(mechanism, ["x"], ["x", "x"], claim=dpa.PureDp(1.0), draws=50_000).verdict == "violated"


@pytest.mark.parametrize(
    "one, other",
    [
        (1, 1.0),
        (True, 1),
        (numpy.float32(1), 1.0),
        (decimal.Decimal("1.5"), decimal.Decimal("1.50")),
        (2**53, 2**53 + 1),
        ([1, 2.0], [1.0, 2]),
        ({"a": (1,)}, {"a": [1]}),
        ({1: 2}, {"1": 2}),
        ("null", None),
        ("error: ValueError: x", worker.Failure(ValueError("x"), True, None, {})),
        (numpy.ma.array([1.0, 2.0], mask=[0, 1]), numpy.ma.array([1.0, 2.0], mask=[1, 0])),
        (pandas.Series(["x"], dtype=pandas.CategoricalDtype(["x", "y"])), pandas.Series(["x"], dtype=pandas.CategoricalDtype(["y", "x"]))),
    ],
)
def test_different_outputs_are_packed_differently(one, other):
    columns = worker.Columns(None, None, [one, other], worker.HINTS)
    assert not columns.same([one], [other])
    assert columns.same([one], [one]) and columns.same([other], [other])


def test_addresses_are_left_out_and_other_numbers_are_not():
    thing = object()
    assert worker.without_addresses(f"no {thing!r}") == "no <object object at 0x…>"
    assert worker.without_addresses("no record at 0x00000123 or 0xdeadbeef") == "no record at 0x00000123 or 0xdeadbeef"


def test_texts_that_are_not_unicode_are_refused():
    with pytest.raises(dpa.AuditError, match="not valid Unicode"):
        dpa.audit(lambda data, rng: "\udc80", [1], [2], claim=dpa.PureDp(1.0), draws=1000)
