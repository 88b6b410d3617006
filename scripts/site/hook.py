"""Makes a site of pages that stand where a reader of the repository looks for them.

MkDocs takes pages from `docs/`. This hook adds those that stand elsewhere, and the command line from its tested help texts. Links between pages are
written for the repository; here they become links of the site. A file that is linked and is no page comes along as it is. A link to nothing stays as
it is, so that `mkdocs build --strict` fails.
"""

import posixpath
import re
import subprocess
import sys
from pathlib import Path

from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).parent))
import docstrings

ROOT = Path(__file__).resolve().parents[2]

# Pages that stand outside docs/: their place in the repository, and on the site.
ELSEWHERE = {
    "README.md": "index.md",
    "audits/README.md": "reference/audit-files.md",
    "results/README.md": "reference/columns.md",
    "results/reference/README.md": "reference/tables.md",
    "python/README.md": "reference/python-package.md",
    "scripts/truths/README.md": "explanation/truths.md",
    "scripts/known_leaks/README.md": "explanation/known-leaks.md",
    "examples/ci/package/README.md": "how-to/ci-package.md",
    "DESIGN.md": "explanation/design.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security-policy.md",
}
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s]+)(\))|(\[`[^\]]*`\]\()([^)\s]+)(\))")
FENCE = re.compile(r"^(```|~~~).*?^\1`*\s*$", re.M | re.S)


def pages():
    """Every page: its place in the repository → its place on the site."""
    found = dict(ELSEWHERE)
    for page in sorted((ROOT / "docs").rglob("*.md")):
        found[page.relative_to(ROOT).as_posix()] = page.relative_to(ROOT / "docs").as_posix()
    for page in sorted((ROOT / "audits").glob("*/*.md")):
        name = page.parent.name if page.name == "README.md" else page.stem.lower()
        found[page.relative_to(ROOT).as_posix()] = f"suites/{name}.md"
    for page in sorted((ROOT / "results" / "reference").glob("*.md")):
        if page.name != "README.md":
            found[page.relative_to(ROOT).as_posix()] = f"reference/tables/{page.name}"
    return found


PAGES = pages()
PLACES = {site: place for place, site in PAGES.items()}
TRACKED = set(subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines())


def command_line():
    """The page about the command line, from the help texts that tests compare with those of the program."""
    snapshots = ROOT / "tests" / "integration" / "snapshots"
    order = re.findall(r"^  ([a-z]+)  ", (snapshots / "help.snap").read_text(encoding="utf-8"), re.M)
    parts = [
        "# The command line\n\nThis is what `dp-audit --help` and `dp-audit COMMAND --help` say. `dp-audit man DIR` writes the same as manual pages, "
        "`dp-audit completions SHELL` prints a completion script. [Exit codes](exit-codes.md) has what a run ends with.\n"
    ]
    for name in ["", *(command for command in order if command != "help")]:
        snapshot = snapshots / ("help.snap" if not name else f"help-{name}.snap")
        text = snapshot.read_text(encoding="utf-8").split("[standard output]\n", 1)[1]
        text = text.split("\n[standard error]", 1)[0].strip()
        parts.append(f"## dp-audit {name}".rstrip() + f"\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


def on_config(config):
    """A page of docs/ that `nav` in mkdocs.yml does not name comes last among the how-to pages, so that everything that is written can be found."""
    config.markdown_extensions.append("docstrings")
    named = re.findall(r"[\w./-]+\.md", str(config.nav))
    more = [site for place, site in PAGES.items() if place.startswith("docs/") and site not in named]
    for section in config.nav:
        if list(section) == ["How-to"]:
            section["How-to"] += more
    return config


def on_files(files, config):
    for place, site in PAGES.items():
        if not place.startswith("docs/"):
            files.append(File.generated(config, site, abs_src_path=str(ROOT / place)))
    files.append(File.generated(config, "reference/command-line.md", content=command_line()))
    # What pages link to and is no page comes along.
    for place in PAGES:
        for target in targets((ROOT / place).read_text(encoding="utf-8")):
            file = resolve(place, target)
            if file and file in TRACKED and file not in PAGES and not file.startswith("docs/") and not files.get_file_from_path(f"files/{file}"):
                files.append(File.generated(config, f"files/{file}", abs_src_path=str(ROOT / file)))
    return files


def targets(markdown):
    return [match[2] or match[5] for match in LINK.finditer(FENCE.sub("", markdown))]


def resolve(place, target):
    """The file or folder of the repository to which a link leads; None if it leads elsewhere."""
    path = target.split("#")[0]
    if not path or re.match(r"[a-z]+:", target):
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(place), path))


def on_page_markdown(markdown, page, config, files):
    docstrings.current = page.file.src_uri
    place = PLACES.get(page.file.src_uri)
    if place is None:
        return markdown

    def link(match):
        before, target, after = match.group(1, 2, 3) if match[2] else match.group(4, 5, 6)
        file = resolve(place, target)
        if file is None:
            return match[0]
        anchor = target[len(target.split("#")[0]) :]
        if (readme := f"{file}/README.md") in PAGES:
            file = readme
        if file in PAGES:
            site = PAGES[file]
        elif file == "docs/reference/command-line.md":
            site = "reference/command-line.md"
        elif file.startswith("docs/") and file in TRACKED:
            site = file.removeprefix("docs/")
        elif file in TRACKED:
            site = f"files/{file}"
        elif any(other.startswith(f"{file}/") for other in TRACKED):
            # A folder of the repository has no place on the site; its name is enough.
            return before[before.index("[") + 1 : before.rindex("]")]
        else:
            return match[0]
        return before + posixpath.relpath(site, posixpath.dirname(page.file.src_uri)) + anchor + after

    # Code is not touched.
    done, parts = 0, []
    for fence in FENCE.finditer(markdown):
        parts += [LINK.sub(link, markdown[done : fence.start()]), fence[0]]
        done = fence.end()
    return "".join([*parts, LINK.sub(link, markdown[done:])])
