#!/usr/bin/env python3
"""Bounds of canary audits for the tests, computed from the theorems and not by the program (needs numpy and mpmath).

    python3 scripts/canary_fixtures.py > tests/fixtures/canary_bounds.csv

Every row has a bound that was found with other means than in src/stats/canary:
- count: the largest eps whose sharp tail bound is at most alpha; binomial sums with 40 digits, bisection.
- ladder: guesses about scores N(shift, 1), all of them "in"; crossing probabilities by full convolutions without cutting tails, a scan over a
  grid of eps that ends with finer steps than that of the program.
- share: the largest mu (or rho) whose lowest path has more mass than there is; 30 digits, bisection on the normal distribution function.
Columns: kind, the number of canaries that delta counts, guesses, right guesses (for a ladder, at each size), delta or unit, alpha, bound.
"""
from mpmath import mp, mpf, binomial, erfc, erfinv, exp, log, sqrt
import numpy as np

mp.dps = 30
ALPHA = 0.05


# ---- a fixed number of guesses -------------------------------------------------------------------------------------------------------------

def sharp(m, r, v, eps, delta):
    q = 1 / (1 + exp(-mpf(eps)))
    if v < r * q: return mpf(1)
    mass = [binomial(r, c) * q ** c * (1 - q) ** (r - c) for c in range(v, r + 1)]
    tail = sum(mass)
    return tail + m * mpf(delta) * tail * (1 - tail) / (v * mass[0])


def halve(refuted, high):
    low, high = mpf(0), mpf(high)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


# ---- the ladder ----------------------------------------------------------------------------------------------------------------------------

def log_factorials(n): return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])


def masses(n, q, table):
    k = np.arange(n + 1)
    return np.exp(table[n] - table[k] - table[n - k] + k * np.log(q) + (n - k) * np.log1p(-q))


def tails(mass): return np.concatenate([np.cumsum(mass[::-1])[::-1], [0.0]])


def ladder_refutes(m, sizes, correct, eps, delta, table):
    q, leak = 1 / (1 + np.exp(-eps)), m * delta / (1 + np.exp(eps))
    if leak > ALPHA / 4:
        best = 1.0
        for r, v in zip(sizes, correct):
            mass = masses(r, q, table)
            tail = tails(mass)[v]
            if v <= r * q: continue
            # Far out, where masses vanish, the tail is at most a geometric series times its first mass.
            ratio = tail / mass[v] if mass[v] > 0 else 1 / (1 - (r - v) / (v + 1) * np.exp(eps))
            best = min(best, tail + m * delta * ratio * (1 - tail) / v)
        return len(sizes) * best <= ALPHA
    each = [tails(masses(r, q, table)) for r in sizes]
    level = min(tail[v] for tail, v in zip(each, correct))
    if level + leak > ALPHA: return False
    if len(sizes) * level + leak <= ALPHA: return True
    walk, crossed, before = np.ones(1), 0.0, 0
    for r, tail in zip(sizes, each):
        walk, before = np.convolve(walk, masses(r - before, q, table)), r
        first = int(np.argmax(tail <= level * (1 + 1e-9)))
        crossed, walk = crossed + walk[first:].sum(), walk[:first]
    return crossed + leak <= ALPHA


def ladder_bound(m, sizes, correct, delta, table):
    """A scan with steps of 2 %, and once more with steps of 0.08 % from two steps before its end."""
    refuted = lambda eps: ladder_refutes(m, sizes, correct, eps, delta, table)
    if not refuted(0.001): return 0.0
    eps = 0.001
    for ratio in (1.02, 1.0008):
        while refuted(eps): eps *= ratio
        eps /= ratio ** (3 if ratio == 1.02 else 1)
    return eps


def sizes_of(n):
    sizes = sorted({int(np.floor(8 * 1.6 ** j + 0.5)) for j in range(60)})
    return [r for r in sizes if r < n] + [n]


# ---- a trade-off curve -----------------------------------------------------------------------------------------------------------------------

def phi(x): return erfc(-x / sqrt(2)) / 2


def quantile(p): return sqrt(2) * erfinv(2 * p - 1)


def rho_inverse(rho, x):
    """Least a with order-l divergences of coins (x, a) at most rho*l, both directions, on a grid of orders; in double precision."""
    x, orders = float(x), 1 + 2.0 ** (np.arange(70) / 4) / 500
    def allowed(a):
        for p, o in ((x, a), (a, x)):
            logs = np.logaddexp(orders * np.log(p) + (1 - orders) * np.log(o), orders * np.log1p(-p) + (1 - orders) * np.log1p(-o))
            if np.any(logs / (orders - 1) > rho * orders): return False
        return True
    low, high = 0.0, x
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if allowed(middle) else (middle, high)
    return mpf(low)


def share_refutes(m, r, v, inverse):
    right, wrong = mpf(ALPHA) * v / m, mpf(ALPHA) * (r - v) / m
    for i in range(v - 1, -1, -1):
        needed = max(wrong, inverse(right)) if right < 1 else mpf(1)
        right, wrong = right + mpf(i) / (r - i) * (needed - wrong), needed
        if right + wrong > mpf(r) / m: return True
    return False


def main():
    print("kind,canaries,guesses,correct,delta,alpha,bound")
    for m, r, v, delta in [(10, 10, 10, 0), (100, 100, 100, 0), (1000, 1000, 1000, 0), (100, 40, 38, "1e-5"), (1000, 120, 101, "1e-5"), (1000, 800, 600, "1e-6"), (2000, 300, 280, "1e-4"), (50, 20, 20, "1e-3")]:
        if v < r and r > 200: mp.dps = 60
        print(f"count,{m},{r},{v},{delta},{ALPHA},{float(halve(lambda eps: sharp(m, r, v, eps, delta) <= ALPHA, 12)):.9f}")
        mp.dps = 30
    rng = np.random.default_rng(20)
    for m, delta in [(100, 1e-5), (1000, 1e-5), (10_000, 1e-5), (10_000, 1e-6)]:
        for shift in (0.5, 1, 2, 4):
            coins = rng.random(m) < 0.5
            scores = shift * coins + rng.standard_normal(m)
            right, sizes, table = np.cumsum(coins[np.argsort(-scores)]), sizes_of(m), log_factorials(m)
            correct = [int(right[r - 1]) for r in sizes]
            bound = ladder_bound(m / 2, sizes, correct, delta, table)
            print(f"ladder,{m / 2},{' '.join(map(str, sizes))},{' '.join(map(str, correct))},{delta},{ALPHA},{bound:.6f}", flush=True)
    for m, r, v in [(100, 100, 100), (1000, 1000, 1000), (100, 50, 42), (1000, 120, 112), (1000, 200, 150), (400, 60, 60)]:
        bound = halve(lambda mu: share_refutes(m, r, v, lambda x: phi(quantile(x) - mu)), 8)
        print(f"mu,{m},{r},{v},0,{ALPHA},{float(bound):.9f}", flush=True)
    for m, r, v in [(100, 30, 29), (400, 40, 40)]:
        low, high = 0.0, 4.0
        for _ in range(16):
            middle = (low + high) / 2
            low, high = (middle, high) if share_refutes(m, r, v, lambda x: rho_inverse(middle, x)) else (low, middle)
        print(f"rho,{m},{r},{v},0,{ALPHA},{low:.6f}", flush=True)


if __name__ == "__main__":
    main()
