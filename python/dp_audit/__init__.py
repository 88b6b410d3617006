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
| `canaries(scores, included, claim=…)` | audits a training run |
| `coin_flips(canaries)`, `plan_canaries(claim)` | which canaries are in; how many are needed |
| `run("audits/")` | runs audit files |
| `load("report.json")` | reads a report |
| `trace(mechanism, left, right, claim=…)` | looks inside: the line at fault, exact losses on a pair |
| `primitive(…)` | marks a function that adds noise, for traces |
| `PureDp`, `ApproximateDp`, `Gdp`, `Zcdp`, `RenyiDp`, `Profile`, `Stability` | claims |
| `Result`, `PairResult`, `Contribution`, `Example`, `CanaryResult`, `Run`, `SearchResult`, `Witness`, `Replay` | what was found |
| `AuditError`, `Interrupted` | why nothing was found |

pytest has the fixture `dp_audit`, and the command `dp-audit` is the same program as the one in Rust.
"""

from ._audit import audit, load, run, samples
from ._canaries import CanaryPlan, CanaryResult, CanaryScoreAuditor, canaries, plan_canaries
from ._claims import ApproximateDp, Claim, Gdp, Profile, PureDp, RenyiDp, Stability, Zcdp
from ._coins import CoinFlips, coin_flips
from ._dp_audit import __version__
from ._errors import AuditError, Interrupted
from ._measure import Measurement, measure
from ._result import Contribution, Example, PairResult, Replay, Result, Run, Witness
from ._search import SearchResult, search
from ._trace import Trace, primitive, trace

__all__ = [
    "ApproximateDp",
    "AuditError",
    "CanaryPlan",
    "CanaryResult",
    "CanaryScoreAuditor",
    "Claim",
    "CoinFlips",
    "Contribution",
    "Example",
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
    "canaries",
    "coin_flips",
    "load",
    "measure",
    "plan_canaries",
    "primitive",
    "run",
    "samples",
    "search",
    "trace",
]
