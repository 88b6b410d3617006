"""DP-SGD in numpy, right and with a bug, audited from one run: python numpy_sgd.py [--bug batch-clipping]

White box: the attacker sees the noisy sum of every step. Black box: the attacker sees the losses after training.
"""

import argparse

import numpy
from canaries import audit, gradient_canaries, log_ratio, loss_scores

import dp_audit as dpa

CLIP, RATE, STEPS, REAL, FEATURES, LEARNING_RATE = 1.0, 0.1, 100, 1000, 20, 0.005
CLAIMS = {4.0: 0.984, 1.5: 3.546, 0.9: 8.65}  # ε at δ = 1e-5 of 100 steps with rate 0.1, by scripts/training_table.py


def gradients(x, y, weights):
    return ((1 / (1 + numpy.exp(-numpy.clip(x @ weights, -30, 30)))) - y)[:, None] * x


def losses(x, y, weights):
    return numpy.logaddexp(0, numpy.where(y > 0, -1, 1) * (x @ weights))


def clipped(rows):
    return rows * numpy.minimum(1, CLIP / numpy.maximum(numpy.linalg.norm(rows, axis=1), 1e-12))[:, None]


def noise(rng, shape, sigma, step, bug):
    scale = {"shared-noise": 0.5, "short-noise": 0.8, "bare-last-step": float(step < STEPS - 1)}.get(bug, 1.0)
    return scale * sigma * CLIP * rng.standard_normal(shape)


def white_box(rng, sigma, bug, coins):
    """The noisy sums of all steps along the canaries' coordinates."""
    x = rng.standard_normal((REAL, FEATURES))
    y = (x.sum(axis=1) > 0) * 1.0
    weights, seen = numpy.zeros(FEATURES), []
    add = gradient_canaries(coins, CLIP)
    held = int(numpy.asarray(coins).sum())
    for step in range(STEPS):
        rows, sampled = rng.random(REAL) < RATE, rng.random(held) < RATE
        found = gradients(x[rows], y[rows], weights)
        if bug == "batch-clipping":  # the mean is clipped, not each gradient
            total = numpy.concatenate([found.sum(axis=0), 10 * add(sampled)])
            batch = max(rows.sum() + sampled.sum(), 1)
            total *= min(1, CLIP * batch / max(numpy.linalg.norm(total), 1e-12))
        else:
            total = numpy.concatenate([clipped(found).sum(axis=0), add(sampled)])
        total += noise(rng, len(total), sigma, step, bug)
        weights -= LEARNING_RATE * total[:FEATURES]
        seen.append(total[FEATURES:])
    return numpy.array(seen)


def black_box(rng, sigma, bug, coins):
    """The losses on the canaries, before and after training."""
    m = len(coins)
    dimensions = 2 * m
    x = rng.standard_normal((REAL, dimensions))
    y = (x[:, :FEATURES].sum(axis=1) > 0) * 1.0
    canaries, labels = rng.standard_normal((m, dimensions)), (rng.random(m) < 0.5) * 1.0
    inside = numpy.asarray(coins)
    data, targets = numpy.vstack([x, canaries[inside]]), numpy.concatenate([y, labels[inside]])
    weights = numpy.zeros(dimensions)
    before = losses(canaries, labels, weights)
    for step in range(STEPS):
        rows = rng.random(len(data)) < RATE
        found = gradients(data[rows], targets[rows], weights)
        total = found.sum(axis=0)
        if bug == "batch-clipping":
            total *= min(1, CLIP * max(rows.sum(), 1) / max(numpy.linalg.norm(total), 1e-12))
        else:
            total = clipped(found).sum(axis=0)
        weights -= LEARNING_RATE * (total + noise(rng, dimensions, sigma, step, bug))
    return before, losses(canaries, labels, weights)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bug", default="none", choices=["none", "batch-clipping", "shared-noise", "bare-last-step", "short-noise"])
    parser.add_argument("--sigma", type=float, default=4.0, choices=list(CLAIMS), help="the noise multiplier")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    claim = dpa.ApproximateDp(CLAIMS[given.sigma], 1e-5)
    rng = numpy.random.default_rng(given.seed)
    coins = dpa.coin_flips(2000, seed=1000 + given.seed)
    sums = white_box(rng, given.sigma, given.bug, coins)
    print(audit(log_ratio(sums, given.sigma, RATE), coins, claim, name="white box"))
    coins = dpa.coin_flips(500, seed=2000 + given.seed)
    print(audit(loss_scores(*black_box(rng, given.sigma, given.bug, coins)), coins, claim, name="black box"))


if __name__ == "__main__":
    main()
