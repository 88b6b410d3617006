"""Values with noise that nobody has looked at yet.

`Noisy` is what a recording generator returns. Adding, subtracting, scaling by values without noise, slicing and reshaping keep it unseen: it stays
`loc + factor * z`. A comparison with a value without noise shows a bit, `argmax` a place. Anything else shows the value itself: from then on it is an
ordinary number or array.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .kinds import KINDS
from .sites import here
from .tape import COIN, MERGED, UNUSED, Source, Step, Tape

COINS = ("integers",)  # kinds that are ordinarily used as an index
TRANSFORMED = ("uniform", "integers")  # kinds from which other noise is made; a constant that is added means nothing
COMPARISONS = {np.greater: 1, np.greater_equal: 1, np.less: -1, np.less_equal: -1}


class Noisy(np.lib.mixins.NDArrayOperatorsMixin):
    """loc + factor * z, element by element."""

    __array_priority__ = 1000

    def __init__(self, tape: Tape, source: Source, places: Any, loc: Any, factor: Any, added: bool) -> None:
        self._tape, self._source, self._places = tape, source, places
        self._loc, self._factor, self._added = loc, factor, added
        self._seen: Any = None
        self._viewed = False

    # What it looks like.

    @property
    def shape(self) -> tuple[int, ...]:
        return self._places.shape

    @property
    def ndim(self) -> int:
        return self._places.ndim

    @property
    def size(self) -> int:
        return self._places.size

    @property
    def dtype(self) -> Any:
        return np.dtype(np.int64 if self._whole() else np.float64)

    def _whole(self) -> bool:
        whole = self._source.kind.discrete and (self._factor == np.round(self._factor)).all()
        return bool(whole and (self._loc == np.round(self._loc)).all())

    # Being seen.

    def seen(self, *, index: bool = False, output: bool = False) -> Any:
        """The value: an ordinary number or array."""
        if self._seen is None:
            tape, source, places = self._tape, self._source, self._places.reshape(-1)
            loc, factor = self._loc.reshape(-1), self._factor.reshape(-1)
            coin = not self._added and (index and source.kind.name in COINS or (source.state[places] == COIN).all())
            if coin:
                tape.coin(source, places)
                value = loc + factor * source.z[places]
            else:
                if not output and (not self._added or source.kind.name in TRANSFORMED):
                    tape.cannot_track(f"noise ({source.kind.name}) goes through a function before anything is added to it")
                value = tape.release(source, places, loc, factor)
            value = value.reshape(self.shape)
            if self._whole() and np.isfinite(value).all():
                value = np.round(value).astype(np.int64)
            self._seen = value if self.ndim else value.item()
        return self._seen

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.seen(index=True), dtype)

    def __float__(self) -> float:
        return float(self.seen())

    def __int__(self) -> int:
        return int(self.seen(index=True))

    def __index__(self) -> int:
        value = self.seen(index=True)
        if isinstance(value, int):
            return value
        raise TypeError("a value with noise is no index")

    def __complex__(self) -> complex:
        return complex(self.seen())

    def __bool__(self) -> bool:
        return bool(self.seen())

    def __hash__(self) -> int:
        return hash(self.seen())

    def __repr__(self) -> str:
        return repr(self.seen())

    def __str__(self) -> str:
        return str(self.seen())

    def __format__(self, spec: str) -> str:
        return format(self.seen(), spec)

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.seen(), digits) if digits is not None else round(self.seen())

    def __floor__(self) -> int:
        return math.floor(self.seen())

    def __ceil__(self) -> int:
        return math.ceil(self.seen())

    def __trunc__(self) -> int:
        return math.trunc(self.seen())

    def __reduce__(self) -> Any:
        return _same, (self.seen(),)

    def __deepcopy__(self, memo: Any) -> "Noisy":
        return self._like(self._places.copy(), self._loc.copy(), self._factor.copy())

    __copy__ = copy = lambda self, *_: self.__deepcopy__(None)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__array_") or name.startswith("_"):
            raise AttributeError(name)
        return getattr(np.asarray(self.seen()) if name in _OF_ARRAYS else self.seen(), name)

    # Shapes.

    def _like(self, places: Any, loc: Any, factor: Any, added: bool | None = None) -> "Noisy":
        made = Noisy(self._tape, self._source, places, loc, factor, self._added if added is None else added)
        if self._seen is not None and places.shape == self.shape and added is None:
            made._seen = self._seen
        return made

    def _shaped(self, change: Any) -> "Noisy":
        return self._like(*(np.asarray(change(part)) for part in (self._places, self._loc, self._factor)), added=self._added)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, Noisy):
            index = index.seen(index=True)
        if self._seen is not None:
            return self._seen[index]
        part_of = self._shaped(lambda part: part[index])
        if part_of.ndim:
            self._viewed = part_of._viewed = True
        return part_of

    def __iter__(self) -> Any:
        return (self[place] for place in range(len(self)))

    def __setitem__(self, index: Any, value: Any) -> None:
        if self._viewed:
            self._tape.cannot_track("an array of noise is changed in place after a part of it was taken")
        if self._seen is None and isinstance(value, Noisy) and value._seen is None and value._source is self._source:
            self._places, self._loc, self._factor = (part.copy() for part in (self._places, self._loc, self._factor))
            self._places[index], self._loc[index], self._factor[index] = value._places, value._loc, value._factor
            self._added |= value._added
            return
        self._seen = np.array(self.seen())
        self._seen[index] = np.asarray(value)

    def reshape(self, *shape: Any, **options: Any) -> Any:
        return self._shaped(lambda part: part.reshape(*shape, **options)) if self._seen is None else self._seen.reshape(*shape, **options)

    def ravel(self) -> Any:
        return self.reshape(-1)

    flatten = ravel

    @property
    def T(self) -> Any:
        return self._shaped(lambda part: part.T) if self._seen is None else self._seen.T

    def astype(self, dtype: Any, **options: Any) -> Any:
        if self._seen is None and np.dtype(dtype) in (np.dtype(float), self.dtype):
            return self
        return np.asarray(self.seen()).astype(dtype, **options)

    def item(self) -> Any:
        return self if self.ndim == 0 else self.reshape(())

    def tolist(self) -> Any:
        return [part.tolist() for part in self] if self.ndim else self

    def sum(self, axis: Any = None, **options: Any) -> Any:
        if axis is None and not options and self._seen is None:
            merged = merge_all(self)
            if merged is not None:
                return merged
        return np.asarray(self.seen()).sum(axis=axis, **options)

    def mean(self, axis: Any = None, **options: Any) -> Any:
        if axis is None and not options and self.size:
            return self.sum() / self.size
        return np.asarray(self.seen()).mean(axis=axis, **options)

    def argmax(self, axis: Any = None, **options: Any) -> Any:
        if self._seen is None and axis in (None, 0) and self.ndim == 1 and not options and self.size:
            place = self._tape.largest(self._source, self._places, self._loc, self._factor)
            if place is not None:
                return place
        return np.asarray(self.seen()).argmax(axis=axis, **options)

    # Arithmetic.

    def _moved(self, loc: Any, factor: Any, added: bool) -> "Noisy":
        loc, factor, places = np.broadcast_arrays(loc, factor, self._places)
        return self._like(places.copy(), np.array(loc, float), np.array(factor, float), added=added)

    def _plus(self, value: Any, sign: float) -> "Noisy":
        value = np.asarray(value, float)
        self._source.steps.append(Step(here(), value))
        return self._moved(sign * self._loc + value, sign * self._factor, True)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if options.get("out") == (self,) and method == "__call__" and len(options) == 1:
            return self._in_place(ufunc, inputs)
        if method == "__call__" and not options and len(inputs) <= 2 and all(not isinstance(x, Noisy) or x._seen is None for x in inputs):
            found = self._tracked(ufunc, *inputs)
            if found is not NotImplemented:
                return found
        if method == "reduce" and ufunc is np.add and inputs == (self,) and set(options) <= {"axis"} and options.get("axis", 0) in (None, 0):
            if self.ndim == 1 or options.get("axis", 0) is None:
                return self.sum()
        if options.get("out"):
            options["out"] = tuple(part.seen() if isinstance(part, Noisy) else part for part in options["out"])
        return getattr(ufunc, method)(*[shown(x) for x in inputs], **options)

    def _in_place(self, ufunc: Any, inputs: Any) -> Any:
        """`x += …`: a number is immutable, an array changes."""
        made = self.__array_ufunc__(ufunc, "__call__", *inputs)
        if self.ndim == 0:
            return made
        if self._viewed:
            self._tape.cannot_track("an array of noise is changed in place after a part of it was taken")
        if isinstance(made, Noisy) and made._seen is None and self._seen is None and made.shape == self.shape:
            self._source, self._places, self._loc, self._factor, self._added = made._source, made._places, made._loc, made._factor, made._added
        else:
            self._seen = np.array(shown(made)).reshape(self.shape)
        return self

    def _tracked(self, ufunc: Any, *inputs: Any) -> Any:
        if len(inputs) == 1:
            if ufunc is np.negative:
                return self._moved(-self._loc, -self._factor, self._added)
            return self if ufunc is np.positive else NotImplemented
        one, other = inputs
        if isinstance(one, Noisy) and isinstance(other, Noisy):
            sign = {np.add: 1.0, np.subtract: -1.0}.get(ufunc)
            return NotImplemented if sign is None else together(one, other, sign)
        plain = other if one is self else one
        if not numeric(plain):
            return NotImplemented
        if ufunc is np.add:
            return self._plus(plain, 1.0)
        if ufunc is np.subtract:
            return self._plus(-np.asarray(plain, float), 1.0) if one is self else self._plus(plain, -1.0)
        by = np.asarray(plain, float)
        if ufunc is np.multiply:
            return self._moved(self._loc * by, self._factor * by, self._added)
        if ufunc is np.true_divide and one is self:
            if (by == 0).any():
                return NotImplemented
            return self._moved(self._loc / by, self._factor / by, self._added)
        if ufunc in COMPARISONS and by.size <= max(self.size, 1):
            threshold = np.broadcast_to(by, self.shape).reshape(-1) if by.ndim <= self.ndim else None
            if threshold is None:
                return NotImplemented
            places = self._places.reshape(-1)
            above = self._tape.compare(self._source, places, self._loc.reshape(-1), self._factor.reshape(-1), threshold)
            if above is None:
                return NotImplemented
            true = above if (COMPARISONS[ufunc] > 0) == (one is self) else ~above
            return true.reshape(self.shape) if self.ndim else bool(true[0])
        return NotImplemented

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        if function in (np.sum, np.mean, np.argmax) and len(arguments) == 1 and not options and isinstance(arguments[0], Noisy):
            return getattr(arguments[0], function.__name__)()
        if function in (np.shape, np.ndim, np.size) and len(arguments) == 1 and not options:
            return getattr(arguments[0], function.__name__)
        return function(*_all_shown(arguments), **_all_shown(options))


_OF_ARRAYS = set(dir(np.ndarray)) - set(dir(float))


def _same(value: Any) -> Any:
    return value


def numeric(value: Any) -> bool:
    """Whether a value without noise can be added."""
    if isinstance(value, (bool, int, float, np.number, np.bool_)):
        return abs(value) <= 2**1000 if isinstance(value, int) else not isinstance(value, np.complexfloating)
    return isinstance(value, np.ndarray) and type(value) is np.ndarray and value.dtype.kind in "biuf"


def shown(value: Any) -> Any:
    """A value without wrapper."""
    return value.seen() if isinstance(value, Noisy) else value


def _all_shown(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(map(_all_shown, value)) if type(value) in (list, tuple) else value
    if isinstance(value, dict):
        return {key: _all_shown(part) for key, part in value.items()}
    return shown(value)


def fresh(tape: Tape, kind: str, shape: Any, *params: float, loc: Any = None, scale: Any = 1.0) -> Any:
    """A new draw: loc + scale z. Without `loc`, nothing has been added yet."""
    shape = () if shape is None else shape
    source = tape.draw(kind, shape, *params)
    return wrapped(tape, source, shape, loc, scale)


def wrapped(tape: Tape, source: Source, shape: Any, loc: Any = None, scale: Any = 1.0) -> Noisy:
    places = np.arange(source.size).reshape(shape)
    if loc is not None:
        source.steps.append(Step(here(), np.asarray(loc, float)))
    at = np.broadcast_to(np.asarray(0.0 if loc is None else loc, float), places.shape)
    by = np.broadcast_to(np.asarray(scale, float), places.shape)
    return Noisy(tape, source, places, at.copy(), by.copy(), loc is not None)


def untouched(value: Noisy) -> bool:
    """Whether no part of its noise was used, and none occurs twice."""
    return bool((value._source.state[value._places] == UNUSED).all()) and np.unique(value._places).size == value.size


def together(one: Noisy, other: Noisy, sign: float) -> Any:
    """The sum or difference of two values with noise, where it has a known distribution."""
    if one.shape == other.shape and untouched(one) and untouched(other) and one._source is not other._source:
        kinds = (one._source.kind.name, other._source.kind.name)
        loc = one._loc + sign * other._loc
        factor = sign * other._factor
        same_params = one._source.params == other._source.params
        opposite = (one._factor == -factor).all() if one.size else False
        sites = [*one._source.steps, *other._source.steps]
        if kinds == ("normal", "normal"):
            by = np.hypot(one._factor, factor)
            with np.errstate(all="ignore"):
                z = (one._factor * _z(one) + factor * _z(other)) / by
            if (by > 0).all():
                return merged(one, [one, other], "normal", (), z, loc, by, sites)
        if kinds == ("exponential", "exponential") and opposite:
            return merged(one, [one, other], "laplace", (), _z(one) - _z(other), loc, one._factor, sites)
        if kinds == ("geometric", "geometric") and opposite and same_params:
            q = 1 - one._source.params[0]
            if q > 0:
                return merged(one, [one, other], "discrete laplace", (q,), _z(one) - _z(other), loc, one._factor, sites)
    # Both are seen. That shows more than their sum, so what is computed from it is an upper limit.
    if not one._added and not other._added:
        one._tape.cannot_track(f"noise ({one._source.kind.name}) is added to other noise, and their sum has no known distribution")
    return one.seen(output=True) + sign * np.asarray(other.seen(output=True)) if sign < 0 else one.seen(output=True) + other.seen(output=True)


def merge_all(value: Noisy) -> Noisy | None:
    """The sum of an array of normal noise."""
    if value._source.kind.name != "normal" or not untouched(value) or not value.size:
        return None
    by = math.sqrt(float((value._factor**2).sum()))
    if by == 0:
        return None
    z = np.asarray((value._factor * _z(value)).sum() / by)
    return merged(value, [value], "normal", (), z, np.asarray(value._loc.sum()), np.asarray(by), list(value._source.steps))


def _z(value: Noisy) -> Any:
    return value._source.z[value._places]


def merged(like: Noisy, parts: list[Noisy], kind: str, params: tuple[float, ...], z: Any, loc: Any, factor: Any, steps: list[Step]) -> Noisy:
    tape = like._tape
    for part in parts:
        part._source.state[part._places] = MERGED
    source = tape.source(KINDS[kind], z, params)
    source.steps.extend(steps)
    source.site = parts[0]._source.site
    made = wrapped(tape, source, np.shape(z), None, 1.0)
    made._loc, made._factor, made._added = np.array(loc, float), np.array(factor, float), any(part._added for part in parts)
    return made
