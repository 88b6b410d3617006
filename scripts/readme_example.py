#!/usr/bin/env python3
"""Runs the Python examples of README.md, python/README.md and the tutorial as they stand: audits as programs, tests with pytest.

    pip install ./python pytest
    python scripts/readme_example.py
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "python" / "README.md", ROOT / "docs" / "tutorial" / "python.md"]


def main():
    for page in PAGES:
        snippets = re.findall(r"```python[^\n]*\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
        programs = [text for text in snippets if text.startswith("import dp_audit as dpa") and "print(result" in text]
        tests = [text for text in snippets if "def test_" in text]
        assert programs, f"{page} has an example"
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for program in programs:
                (folder / "example.py").write_text(program, encoding="utf-8")
                subprocess.run([sys.executable, "example.py"], cwd=folder, check=True)
            for text in tests:
                (folder / "test_example.py").write_text(text, encoding="utf-8")
                subprocess.run([sys.executable, "-m", "pytest", "-q", "test_example.py"], cwd=folder, check=True)


if __name__ == "__main__":
    main()
