#!/usr/bin/env bash
# Makes the README's pictures from the real program: docs/images/{report,report-phone,terminal}.png.
# Needs Chromium and Python; CHROMIUM names another browser.
set -euo pipefail
cd "$(dirname "$0")/.."
browser=${CHROMIUM:-chromium}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p docs/images

cargo build --release --locked
suite=(audits/basics/{laplace-count,laplace-count-short,gaussian-short,gaussian-exact}.toml
  audits/notes/{median-local-sensitivity,mode-ptr-printed,response-die,smooth-median-laplace-1e-3}.toml)
CLICOLOR_FORCE=1 target/release/dp-audit run "${suite[@]}" --draws 4e6 --html "$work/report.html" --csv "$work/audit.csv" \
  --witnesses "$work/witnesses" 2>&1 | grep -v -e '^Report' -e '^Witnesses' >"$work/terminal.txt"

# Prepares the pages and says how large the terminal is.
size=$(python3 - "$work" <<'PYTHON'
import html, math, pathlib, re, sys

work = pathlib.Path(sys.argv[1])
report = (work / "report.html").read_text()
# One refuted claim is opened, so that the picture shows the pictures.
place = report.rindex("<details", 0, report.index("noise 10 % short<small>"))
(work / "open.html").write_text(report[:place] + "<details open" + report[place + 8 :])

colours = {"1": "b", "31": "r", "32": "g", "33": "y"}
plain = (work / "terminal.txt").read_text().rstrip()
lines = re.sub(r"\x1b\[\d+m", "", plain).split("\n")
columns = max(len(line) for line in lines if "─" in line)
height = 1 + sum(max(1, math.ceil(len(line) / columns)) for line in lines)
terminal = re.sub(r"\x1b\[0m", "</span>", html.escape(plain))
terminal = re.sub(r"\x1b\[(\d+)m", lambda code: f"<span class={colours.get(code[1], 'n')}>", terminal)
(work / "terminal.html").write_text(
    "<!doctype html><meta charset=utf-8><style>body{margin:0;background:#11161b;color:#e4e8ec}"
    f"pre{{margin:14px 18px;width:{columns}ch;font:12px/17px 'DejaVu Sans Mono',monospace;white-space:pre-wrap}}"
    ".b{font-weight:700}.r{color:#f07f2e}.g{color:#35c79c}.y{color:#e3cf57}</style>"
    f"<pre><span class=g>$</span> dp-audit run --draws 4e6 AUDIT…\n{terminal}</pre>"
)
print(f"{round(columns * 7.225) + 36} {height * 17 + 30}")
PYTHON
)

shot() { # page picture width height
  "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" --window-size="$3,$4" \
    --screenshot="docs/images/$2" "file://$work/$1" 2>/dev/null
}
shot open.html report.png 1200 1000
shot open.html report-phone.png 390 900
# shellcheck disable=SC2086 # two numbers
shot terminal.html terminal.png $size
ls -l docs/images
