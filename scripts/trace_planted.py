"""Which line a trace names in each planted bug and each sound program of python/tests/traced_programs.py, and how long it takes on one idle core.

    python scripts/trace_planted.py > results/reference/trace_planted.csv
"""

import csv
import pathlib
import sys
import time

import dp_audit as dpa

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python/tests"))

from traced_programs import FOOLING, PLANTED, SOUND, line_at_fault  # noqa: E402


def row(kind, name, program, left, right, claim):
    begun = time.process_time()
    found = dpa.trace(program, left, right, claim=claim)
    seconds = time.process_time() - begun
    finding = found.findings[0].kind if found.findings else ""
    named = found.at_fault.line if found.at_fault is not None else ""
    marked = line_at_fault(program) if kind == "planted" else ""
    right_line = named == marked if kind == "planted" else ""
    return [kind, name, name in FOOLING, found.verdict, finding, marked, named, right_line, f"{seconds:.2f}"]


def main():
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["kind", "program", "fools_a_recorder", "verdict", "finding", "marked_line", "named_line", "right_line", "cpu_seconds"])
    for kind, programs in (("planted", PLANTED), ("sound", SOUND)):
        for name, case in programs.items():
            out.writerow(row(kind, name, *case))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
