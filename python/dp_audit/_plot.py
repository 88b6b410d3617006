"""Pictures with matplotlib: distributions with the rule, the privacy profile with the claim, the path of the evidence."""

from __future__ import annotations

from typing import Any

from ._claims import ApproximateDp, Profile, PureDp
from ._result import PairResult, Result

LEFT, RIGHT, CLAIM = "#0072b2", "#e69f00", "#d55e00"


def chosen(result: Result, pair: str | None) -> PairResult:
    """The pair with this name, or the one that speaks for the audit."""
    found = result.worst if pair is None else next((one for one in result.pairs if one.name == pair), None)
    if found is None or found.picture is None:
        names = ", ".join(repr(one.name) for one in result.pairs)
        raise ValueError(f"there is no picture of the pair {pair!r}; the pairs are {names}" if pair else "there is nothing to draw")
    return found


def plot(result: Result, pair: str | None, axes: Any) -> Any:
    import matplotlib.pyplot as pyplot

    found = chosen(result, pair)
    if axes is None:
        figure, axes = pyplot.subplots(1, 3, figsize=(15, 4), layout="constrained")
        figure.suptitle(f"{result.name} / {found.name}: {found.verdict}")
    distributions(found, axes[0])
    plot_profile(result, found.name, axes[1])
    evidence(found, axes[2])
    return axes


def distributions(pair: PairResult, ax: Any) -> None:
    """What either side outputs, and what the attacker answers."""
    shown = pair.picture["distribution"]  # type: ignore[index]
    ax.set_title("outputs, and what the attacker answers")
    if shown is None:
        ax.text(0.5, 0.5, "no rule was learned", ha="center", transform=ax.transAxes)
        return
    line, bars = shown.get("line"), shown.get("bars") or []
    if line is not None:
        count = len(line["left"])
        step = (line["to"] - line["from"]) / count
        edges = [line["from"] + step * index for index in range(count + 1)]
        ax.stairs(line["left"], edges, color=LEFT, label="left")
        ax.stairs(line["right"], edges, color=RIGHT, label="right")
        for index, answer in enumerate(line["answers"]):
            if answer in ("left", "right"):
                ax.axvspan(edges[index], edges[index + 1], color=LEFT if answer == "left" else RIGHT, alpha=0.12, linewidth=0)
        ax.set_xlabel(shown["score"])
    elif bars:
        places = range(len(bars))
        ax.bar([place - 0.2 for place in places], [bar["left"] for bar in bars], 0.4, color=LEFT, label="left")
        ax.bar([place + 0.2 for place in places], [bar["right"] for bar in bars], 0.4, color=RIGHT, label="right")
        ax.set_xticks(list(places), [str(bar.get("name", bar.get("value", ""))) for bar in bars], rotation=45, ha="right")
    ax.set_ylabel("share of the outputs")
    ax.legend()


def plot_profile(result: Result, pair: str | None, ax: Any) -> Any:
    """δ as a function of ε: what is certified, what is estimated, and what is claimed."""
    import matplotlib.pyplot as pyplot

    found = chosen(result, pair)
    if ax is None:
        _, ax = pyplot.subplots(layout="constrained")
    points = found.picture["profile"]  # type: ignore[index]
    certified = [(point["epsilon"], point["delta_lower"]) for point in points if point["delta_lower"] is not None]
    estimated = [(point["epsilon"], point["delta_estimate"]) for point in points if point["delta_estimate"] is not None]
    if certified:
        ax.plot(*zip(*certified), color=LEFT, label="certified: δ is at least this")
    if estimated:
        ax.plot(*zip(*estimated), color=LEFT, linestyle=":", label="estimate")
    claim = result.claim
    claimed = claim.points if isinstance(claim, Profile) else ()
    if isinstance(claim, PureDp):
        claimed = ((claim.epsilon, 0.0),)
    elif isinstance(claim, ApproximateDp):
        claimed = ((claim.epsilon, claim.delta),)
    if claimed:
        ax.plot(*zip(*claimed), "o", color=CLAIM, label="claim")
    ax.set_title("privacy profile")
    ax.set_xlabel("ε")
    ax.set_ylabel("δ")
    ax.legend()
    return ax


def evidence(pair: PairResult, ax: Any) -> None:
    """The logarithm of the wealth of a gambler who bets against the claim."""
    picture = pair.picture or {}
    wealth = picture["wealth"]
    ax.plot([point["draws"] for point in wealth], [point["log_wealth"] for point in wealth], "o-", color=LEFT, label="evidence")
    ax.axhline(picture["threshold"], color=CLAIM, linestyle="--", label="refutes the claim")
    ax.set_xscale("log")
    ax.set_title("evidence against the claim")
    ax.set_xlabel("draws")
    ax.set_ylabel("log wealth")
    ax.legend()
