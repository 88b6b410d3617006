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
def thresholded(scale, threshold, epsilon, delta):
    space = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int)), dp.l01inf_distance(dp.absolute_distance(T=int))
    measurement = dp.m.make_laplace_threshold(*space, scale=scale, threshold=threshold)
    grants(measurement.map((1, 1, 1)), (epsilon, delta))
    return measurement


def thresholded_counts(data, rng, scale, threshold, epsilon, delta):
    """The noisy counts above the threshold."""
    counts = {key: data.count(key) for key in set(data)}
    return thresholded(scale, threshold, epsilon, delta)(counts)


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
