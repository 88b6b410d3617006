"""What can go wrong."""

from __future__ import annotations

from typing import Any


class AuditError(Exception):
    """The mechanism could not be audited: it cannot be called, its draws are not independent, or it ended the audit. Nothing was judged.

    `result` has what is known of other pairs.
    """

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result


class Refusal(AuditError):
    """The mechanism cannot be audited as it is; the message says why and what to do.

    `misfit` is true if it is because of the datasets: it shows nothing on them.
    """

    def __init__(self, message: str, result: Any = None, *, misfit: bool = False) -> None:
        super().__init__(message, result)
        self.misfit = misfit


class Interrupted(KeyboardInterrupt):
    """The run was interrupted (Ctrl-C). `result` has what was known by then: its bounds hold at any time."""

    def __init__(self, result: Any) -> None:
        super().__init__(str(result))
        self.result = result
