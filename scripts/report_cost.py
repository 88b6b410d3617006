#!/usr/bin/env python3
"""How the cost of reports grows with the number of audits: CPU seconds and bytes written by runs of many tiny audits with all formats.

    cargo build --release && scripts/report_cost.py            1,000 to 10,000 audits
    scripts/report_cost.py 100 1000                            other numbers

Time and bytes should grow in proportion to the audits.
"""

import os
import pathlib
import resource
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(__file__).resolve().parent.parent / "target/release/dp-audit"
AUDIT = """name = "tiny {0}"
mechanism = "laplace"
params = {{ query = "count", epsilon = 1.0 }}
claim = {{ epsilon = 1.0 }}
relation = "add-remove"

[[pair]]
name = "one more"
left = ["x"]
right = ["x", "x"]
"""
DRAWS = "200"


def written(pid):
    """The bytes that a process has written so far; 0 once it has ended."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/io").read_text().splitlines()
    except (OSError, PermissionError):
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("wchar")), 0)


def measure(count):
    with tempfile.TemporaryDirectory() as folder:
        audits = pathlib.Path(folder, "audits")
        audits.mkdir()
        for index in range(count):
            (audits / f"{index:05}.toml").write_text(AUDIT.format(index))
        formats = [word for name in ("html", "json", "junit", "code-quality", "markdown") for word in (f"--{name}", f"report.{name}")]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [PROGRAM, "run", "audits", "--draws", DRAWS, "--quiet", "--report-only", "--csv", "audit.csv", "--witnesses", "witnesses"]
        process = subprocess.Popen(command + formats, cwd=folder)
        most = 0
        while process.poll() is None:
            most = max(most, written(process.pid))
            try:
                process.wait(0.02)
            except subprocess.TimeoutExpired:
                pass
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if process.returncode != 0:
            sys.exit(f"dp-audit ended with {process.returncode}")
        rows = pathlib.Path(folder, "audit.csv").read_text().count("\n") - 1
        if rows != count:
            sys.exit(f"{rows} rows for {count} audits")
        files = sum(path.stat().st_size for path in pathlib.Path(folder).iterdir() if path.is_file())
        seconds = (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)
        return seconds, most, files


def main():
    counts = [int(word) for word in sys.argv[1:]] or [1000, 2000, 5000, 10000]
    if not os.access(PROGRAM, os.X_OK):
        sys.exit("build the program first: cargo build --release")
    print("| audits | CPU s | CPU ms per audit | MB written | MB of reports |")
    print("|--:|--:|--:|--:|--:|")
    for count in counts:
        seconds, bytes_written, files = measure(count)
        print(f"| {count:,} | {seconds:.1f} | {1e3 * seconds / count:.2f} | {bytes_written / 1e6:.0f} | {files / 1e6:.0f} |", flush=True)


if __name__ == "__main__":
    main()
