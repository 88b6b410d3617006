"""Libraries that a trace knows. Each needs its library; without it the test is skipped."""

import pytest

import dp_audit as dpa

ONE = dpa.PureDp(1.0)


def test_diffprivlib():
    tools = pytest.importorskip("diffprivlib.tools")
    mechanisms = pytest.importorskip("diffprivlib.mechanisms")

    def right(data, rng):
        return mechanisms.Laplace(epsilon=1.0, sensitivity=1.0).randomise(float(len(data)))

    def wrong(data, rng):
        return mechanisms.Laplace(epsilon=1.0, sensitivity=1.0).randomise(float(sum(data)))

    def library(data, rng):
        return tools.sum(data, epsilon=1.0, bounds=(0.0, 1.0))

    assert dpa.trace(right, [0.5], [0.5, 1.0], claim=ONE).verdict == "bounded"
    found = dpa.trace(wrong, [0.5], [0.5, 3.0], claim=ONE)
    assert found.verdict == "suspect" and found.at_fault.file == __file__
    assert dpa.trace(library, [0.5, 0.2], [0.5, 0.9], claim=ONE).verdict == "bounded"


def test_opendp():
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    measurement = dp.m.make_laplace(*space, scale=1.0)

    def right(data, rng):
        return measurement(float(len(data)))

    def wrong(data, rng):
        return measurement(float(sum(data)))

    def scale_of_data(data, rng):
        return dp.m.make_laplace(*space, scale=float(len(data)))(float(len(data)))

    assert dpa.trace(scale_of_data, [0.5], [0.5, 1.0], claim=ONE).findings[0].kind == "scale"
    assert dpa.trace(right, [0.5], [0.5, 1.0], claim=dpa.PureDp(1.0 + 1e-6)).verdict == "bounded"
    assert dpa.trace(wrong, [0.5], [0.5, 3.0], claim=ONE).verdict == "suspect"
