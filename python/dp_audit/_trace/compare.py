"""Outputs as an attacker sees them, leaf by leaf."""

from __future__ import annotations

import dataclasses
import pickle
import re
from typing import Any, Iterator

import numpy as np

from .values import Noisy

ADDRESS = re.compile(r" at 0x[0-9a-f]+")


@dataclasses.dataclass(frozen=True)
class Failed:
    """An exception, which is an output too."""

    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


class Numbers:
    """All elements of an array of numbers: one leaf, because looking at each takes a millisecond a thousand."""

    def __init__(self, values: Any) -> None:
        self.values = np.where(np.isnan(values), np.nan, values) if values.dtype.kind in "fc" else np.ascontiguousarray(values)
        self.raw = self.values.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Numbers) and self.values.dtype == other.values.dtype and self.raw == other.raw

    def __hash__(self) -> int:
        return hash(self.raw)

    def apart(self, other: Numbers) -> int:
        """The first element in which two arrays of one type and shape differ."""
        size = self.values.dtype.itemsize
        one, two = (np.frombuffer(raw, np.uint8).reshape(-1, size) for raw in (self.raw, other.raw))
        return int(np.argmax((one != two).any(axis=1)))


def settle(value: Any) -> Any:
    """An output in which all noise has been seen."""
    if isinstance(value, Noisy):
        return settle(value.seen(output=True))
    if isinstance(value, BaseException):
        return Failed(f"{type(value).__module__}.{type(value).__qualname__}", str(value))
    if isinstance(value, dict):
        return {settle(key): settle(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        parts = [settle(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts) if type(value) in (list, tuple) else parts
    if isinstance(value, np.ndarray):
        return np.array([settle(part) for part in value.reshape(-1)], object).reshape(value.shape) if value.dtype == object else value.copy()
    return value


def leaves(value: Any, path: str = "output") -> Iterator[tuple[str, Any]]:
    """The parts of an output with their places, in the order in which it has them."""
    if isinstance(value, dict):
        yield path, (type(value).__name__, "keys", len(value))
        for place, (key, part) in enumerate(value.items()):
            yield f"{path}, key {place + 1}", _leaf(key)
            yield from leaves(part, f"{path}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        yield path, (type(value).__name__, len(value))
        for place, part in enumerate(value):
            yield from leaves(part, f"{path}[{place}]")
    elif isinstance(value, (set, frozenset)):
        yield path, (type(value).__name__, len(value))
        for place, part in enumerate(sorted(map(repr, value))):
            yield f"{path}, element {place + 1}", part
    elif isinstance(value, np.ndarray):
        yield path, (type(value).__name__, str(value.dtype), value.shape)
        if value.dtype.kind in "biufc" and value.dtype.char not in "gG":  # long doubles have bytes without meaning
            yield path, Numbers(np.asarray(value))
            return
        for place, part in np.ndenumerate(value):
            yield f"{path}{list(place)}", _leaf(part)
    elif hasattr(value, "to_numpy") and hasattr(value, "columns"):
        yield path, (type(value).__name__, [repr(name) for name in value.columns])
        yield from leaves(np.asarray(getattr(value, "index", [])), f"{path}.index")
        yield from leaves(value.to_numpy(), path)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        if isinstance(value, Failed):
            yield path, (value.kind, value.message)
            return
        yield path, type(value).__name__
        for field in dataclasses.fields(value):
            yield from leaves(settle(getattr(value, field.name)), f"{path}.{field.name}")
    elif value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic)):
        yield path, _leaf(value)
    else:
        yield path, (type(value).__name__, ADDRESS.sub("", repr(value)))
        for name, part in parts_of(value):
            yield from leaves(settle(part), f"{path}.{name}")


def parts_of(value: Any) -> list[tuple[str, Any]]:
    """The attributes of an object, or its pickle."""
    if callable(value) or hasattr(value, "__next__"):
        return []
    slots = [name for kind in type(value).__mro__ for name in np.atleast_1d(getattr(kind, "__slots__", ())) if hasattr(value, str(name))]
    found = {**{str(name): getattr(value, str(name)) for name in slots}, **getattr(value, "__dict__", {})}
    if found:
        return sorted(found.items())
    try:
        return [("pickle", pickle.dumps(value))]
    except Exception:
        return []


def opaque(value: Any, depth: int = 0) -> str | None:
    """The type of a part of an output that cannot be compared."""
    plain = (bool, int, float, complex, str, bytes, type(None), np.generic, Noisy, BaseException)
    if isinstance(value, (dict, list, tuple, set, frozenset)):
        if getattr(value, "__dict__", None):
            return type(value).__name__
        inner = [*value.keys(), *value.values()] if isinstance(value, dict) else list(value)
        return next((found for part in inner if (found := opaque(part, depth + 1)) is not None), None)
    if isinstance(value, np.ndarray) or isinstance(value, plain) or dataclasses.is_dataclass(value) or hasattr(value, "to_numpy"):
        return type(value).__name__ if isinstance(value, np.ma.MaskedArray) else None
    return None if parts_of(value) and depth < 20 else type(value).__name__


def _leaf(value: Any) -> Any:
    if isinstance(value, (float, np.floating)):
        return (type(value).__name__, float(value).hex())
    return (type(value).__name__, repr(value))


def readable(leaf: Any) -> str:
    """A leaf for people."""
    if isinstance(leaf, tuple) and len(leaf) == 2 and isinstance(leaf[1], str):
        kind, text = leaf
        if kind.startswith("float") and ("0x" in text or text in ("nan", "inf", "-inf")):
            text = repr(float.fromhex(text))
        elif "." in kind:
            text = f"{kind}: {text}"
        return text if len(text) <= 60 else f"{text[:57]}…"
    return str(leaf)[:60]


def difference(one: Any, other: Any) -> tuple[str, str, str] | None:
    """The first place at which two settled outputs differ, and what stands there on either side."""
    first, second = list(leaves(one)), list(leaves(other))
    for (path, left), (_, right) in zip(first, second):
        if left != right:
            if isinstance(left, Numbers) and isinstance(right, Numbers) and left.values.shape == right.values.shape:
                place = np.unravel_index(left.apart(right), left.values.shape)
                return f"{path}{[int(index) for index in place]}", *_apart(_leaf(left.values[place]), _leaf(right.values[place]))
            return path, *_apart(left, right)
    if len(first) != len(second):
        return "output", f"{len(first)} parts", f"{len(second)} parts"
    return None


def _apart(left: Any, right: Any) -> tuple[str, str]:
    shown = readable(left), readable(right)
    if shown[0] != shown[1]:
        return shown
    if isinstance(left, tuple) and isinstance(right, tuple) and left[0] != right[0]:
        return f"{shown[0]} ({left[0]})", f"{shown[1]} ({right[0]})"
    texts = str(left), str(right)
    place = next((i for i, (a, b) in enumerate(zip(*texts)) if a != b), min(map(len, texts)))
    return f"…{texts[0][max(place - 10, 0):place + 30]}", f"…{texts[1][max(place - 10, 0):place + 30]}"


def numbers(value: Any) -> dict[tuple[str, int], float]:
    """The numbers of an output by their places; other leaves as a hash."""
    found = {}
    for path, leaf in leaves(value):
        if isinstance(leaf, Numbers):
            flat = leaf.values.reshape(-1)
            parts = np.concatenate([flat.real, flat.imag]) if flat.dtype.kind == "c" else flat.astype(float)
            found.update(((path, place), part) for place, part in enumerate(parts.tolist()))
            continue
        if isinstance(leaf, tuple) and len(leaf) == 2 and isinstance(leaf[1], str):
            try:
                found[path, -1] = float.fromhex(leaf[1]) if "0x" in leaf[1] else float(leaf[1])
                continue
            except ValueError:
                pass
        found[path, -1] = float(hash(str(leaf)) % 1_000_003)
    return found


def structure(value: Any) -> list[tuple[str, Any]]:
    """The form of an output: lengths, shapes and types of its containers."""
    return [(path, leaf) for path, leaf in leaves(value) if isinstance(leaf, str) or isinstance(leaf, tuple) and not (len(leaf) == 2 and isinstance(leaf[1], str))]
