"""OpenDP before 0.7, whose functions are in other modules and whose maps can only be asked for yes or no."""

from functools import cache

from opendp import meas, trans
from opendp.mod import enable_features

enable_features("contrib")


def grants(part, input_distance, claimed):
    if not part.check(input_distance, claimed):
        raise SystemExit(f"the release does not grant {claimed}")


@cache
def response(prob, epsilon):
    measurement = meas.make_randomized_response_bool(prob)
    grants(measurement, 1, epsilon)
    return measurement


def boolean_response(data, rng, prob, epsilon):
    return bool(response(prob, epsilon)(data[0] == 1))


@cache
def to_size(size, input_distance, output_distance):
    transformation = trans.make_bounded_resize(size, (0, 9), 0)
    grants(transformation, input_distance, output_distance)
    return transformation


def resize(data, rng, **params):
    """The data, cut or filled with zeros."""
    return to_size(**params)([int(value) for value in data])
