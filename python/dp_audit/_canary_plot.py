"""Pictures of canary audits with matplotlib."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ._claims import ApproximateDp, Gdp, PureDp

if TYPE_CHECKING:
    from ._canaries import CanaryResult

IN, OUT, CLAIM, BOUND = "#0072b2", "#e69f00", "#d55e00", "#009e73"


def curves(result: "CanaryResult") -> Any:
    picture = result.data.get("picture")
    if not picture or not picture["roc"]:
        raise ValueError("there is nothing to draw: the audit had counts or guesses, or could not be judged; give scores")
    return picture


def plot(result: "CanaryResult", axes: Any) -> Any:
    import matplotlib.pyplot as pyplot

    picture = curves(result)
    if axes is None:
        figure, axes = pyplot.subplots(1, 3, figsize=(15, 4), layout="constrained")
        figure.suptitle(f"{result.name}: {result.verdict}")
    plot_roc(result, axes[0])
    ladder(result, picture["rungs"], axes[1])
    histogram(picture, axes[2])
    return axes


def plot_roc(result: "CanaryResult", ax: Any) -> Any:
    import matplotlib.pyplot as pyplot

    picture = curves(result)
    if ax is None:
        _, ax = pyplot.subplots(layout="constrained")
    least = 0.5 / max(result.canaries, 10)
    alarms, hits = zip(*picture["roc"])
    ax.step([max(x, least) for x in alarms], [max(y, least) for y in hits], where="post", color=IN, label="scores")
    grid = [10 ** (math.log10(least) * (1 - place / 200)) for place in range(201)]
    for what, value, colour, line in (("claim", None, CLAIM, "--"), ("bound", result.lower, BOUND, ":")):
        allowed = [most(result, value, x) for x in grid]
        if allowed[0] is not None:
            ax.plot(grid, allowed, color=colour, linestyle=line, label=f"{what} allows")
    ax.plot(grid, grid, color="0.7", linewidth=0.8)
    ax.set(xscale="log", yscale="log", xlim=(least, 1), ylim=(least, 1.05), title="which canaries were in")
    ax.set_xlabel("share of those out that are guessed in")
    ax.set_ylabel("share of those in that are guessed in")
    ax.legend()
    return ax


def most(result: "CanaryResult", value: float | None, alarms: float) -> float | None:
    """The largest rate of true positives that the claim, or this value in its unit, allows."""
    claim = result.claim
    if isinstance(claim, (PureDp, ApproximateDp)):
        epsilon, delta = claim.epsilon if value is None else value, getattr(claim, "delta", 0.0)
        return min(1.0, math.exp(epsilon) * alarms + delta, max(0.0, 1 - math.exp(-epsilon) * (1 - delta - alarms)))
    if isinstance(claim, Gdp):
        from statistics import NormalDist

        mu = claim.mu if value is None else value
        return 1.0 if alarms >= 1 else NormalDist().cdf(NormalDist().inv_cdf(alarms) + mu)
    return None


def ladder(result: "CanaryResult", rungs: Any, ax: Any) -> None:
    """What each number of guesses shows for itself."""
    ax.set_title("how many guesses")
    if not rungs:
        ax.text(0.5, 0.5, f"{result.guesses:,} guesses, planned from the claim;\n{result.correct:,} are right", ha="center", transform=ax.transAxes)
        return
    ax.plot([rung["guesses"] for rung in rungs], [rung["lower"] for rung in rungs], "o-", color=IN, label="each for itself")
    ax.axhline(result.lower, color=BOUND, linestyle=":", label="bound")
    if isinstance(result.claim, (PureDp, ApproximateDp)):
        ax.axhline(result.claim.epsilon, color=CLAIM, linestyle="--", label="claim")
    ax.set(xscale="log", xlabel="guesses, the surest first", ylabel="ε is at least")
    ax.legend()


def histogram(picture: Any, ax: Any) -> None:
    low, high = picture["ends"]
    count = len(picture["inside"])
    edges = [low + (high - low) * place / count for place in range(count + 1)]
    ax.stairs(picture["inside"], edges, color=IN, label="in")
    ax.stairs(picture["outside"], edges, color=OUT, label="out")
    ax.set(title="scores", xlabel="score", ylabel="canaries")
    ax.legend()
