"""OpenDP: a call of a measurement. Its map says what it guarantees for inputs at a distance."""

from __future__ import annotations

import math
from collections import Counter
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
        if type(out).__name__ == "OnceFrame":
            out = out.collect().lazy()  # it can be collected only once, and playback gives it out again
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


def records(data: Any) -> list[Any]:
    """The records of a list or a frame."""
    data = data.collect() if hasattr(data, "collect") else data
    return data.rows() if hasattr(data, "rows") else list(data)


def distance(metric: str, one: Any, other: Any) -> float | None:
    """The distance of two inputs; None if the metric is not known here."""
    if any(name in metric for name in ("SymmetricDistance", "InsertDeleteDistance")):
        first, second = Counter(map(repr, records(one))), Counter(map(repr, records(other)))
        return float(sum((first - second).values()) + sum((second - first).values()))
    if any(name in metric for name in ("ChangeOneDistance", "HammingDistance")):
        first, second = records(one), records(other)
        return float(sum(a != b for a, b in zip(first, second))) if len(first) == len(second) else None
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
    """What the map of the measurement says about inputs at this distance; None if that is not known."""
    from ..pairing import Part

    try:
        apart = distance(metric, one, other)
    except (TypeError, ValueError):
        return None
    if apart == 0:
        return 0.0
    if apart is None:
        return None
    if not math.isfinite(apart):
        return math.inf
    found = mapped_at(measurement, metric, apart)
    if "MaxDivergence" in measure and isinstance(found, (int, float)):
        return float(found)
    if "ZeroConcentrated" in measure and isinstance(found, (int, float)):
        return Part(gauss=2 * float(found), exact=False)
    return None


def mapped_at(measurement: Any, metric: str, apart: float) -> Any:
    """The map at a distance, which must have the type that the metric asks for."""
    whole = int(math.ceil(apart))
    distances: list[Any] = [apart, whole]
    if "FrameDistance" in metric:
        from opendp.extras.polars import Bound

        distances = [[Bound(per_group=whole)]]
    for d_in in distances:
        try:
            return measurement.map(d_in)
        except Exception:
            continue
    return None
