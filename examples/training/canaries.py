"""A helper to copy: canaries for your own training.

Flip coins, add the canaries that are in to the training data, train once, score all canaries, audit. It needs `dp_audit` and numpy.
"""

import numpy

import dp_audit as dpa


def gradient_canaries(coins, clip, size=10.0):
    """White box: canary i has a gradient of this length along coordinate i of a block that no real record uses.

    Returns a function: the rows that are in a batch → the block to add to its sum of clipped gradients.
    """
    block = min(size * clip, clip)

    def add(sampled):
        total = numpy.zeros(len(coins))
        total[numpy.flatnonzero(numpy.asarray(coins))[sampled]] += block
        return total

    return add


def log_ratio(sums, sigma, rate, clip=1.0):
    """White-box scores: how much likelier the noisy sums of all steps are with a canary than without it. `sums` has a row for each step.

    The noise of each step is estimated from its own sums, so a step with too little noise gives itself away.
    """
    values = numpy.asarray(sums, dtype=float) / clip
    spread = 1.4826 * numpy.median(abs(values - numpy.median(values, axis=1, keepdims=True)), axis=1, keepdims=True)
    spread = numpy.maximum(spread, 1e-6)
    return numpy.log1p(rate * numpy.expm1(numpy.minimum((values - 0.5) / spread**2, 500))).sum(axis=0)


def loss_scores(losses_before, losses_after):
    """Black-box scores: how much the loss on each canary fell. Both kinds of canaries are scored, in and out."""
    return numpy.asarray(losses_before) - numpy.asarray(losses_after)


def audit(scores, coins, claim, **options):
    """The result; `print` it, or look at it in a notebook."""
    return dpa.canaries(scores, coins, claim=claim, **options)
