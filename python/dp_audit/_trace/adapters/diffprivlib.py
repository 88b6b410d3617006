"""diffprivlib: the mechanisms of `diffprivlib.mechanisms`, by their method `randomise`."""

from __future__ import annotations

import functools
import math
from typing import Any, Callable

MODULE = "diffprivlib.mechanisms"

# Noise that is added to the input; a bound of the output is post-processing. (mechanism) → scale
LAPLACE = ("Laplace", "LaplaceTruncated", "LaplaceFolded")
NORMAL = ("Gaussian", "GaussianAnalytic")
# What is declared: ε for inputs that are `sensitivity` apart.
DECLARED = ("Geometric", "GeometricTruncated", "GeometricFolded", "LaplaceBoundedDomain", "LaplaceBoundedNoise", "GaussianDiscrete", "Uniform", "Staircase", "Snapping")
# Mechanisms with several inputs: utilities or functions, kept at construction.
CHOICES = ("Exponential", "PermuteAndFlip")


def install(module: Any) -> Callable[[], None]:
    kept = []
    for name in LAPLACE + NORMAL + DECLARED + CHOICES:
        cls = getattr(module, name, None)
        if cls is not None and "randomise" in vars(cls):
            kept.append((cls, cls.randomise))
            cls.randomise = _recording(cls.randomise, name)

    def undo() -> None:
        for cls, real in kept:
            cls.randomise = real

    return undo


def _recording(real: Callable[..., Any], name: str) -> Callable[..., Any]:
    from ..execute import CURRENT
    from ..primitive import record
    from ..values import shown

    @functools.wraps(real)
    def randomise(self: Any, *arguments: Any) -> Any:
        tape = CURRENT.get()
        if tape is None:
            return real(self, *arguments)
        token = CURRENT.set(None)
        try:
            value = shown(arguments[0]) if arguments else None
            generator = getattr(self, "_rng", None)
            self._rng = _ordinary(tape, generator)
            try:
                out = _unbounded(self, name, real)(self, *map(shown, arguments))
            finally:
                self._rng = generator
        finally:
            CURRENT.reset(token)
        called = f"diffprivlib {name}"
        if name in CHOICES:
            return _chosen(tape, called, self, out)
        sensitivity = float(self.sensitivity)
        if name in LAPLACE or name in NORMAL:
            scale = self._scale if name in NORMAL else sensitivity / (self.epsilon - math.log(1 - self.delta))
            if scale > 0:
                out = record(tape, called, value, out, noise="laplace" if name in LAPLACE else "normal", scale=scale, sensitivity=None, epsilon=None)
            return _bounded(self, name, out)
        epsilon = self.epsilon if not getattr(self, "delta", 0.0) else math.inf
        return record(tape, called, value, out, noise=None, scale=None, sensitivity=sensitivity, epsilon=epsilon)

    return randomise


def _ordinary(tape: Any, generator: Any) -> Any:
    """A mechanism draws from the system or from its seed; under a trace from the trace's generator."""
    import random

    return random.Random(int(tape.rng.integers(2**63)))


def _unbounded(self: Any, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    """The sampler before the bounds of the output are applied."""
    if name in ("LaplaceTruncated", "LaplaceFolded"):
        import diffprivlib.mechanisms as mechanisms

        parent = mechanisms.Laplace.randomise
        return getattr(parent, "__wrapped__", parent)
    return real


def _bounded(self: Any, name: str, out: Any) -> Any:
    if name == "LaplaceTruncated":
        return self._truncate(out)
    return self._fold(out) if name == "LaplaceFolded" else out


def _chosen(tape: Any, called: str, self: Any, out: Any) -> Any:
    """The utilities are the input: scores that may move by the sensitivity, in the largest norm."""
    from ..sites import here
    from ..tape import Declared

    number = len(tape.declared)
    played = tape.recorded.declared[number] if tape.recorded is not None and number < len(tape.recorded.declared) else None
    if played is not None and played.name == called:
        out = played.out
    sensitivity, epsilon = float(self.sensitivity), float(self.epsilon)
    monotonic = bool(getattr(self, "monotonic", False))

    def loss(one: Any, other: Any) -> float:
        if len(one) != len(other):
            return math.inf
        moved = max((abs(a - b) for a, b in zip(one, other)), default=0.0)
        if not math.isfinite(moved):
            return math.inf
        return moved / sensitivity * epsilon if sensitivity > 0 else (math.inf if moved else 0.0)

    guarantee = (("ε", epsilon), ("sensitivity", sensitivity), ("monotonic", monotonic))
    tape.declared.append(Declared(called, here(), tuple(self.utility), out, None, loss, guarantee))
    return out
