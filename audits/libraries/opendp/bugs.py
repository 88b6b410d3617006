"""Measurements and transformations of OpenDP in which a bug is known. Each refuses to run unless the release itself grants what the audit claims."""

from functools import cache

import opendp.prelude as dp

dp.enable_features("contrib")


def grants(granted, claimed):
    """The map of the release says no more than the audit claims."""
    pairs = zip(granted, claimed) if isinstance(granted, tuple) else [(granted, claimed)]
    if any(a > b for a, b in pairs):
        raise SystemExit(f"the release grants {granted} only, not the {claimed} that is claimed")


@cache
def integer_noise(scale, epsilon):
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    measurement = dp.m.make_laplace(*space, scale=scale)
    grants(measurement.map(1), epsilon)
    return measurement


def integer_laplace(data, rng, count, scale, epsilon):
    """Many draws at once: OpenDP adds separate noise to each element of a vector."""
    return integer_noise(scale, epsilon)([int(data[0])] * count)


@cache
def bit_response(f, epsilon):
    measurement = dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=f)
    grants(measurement.map(1), epsilon)
    return measurement


def bit_vector_response(data, rng, f, epsilon):
    """The records are the bytes of the bit vector, and so are the outputs."""
    return list(bit_response(f, epsilon)(bytes(int(byte) for byte in data)))


@cache
def b_ary_tree(norm, leaves, branching, input_distance, output_distance):
    metric = {"l1": dp.l1_distance, "l2": dp.l2_distance}[norm](T="i32")
    tree = dp.t.make_b_ary_tree(dp.vector_domain(dp.atom_domain(T="i32")), metric, leaf_count=leaves, branching_factor=branching)
    grants(tree.map(input_distance), output_distance)
    return tree


def tree(data, rng, **params):
    """The sums of a tree over counts."""
    return b_ary_tree(**params)([int(count) for count in data])


@cache
def hamming(size, input_distance, output_distance):
    cast = dp.t.make_metric_bounded(dp.vector_domain(dp.atom_domain(T=int), size=size), dp.insert_delete_distance())
    grants(cast.map(input_distance), output_distance)
    return cast


def cast_metric(data, rng, **params):
    """The data as it is, with the promise that insertions and deletions are changes of single places."""
    return hamming(**params)([int(value) for value in data])


@cache
def theil_sen(scale, candidates, epsilon):
    from opendp.extras.sklearn.linear_model._make_private_theil_sen import make_private_theil_sen

    dp.enable_features("honest-but-curious", "idealized-numerics")
    measurement = make_private_theil_sen(dp.max_divergence(), (0.0, 100.0), (0.0, 100.0), scale, candidates_count=candidates)
    grants(measurement.map(1), epsilon)
    return measurement


def regression(data, rng, scale, candidates, epsilon):
    """Slope and intercept, rounded: they are one of few values each."""
    import numpy as np

    return np.round(theil_sen(scale, candidates, epsilon)(np.array(data)), 6).tolist()


@cache
def decomposition(origin, size, epsilon):
    import numpy as np

    dp.enable_features("idealized-numerics")
    domain = dp.numpy.array2_domain(norm=1.0, p=2, origin=np.array([origin, 0.0]), num_columns=2, size=size, nan=False, T=float)
    make = dp.sklearn.decomposition.then_private_np_eigendecomposition(eigvals_epsilon=epsilon / 2, eigvecs_epsilons=[epsilon / 2])
    measurement = (domain, dp.symmetric_distance()) >> make
    # One record replaced.
    grants(measurement.map(2), epsilon)
    return measurement


def eigenvalues(data, rng, origin, epsilon):
    import numpy as np

    return decomposition(origin, len(data), epsilon)(np.array(data))[0].tolist()
