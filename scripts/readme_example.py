#!/usr/bin/env python3
"""Runs the Python examples of README.md and python/README.md as they stand: audits as programs, the test file with pytest.

    pip install ./python pytest
    python scripts/readme_example.py
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
READMES = [ROOT / "README.md", ROOT / "python" / "README.md"]


def main():
    snippets = [text for readme in READMES for text in re.findall(r"```python\n(.*?)```", readme.read_text(encoding="utf-8"), re.S)]
    programs = [text for text in snippets if text.startswith("import dp_audit as dpa") and "print(result" in text]
    assert len(programs) == len(READMES), "each page has an example"
    tests = next(text for text in snippets if "def test_" in text)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_example.py").write_text(tests, encoding="utf-8")
        for program in programs:
            (folder / "example.py").write_text(program, encoding="utf-8")
            subprocess.run([sys.executable, "example.py"], cwd=folder, check=True)
        subprocess.run([sys.executable, "-m", "pytest", "-q", "test_example.py"], cwd=folder, check=True)


if __name__ == "__main__":
    main()
