"""What the best rule reaches that is known before the draws, when all draws and all of alpha go into its bound.

A rule gives c correct and w wrong guesses in n draws. With G = c + w, gamma = P(guess), theta = P(correct | guess) and d = delta * answers / 2, a claim
(epsilon, delta) implies gamma theta <= e^epsilon gamma (1 - theta) + d. So epsilon >= ln((theta - d / gamma) / (1 - theta)), which grows in both.
"""

import math

import numpy as np
from scipy.special import betaincinv, ndtr, ndtri
from scipy.stats import binom, qmc

# The share of alpha that cuts off the far ends of the region, and the number of its cells.
ENDS, CELLS = 0.02, 160
# Rules are simulated if their bound at the mean tally is at least this share of the largest one: at most so many, with so many tallies each.
GOOD, TRIED, TALLIES = 0.97, 10, 256


def lower(hits, trials, level):
    """The Clopper-Pearson lower limit."""
    hits, trials, level = np.broadcast_arrays(np.asarray(hits, float), np.asarray(trials, float), level)
    limit = betaincinv(np.maximum(hits, 1), trials - np.minimum(hits, trials) + 1, level)
    return np.where(hits > 0, limit, 0.0)


def epsilon(theta, gamma, d):
    """The epsilon that a correct share of theta among a share of gamma guesses shows."""
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = (theta - d / gamma) / (1 - theta)
        return np.where(odds > 1, np.log(odds), 0.0)


def one_limit(c, g, alpha):
    """Without delta only theta matters."""
    return epsilon(lower(c, g, alpha), 1.0, 0.0)


def two_limits(c, g, n, d, alpha):
    """A limit for each of theta and gamma: 0.95 of alpha and 0.05."""
    return epsilon(lower(c, g, 0.95 * alpha), lower(g, n, 0.05 * alpha), d)


def one_region(c, g, n, d, alpha, weights):
    """A region for (gamma, theta) together.

    At the truth, z(P(Bin(n, gamma) >= g)) is at most standard normal, and so is z(P(Bin(g, theta) >= c)) given g. So is their weighted sum with
    w1^2 + w2^2 = 1. The region is where this sum is at most z(alpha). It is covered with cells of the first number, and each cell has a
    smallest gamma and a smallest theta.
    """
    end, level = -ndtri(ENDS * alpha / 2), -ndtri((1 - ENDS) * alpha)
    cuts = np.linspace(-end, end, CELLS + 1)[:, None]
    gamma = lower(g, n, ndtr(-cuts[1:]))
    theta = lower(c, g, ndtr(-(level - weights[1] * cuts[:-1]) / weights[0]))
    return epsilon(theta, gamma, d).min(axis=0)


def weights(correct, wrong, d, leak):
    """In proportion to the standard errors of both parts of the bound, at the true probabilities."""
    gamma, theta = correct + wrong, correct / (correct + wrong)
    parts = np.array([(1 + np.exp(leak)) * np.sqrt(theta * (1 - theta)), d / gamma * np.sqrt(1 - gamma)])
    return parts / np.hypot(*parts)


def expected_bounds(rules, delta, leak, draws, alpha, seed=1):
    """The largest mean bound over all rules: with one region, and with two limits. Without delta these are the same."""
    d = delta * rules.answers / 2

    def bounds(i, c, g):
        if d == 0:
            return [one_limit(c, g, alpha)] * 2
        w = weights(rules.correct[i], rules.wrong[i], d, leak)
        return one_region(c, g, draws, d, alpha, w), two_limits(c, g, draws, d, alpha)

    # The bound at the mean tally ranks the rules; some of the best are simulated.
    mean = [(p * draws, (p + q) * draws) for p, q in zip(rules.correct, rules.wrong)]
    centre = np.array([[bound.item() for bound in bounds(i, np.array([c]), np.array([g]))] for i, (c, g) in enumerate(mean)])
    # The same low-discrepancy points for all rules: their mean has a far smaller error than that of as many random tallies.
    u, v = qmc.Sobol(2, rng=np.random.default_rng(seed)).random(TALLIES).T
    best = [0.0, 0.0]
    for form in range(2):
        good = np.flatnonzero(centre[:, form] >= GOOD * centre[:, form].max())
        for i in good[:: math.ceil(len(good) / TRIED)]:
            p, q = rules.correct[i], rules.wrong[i]
            guesses = binom.ppf(u, draws, min(1.0, p + q))
            correct = binom.ppf(v, guesses, p / (p + q))
            best[form] = max(best[form], float(bounds(i, correct, guesses)[form].mean()))
    return best
