"""A Python function as a mechanism: how it is called, and how its outputs become numbers and symbols.

The outputs have the same form as those of the worker in another process (`worker.py`), whose code packs them.
"""

from __future__ import annotations

import copy
import functools
import gc
import inspect
import time
from typing import Any, Callable, Sequence

import numpy

from . import worker
from ._errors import Refusal

HINTS = {
    "python": "rng is a random.Random; without rng='python' it is a numpy Generator",
    "numpy": "rng is a numpy Generator; with rng='python' it is a random.Random",
    "batch": "a mechanism with `count` returns a list or an array with one entry or row for each draw; with batch=False it makes one draw",
    "features": "the function for features",
}

RNG_NAMES = {"rng", "generator", "random", "rand", "random_state", "prng"}
COUNT_NAMES = {"count", "num_samples", "n_samples", "samples", "size", "draws", "n"}

Packed = tuple[numpy.ndarray, list[str], "list[str | None]"]

CHECKED_PART = 0.02  # of the time may be spent on checking that the data has not changed


class Call:
    """How a mechanism wants to be called.

    >>> Call(lambda data, rng: 0, None).batch
    False
    >>> Call(lambda data, rng, count: 0, None).batch
    True
    >>> Call(lambda data, num_samples: 0, None)(print, "data", "generator", 3)
    data 3
    """

    def __init__(self, mechanism: Callable[..., Any], batch: bool | None) -> None:
        if not callable(mechanism):
            raise TypeError(f"the mechanism is a {type(mechanism).__name__}; it must be a function of the data and a generator")
        names = positional(mechanism)
        if names is None:
            names = ["data", "rng", "count"] if batch else ["data", "rng"]
        if not names:
            raise TypeError("the mechanism takes no argument; it must take the data, and may take a generator and a number of draws")
        after = names[1:]
        counts = [name for name in after if name in COUNT_NAMES]
        if batch is None:
            batch = bool(counts)
        self.batch = batch
        if batch and not counts:
            # The count is the last argument, unless a name says otherwise.
            counts = after[-1:]
            if not counts or after[-1] in RNG_NAMES:
                raise TypeError(f"with batch=True the mechanism must take the number of draws; it takes {', '.join(names)}")
        if not batch:
            counts = []
        others = [name for name in after if name not in counts]
        if len(others) > 1:
            what = "the data, a generator and the number of draws" if batch else "the data and a generator"
            raise TypeError(
                f"the mechanism takes {', '.join(names)}; it must take {what}. Bind other parameters with functools.partial or a lambda"
            )
        self.takes_rng = bool(others)
        self.count_first = bool(counts) and self.takes_rng and after.index(counts[0]) < after.index(others[0])

    def __call__(self, mechanism: Callable[..., Any], data: Any, rng: Any, count: int) -> Any:
        arguments = [rng] if self.takes_rng else []
        if self.batch:
            arguments.insert(0 if self.count_first else len(arguments), count)
        return mechanism(data, *arguments)


def positional(mechanism: Callable[..., Any]) -> list[str] | None:
    """The names of the arguments that a caller must give by position; None if that cannot be found out."""
    try:
        parameters = inspect.signature(mechanism).parameters.values()
    except (TypeError, ValueError):
        return None  # some functions that are written in C do not say what they take
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return None
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    known = RNG_NAMES | COUNT_NAMES
    names = [parameter.name for parameter in parameters if parameter.kind in kinds and (parameter.default is parameter.empty or parameter.name in known)]
    required = [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty]
    if required:
        raise TypeError(f"the mechanism needs the argument {required[0]} by name; bind it with functools.partial or a lambda")
    return names


class Function:
    """A mechanism on the two datasets of a pair. The compiled core calls `open` once and `draw` for each block of outputs."""

    def __init__(
        self,
        mechanism: Callable[..., Any],
        left: Any,
        right: Any,
        *,
        batch: bool | None = None,
        rng: str = "numpy",
        features: Callable[[Any], dict[str, Any]] | None = None,
        messages: bool = True,
    ) -> None:
        if rng not in ("numpy", "python"):
            raise ValueError(f"rng is {rng!r}, must be 'numpy' or 'python'")
        self.mechanism = mechanism
        self.call = Call(mechanism, batch)
        self.kind = rng
        self.features = features
        self.messages = messages
        self.data = (left, right)
        self.guards = tuple(Unchanged(data) for data in self.data)
        self.forks = worker.Forks()
        self.columns: Any = None
        self.note: str | None = None
        self.error: BaseException | None = None  # what ended the audit
        self.always_fails: list[worker.Failure | None] = [None, None]
        self.remote: Callable[[int, list[tuple[int, str]]], list[Sequence[Any]]] | None = None  # draws in other processes

    def description(self) -> dict[str, Any]:
        """What it is made of."""
        left, right = self.data
        options = {"batch": self.call.batch, "rng": self.kind, "features": self.features, "messages": self.messages}
        return {"mechanism": self.mechanism, "left": left, "right": right, **options}

    def fresh(self) -> "Function":
        """The same mechanism on the same datasets, as if nothing had been drawn."""
        return Function(**self.description())

    def open(self) -> tuple[int, bool, list[str]]:
        """Tries the mechanism out: cells per output, whether the same seed gives the same draws, and the names of the cells."""
        return self.guarded(self.try_out)

    def draw(self, side: int, count: int, seed: str) -> Packed:
        """Draws from one side: the cells of `count` outputs one after another, the symbols that occur in them, and the forms of the outputs."""
        return self.guarded(lambda: self.drawn(side, count, seed))

    def draw_remotely(self, side: int, blocks: list[tuple[int, str]]) -> list[Packed]:
        """Draws several blocks in other processes, each with its number of draws and its seed."""
        assert self.remote is not None
        remote = self.remote
        return self.guarded(lambda: [self.packed(outputs) for outputs in remote(side, blocks)])

    def guarded(self, work: Callable[[], Any]) -> Any:
        """Remembers what went wrong, because the core keeps only the message."""
        try:
            return work()
        except worker.Refusal as error:
            self.error = error.__cause__ or error
            raise Refusal(str(error), misfit=isinstance(error, worker.Misfit)) from error
        except BaseException as error:
            self.error = error
            raise

    def drawn(self, side: int, count: int, seed: str) -> Packed:
        return self.packed(self.seeded_draws(side, count, seed))

    def seeded_draws(self, side: int, count: int, seed: str) -> Sequence[Any]:
        outputs = self.draws(side, self.generator(int(seed, 16)), count)
        self.guards[side].check()
        return outputs

    def packed(self, outputs: Sequence[Any]) -> Packed:
        return flat(*self.columns.pack(outputs))

    def generator(self, seed: int) -> Any:
        return worker.own_generator(self.kind, seed)

    def draws(self, side: int, rng: Any, count: int) -> Sequence[Any]:
        outputs = self.all_at_once(side, rng, count) if self.call.batch else self.one_by_one(side, rng, count)
        self.forks.check(last=True)
        return outputs

    def one_by_one(self, side: int, rng: Any, count: int) -> list[Any]:
        mechanism, data = self.mechanism, self.data[side]
        outputs: list[Any] = []
        append = outputs.append
        arguments = (data, rng) if self.call.takes_rng else (data,)
        check = self.forks.check
        for _ in range(count):
            try:
                append(mechanism(*arguments))
            except Exception as error:
                check()
                append(self.failure(error, rng))
            except BaseException as error:
                raise ended(error) from error
            check()
        return outputs

    def all_at_once(self, side: int, rng: Any, count: int) -> Sequence[Any]:
        always = self.always_fails[side]
        try:
            returned = self.call(self.mechanism, self.data[side], rng, count)
        except Exception as error:
            self.forks.check()
            self.failure(error, rng)
            if always is None:
                raise worker.Refusal(
                    f"the mechanism raised {describe(error)}, and nobody knows in which of {count} draws; return NaN or a text for a draw that "
                    "fails, or audit one draw at a time"
                ) from error
            # One symbol for all: a message may have the number of draws in it, which is no output.
            return [always] * count
        except BaseException as error:
            raise ended(error) from error
        if always is not None:
            raise worker.Refusal("the mechanism failed in its first calls on this dataset, and now it does not; its draws are not independent")
        outputs = listed(returned)
        if outputs is None or len(outputs) != count:
            got = f"a {type(returned).__name__}" if outputs is None else f"{len(outputs)} outputs"
            raise worker.Refusal(f"asked for {count} output{'s' * (count > 1)}, got {got}; {HINTS['batch']}")
        return outputs

    def failure(self, error: Exception, rng: Any) -> worker.Failure:
        """The output of a draw that failed."""
        worker.refuse_generator(error, rng, HINTS)
        failure = worker.Failure(error, self.messages, rng, HINTS)
        if self.note is None:
            self.note = f"the mechanism raised {describe(error)}; an exception is an output like any other"
        return failure

    def try_out(self) -> tuple[int, bool, list[str]]:
        def draws(side: int, rng: Any, count: int) -> Sequence[Any]:
            return self.draws(side, rng, count)

        if self.call.batch:
            self.find_sides_that_fail()
        self.columns, seeded = worker.try_out(draws, {"left": 0, "right": 1}, {}, None, None, self.features, self.generator, {}, HINTS)
        for guard in self.guards:
            guard.check(always=True)
        self.refuse_kept_noise()
        columns = self.columns
        return columns.width + len(columns.names), seeded, columns.all_names()

    def find_sides_that_fail(self) -> None:
        """A vectorised mechanism must not fail now and then. But if every call on a dataset fails, each of its draws is that failure."""
        for side in (0, 1):
            found = []
            for seed, count in enumerate((1, 2, 16, 16)):
                rng = self.generator(seed)
                try:
                    self.call(self.mechanism, self.data[side], rng, count)
                    self.forks.check(last=True)
                    break
                except worker.Refusal:
                    raise
                except Exception as error:
                    self.forks.check()
                    found.append(self.failure(error, rng))
                except BaseException as error:
                    raise ended(error) from error
            else:
                self.always_fails[side] = found[-1]

    def refuse_kept_noise(self) -> None:
        """Noise that functools.lru_cache keeps is drawn once. Outputs that never vary may come from such a cache."""

        def some(seed: int) -> list[Sequence[Any]]:
            return [self.draws(side, self.generator(seed), 4) for side in (0, 1)]

        first = some(2)
        constant = [side for side in (0, 1) if self.columns.same([first[side][0]] * 4, first[side])] if not self.call.batch else []
        if not constant:
            return
        caches = [found for found in gc.get_objects() if isinstance(found, functools._lru_cache_wrapper)]
        hits = [cache.cache_info().hits for cache in caches]
        some(3)
        used = [cache for cache, before in zip(caches, hits) if cache.cache_info().hits > before]
        if not used:
            return
        for cache in used:
            cache.cache_clear()
        again = some(4)
        if any(not self.columns.same(first[side], again[side]) for side in constant):
            names = ", ".join(getattr(cache, "__qualname__", "a cache") for cache in used)
            raise worker.Refusal(
                f"its draws are not independent: functools.lru_cache keeps its noise (in {names}), so each dataset has one output. Draw new "
                "noise in each call, and cache only what does not depend on it"
            )


def flat(count: int, symbols: list[str], block: Any, forms: list[str | None]) -> Packed:
    """What the compiled core takes: an array of doubles, the symbols in it, and the forms."""
    return numpy.frombuffer(block, float) if not isinstance(block, numpy.ndarray) else block.reshape(-1), symbols, forms


def listed(outputs: Any) -> Sequence[Any] | None:
    """Outputs as a list or an array; None if they are neither."""
    if not isinstance(outputs, (list, tuple, numpy.ndarray)) and hasattr(outputs, "__array__"):
        outputs = numpy.asarray(outputs)
    many = isinstance(outputs, (list, tuple)) or isinstance(outputs, numpy.ndarray) and outputs.ndim > 0
    return outputs if many else None


def ended(error: BaseException) -> worker.Refusal:
    """An exception that is meant to end the program ends the audit."""
    how = "called sys.exit" if isinstance(error, SystemExit) else f"raised {type(error).__name__}"
    return worker.Refusal(f"the mechanism {how}, which ends a program; let it raise an ordinary exception or return a value")


def describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


class Unchanged:
    """Checks that a dataset stays as it was. A mechanism that changes its data makes draws that depend on each other."""

    def __init__(self, data: Any) -> None:
        self.data = data
        self.begun = time.monotonic()
        self.spent = 0.0
        try:
            self.original = copy.deepcopy(data)
        except Exception:
            self.original = data  # what cannot be copied cannot be compared

    def check(self, always: bool = False) -> None:
        """Compares, unless that has taken too much time already."""
        now = time.monotonic()
        if not always and self.spent > CHECKED_PART * (now - self.begun):
            return
        same = self.original is self.data or equal(self.original, self.data)
        self.spent += time.monotonic() - now
        if not same:
            raise worker.Refusal("the mechanism changed its dataset, so its draws are not independent; let it work on a copy")


def equal(one: Any, other: Any) -> bool:
    """Whether two values are equal. What cannot be compared counts as equal.

    >>> equal([1.0, float("nan")], [1.0, float("nan")])
    True
    >>> equal({"a": numpy.zeros(2)}, {"a": numpy.ones(2)})
    False
    """
    if type(one) is not type(other):
        return False
    if isinstance(one, numpy.ndarray):
        return numpy.array_equal(one, other, equal_nan=one.dtype.kind in "fc")
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(value, other[key]) for key, value in one.items())
    if hasattr(one, "equals"):  # frames and series
        return bool(one.equals(other))
    if type(one).__eq__ is object.__eq__:
        return equal(vars(one), vars(other)) if hasattr(one, "__dict__") else True
    try:
        return bool(one == other) or bool(one != one)
    except Exception:
        return True
