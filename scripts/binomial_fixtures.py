#!/usr/bin/env python3
"""Exact Clopper-Pearson lower limits for the tests, by high-precision integration (needs mpmath).

    python3 scripts/binomial_fixtures.py > tests/fixtures/binomial_limits.csv

Each limit p solves P(X >= k) = alpha for X ~ Binomial(n, p). The tail is the regularised incomplete beta function
I_p(k, n - k + 1). It is integrated here with 40 digits, piece by piece around p, so that nothing depends on a library's inverse.
"""
from mpmath import mp, mpf, exp, log, log1p, loggamma, quad, sqrt, findroot, nstr

mp.dps = 40

CASES = [
    (k, n, alpha)
    for n, ks in [
        (1, [1]),
        (10, [1, 5, 9, 10]),
        (1000, [1, 10, 500, 990, 999, 1000]),
        (10**6, [1, 10, 1000, 500_000, 731_058, 999_990]),
        (10**7, [1, 10, 5_000_000, 7_310_586]),
        (10**8, [1000, 50_000_000, 99_999_000]),
        (10**9, [1, 1000, 500_000_000, 731_058_579]),
    ]
    for k in ks
    for alpha in ["0.05", "0.0125", "1e-5", "1e-9"]
]


def tail(k, n, p):
    """P(X >= k) for X ~ Binomial(n, p)."""
    a, b = mpf(k), mpf(n - k + 1)
    scale = loggamma(a + b) - loggamma(a) - loggamma(b)
    density = lambda x: exp(scale + (a - 1) * log(x) + (b - 1) * log1p(-x)) if 0 < x < 1 else mpf(0)
    # The density falls by e over this distance below p; pieces of growing size reach down to where nothing is left.
    slope = (a - 1) / p - (b - 1) / (1 - p)
    width = sqrt(a * b / (a + b) ** 3)
    unit = min(width, 1 / slope) if slope > 0 else width
    points, x, step = [p], p, unit
    while x > 0 and len(points) < 60:
        x = max(x - step, mpf(0))
        points.append(x)
        step *= mpf("1.5")
    return quad(density, points[::-1])


def limit(k, n, alpha):
    alpha = mpf(alpha)
    if k == n:
        return alpha ** (mpf(1) / n)
    # Bisection in log-odds: slow and sure.
    start = log(mpf(k) / (n - k))
    spread = sqrt(mpf(1) / k + mpf(1) / (n - k))
    low, high = start - spread, start
    while tail(k, n, 1 / (1 + exp(-low))) > alpha:
        low -= spread
        spread *= 2
    value = lambda t: log(tail(k, n, 1 / (1 + exp(-t)))) - log(alpha)
    return 1 / (1 + exp(-findroot(value, (low, high), solver="anderson", tol=1e-18)))


if __name__ == "__main__":
    print("k,n,alpha,lower")
    for k, n, alpha in CASES:
        print(f"{k},{n},{alpha},{nstr(limit(k, n, alpha), 17)}")
