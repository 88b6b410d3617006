"""Libraries whose primitives a trace knows. An adapter is a file here with

    MODULE = "library.module"            # nothing happens unless the program has imported it
    def install(module) -> undo          # replaces its primitives by recording ones; `undo()` puts them back

and a line in ADAPTERS.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Iterator

from . import diffprivlib, jax_privacy, opacus, opendp, pipeline_dp

ADAPTERS = (diffprivlib, jax_privacy, opacus, opendp, pipeline_dp)


@contextlib.contextmanager
def installed() -> Iterator[None]:
    """Primitives of the libraries that are in use stand on the tape."""
    undo = [adapter.install(sys.modules[adapter.MODULE]) for adapter in ADAPTERS if adapter.MODULE in sys.modules]
    try:
        yield
    finally:
        for put_back in reversed(undo):
            put_back()
