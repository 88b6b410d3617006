#!/usr/bin/env bash
# Makes the README's pictures from the real program: docs/images/{report,terminal}.png. They show a run of 200 audits of which one
# is broken. Needs Chromium and Python; CHROMIUM names another browser, DP_AUDIT another program than target/release/dp-audit.
set -euo pipefail
cd "$(dirname "$0")/.."
browser=${CHROMIUM:-chromium}
if [ -z "${DP_AUDIT:-}" ]; then
  cargo build --release --locked
  DP_AUDIT=target/release/dp-audit
fi
program=$(realpath "$DP_AUDIT")
images=$(realpath docs/images)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# 200 noisy counts. One of them has too little noise, which nobody expects, and a few are twins that are known to be broken.
python3 - "$work" <<'PYTHON'
import pathlib, sys

AUDIT = """name = "{name}"
mechanism = "laplace"
params = {{ query = "count", epsilon = {epsilon}, scale_factor = {factor} }}
claim = {{ epsilon = {epsilon} }}
relation = "add-remove"
draws = 60000
resolution = 0.3
expect = "{expect}"

[[pair]]
name = "one visit more"
left = ["visit"]
right = ["visit", "visit"]
"""
for index in range(200):
    suite = ["billing", "clinics", "mobility", "search"][index % 4]
    folder = pathlib.Path(sys.argv[1], "audits", suite)
    folder.mkdir(parents=True, exist_ok=True)
    twin = index % 40 == 3
    text = AUDIT.format(
        name=f"{suite} report {index:03}" + (", noise 40 % short" if twin else ""),
        epsilon=[0.5, 1.0, 2.0][index % 3],
        factor=0.4 if index == 117 else 0.6 if twin else 1.0,
        expect="violated" if twin else "consistent",
    )
    (folder / f"report-{index:03}.toml").write_text(text)
PYTHON

cd "$work"
# The run fails, because a result is not as expected.
CLICOLOR_FORCE=1 "$program" run --html report.html 2>/dev/null >terminal.txt || true

# Prepares the page of the terminal and says how large it is.
size=$(python3 - <<'PYTHON'
import html, pathlib, re

COLUMNS = 80
colours = {"1": "b", "31": "r", "32": "g", "33": "y"}
plain = pathlib.Path("terminal.txt").read_text().rstrip()
lines = re.sub(r"\x1b\[\d+m", "", plain).split("\n")
assert max(map(len, lines)) <= COLUMNS, "a line is longer than 80 characters"
terminal = re.sub(r"\x1b\[0m", "</span>", html.escape(plain))
terminal = re.sub(r"\x1b\[(\d+)m", lambda code: f"<span class={colours.get(code[1], 'n')}>", terminal)
pathlib.Path("terminal.html").write_text(
    "<!doctype html><meta charset=utf-8><style>body{margin:0;background:#11161b;color:#e4e8ec}"
    f"pre{{margin:14px 18px;width:{COLUMNS}ch;font:12px/17px 'DejaVu Sans Mono',monospace}}"
    ".b{font-weight:700}.r{color:#f07f2e}.g{color:#35c79c}.y{color:#e3cf57}</style>"
    f"<pre>{terminal}</pre>"
)
print(f"{round(COLUMNS * 7.225) + 36} {len(lines) * 17 + 30}")
PYTHON
)

shot() { # page picture width height
  "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" --window-size="$3,$4" \
    --screenshot="$images/$2" "file://$work/$1" 2>/dev/null
}
shot report.html report.png 1200 900
# shellcheck disable=SC2086 # two numbers
shot terminal.html terminal.png $size
ls -l "$images"
