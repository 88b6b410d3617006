#!/usr/bin/env python3
"""Runs the Python examples of python/README.md as they stand: the first one as a program, the test file with pytest.

    pip install ./python pytest
    python scripts/readme_example.py
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

README = Path(__file__).parents[1] / "python" / "README.md"


def main():
    snippets = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.S)
    program = next(text for text in snippets if "dpa.audit(" in text and "print(result)" in text)
    tests = next(text for text in snippets if "def test_" in text)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "example.py").write_text(program, encoding="utf-8")
        (folder / "test_example.py").write_text(tests, encoding="utf-8")
        subprocess.run([sys.executable, "example.py"], cwd=folder, check=True)
        subprocess.run([sys.executable, "-m", "pytest", "-q", "test_example.py"], cwd=folder, check=True)


if __name__ == "__main__":
    main()
