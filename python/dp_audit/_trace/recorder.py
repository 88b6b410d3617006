"""Generators that record. They draw from an ordinary generator, so each draw has the distribution that it always has."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from .sites import here
from .tape import Tape
from .values import Noisy, fresh, numeric, shown


MANY = 32  # choices with probabilities that are single releases


def _size_of(size: Any, *parameters: Any) -> Any:
    return size if size is not None else np.broadcast_shapes(*(np.shape(p) for p in parameters))


class NumpyRecorder(np.random.Generator):
    """A numpy Generator whose draws stand on a tape."""

    def __new__(cls, tape: Tape) -> "NumpyRecorder":
        return super().__new__(cls, np.random.PCG64(0))  # type: ignore[return-value]

    def __init__(self, tape: Tape) -> None:
        super().__init__(np.random.PCG64(0))
        self._tape = tape

    def _plain(self, name: str) -> Any:
        """A method whose draws are used but not understood."""

        def draws(*arguments: Any, **options: Any) -> Any:
            self._tape.cannot_track(f"rng.{name} is no primitive that a trace knows")
            return getattr(self._tape.rng, name)(*map(shown, arguments), **{key: shown(value) for key, value in options.items()})

        return draws

    def _affine(self, kind: str, loc: Any, scale: Any, size: Any, *params: float) -> Any:
        loc, scale = shown(loc), shown(scale)
        if not (np.asarray(scale, float) >= 0).all() and not np.isnan(scale).any():
            raise ValueError("scale < 0")
        shape = _size_of(size, scale, *([] if loc is None else [loc]))
        return fresh(self._tape, kind, shape, *params, loc=loc, scale=scale)

    def laplace(self, loc: Any = None, scale: Any = 1.0, size: Any = None) -> Any:
        return self._affine("laplace", loc, scale, size)

    def normal(self, loc: Any = None, scale: Any = 1.0, size: Any = None) -> Any:
        return self._affine("normal", loc, scale, size)

    def gumbel(self, loc: Any = None, scale: Any = 1.0, size: Any = None) -> Any:
        return self._affine("gumbel", loc, scale, size)

    def logistic(self, loc: Any = None, scale: Any = 1.0, size: Any = None) -> Any:
        return self._affine("logistic", loc, scale, size)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        return self._affine("exponential", None, scale, size)

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        if out is not None or np.dtype(dtype) != np.float64:
            return self._plain("standard_normal")(size, dtype, out)
        return self._affine("normal", None, 1.0, size)

    def standard_exponential(self, size: Any = None, dtype: Any = np.float64, method: str = "zig", out: Any = None) -> Any:
        if out is not None or np.dtype(dtype) != np.float64:
            return self._plain("standard_exponential")(size, dtype, method, out)
        return self._affine("exponential", None, 1.0, size)

    def standard_cauchy(self, size: Any = None) -> Any:
        return self._affine("cauchy", None, 1.0, size)

    def standard_t(self, df: Any, size: Any = None) -> Any:
        if np.ndim(df):
            return self._plain("standard_t")(df, size)
        return self._affine("student", None, 1.0, size, float(df))

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
        if np.ndim(shape):
            return self._plain("gamma")(shape, scale, size)
        return self._affine("gamma", None, scale, size, float(shape))

    def standard_gamma(self, shape: Any, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        if np.ndim(shape) or out is not None:
            return self._plain("standard_gamma")(shape, size, dtype, out)
        return self._affine("gamma", None, 1.0, size, float(shape))

    def geometric(self, p: Any, size: Any = None) -> Any:
        if np.ndim(p):
            return self._plain("geometric")(p, size)
        return self._affine("geometric", None, 1.0, size, float(p))

    def poisson(self, lam: Any = 1.0, size: Any = None) -> Any:
        if np.ndim(lam) or not lam > 0:
            return self._plain("poisson")(lam, size)
        return self._affine("poisson", None, 1.0, size, float(lam))

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        if np.ndim(n) or np.ndim(p) or not 0 < p < 1:
            return self._plain("binomial")(n, p, size)
        return self._affine("binomial", None, 1.0, size, float(n), float(p))

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        if out is not None or np.dtype(dtype) != np.float64:
            return self._plain("random")(size, dtype, out)
        return self._affine("uniform", None, 1.0, size)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        low, high = shown(low), shown(high)
        if np.ndim(low) == 0 and np.ndim(high) == 0 and low == 0:
            return self._affine("uniform", None, high, size)
        made = self._affine("uniform", low, np.subtract(high, low), _size_of(size, low, high))
        return made

    def integers(self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: bool = False) -> Any:
        low, high = shown(low), shown(high)
        if np.ndim(low) or (high is not None and np.ndim(high)):
            return self._plain("integers")(low, high, size, dtype, endpoint)
        first, end = (0, low) if high is None else (low, high)
        return self._affine("integers", None, 1.0, size, int(first), int(end) + bool(endpoint))

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True) -> Any:
        a, p = shown(a), shown(p)
        if p is not None:
            return self._weighted(a, size, replace, p, axis, shuffle)
        count = a if isinstance(a, (int, np.integer)) else np.shape(a)[axis]
        if replace or size is None:
            places = self._affine("integers", None, 1.0, size, 0, int(count))
        else:
            return self._order(a, size, axis, lambda rng: rng.choice(int(count), size, replace=False, shuffle=shuffle), int(count))
        if isinstance(a, (int, np.integer)):
            return places
        return self._taken(a, places.seen(index=True), axis)

    def _taken(self, a: Any, places: Any, axis: int = 0) -> Any:
        return np.take(np.asarray(a), places, axis=axis) if not isinstance(a, list) or np.ndim(places) else np.asarray(a)[places]

    def _weighted(self, a: Any, size: Any, replace: bool, p: Any, axis: int, shuffle: bool) -> Any:
        """A choice with probabilities is a release of its own: ln P of what was chosen."""
        if size is not None and not replace:
            return self._plain("choice")(a, size, replace, p, axis, shuffle)
        tape = self._tape
        chances = np.asarray(p, float)
        tape.rng.choice(chances.size, size, p=chances)  # its checks of the probabilities
        with np.errstate(all="ignore"):
            logs = np.log(chances)
        count = int(np.prod(() if size is None else size)) if size is not None else 1
        if count > MANY:
            return self._many(a, size, axis, chances, count)
        found = [_one_of(tape, logs) for _ in range(count)]
        places = found[0] if size is None else np.reshape(found, size)
        if isinstance(a, (int, np.integer)):
            return places
        return self._taken(a, places, axis)

    def _many(self, a: Any, size: Any, axis: int, chances: Any, count: int) -> Any:
        """Many choices at once are coins, if their probabilities are the same on both sides."""
        tape = self._tape
        source = tape.draw("integers", count, 0, 1)
        source.z = tape.rng.choice(chances.size, count, p=chances).astype(float)
        source.params = tuple(map(float, chances))
        if source.comparable() and source.peer.params != source.params:  # type: ignore[union-attr]
            tape.cannot_track(f"rng.choice with probabilities that depend on the data, more than {MANY} at once")
        tape.coin(source, np.arange(count))
        places = source.z.astype(np.int64).reshape(size)
        return places if isinstance(a, (int, np.integer)) else self._taken(a, places, axis)

    def _order(self, a: Any, size: Any, axis: int, make: Any, count: int) -> Any:
        """Indices without replacement: coins."""
        places = np.asarray(_coins(self._tape, make(self._tape.rng), count))
        return places if isinstance(a, (int, np.integer)) else self._taken(a, places, axis)

    def permutation(self, x: Any, axis: int = 0) -> Any:
        x = shown(x)
        count = x if isinstance(x, (int, np.integer)) else np.shape(x)[axis]
        return self._order(x, None, axis, lambda rng: rng.permutation(int(count)), int(count))

    def permuted(self, x: Any, *, axis: Any = None, out: Any = None) -> Any:
        return self._plain("permuted")(x, axis=axis, out=out)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        order = self.permutation(len(x) if axis == 0 else np.shape(x)[axis])
        if isinstance(x, np.ndarray):
            x[...] = np.take(x, order, axis=axis)
        else:
            x[:] = [x[place] for place in order]

    def spawn(self, n_children: int) -> list[Any]:
        return [NumpyRecorder(self._tape) for _ in range(n_children)]

    def bytes(self, length: int) -> Any:
        return self._plain("bytes")(length)

    @property
    def bit_generator(self) -> Any:
        self._tape.cannot_track("rng.bit_generator is used directly")
        return self._tape.rng.bit_generator

    def __reduce__(self) -> Any:
        raise TypeError("a generator that records cannot be sent to another process; trace in one process")

    def __deepcopy__(self, memo: Any) -> Any:
        self._tape.cannot_track("the generator is copied, so its draws repeat")
        return self


def _refuse_others() -> None:
    """What a Generator can do and the recorder does not know is drawn and said."""
    for name in dir(np.random.Generator):
        if name.startswith("_") or name in vars(NumpyRecorder) or not callable(getattr(np.random.Generator, name)):
            continue

        def method(self: Any, *arguments: Any, _name: str = name, **options: Any) -> Any:
            return self._plain(_name)(*arguments, **options)

        setattr(NumpyRecorder, name, method)


_refuse_others()


def _coins(tape: Tape, values: Any, count: int) -> Any:
    """Indices out of `count` that are coins: the same on both sides if there are as many to choose from."""
    values = np.asarray(values)
    source = tape.draw("integers", values.size, 0, max(int(values.size and values.max()) + 1, 1))
    source.z = values.reshape(-1).astype(float)
    source.params = (float(count), float(values.size))
    places = np.arange(source.size)
    tape.coin(source, places)
    return source.z.astype(np.int64).reshape(values.shape)


def _one_of(tape: Tape, logs: Any) -> int:
    """A choice with probabilities: the place of the largest of ln P + Gumbel noise, which has exactly these probabilities."""
    finite = np.where(np.isfinite(logs), logs, -1e300)
    value = fresh(tape, "gumbel", logs.shape, loc=finite)
    return int(value.argmax())


class PythonRecorder(random.Random):
    """A random.Random whose draws stand on a tape."""

    def __new__(cls, tape: Tape) -> "PythonRecorder":
        return super().__new__(cls, 0)

    def __init__(self, tape: Tape) -> None:
        super().__init__(0)
        self._tape = tape
        self._numpy = NumpyRecorder(tape)

    def random(self) -> Any:
        return self._numpy.random()

    def uniform(self, a: Any, b: Any) -> Any:
        return self._numpy.uniform(a, b)

    def gauss(self, mu: Any = None, sigma: Any = 1.0) -> Any:
        return self._numpy.normal(mu, sigma)

    def normalvariate(self, mu: Any = None, sigma: Any = 1.0) -> Any:
        return self._numpy.normal(mu, sigma)

    def expovariate(self, lambd: float = 1.0) -> Any:
        return self._numpy.exponential(1.0 / shown(lambd))

    def gammavariate(self, alpha: float, beta: float) -> Any:
        return self._numpy.gamma(alpha, beta)

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> Any:
        if step != 1:
            self._tape.cannot_track("random.randrange has a step")
            return self._tape.rng.choice(range(start, stop, step)) if stop is not None else 0
        return self._numpy.integers(start, stop)

    def randint(self, a: int, b: int) -> Any:
        return self._numpy.integers(a, b, endpoint=True)

    def choice(self, seq: Any) -> Any:
        if not len(seq):
            raise IndexError("Cannot choose from an empty sequence")
        return seq[self._numpy.integers(len(seq)).seen(index=True)]

    def choices(self, population: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1) -> Any:
        if cum_weights is not None:
            weights = np.diff(cum_weights, prepend=0)
        chances = None if weights is None else np.asarray(weights, float) / np.sum(weights)
        return [population[int(place)] for place in np.atleast_1d(shown(self._numpy.choice(len(population), k, p=chances)))]

    def sample(self, population: Any, k: int, *, counts: Any = None) -> Any:
        if counts is not None:
            population = [value for value, count in zip(population, counts) for _ in range(count)]
        return [population[int(place)] for place in self._numpy.choice(len(population), k, replace=False)]

    def shuffle(self, x: Any) -> None:
        self._numpy.shuffle(x)

    def _understood_by_nobody(name: str) -> Any:  # type: ignore[misc]
        def draws(self: Any, *arguments: Any) -> Any:
            self._tape.cannot_track(f"random.{name} is no primitive that a trace knows")
            own = random.Random(int(self._tape.rng.integers(2**63)))
            return getattr(own, name)(*map(shown, arguments))

        return draws

    for _name in ("betavariate", "binomialvariate", "getrandbits", "lognormvariate", "paretovariate", "randbytes", "triangular", "vonmisesvariate", "weibullvariate"):
        locals()[_name] = _understood_by_nobody(_name)
    del _name, _understood_by_nobody

    def getstate(self) -> Any:
        self._tape.cannot_track("the state of the generator is read")
        return super().getstate()

    def __reduce__(self) -> Any:
        raise TypeError("a generator that records cannot be sent to another process; trace in one process")


def recorder(tape: Tape, rng: str) -> Any:
    """The generator that a mechanism gets."""
    return PythonRecorder(tape) if rng == "python" else NumpyRecorder(tape)


__all__ = ["NumpyRecorder", "PythonRecorder", "Noisy", "recorder", "numeric", "here"]
