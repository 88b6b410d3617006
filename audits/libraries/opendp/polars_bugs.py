"""Queries of OpenDP on data frames in which a bug is known."""

from functools import cache

import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib")


@cache
def count_of_numbers(rows):
    """The number of values that `cut` can place, on a frame whose length is public."""
    column = dp.series_domain("x", dp.option_domain(dp.atom_domain(T=float)))
    domain = dp.with_margin(dp.lazyframe_domain([column]), dp.polars.Margin(max_length=rows, invariant="lengths"))
    query = pl.LazyFrame(schema={"x": pl.Float64}).select(pl.col("x").fill_null(0.0).cut([1.5]).count().dp.noise())
    measurement = dp.m.make_private_lazyframe(
        domain, dp.frame_distance(dp.symmetric_distance()), dp.max_divergence(), query, global_scale=1.0
    )
    # One record replaced: one removed and one added.
    if measurement.map([dp.polars.Bound(per_group=2)]) > 0:
        raise SystemExit("the release charges more than 0 for this count")
    return measurement


def cut_count(data, rng):
    frame = pl.LazyFrame({"x": [float(value) for value in data]}, schema={"x": pl.Float64})
    return count_of_numbers(len(data))(frame).collect().item()


def keys(values):
    return pl.LazyFrame({"key": values}, schema={"key": pl.String})


@cache
def counts_of_public_keys():
    context = dp.Context.compositor(
        data=keys([]), privacy_unit=dp.unit_of(contributions=1), privacy_loss=dp.loss_of(epsilon=1.0), split_evenly_over=1
    )
    # The measurement that `release` would call; made once, because this takes most of the time.
    return context.query().group_by("key").agg(dp.len()).with_keys(keys(["a", "b", "c"])).resolve()


def absent_keys(data, rng):
    """Noisy counts of three public keys; a key without records gets the count 0 and noise."""
    counts = dict(counts_of_public_keys()(keys(data)).collect().rows())
    return [counts[key] for key in ("a", "b", "c")]


@cache
def short_sum(large, rows, epsilon):
    column = dp.series_domain("x", dp.atom_domain(T=float, nan=False))
    domain = dp.with_margin(dp.lazyframe_domain([column]), dp.polars.Margin(max_length=rows))
    total = pl.col("x").cast(pl.Float32).fill_nan(0.0).clip(-large, large).sum().dp.noise(scale=large)
    query = pl.LazyFrame(schema={"x": pl.Float64}).select(total)
    measurement = dp.m.make_private_lazyframe(domain, dp.frame_distance(dp.symmetric_distance()), dp.max_divergence(), query)
    if measurement.map([dp.polars.Bound(per_group=1)]) > epsilon:
        raise SystemExit("the release charges more for this sum")
    return measurement


def sum_of_short_floats(data, rng, large, rows, epsilon):
    """A sum of 32-bit floats, which may overflow on the way."""
    return short_sum(large, rows, epsilon)(pl.LazyFrame({"x": data}, schema={"x": pl.Float64})).collect().item() / large
