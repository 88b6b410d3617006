"""What a trace found."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from .._claims import Claim
from .html import page
from .judge import Compared
from .pairing import Call
from .sites import Site


def short(value: float | None) -> str:
    return "–" if value is None else "∞" if value == math.inf else f"{value:.4g}"


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something that data did and should not have done."""

    kind: str
    """output, calls, nan, scale, kind, sensitivity, loss or untracked"""
    site: Site | None
    """The file and the line."""
    text: str
    left: str
    """What was there on the left."""
    right: str
    weight: float = 1.0

    def __str__(self) -> str:
        place = f"{self.site}: " if self.site is not None else ""
        values = f" ({self.left} on the left, {self.right} on the right)" if self.left or self.right else ""
        return f"{place}{self.text}{values}"


@dataclasses.dataclass(frozen=True)
class Trace:
    """What traces of a pair show. Only draws can refute a claim: `dp_audit.audit` makes them."""

    name: str
    claim: Claim
    verdict: str
    """suspect, bounded or unclear."""
    reason: str | None
    """Why it is unclear."""
    findings: tuple[Finding, ...]
    """What was found, the worst first."""
    compared: tuple[Compared, ...]
    """The claim beside the losses, in the unit of the claim."""
    delta_limits: tuple[float, float] | None
    """Limits of δ at the claimed ε of the released values, from the losses of independent runs."""
    calls: tuple[Call, ...] = dataclasses.field(repr=False)
    """The calls of the worst run."""
    assuming: tuple[str, ...]
    """What the upper limits rest on."""
    runs: int
    confidence: float
    losses: tuple[Any, Any] = dataclasses.field(repr=False, compare=False)
    """The losses of all runs: left against right, right against left."""

    @property
    def at_fault(self) -> Site | None:
        """The file and the line of the worst finding."""
        return self.findings[0].site if self.findings else None

    @property
    def upper(self) -> float | None:
        """On this pair at most this, in the unit of the claim, under `assuming`; None if there is no limit."""
        values = [found.upper for found in self.compared]
        return None if not values or any(value is None for value in values) else max(values)  # type: ignore[type-var]

    @property
    def score(self) -> float:
        """How bad the pair is: to compare pairs."""
        sure = {"suspect": 2.0, "unclear": 1.0, "bounded": 0.0}[self.verdict]
        part = max((found.lower / found.allowed if found.allowed > 0 else (1e9 if found.lower > 0 else 0.0) for found in self.compared), default=0.0)
        top = max((found.upper / found.allowed for found in self.compared if found.upper is not None and found.allowed > 0), default=0.0)
        return 1e6 * sure + min(10.0 * part + min(top, 1e4) / 1e4, 9e5)

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.headline()}"]
        lines += [f"  {finding}" for finding in self.findings[:5]]
        lines += [f"  {self.sentence(found)}" for found in self.shown_points()]
        if self.delta_limits is not None:
            low, high = self.delta_limits
            lines.append(f"  From {self.runs} runs each way: δ of what is released is between {short(low)} and {short(high)} with confidence {100 * self.confidence:g} %.")
        if self.verdict != "suspect":
            lines.append(f"  Assuming: {'; '.join(self.assuming)}.")
        lines.append("  A trace refutes nothing and confirms nothing; draws do: dp_audit.audit(…, trace=True).")
        return "\n".join(lines)

    def shown_points(self) -> list[Compared]:
        ranked = sorted(self.compared, key=lambda found: -(found.lower / found.allowed if found.allowed > 0 else found.lower))
        return ranked[:2]

    def headline(self) -> str:
        if self.verdict == "suspect":
            place = f" at {self.at_fault}" if self.at_fault is not None else ""
            return f"SUSPECT{place}"
        if self.verdict == "bounded":
            return "bounded on this pair"
        return f"UNCLEAR: {self.reason}"

    @staticmethod
    def sentence(found: Compared) -> str:
        least = f", and what is released loses at least {short(found.lower)}" if found.lower > 0 else ""
        return f"{found.unit}: claimed {short(found.allowed)}, on this pair at most {short(found.upper)}{least}."

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "schema": "dp-audit-trace/1",
            "name": self.name,
            "claim": self.claim.spelling(),
            "verdict": self.verdict,
            "reason": self.reason,
            "findings": [
                {"kind": f.kind, "file": f.site and f.site.file, "line": f.site and f.site.line, "text": f.text, "left": f.left, "right": f.right}
                for f in self.findings
            ],
            "compared": [{key: _plain(value) for key, value in dataclasses.asdict(found).items()} for found in self.compared],
            "delta_limits": self.delta_limits,
            "assuming": list(self.assuming),
            "runs": self.runs,
            "confidence": self.confidence,
        }

    def to_html(self) -> str:
        """A page: the calls of both sides beside each other, the line at fault marked."""
        return page(self)

    def _repr_html_(self) -> str:
        return page(self, alone=False)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
