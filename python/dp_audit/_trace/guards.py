"""Randomness that does not come from the generator: while a program is traced, its use is noticed."""

from __future__ import annotations

import contextlib
import os
import random
import secrets
import threading
import uuid
from typing import Any, Callable, Iterator

import numpy as np

from .sites import here
from .tape import Tape

# (where, name, what it is called): replaced while tracing by a function that says so and goes on.
WATCHED: list[tuple[Any, str, str]] = [
    (os, "urandom", "os.urandom"),
    (random, "_urandom", "random.SystemRandom"),
    (secrets, "randbits", "secrets.randbits"),
    (secrets, "randbelow", "secrets.randbelow"),
    (secrets, "token_bytes", "secrets.token_bytes"),
    (secrets, "token_hex", "secrets.token_hex"),
    (secrets, "choice", "secrets.choice"),
    (uuid, "uuid4", "uuid.uuid4"),
    (uuid, "uuid1", "uuid.uuid1"),
    (np.random, "default_rng", "numpy.random.default_rng"),
]
WATCHED += [
    (np.random, name, f"numpy.random.{name}")
    for name in dir(np.random)
    if getattr(getattr(np.random, name), "__self__", None) is np.random.mtrand._rand
]
WATCHED += [
    (random, name, f"random.{name}")
    for name in dir(random)
    if getattr(getattr(random, name), "__self__", None) is random._inst  # type: ignore[attr-defined]
]

_lock = threading.RLock()


def states() -> tuple[Any, Any]:
    python = random.getstate()
    legacy = np.random.mtrand._rand._bit_generator.state["state"]
    return python, (legacy["pos"], legacy["key"].tobytes())


@contextlib.contextmanager
def watched(tape_of: Callable[[], Tape | None]) -> Iterator[None]:
    """Says on the tape of the execution that runs which other randomness was used."""
    thread = threading.get_ident()

    def noticing(real: Any, called: str) -> Any:
        def used(*arguments: Any, **options: Any) -> Any:
            tape = tape_of() if threading.get_ident() == thread else None
            if tape is not None:
                tape.cannot_track(f"randomness from {called}", here())
            return real(*arguments, **options)

        return used

    with _lock:
        kept = [(place, name, getattr(place, name)) for place, name, _ in WATCHED]
        for (place, name, real), (_, _, called) in zip(kept, WATCHED):
            setattr(place, name, noticing(real, called))
        try:
            yield
        finally:
            for place, name, real in kept:
                setattr(place, name, real)


def check_states(tape: Tape, before: tuple[Any, Any]) -> None:
    """The states of the global generators show a use that no name showed."""
    for state, after, called in zip(before, states(), ("random", "numpy.random")):
        if state != after:
            tape.cannot_track(f"randomness from the global generator of {called}")
