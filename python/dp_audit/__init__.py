"""Does a differentially private mechanism leak more than it claims?

>>> import dp_audit as dpa
>>> def noisy_count(data, rng, count):                 # `count` draws at once; one draw at a time works too
...     return len(data) + rng.laplace(scale=1.0, size=count)
>>> result = dpa.audit(noisy_count, ["x"], ["x", "y"], claim=dpa.PureDp(1.0), draws=200_000)
>>> result.verdict
'consistent'

| | |
|---|---|
| `audit(mechanism, left, right, claim=…)` | audits a function |
| `search(mechanism, claim=…, record=…)` | finds a pair on which a claim fails |
| `measure(mechanism, left, right)` | bounds how much a function leaks, without a claim |
| `samples(left, right, claim=…)` | audits outputs that were collected before |
| `run("audits/")` | runs audit files |
| `load("report.json")` | reads a report |
| `trace(mechanism, left, right, claim=…)` | looks inside: the line at fault, exact losses on a pair |
| `primitive(…)` | marks a function that adds noise, for traces |
| `PureDp`, `ApproximateDp`, `Gdp`, `Zcdp`, `RenyiDp`, `Profile`, `Stability` | claims |
| `Result`, `PairResult`, `Run`, `SearchResult`, `Witness`, `Replay` | what was found |
| `AuditError`, `Interrupted` | why nothing was found |

pytest has the fixture `dp_audit`, and the command `dp-audit` is the same program as the one in Rust.
"""

from ._audit import audit, load, run, samples
from ._claims import ApproximateDp, Claim, Gdp, Profile, PureDp, RenyiDp, Stability, Zcdp
from ._dp_audit import __version__
from ._errors import AuditError, Interrupted
from ._measure import Measurement, measure
from ._result import PairResult, Replay, Result, Run, Witness
from ._search import SearchResult, search
from ._trace import Trace, primitive, trace

__all__ = [
    "ApproximateDp",
    "AuditError",
    "Claim",
    "Gdp",
    "Interrupted",
    "Measurement",
    "PairResult",
    "Profile",
    "PureDp",
    "RenyiDp",
    "Replay",
    "Result",
    "Run",
    "SearchResult",
    "Stability",
    "Trace",
    "Witness",
    "Zcdp",
    "__version__",
    "audit",
    "load",
    "measure",
    "primitive",
    "run",
    "samples",
    "search",
    "trace",
]
