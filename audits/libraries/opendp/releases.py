"""Releases of OpenDP, each with the scale that its own privacy map finds for the claim. Many draws at once, see README.md."""

from functools import cache

import opendp.prelude as dp

dp.enable_features("contrib")


def noise(answers, count, make, metric):
    """`count` independent releases of a vector of answers: OpenDP adds the same noise to each element of one long vector."""
    dtype = type(answers[0])
    atoms = dp.atom_domain(T=int) if dtype is int else dp.atom_domain(T=float, nan=False)
    noised = make(dp.vector_domain(atoms), metric(T=dtype))(answers * count)
    if len(answers) == 1:
        return noised
    return [noised[start : start + len(answers)] for start in range(0, len(noised), len(answers))]


def calibrated(chain, claim):
    """The smallest scale at which OpenDP's own privacy map grants the claim when one record is added or removed."""
    return dp.binary_search_param(chain, d_in=1, d_out=claim)


def numbers():
    return dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()


@cache
def count_scale(epsilon):
    return calibrated(lambda scale: numbers() >> dp.t.then_count() >> dp.m.then_laplace(scale), epsilon)


def laplace_count(data, rng, count, epsilon):
    answer = (numbers() >> dp.t.then_count())(data)
    return noise([answer], count, lambda *space: dp.m.make_laplace(*space, scale=count_scale(epsilon)), dp.l1_distance)


def clamped_sum(lower, upper):
    return numbers() >> dp.t.then_clamp((lower, upper)) >> dp.t.then_sum()


@cache
def sum_scale(epsilon, lower, upper):
    return calibrated(lambda scale: clamped_sum(lower, upper) >> dp.m.then_laplace(scale), epsilon)


def laplace_sum(data, rng, count, epsilon, lower, upper):
    scale = sum_scale(epsilon, lower, upper)
    return noise([clamped_sum(lower, upper)(data)], count, lambda *space: dp.m.make_laplace(*space, scale=scale), dp.l1_distance)


@cache
def gaussian_scale(epsilon, delta, lower, upper):
    def chain(scale):
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(clamped_sum(lower, upper) >> dp.m.then_gaussian(scale)), delta)

    return calibrated(chain, (epsilon, delta))


def gaussian_sum(data, rng, count, epsilon, delta, lower, upper):
    scale = gaussian_scale(epsilon, delta, lower, upper)
    return noise([clamped_sum(lower, upper)(data)], count, lambda *space: dp.m.make_gaussian(*space, scale=scale), dp.l2_distance)


@cache
def geometric_scale(epsilon, bounds):
    return calibrated(lambda scale: numbers() >> dp.t.then_count() >> dp.m.then_geometric(scale, bounds=bounds), epsilon)


def bounded_geometric_count(data, rng, count, epsilon, upper):
    bounds = (0, upper)
    answer = (numbers() >> dp.t.then_count())(data)
    return noise([answer], count, lambda *space: dp.m.make_geometric(*space, geometric_scale(epsilon, bounds), bounds), dp.l1_distance)


def categories(names):
    texts = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
    return texts >> dp.t.then_count_by_categories(list(names), null_category=False)


@cache
def histogram_scale(epsilon, names):
    return calibrated(lambda scale: categories(names) >> dp.m.then_laplace(scale), epsilon)


def histogram(data, rng, count, epsilon, names):
    scale = histogram_scale(epsilon, tuple(names))
    return noise(categories(names)(data), count, lambda *space: dp.m.make_laplace(*space, scale=scale), dp.l1_distance)


@cache
def most_frequent(epsilon, names):
    # One record more or less changes one count by one, all counts in the same direction.
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int, monotonic=True)
    scale = dp.binary_search_param(lambda scale: dp.m.make_noisy_max(*space, dp.max_divergence(), scale), d_in=1, d_out=epsilon)
    return dp.m.make_noisy_max(*space, dp.max_divergence(), scale)


def noisy_max(data, rng, count, epsilon, names):
    release, counts = most_frequent(epsilon, tuple(names)), categories(names)(data)
    return [release(counts) for _ in range(count)]
