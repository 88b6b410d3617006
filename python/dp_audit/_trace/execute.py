"""One execution of a mechanism with its noise on a tape."""

from __future__ import annotations

import contextlib
import contextvars
import traceback
from typing import Any, Callable, Iterator

import numpy as np

from .._errors import AuditError
from .._function import Call as HowToCall
from .._function import listed
from .adapters import installed
from .compare import Failed, leaves, opaque, settle
from .guards import check_states, states, watched
from .recorder import recorder
from .sites import PASSED_OVER, Site
from .tape import Tape

CURRENT: contextvars.ContextVar[Tape | None] = contextvars.ContextVar("dp_audit_tape", default=None)


@contextlib.contextmanager
def on(tape: Tape) -> Iterator[None]:
    """Primitives that are called meanwhile stand on this tape."""
    token = CURRENT.set(tape)
    try:
        yield
    finally:
        CURRENT.reset(token)


class Program:
    """A mechanism on the two datasets of a pair, side 0 and side 1."""

    def __init__(self, mechanism: Callable[..., Any], left: Any, right: Any, batch: bool | None, rng: str, messages: bool) -> None:
        self.mechanism, self.data = mechanism, (left, right)
        self.call = HowToCall(mechanism, batch)
        self.rng, self.messages = rng, messages
        self.raised: Site | None = None

    def execute(self, side: int, seed: tuple[int, ...], recorded: Tape | None = None, fresh_coins: bool = False) -> tuple[Tape, Any]:
        """The tape and the output."""
        tape = Tape(np.random.default_rng(seed), recorded, fresh_coins)
        before = states()
        with on(tape):
            try:
                output = self.call(self.mechanism, self.data[side], recorder(tape, self.rng), 1)
                if self.call.batch:
                    found = listed(output) if not hasattr(output, "_tape") else output
                    if found is None or len(found) != 1:
                        raise AuditError(f"asked for 1 output, got {type(output).__name__}; a mechanism with `count` returns one entry for each draw")
                    output = found[0]
                hidden = opaque(output)
                if hidden is not None:
                    tape.cannot_track(f"an output of type {hidden} cannot be compared")
                output = settle(output)
                list(leaves(output))  # noise in attributes is seen too
            except AuditError:
                raise
            except Exception as error:
                output = settle(error)
                if not self.messages:
                    output = Failed(output.kind, "")
                self.raised = raised_at(error)
        check_states(tape, before)
        return tape, output


@contextlib.contextmanager
def prepared() -> Iterator[None]:
    """Libraries record, and other randomness is noticed."""
    with watched(CURRENT.get), installed():
        yield


def raised_at(error: BaseException) -> Site | None:
    """The innermost line of the program from which an exception came."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(PASSED_OVER)]
    return Site(frames[-1].filename, frames[-1].lineno or 0) if frames else None
