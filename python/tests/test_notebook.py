"""The example notebook: what its cells print is what the file shows."""

import contextlib
import io
import json
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "audit_in_a_notebook.ipynb"


def test_the_notebook_shows_what_its_code_prints():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    names = {}
    printed = 0
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec("".join(cell["source"]), names)
        shown = "".join("".join(shown["text"]) for shown in cell["outputs"] if shown.get("name") == "stdout")
        assert output.getvalue() == shown, cell["source"]
        printed += bool(shown)
    assert printed >= 4
    assert names["result"].verdict == "violated" and names["repaired"].verdict == "consistent"
