"""Every constructor of `opendp.measurements` (0.16.0), against its own privacy map. The records are the components of the input."""

import warnings
from functools import cache

import opendp.prelude as dp

dp.enable_features("contrib")
# report_noisy_max_gumbel is deprecated, and still there.
warnings.simplefilter("ignore", DeprecationWarning)

INTEGER, SHORT, FLOAT, TEXT = dp.atom_domain(T=int), dp.atom_domain(T="i32"), dp.atom_domain(T=float, nan=False), dp.atom_domain(T=str)
PURE, CONCENTRATED = dp.max_divergence(), dp.zero_concentrated_divergence()
MEASURES = {"pure": PURE, "concentrated": CONCENTRATED}


def atom(domain):
    return domain, dp.absolute_distance(T=domain.carrier_type)


def vector(domain, metric, **kind):
    return dp.vector_domain(domain), metric(T=domain.carrier_type, **kind)


def counts(domain, metric):
    return dp.map_domain(TEXT, domain), metric(dp.absolute_distance(T=domain.carrier_type))


def at_delta(measurement, delta):
    """(ε, δ) of a measurement under zCDP."""
    return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(measurement), delta)


def integers(size=None):
    return dp.vector_domain(INTEGER, size=size), dp.symmetric_distance()


def bits(weight):
    return dp.bitvector_domain(max_weight=weight), dp.discrete_distance()


L1, L2, LINF, L01, L02 = dp.l1_distance, dp.l2_distance, dp.linf_distance, dp.l01inf_distance, dp.l02inf_distance
MAKE = {
    "laplace, integer": lambda scale: dp.m.make_laplace(*atom(INTEGER), scale),
    "laplace, short": lambda scale: dp.m.make_laplace(*atom(SHORT), scale),
    "laplace, float": lambda scale: dp.m.make_laplace(*atom(FLOAT), scale),
    "laplace, rounded": lambda scale: dp.m.make_laplace(*atom(FLOAT), scale, k=0),
    "laplace, integers": lambda scale: dp.m.make_laplace(*vector(INTEGER, L1), scale),
    "laplace, floats": lambda scale: dp.m.make_laplace(*vector(FLOAT, L1), scale),
    "gaussian, integer": lambda scale: dp.m.make_gaussian(*atom(INTEGER), scale),
    "gaussian, float": lambda scale: dp.m.make_gaussian(*atom(FLOAT), scale),
    "gaussian, integers": lambda scale: dp.m.make_gaussian(*vector(INTEGER, L2), scale),
    "gaussian, floats": lambda scale: dp.m.make_gaussian(*vector(FLOAT, L2), scale),
    "gaussian, delta": lambda scale, delta: at_delta(dp.m.make_gaussian(*atom(INTEGER), scale), delta),
    "geometric": lambda scale: dp.m.make_geometric(*vector(INTEGER, L1), scale),
    "geometric, bounds": lambda scale: dp.m.make_geometric(*vector(INTEGER, L1), scale, bounds=(0, 2)),
    "noise, pure": lambda scale: dp.m.make_noise(*vector(INTEGER, L1), PURE, scale),
    "noise, concentrated": lambda scale: dp.m.make_noise(*vector(FLOAT, L2), CONCENTRATED, scale),
    "canonical": lambda epsilon, delta: dp.m.make_canonical_noise(*atom(FLOAT), 1.0, (epsilon, delta)),
    "max": lambda scale, measure, negate: dp.m.make_noisy_max(*vector(INTEGER, LINF), MEASURES[measure], scale, negate),
    "max, monotonic": lambda scale, measure, negate: dp.m.make_noisy_max(
        *vector(FLOAT, LINF, monotonic=True), MEASURES[measure], scale, negate
    ),
    "top 2": lambda scale, measure, negate: dp.m.make_noisy_top_k(*vector(INTEGER, LINF), MEASURES[measure], 2, scale, negate),
    "top 2, monotonic": lambda scale, measure, negate: dp.m.make_noisy_top_k(
        *vector(FLOAT, LINF, monotonic=True), MEASURES[measure], 2, scale, negate
    ),
    "gumbel": lambda scale, optimize: dp.m.make_report_noisy_max_gumbel(*vector(INTEGER, LINF), scale, optimize),
    "quantile": lambda scale, measure, alpha: dp.m.make_private_quantile(*integers(), MEASURES[measure], [0, 1, 2, 3], alpha, scale),
    "quantile, size": lambda scale, measure, alpha: dp.m.make_private_quantile(*integers(3), MEASURES[measure], [0, 1, 2, 3], alpha, scale),
    "response, boolean": lambda prob, constant_time: dp.m.make_randomized_response_bool(prob, constant_time),
    "response": lambda prob: dp.m.make_randomized_response([0, 1, 2, 3], prob),
    "response, bits": lambda f, weight, constant_time: dp.m.make_randomized_response_bitvec(*bits(weight), f, constant_time),
    "laplace threshold, integer": lambda scale, threshold: dp.m.make_laplace_threshold(*counts(INTEGER, L01), scale, threshold),
    "laplace threshold, float": lambda scale, threshold: dp.m.make_laplace_threshold(*counts(FLOAT, L01), scale, float(threshold)),
    "gaussian threshold, integer": lambda scale, threshold, delta: at_delta(
        dp.m.make_gaussian_threshold(*counts(INTEGER, L02), scale, threshold), delta
    ),
    "gaussian threshold, float": lambda scale, threshold, delta: at_delta(
        dp.m.make_gaussian_threshold(*counts(FLOAT, L02), scale, float(threshold)), delta
    ),
    "noise threshold": lambda scale, threshold: dp.m.make_noise_threshold(
        *counts(FLOAT, L01), dp.approximate(PURE), scale, float(threshold)
    ),
    "alp": lambda scale, total: dp.m.make_alp_queryable(*counts(INTEGER, L01), scale, total_limit=total, value_limit=total),
}
# The distance of the two inputs, where it is not a number.
ONE_COUNT = {"laplace threshold", "gaussian threshold", "noise threshold", "alp"}
FLOATS = {"laplace, float", "laplace, rounded", "laplace, floats", "gaussian, float", "gaussian, floats", "noise, concentrated", "canonical"}
FLOATS |= {"max, monotonic", "top 2, monotonic", "laplace threshold, float", "gaussian threshold, float", "noise threshold"}


@cache
def made(kind, granted, distance, params):
    """The measurement, if its map grants no less than the audit claims."""
    measurement = MAKE[kind](**dict(params))
    number = float if kind in FLOATS else int
    near = (1, number(1), number(1)) if kind.split(",")[0] in ONE_COUNT else number(distance)
    allowed = measurement.map(near)
    claimed = tuple(granted) if len(granted) > 1 else granted[0]
    if any(a > b for a, b in zip(*(value if isinstance(value, tuple) else (value,) for value in (allowed, claimed)))):
        raise SystemExit(f"the release grants {allowed} only, not the {claimed} that is claimed")
    return measurement


def measurement(kind, granted, distance=1, **params):
    return made(kind, tuple(granted), distance, tuple(params.items()))


def values(kind, data):
    return [(float if kind in FLOATS else int)(value) for value in data]


def one(data, rng, kind, **params):
    """A release of a single number."""
    return measurement(kind, **params)(values(kind, data)[0])


def elements(data, rng, count, kind, **params):
    """Many draws at once: OpenDP adds separate noise to each element of a vector."""
    answers = values(kind, data)
    noised = measurement(kind, **params)(answers * count)
    return noised if len(answers) == 1 else [noised[start : start + len(answers)] for start in range(0, len(noised), len(answers))]


def scores(data, rng, kind, **params):
    """A choice from scores, or a quantile of records."""
    return measurement(kind, **params)(values(kind, data))


def boolean(data, rng, kind, **params):
    return measurement(kind, **params)(data[0] == 1)


def bytewise(data, rng, kind, **params):
    """The records are the bytes of the bit vector, and so are the outputs."""
    return list(measurement(kind, **params)(bytes(values(kind, data))))


def keyed(data, rng, count, kind, **params):
    """The noisy count of a key, if it is above the threshold. Many draws at once: many keys with the same count, each with noise of its own."""
    number = float if kind in FLOATS else int
    keys = [str(draw) for draw in range(count)]
    released = measurement(kind, **params)({key: number(len(data)) for key in keys if data})
    return [released.get(key, "none") for key in keys]


def estimates(data, rng, kind, keys, **params):
    """What a queryable says about each of the keys. Its hash functions are drawn when the measurement is made, so each draw makes its own."""
    made.cache_clear()
    queryable = measurement(kind, **params)({key: data.count(key) for key in set(data)})
    return [queryable(key) for key in keys]
