"""Transformations of OpenDP 0.16.0 without noise, against their own stability maps."""

from functools import cache

import opendp.prelude as dp

dp.enable_features("contrib")

ANY, NUMBER, INTEGER, TEXT = dp.atom_domain(T=float), dp.atom_domain(T=float, nan=False), dp.atom_domain(T=int), dp.atom_domain(T=str)
SYMMETRIC, ORDERED = dp.symmetric_distance(), dp.insert_delete_distance()


def records(atoms, size=None, metric=SYMMETRIC):
    return dp.vector_domain(atoms, size=size), metric


def bounded(lower, upper, size=None, metric=SYMMETRIC):
    return records(dp.atom_domain(bounds=(lower, upper)), size, metric)


MAKE = {
    "clamp": lambda: dp.t.make_clamp(*records(NUMBER), (0.0, 5.0)),
    "cast_default": lambda: dp.t.make_cast_default(*records(ANY), int),
    "cast_inherent": lambda: dp.t.make_cast_inherent(*records(TEXT), float),
    "impute_constant": lambda: dp.t.make_impute_constant(*records(ANY), 0.0),
    "drop_null": lambda: dp.t.make_drop_null(*records(ANY)),
    "is_null": lambda: dp.t.make_is_null(*records(ANY)),
    "is_equal": lambda: dp.t.make_is_equal(*records(TEXT), "a"),
    "find_bin": lambda: dp.t.make_find_bin(*records(ANY), [0.0, 1.0, 2.0]),
    "index": lambda: dp.t.make_index(*records(dp.atom_domain(T="usize")), ["a", "b"], "none"),
    "split_lines": lambda: dp.t.make_split_lines(),
    "select_column": lambda: dp.t.make_split_dataframe(",", ["a", "b"]) >> dp.t.make_select_column("a", TOA=str),
    "unordered": lambda: dp.t.make_unordered(*records(INTEGER, metric=ORDERED)),
    "count": lambda: dp.t.make_count(*records(ANY)),
    "count_distinct": lambda: dp.t.make_count_distinct(*records(TEXT)),
    "count_by": lambda: dp.t.make_count_by(*records(TEXT)),
    "count_by_categories": lambda: dp.t.make_count_by_categories(*records(TEXT), ["a", "b"]),
    "sum, integers": lambda: dp.t.make_sum(*bounded(-7, 10)),
    "sum, all integers": lambda: dp.t.make_sum(*bounded(-2147483647, 2147483647)),
    "sum, integers in order": lambda: dp.t.make_sum(*bounded(-2147483647, 2147483647, metric=ORDERED)),
    "sum, floats": lambda: dp.t.make_sum(*bounded(0.0, 10.0)),
    "sum, known size": lambda: dp.t.make_sum(*bounded(-10.0, 10.0, 3)),
    "mean": lambda: dp.t.make_mean(*bounded(0.0, 10.0, 5)),
    "variance": lambda: dp.t.make_variance(*bounded(0.0, 10.0, 5)),
    "squared deviations": lambda: dp.t.make_sum_of_squared_deviations(*bounded(0.0, 10.0, 5)),
    "quantile scores": lambda: dp.t.make_quantile_score_candidates(*records(INTEGER), [0, 5, 10], 0.25),
    "multiplication": lambda: dp.t.make_lipschitz_float_mul(NUMBER, dp.absolute_distance(T=float), 3.0, (0.0, 10.0)),
    "large squared deviations": lambda: dp.t.make_sum_of_squared_deviations(*bounded(LARGE, LARGE + 1, 1024)),
}
LARGE = 2.0**50
WHOLE = {"unordered", "index", "sum, integers", "sum, all integers", "sum, integers in order", "quantile scores"}
LINES = {"split_lines", "select_column"}


@cache
def made(kind, input_distance, output_distance):
    """The transformation, if its map grants no less than the audit claims."""
    transformation = MAKE[kind]()
    granted = transformation.map(float(input_distance) if kind == "multiplication" else input_distance)
    # The distance of counts by key is (keys, sum, largest); the audits are about the sum.
    granted = granted[1] if isinstance(granted, tuple) else granted
    if granted > output_distance:
        raise SystemExit(f"the release grants {granted} only, not the {output_distance} that is claimed")
    return transformation


def transform(data, rng, kind, input_distance, output_distance):
    transformation = made(kind, input_distance, output_distance)
    if kind in WHOLE:
        data = [int(value) for value in data]
    elif kind in LINES:
        data = "\n".join(data)
    elif kind == "multiplication":
        return transformation(data[0])
    result = transformation(data)
    # All keys that the pairs have; an absent one has the count 0.
    return [result.get(key, 0) for key in ("a", "b", "")] if kind == "count_by" else result
