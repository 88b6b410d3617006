#!/usr/bin/env python3
"""Runs the example notebook and writes its outputs into it.

    pip install ./python matplotlib nbclient nbformat ipykernel
    python scripts/run_notebook.py
"""

from pathlib import Path

import nbclient
import nbformat

NOTEBOOK = Path(__file__).parents[1] / "examples" / "audit_in_a_notebook.ipynb"


def main():
    notebook = nbformat.read(NOTEBOOK, 4)
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    for index, cell in enumerate(notebook.cells):
        # Times and random names would make a difference in every run.
        cell["id"], cell["metadata"] = f"cell-{index}", {}
        for output in cell.get("outputs", []):
            output.get("transient", {}).clear()
        # What only showed progress is empty by now.
        cell["outputs"] = [output for output in cell.get("outputs", []) if "HTML object" not in str(output.get("data", {}).get("text/plain"))]
        if cell["cell_type"] != "code":
            del cell["outputs"]
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}, "language_info": {"name": "python"}}
    nbformat.write(notebook, NOTEBOOK)


if __name__ == "__main__":
    main()
