"""Chains of OpenDP 0.16.0 on lists of records. Their scale is the one that the release itself finds for ε, by its privacy map."""

from functools import cache

import opendp.prelude as dp

dp.enable_features("contrib")

# What a list may hold. The domains exclude NaN, or ask for it to be replaced; an integer is one of so many bits.
ANY_FLOAT, FLOAT, TEXT = dp.atom_domain(T=float), dp.atom_domain(T=float, nan=False), dp.atom_domain(T=str)
BITS = {"i32": 31, "i64": 63}


def listed(atom, size=None):
    return dp.vector_domain(atom, size=size), dp.symmetric_distance()


def integers(kind, bounds):
    return listed(dp.atom_domain(T=kind)) >> dp.t.then_clamp(bounds) >> dp.t.then_sum()


def sized(atom=FLOAT, size=5):
    return listed(atom) >> dp.t.then_clamp((0.0, 10.0)) >> dp.t.then_resize(size, constant=5.0)


CHAIN = {
    "sum, i32": lambda: integers("i32", (0, 10)),
    "sum, i64 large": lambda: integers("i64", (-(2**62), 2**62)),
    "sum, i32 large": lambda: integers("i32", (-(2**30), 2**30)),
    "sum, f64": lambda: sized() >> dp.t.then_sum(),
    "mean": lambda: sized() >> dp.t.then_mean(),
    "variance": lambda: sized() >> dp.t.then_variance(),
    "impute, mean": lambda: listed(ANY_FLOAT)
    >> dp.t.then_impute_constant(0.0)
    >> dp.t.then_clamp((0.0, 10.0))
    >> dp.t.then_resize(5, constant=5.0)
    >> dp.t.then_mean(),
    "categories": lambda: listed(TEXT) >> dp.t.then_count_by_categories(["a", "b"]),
    "bins": lambda: listed(FLOAT) >> dp.t.then_find_bin([0.0, 5.0, 10.0]) >> dp.t.then_count_by_categories([0, 1, 2, 3]),
    "distinct": lambda: listed(TEXT) >> dp.t.then_count_distinct(),
    "cast, sum": lambda: listed(TEXT) >> dp.t.then_cast_default(int) >> dp.t.then_clamp((0, 10)) >> dp.t.then_sum(),
}


def make(kind, scale):
    if kind == "quantile":
        return dp.m.make_private_quantile(*listed(FLOAT), dp.max_divergence(), [0.0, 2.5, 5.0, 7.5, 10.0], 0.25, scale)
    return CHAIN[kind]() >> dp.m.then_laplace(scale)


@cache
def measurement(kind, epsilon):
    return make(kind, dp.binary_search_param(lambda scale: make(kind, scale), d_in=1, d_out=epsilon, bounds=(0.0, 1e30)))


def release(data, rng, kind, epsilon):
    """One draw. Integers are cut to the range of their type, which no list can leave."""
    bits = BITS.get(kind.split()[1] if kind.startswith("sum, i") else None)
    records = data if bits is None else [max(-(2**bits), min(int(value), 2**bits - 1)) for value in data]
    return measurement(kind, epsilon)(records)
