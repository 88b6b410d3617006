"""OpenDP: a call of a measurement. Its map says what it guarantees for inputs at a distance."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

MODULE = "opendp.mod"


def install(module: Any) -> Callable[[], None]:
    real = module.Measurement.__call__

    def call(self: Any, arg: Any) -> Any:
        from ..execute import CURRENT
        from ..sites import here
        from ..tape import Declared
        from ..values import shown

        tape = CURRENT.get()
        if tape is None:
            return real(self, arg)
        arg = shown(arg)
        token = CURRENT.set(None)
        try:
            out = real(self, arg)
        finally:
            CURRENT.reset(token)
        number = len(tape.declared)
        played = tape.recorded.declared[number] if tape.recorded is not None and number < len(tape.recorded.declared) else None
        if played is not None and played.name == "OpenDP measurement":
            out = played.out
        metric, measure = str(self.input_metric), str(self.output_measure)

        def loss(one: Any, other: Any) -> Any:
            return guaranteed(self, metric, measure, one, other)

        tape.declared.append(Declared("OpenDP measurement", here(), arg, out, None, loss, (metric, measure, *mapped(self))))
        return out

    module.Measurement.__call__ = call

    def undo() -> None:
        module.Measurement.__call__ = real

    return undo


def mapped(measurement: Any) -> list[str]:
    """The guarantee at two distances: it must be the same on both sides."""
    found = []
    for d_in in (1, 1.0, 2, 2.0):
        try:
            found.append(repr(measurement.map(d_in)))
        except Exception:
            found.append("none")
    return found


def distance(metric: str, one: Any, other: Any) -> float | None:
    """The distance of two inputs; None if the metric is not known here."""
    if any(name in metric for name in ("SymmetricDistance", "InsertDeleteDistance")):
        from collections import Counter

        first, second = Counter(map(repr, one)), Counter(map(repr, other))
        return float(sum((first - second).values()) + sum((second - first).values()))
    if any(name in metric for name in ("ChangeOneDistance", "HammingDistance")):
        return float(sum(a != b for a, b in zip(one, other))) if len(one) == len(other) else None
    if any(name in metric for name in ("AbsoluteDistance", "L1Distance", "L2Distance", "LInfDistance", "LpDistance")):
        first, second = np.asarray(one, float), np.asarray(other, float)
        if first.shape != second.shape:
            return math.inf
        apart = np.abs(first - second)
        if "L2" in metric:
            return float(np.sqrt((apart**2).sum()))
        return float(apart.max() if "LInf" in metric else apart.sum())
    if "DiscreteDistance" in metric:
        return float(one != other)
    return None


def guaranteed(measurement: Any, metric: str, measure: str, one: Any, other: Any) -> Any:
    """What the map of the measurement says about inputs at this distance."""
    from ..pairing import Part

    apart = distance(metric, one, other)
    if apart == 0:
        return 0.0
    if apart is None or not math.isfinite(apart):
        return math.inf
    for d_in in (apart, int(math.ceil(apart))):
        try:
            found = measurement.map(d_in)
            break
        except Exception:
            continue
    else:
        return math.inf
    if "MaxDivergence" in measure and isinstance(found, (int, float)):
        return float(found)
    if "ZeroConcentrated" in measure and isinstance(found, (int, float)):
        return Part(gauss=2 * float(found), exact=False)
    return math.inf
