"""Where data goes around the noise: the line after which a value depends on the noise and, with the noise played back, on the data."""

from __future__ import annotations

import sys
import sysconfig
from typing import Any, Callable

import numpy as np

from .compare import leaves
from .sites import PASSED_OVER, Site
from .values import Noisy

STANDARD = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib"))
LONGEST = 50_000  # lines that are followed
BIGGEST = 64  # parts of a value that are compared


class Followed:
    """What each line of the program made: (line, how often it was reached, name) → value."""

    def __init__(self) -> None:
        self.values: dict[tuple[Site, int, str], Any] = {}
        self.order: list[tuple[Site, int, str]] = []
        self.reached: dict[Site, int] = {}
        self.returned: Site | None = None
        self.events = 0


def follow(run: Callable[[], Any]) -> Followed:
    """Runs a program line by line."""
    found = Followed()
    before: dict[int, tuple[Site, dict[str, Any]]] = {}

    def note(frame: Any) -> None:
        if id(frame) not in before:
            return
        site, old = before[id(frame)]
        for name, value in frame.f_locals.items():
            small = _small(value)
            if small is not None and old.get(name) != small:
                key = (site, found.reached[site], name)
                found.values[key] = small
                found.order.append(key)

    def local(frame: Any, event: str, argument: Any) -> Any:
        found.events += 1
        if found.events > LONGEST:
            return None
        site = Site(frame.f_code.co_filename, frame.f_lineno)
        note(frame)
        if event == "return":
            before.pop(id(frame), None)
            found.returned = site
        else:
            found.reached[site] = found.reached.get(site, 0) + 1
            before[id(frame)] = site, {name: _small(value) for name, value in frame.f_locals.items()}
        return local

    def calls(frame: Any, event: str, argument: Any) -> Any:
        name = frame.f_code.co_filename
        own = name.startswith(PASSED_OVER) or name.startswith("<frozen") or name.startswith(STANDARD)
        return None if own or found.events > LONGEST else local

    previous = sys.gettrace()
    sys.settrace(calls)
    try:
        run()
    finally:
        sys.settrace(previous)
    return found


def _small(value: Any) -> Any:
    """A value that can be compared cheaply; None for others."""
    if isinstance(value, Noisy):
        if value._seen is None:
            return None
        value = value._seen
    if isinstance(value, np.ndarray):
        return (value.shape, value.tobytes()) if value.size <= BIGGEST and value.dtype != object else None
    if isinstance(value, (list, tuple, dict, set)):
        if len(value) > BIGGEST or any(isinstance(part, Noisy) for part in (value.values() if isinstance(value, dict) else value)):
            return None
        return tuple(leaves(value))[:BIGGEST]
    return tuple(leaves(value)) if value is None or isinstance(value, (bool, int, float, str, np.generic)) else None


def mixed(left: Followed, right: Followed, other_noise: Followed) -> Site | None:
    """The first line that makes a value of both noise and data; otherwise where the program returns."""
    for key in left.order:
        if key in right.values and key in other_noise.values:
            if left.values[key] != right.values[key] and left.values[key] != other_noise.values[key]:
                return key[0]
    # Data may choose the way instead: a line after the noise that only one side reaches.
    noisy = {key for key in left.order if key in other_noise.values and left.values[key] != other_noise.values[key]}
    for one, other in ((left, right), (right, left)):
        after = False
        for key in one.order:
            after = after or key in noisy
            if after and key[0] not in other.reached:
                return key[0]
    return right.returned
