#!/usr/bin/env python3
"""Writes the tables of README.md and docs/ from the committed results in results/reference.

A table stands between `<!-- figures: NAME -->` and `<!-- end of figures -->`; what is between them is replaced.

    python3 scripts/figures.py           # writes the files
    python3 scripts/figures.py --check   # exit code 1 if a table is not what the results say; CI runs this
"""

import csv
import re
import sys
from decimal import ROUND_DOWN, Decimal
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results" / "reference"
MARKED = re.compile(r"(<!-- figures: (\S+) -->\n).*?(<!-- end of figures -->)", re.S)

# The catches that the README shows: the row of libraries.csv, and what is wrong in words.
CATCHES = [
    ("OpenDP 0.14.1", "integer Laplace", "a division in a dependency rounds, which biases integer Laplace noise"),
    ("OpenDP 0.14.2", "bit-vector randomized response", "the last bit of a bit vector is not randomised"),
    ("OpenDP 0.12.1", "counts of absent keys", "keys without records share one noise"),
    ("OpenDP 0.16.0", "b-ary tree, ℓ1, a sum that wraps", "a sum in a tree wraps at 2^31"),
    ("pure-ldp 1.1.2", "symmetric unary encoding", "unary encoding keeps the background bit"),
    ("pure-ldp 1.2.0", "RAPPOR", "RAPPOR never clears a set bit"),
    ("multi-freq-ldpy 0.2.5", "subset selection", "subset selection returns the true value first"),
    ("multi-freq-ldpy 0.2.5", "RS+FD with GRR, all attributes change", "sampling one attribute is counted as amplification"),
    ("diffprivlib 0.6.6", "tools.nanmean, three of four records NaN", "`nanmean` counts NaNs as records"),
    ("diffprivlib 0.6.6", "tools.histogram, weight 5", "the sensitivity of a histogram ignores its weights"),
]


def rows(name):
    with open(RESULTS / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def table(header, lines, align=None):
    marks = "|" + "|".join(align or ["---"] * len(header)) + "|"
    return "\n".join(["| " + " | ".join(header) + " |", marks, *("| " + " | ".join(cells) + " |" for cells in lines)]) + "\n"


def rounded_down(text, digits=3):
    """A bound in so many significant digits; a bound is never rounded up."""
    number = Decimal(text)
    if number == number.to_integral_value() and number >= 2**16 and (int(number) & (int(number) - 1)) == 0:
        return f"2^{int(number).bit_length() - 1}"
    return f"{number.quantize(Decimal(1).scaleb(number.adjusted() - digits + 1), ROUND_DOWN):f}"


def short(claim):
    """`ε = 2.19722` in four digits, `l1-distance 2.0` in words."""
    kind, number = claim.rsplit(" ", 1)
    return f"{'distance' if kind.endswith('distance') else kind} {float(number):.4g}"


def catches():
    found = {}
    for row in rows("libraries.csv"):
        if row["verdict"] == "violated":
            found[row["release"], row["function"]] = row
    lines = []
    for release, function, words in CATCHES:
        row = found[release, function]
        bound = row["bound"].split(",")[0]
        shown = "ε ≥ " + rounded_down(bound.removeprefix("ε ≥ ")) if bound.startswith("ε") else rounded_down(bound)
        lines.append([release, words, short(row["claim"]), shown])
    return table(["release", "what is wrong", "claim", "shown"], lines)


def percent(share, digits=2):
    return f"{100 * float(share):.{digits}f} %"


def calibration(name):
    lines = []
    for row in rows(name):
        # A flagged mechanism on its boundary has a bound above its truth; where none is counted, the file states no truth in the claim's unit.
        above = "–" if int(row["violated"]) > 0 and int(row["above_truth"]) == 0 else percent(row["above_truth_rate"])
        interval = f"{percent(row['violated_low'])[:-2]} – {percent(row['violated_high'])}"
        lines.append([row["audit"], row["seeds"], percent(row["violated_rate"]), interval, above])
    return table(["mechanism", "runs", "flagged", "99 % interval", "a bound above the truth"], lines)


def power():
    # Every factor of too little noise, at the draws that are powers of ten.
    rates, factors, draws = {}, [], []
    for row in rows("power.csv"):
        factor, number = row["audit"].split(" ")[1], int(row["draws"])
        if str(number).strip("0") != "1":
            continue
        factors += [factor] if factor not in factors else []
        draws += [number] if number not in draws else []
        rates[number, factor] = f"{100 * float(row['violated_rate']):g} %"
    header = ["draws", f"noise {factors[0]} times too small", *(f"{factor} times" for factor in factors[1:])]
    lines = [[f"{number:,}", *(rates[number, factor] for factor in factors)] for number in sorted(draws)]
    return table(header, lines, ["--:"] * len(header))


def committed(name):
    return (RESULTS / name).read_text(encoding="utf-8")


TABLES = {
    "catches": catches,
    "calibration": lambda: calibration("calibration.csv"),
    "canary-calibration": lambda: calibration("canary_calibration.csv"),
    "power": power,
    "benchmark": lambda: "\n".join(line for line in committed("benchmark.md").splitlines() if line.startswith("|")) + "\n",
}


def main():
    check = sys.argv[1:] == ["--check"]
    used, stale = set(), []
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = page.read_text(encoding="utf-8")

        def fresh(match):
            used.add(match[2])
            return f"{match[1]}\n{TABLES[match[2]]()}\n{match[3]}"

        new = MARKED.sub(fresh, text)
        if new != text:
            stale.append(page.relative_to(ROOT))
            if not check:
                page.write_text(new, encoding="utf-8")
    assert used == set(TABLES), f"tables that no page shows: {set(TABLES) - used}"
    for page in stale:
        print(f"{page}: {'not what results/reference says; run scripts/figures.py' if check else 'written'}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
