"""The example mechanisms of DP-Auditorium, as its documentation describes them, in a file that a user would write.

A mean of values between 0 and 1 adds Laplace noise. The private one counts its records with noise too and spends half of ε on each; of the
two that are not private, one uses the exact number of records for the scale of its noise, the other adds the noise of a sum to the mean.
"""

import numpy

from dp_audit import PureDp

EPSILON = 1.0
LEFT, RIGHT = [0.0, 1.0], [0.0, 1.0, 0.0]


def private_mean(data, rng, count):
    total = numpy.sum(data) + rng.laplace(scale=2 / EPSILON, size=count)
    number = len(data) + rng.laplace(scale=2 / EPSILON, size=count)
    return total / numpy.maximum(number, 1.0)


def mean_with_exact_count(data, rng, count):
    """The scale of the noise shows how many records there are."""
    return numpy.mean(data) + rng.laplace(scale=1 / (EPSILON * len(data)), size=count)


def mean_with_noise_for_many_records(data, rng, count):
    """The noise is scaled for a hundred records, whatever their number is."""
    return numpy.mean(data) + rng.laplace(scale=1 / (EPSILON * 100), size=count)


def test_the_private_mean_is_private(dp_audit):
    # Dividing two noisy numbers hides a part of the leak, so less of the claim is asked for.
    dp_audit.assert_private(private_mean, LEFT, RIGHT, claim=PureDp(EPSILON), reach=(0.1, "a ratio of two noisy numbers shows less than both"))


def test_a_mean_with_the_exact_count_is_not(dp_audit):
    dp_audit.assert_violated(mean_with_exact_count, LEFT, RIGHT, claim=PureDp(EPSILON))


def test_a_mean_with_too_little_noise_is_not(dp_audit):
    dp_audit.assert_violated(mean_with_noise_for_many_records, LEFT, RIGHT, claim=PureDp(EPSILON))
