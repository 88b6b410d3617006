"""Small numeric tools: stable logarithms, Gauss-Legendre quadrature, roots and maxima."""

import math

INF = math.inf


def log(x):
    """The logarithm, with log 0 = -inf."""
    return math.log(x) if x > 0 else -INF


def log_sum(logs):
    """log(sum of e^x) without overflow."""
    logs = list(logs)
    top = max(logs, default=-INF)
    if top in (-INF, INF):
        return top
    return top + math.log(sum(math.exp(x - top) for x in logs))


def legendre(n):
    """Nodes and weights of the Gauss-Legendre rule on [-1, 1]: exact for polynomials of degree 2n - 1.

    The nodes are the roots of the Legendre polynomial P_n, found by Newton steps; the weights are 2 / ((1 - x^2) P_n'(x)^2).
    """
    rule = []
    for i in range(n):
        x = math.cos(math.pi * (i + 0.75) / (n + 0.5))
        for _ in range(100):
            before, here = 1.0, x
            for k in range(2, n + 1):
                before, here = here, ((2 * k - 1) * x * here - (k - 1) * before) / k
            slope = n * (x * here - before) / (x * x - 1)
            step = here / slope
            x -= step
            if abs(step) < 1e-16:
                break
        rule.append((x, 2 / ((1 - x * x) * slope * slope)))
    return rule


RULE = legendre(16)


def nodes(points, width):
    """Quadrature nodes and weights from the first to the last point; between two points, panels of at most this width."""
    found = []
    for a, b in zip(points, points[1:]):
        panels = max(1, math.ceil((b - a) / width))
        half = (b - a) / panels / 2
        for k in range(panels):
            middle = a + (2 * k + 1) * half
            found += [(middle + half * x, half * w) for x, w in RULE]
    return found


def root(f, a, b, fa, fb):
    """The place where the monotone f changes its sign between a and b. Secant steps (Illinois), and a bisection whenever they are slow."""
    if fa == 0:
        return a
    if fb == 0:
        return b
    for step in range(300):
        if math.isinf(fa) or math.isinf(fb) or step % 4 == 3:
            x = a + (b - a) / 2
        else:
            x = b - fb * (b - a) / (fb - fa)
            if not min(a, b) < x < max(a, b):
                x = a + (b - a) / 2
        if x in (a, b) or abs(b - a) <= 4e-16 * max(abs(a), abs(b)):
            break
        fx = f(x)
        if fx == 0:
            return x
        if (fx > 0) == (fb > 0):
            fa = fa / 2 if step % 4 != 3 else fa
        else:
            a, fa = b, fb
        b, fb = x, fx
    return b


def peak(f, a, b):
    """The maximum of f between a and b, where it has only one: golden section. The place and the value."""
    golden = (math.sqrt(5) - 1) / 2
    x, y = b - golden * (b - a), a + golden * (b - a)
    fx, fy = f(x), f(y)
    for _ in range(50):
        if fx >= fy:
            b, y, fy = y, x, fx
            x = b - golden * (b - a)
            fx = f(x)
        else:
            a, x, fx = x, y, fy
            y = a + golden * (b - a)
            fy = f(y)
    return (x, fx) if fx >= fy else (y, fy)
