#!/usr/bin/env python3
"""Writes the licences of all crates that are compiled into the Python package, or into what another Cargo.toml describes.

Reads the sources that cargo has downloaded; each text that several crates share is written once. Fails if a crate has neither a licence file nor
the name of a licence.

    python3 scripts/third_party_licences.py [Cargo.toml] > python/THIRD-PARTY-LICENCES
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NAMES = re.compile(r"(?i)^(licen[cs]e|copying|notice|unlicense)")


def packages(manifest):
    """The crates that it links, without those of this repository and without those for builds and tests."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--manifest-path", manifest]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    seen, queue = set(), [metadata["resolve"]["root"]]
    while queue:
        package = queue.pop()
        if package not in seen:
            seen.add(package)
            for dependency in nodes[package]["deps"]:
                if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                    queue.append(dependency["pkg"])
    return sorted((p for p in metadata["packages"] if p["id"] in seen and p["source"]), key=lambda p: (p["name"], p["version"]))


def main():
    texts, without = {}, []
    for package in packages(ROOT / (sys.argv[1] if len(sys.argv) > 1 else "python/Cargo.toml")):
        title = f"{package['name']} {package['version']} ({package['license']})"
        folder = Path(package["manifest_path"]).parent
        files = [f for f in sorted(folder.iterdir()) if f.is_file() and NAMES.match(f.name)]
        for file in files:
            text = "\n".join(line.rstrip() for line in file.read_text(encoding="utf-8", errors="replace").strip().splitlines())
            texts.setdefault(text, []).append(title)
        if not files:
            if not package["license"]:
                sys.exit(f"{title} has neither a licence file nor a licence")
            without.append(f"{title}, by {', '.join(package['authors']) or 'its contributors'}")
    print("dp-audit contains code of the following crates, under the licences below.")
    if without:
        print("\nThese crates come without a licence file; their licences are named beside them:\n")
        print("\n".join(without))
    for text, titles in sorted(texts.items(), key=lambda item: item[1]):
        print("\n" + "=" * 80)
        print("\n".join(dict.fromkeys(titles)))
        print("-" * 80 + f"\n{text}")


if __name__ == "__main__":
    main()
