"""Progress of a run: a line in a terminal, a bar in a notebook, or a function of the caller's."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable

PATIENCE = 0.5  # seconds before anything is shown

Show = Callable[[int, int, float, int], object]


def progress(wanted: bool | Show | None) -> "Progress | None":
    """What shows progress. By default it is shown where a person is likely to see it."""
    if callable(wanted):
        return Progress(wanted)
    if wanted is None:
        wanted = in_notebook() or sys.stderr.isatty()
    if not wanted:
        return None
    return Progress(Notebook() if in_notebook() else Terminal())


def in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return type(shell).__name__ == "ZMQInteractiveShell"


class Progress:
    """Passes numbers on, from half a second on: draws so far, draws planned, the bound on ε so far, audits finished."""

    def __init__(self, show: Show) -> None:
        self.show = show
        self.begun = time.monotonic()
        self.shown = False

    def __call__(self, drawn: int, planned: int, bound: float, finished: int) -> None:
        if time.monotonic() - self.begun >= PATIENCE:
            self.shown = True
            self.show(drawn, planned, bound, finished)

    def close(self) -> None:
        close = getattr(self.show, "close", None)
        if self.shown and close:
            close()


def words(drawn: int, planned: int, bound: float, seconds: float) -> str:
    """How far a run is.

    >>> words(250_000, 1_000_000, 0.9123, 2.0)
    '25 %, 250,000 of 1,000,000 draws, 125,000/s, 6 s left, ε ≥ 0.912'
    """
    speed = drawn / max(seconds, 1e-9)
    left = f", {(planned - drawn) / speed:.0f} s left" if drawn and planned > drawn else ""
    per_second = f"{speed:,.0f}/s" if speed >= 10 else f"{speed:.2g}/s"
    share = 100 * drawn / max(planned, 1)
    return f"{share:.0f} %, {drawn:,} of {planned:,} draws, {per_second}{left}, ε ≥ {bound:.3g}"


class Terminal:
    """One line that is written again and again."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.length = 0

    def __call__(self, drawn: int, planned: int, bound: float, finished: int) -> None:
        text = words(drawn, planned, bound, time.monotonic() - self.begun)
        sys.stderr.write(f"\r{text.ljust(self.length)}")
        sys.stderr.flush()
        self.length = len(text)

    def close(self) -> None:
        sys.stderr.write("\r" + " " * self.length + "\r")
        sys.stderr.flush()


class Notebook:
    """A bar that replaces itself."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.handle: Any = None

    def __call__(self, drawn: int, planned: int, bound: float, finished: int) -> None:
        from IPython.display import HTML, display

        text = words(drawn, planned, bound, time.monotonic() - self.begun)
        shown = HTML(f'<progress value="{drawn}" max="{max(planned, 1)}"></progress> {text}')
        if self.handle is None:
            self.handle = display(shown, display_id=True)
        else:
            self.handle.update(shown)

    def close(self) -> None:
        from IPython.display import HTML

        if self.handle is not None:
            self.handle.update(HTML(""))
