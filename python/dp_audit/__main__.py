"""The program dp-audit: `dp-audit …` or `python -m dp_audit …`."""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """Runs dp-audit with the arguments of this process, and ends the process with its exit code."""
    from . import _dp_audit

    # The program handles signals itself and ends the processes that it has started.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    code = _dp_audit.main(["dp-audit", *sys.argv[1:]])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
