"""DP-SGD with jax_privacy on the CPU, audited from one run: python jax_sgd.py [--clip 1e9 to see what happens without clipping]

Clipping of each gradient and noise are those of the library; the canaries are examples with a feature of their own, so their clipped gradients have length 1.
"""

import argparse

import jax
import jax.numpy as jnp
import numpy
from canaries import audit, log_ratio, loss_scores
from jax_privacy import clipping

import dp_audit as dpa

RATE, STEPS, REAL, FEATURES, LEARNING_RATE, SIZE = 0.1, 100, 1000, 20, 0.005, 20.0
CLAIMS = {4.0: 0.984, 1.5: 3.546}  # ε at δ = 1e-5, by scripts/training_table.py


def loss(weights, x, y):
    return jnp.logaddexp(0.0, -y * (x @ weights))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sigma", type=float, default=4.0, choices=list(CLAIMS), help="the noise multiplier")
    parser.add_argument("--clip", type=float, default=1.0, help="the length to which the library clips; noise and claim are those of 1")
    parser.add_argument("--canaries", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rng = numpy.random.default_rng(given.seed)
    m = given.canaries
    coins = dpa.coin_flips(m, seed=1000 + given.seed)
    x = numpy.zeros((REAL, FEATURES + m), dtype=numpy.float32)
    x[:, :FEATURES] = rng.standard_normal((REAL, FEATURES))
    y = numpy.where(x.sum(axis=1) > 0, 1.0, -1.0).astype(numpy.float32)
    # A canary has one large feature, which no other example has, and the label -1: its gradient points up along its own coordinate.
    canaries = numpy.zeros((m, FEATURES + m), dtype=numpy.float32)
    canaries[numpy.arange(m), FEATURES + numpy.arange(m)] = SIZE
    labels = -numpy.ones(m, dtype=numpy.float32)
    inside = numpy.asarray(coins)
    data, targets = numpy.vstack([x, canaries[inside]]), numpy.concatenate([y, labels[inside]])
    gradient = jax.jit(clipping.clipped_grad(loss_of_weights, l2_clip_norm=given.clip, batch_argnums=(1, 2)))
    weights = jnp.zeros(FEATURES + m)
    each = jax.jit(jax.vmap(loss, (None, 0, 0)))
    before, sums = numpy.asarray(each(weights, canaries, labels)), []
    size = int(1.5 * RATE * len(data)) + 50  # batches of one length, so that the function is compiled once
    for _ in range(STEPS):
        rows = numpy.flatnonzero(rng.random(len(data)) < RATE)[:size]
        batch, marks = numpy.zeros((size, data.shape[1]), numpy.float32), numpy.zeros(size, numpy.float32)
        batch[: len(rows)], marks[: len(rows)] = data[rows], targets[rows]  # padding has gradient 0
        noisy = gradient(weights, batch, marks) + given.sigma * rng.standard_normal(FEATURES + m)
        weights = weights - LEARNING_RATE * noisy
        sums.append(numpy.asarray(noisy)[FEATURES:])
    claim = dpa.ApproximateDp(CLAIMS[given.sigma], 1e-5)
    print(audit(log_ratio(sums, given.sigma, RATE), coins, claim, name="white box"))
    print(audit(loss_scores(before, each(weights, canaries, labels)), coins, claim, name="black box"))


def loss_of_weights(weights, x, y):
    """The loss of a batch, as the library clips it: it takes the gradient of each example by itself."""
    return jnp.logaddexp(0.0, -y * (x @ weights)).sum()


if __name__ == "__main__":
    main()
