"""Queries of OpenDP 0.16.0 through a context, which promises to spend no more than its `privacy_loss`."""

from functools import cache

import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib")


def numbers():
    """A column in which NaN and null are replaced, as a sum asks for."""
    return pl.col("x").fill_nan(0.0).fill_null(0.0).dp


FRAME = {
    "len": lambda query: query.select(dp.len()),
    "count": lambda query: query.select(pl.col("x").dp.count()),
    "null_count": lambda query: query.select(pl.col("x").dp.null_count()),
    "n_unique": lambda query: query.select(pl.col("x").dp.n_unique()),
    "sum": lambda query: query.select(numbers().sum((0.0, 10.0))),
    "mean": lambda query: query.select(numbers().mean((0.0, 10.0))),
    "quantile": lambda query: query.select(numbers().quantile(0.25, [0.0, 5.0, 10.0])),
    "median": lambda query: query.select(numbers().median([0.0, 5.0, 10.0])),
    "filter": lambda query: query.filter(pl.col("x") > 1.5).select(dp.len()),
    "group_by": lambda query: query.group_by("x").agg(dp.len()),
}
VECTOR = {
    "count": lambda query: query.count(),
    "sum": lambda query: query.clamp((0.0, 10.0)).sum(),
    "mean": lambda query: query.clamp((0.0, 10.0)).mean(),
    "variance": lambda query: query.clamp((0.0, 10.0)).variance(),
}


def compositor(data, loss, contributions=1, **more):
    unit = dp.unit_of(contributions=contributions)
    return dp.Context.compositor(data=data, privacy_unit=unit, privacy_loss=dp.loss_of(**dict(loss)), split_evenly_over=1, **more)


def frame_of(values):
    return pl.LazyFrame({"x": values}, schema={"x": pl.Float64})


# The measurements that `release` would call; made once, because this takes most of the time.
@cache
def frame_measurement(query, loss):
    context = compositor(frame_of([]), loss, margins=[dp.polars.Margin(max_length=10)])
    return FRAME[query](context.query()).resolve()


def frame(data, rng, query, **loss):
    """A query of a data frame with one column."""
    rows = frame_measurement(query, tuple(loss.items()))(frame_of(data)).collect().rows()
    return rows[0][0] if query != "group_by" else dict((str(key), count) for key, count in rows)


@cache
def vector_measurement(query, size, contributions, loss):
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=size)
    answer = VECTOR[query](compositor([0.0] * (size or 0), loss, contributions, domain=domain).query())
    return (answer.laplace() if "epsilon" in dict(loss) else answer.gaussian()).resolve()


def vector(data, rng, query, size=None, contributions=1, **loss):
    """A query of a list of numbers. A record replaced is two contributions, one removed and one added."""
    return vector_measurement(query, size, contributions, tuple(loss.items()))(data)


@cache
def histogram_measurement(epsilon):
    domain = dp.vector_domain(dp.atom_domain(T=str))
    query = compositor([], (("epsilon", epsilon),), domain=domain).query()
    return query.count_by_categories(["a", "b"]).laplace().resolve()


def histogram(data, rng, epsilon):
    """Counts of two categories and of all others."""
    return histogram_measurement(epsilon)(data)
