"""Traces of noise calls: which line is at fault, and exact losses on a pair. See docs/traces.md.

kinds        distributions of noise
sites        lines of the program
tape         what one execution drew and released; playback
values       values with noise that nobody has looked at yet
recorder     generators that record
guards       randomness from elsewhere
primitive    functions that say what they add
adapters     libraries
execute      one execution
compare      outputs, leaf by leaf
locate       the line where data goes around the noise
pairing      two executions side by side
composition  exact losses of several releases
limits       limits of a mean on both sides
judge        losses beside a claim
result, html what is shown
run          all of it for a pair
"""

from .primitive import primitive
from .result import Finding, Trace
from .run import trace

__all__ = ["Finding", "Trace", "primitive", "trace"]
