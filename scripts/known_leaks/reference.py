"""Writes a table of results: a CSV for programs, a Markdown file for people."""

import csv


def write(folder, name, columns, rows, text):
    """Writes name.csv with these columns and rows and name.md with the text to the folder, and prints the text."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (folder / f"{name}.md").write_text(text, encoding="utf-8")
    print("\n" + text)
