"""Functions that add noise themselves: `@dpa.primitive(…)` says where their input and their scale are."""

from __future__ import annotations

import functools
import inspect
import math
from typing import Any, Callable

import numpy as np

from .kinds import KINDS
from .sites import here
from .tape import Declared, Step

Function = Callable[..., Any]
Parameter = str | float | Callable[..., Any]


def primitive(
    *,
    input: str,
    noise: str | None = None,
    scale: Parameter | None = None,
    sensitivity: Parameter | None = None,
    epsilon: Parameter | None = None,
) -> Callable[[Function], Function]:
    """Marks a function that returns its input with noise, so that a trace records it. Outside a trace nothing changes.

    >>> import dp_audit as dpa, math
    >>> @dpa.primitive(input="value", noise="laplace", scale="scale")
    ... def add_laplace(value, scale, rng):
    ...     u = rng.random() - 0.5
    ...     return value - scale * math.copysign(math.log1p(-2 * abs(u)), u)

    input: the argument to which noise is added.
    noise: its distribution: laplace, normal, gumbel, logistic, cauchy. Then `scale` is its scale.
    epsilon: instead, what the function guarantees for inputs that are `sensitivity` apart in the L1 norm; for closer ones in proportion.
    scale, sensitivity, epsilon: a number, the name of an argument, or a function of the arguments of that name.
    """
    if (noise is None) == (epsilon is None):
        raise TypeError("give either noise, which says how the output is distributed, or epsilon, which says what it guarantees")
    if noise is not None and (scale is None or noise not in KINDS):
        known = ", ".join(name for name, kind in KINDS.items() if not kind.discrete)
        raise TypeError(f"noise is {noise!r} with scale {scale!r}; it must be one of {known}, and have a scale")
    if epsilon is not None and sensitivity is None:
        raise TypeError("epsilon needs a sensitivity: how far apart inputs may be")

    def mark(function: Function) -> Function:
        signature = inspect.signature(function)
        for name in (input, *(part for part in (scale, sensitivity, epsilon) if isinstance(part, str))):
            if name not in signature.parameters:
                raise TypeError(f"{function.__name__} has no argument {name}; it takes {', '.join(signature.parameters)}")

        @functools.wraps(function)
        def marked(*arguments: Any, **options: Any) -> Any:
            from .execute import CURRENT

            tape = CURRENT.get()
            if tape is None:
                return function(*arguments, **options)
            bound = signature.bind(*arguments, **options)
            bound.apply_defaults()
            found = {name: _shown(value) for name, value in bound.arguments.items()}
            chosen = {key: _parameter(part, found) for key, part in (("scale", scale), ("sensitivity", sensitivity), ("epsilon", epsilon))}
            token = CURRENT.set(None)
            try:
                plain = {name: (tape_free(value, tape)) for name, value in bound.arguments.items()}
                out = function(**plain) if not _has_positional(signature) else function(*plain.values())
            finally:
                CURRENT.reset(token)
            return record(tape, function.__name__, found[input], out, noise=noise, **chosen)

        return marked

    return mark


def _has_positional(signature: inspect.Signature) -> bool:
    return any(parameter.kind is parameter.POSITIONAL_ONLY for parameter in signature.parameters.values())


def _shown(value: Any) -> Any:
    from .values import shown

    return shown(value)


def tape_free(value: Any, tape: Any) -> Any:
    """Inside a primitive the generator is an ordinary one."""
    import random

    from .recorder import NumpyRecorder, PythonRecorder

    if isinstance(value, PythonRecorder):
        return random.Random(int(tape.rng.integers(2**63)))
    return tape.rng if isinstance(value, NumpyRecorder) else _shown(value)


def _parameter(part: Parameter | None, arguments: dict[str, Any]) -> Any:
    if part is None or isinstance(part, (int, float)):
        return part
    if isinstance(part, str):
        return arguments[part]
    return part(**{name: arguments[name] for name in inspect.signature(part).parameters})


def record(tape: Any, name: str, value: Any, out: Any, *, noise: str | None, scale: Any, sensitivity: Any, epsilon: Any) -> Any:
    """Puts a call on the tape, and returns its output, or under playback the recorded one."""
    if noise is not None:
        q, t = np.asarray(value, float), np.asarray(out, float)
        if q.shape != t.shape:
            tape.cannot_track(f"{name} returns another shape than its input has")
            return out
        by = np.broadcast_to(np.asarray(scale, float), q.shape)
        with np.errstate(all="ignore"):
            source = tape.source(KINDS[noise], (t - q) / by)
        source.steps.append(Step(here(), q))
        given = tape.release(source, np.arange(source.size), q.reshape(-1), by.reshape(-1)).reshape(q.shape)
        return given if q.ndim else given.item()
    number = len(tape.declared)
    played = tape.recorded.declared[number] if tape.recorded is not None and number < len(tape.recorded.declared) else None
    if played is not None and played.name == name and np.shape(played.out) == np.shape(out):
        out = played.out

    def loss(one: Any, other: Any) -> float:
        with np.errstate(all="ignore"):
            first, second = np.asarray(one, float), np.asarray(other, float)
        if first.shape != second.shape:
            return math.inf
        if np.array_equal(first, second, equal_nan=True):
            return 0.0
        distance = float(np.abs(first - second).sum())
        return epsilon * distance / sensitivity if math.isfinite(distance) and sensitivity > 0 else math.inf

    tape.declared.append(Declared(name, here(), value, out, sensitivity, loss, (("ε", epsilon), ("sensitivity", sensitivity))))
    return out
