"""Shows docstrings as they are meant: `>>>` is code, and lines such as `draws: draws per pair` are a list."""

import re

from markdown import Extension
from markdown.preprocessors import Preprocessor

# Only pages of docstrings are read in this way; the hook says which page is next.
PAGES = {"reference/python-api.md"}
current = ""
PARAMETER = re.compile(r"^(\w+(?:, \w+)*): (?=\S)")


class Docstrings(Preprocessor):
    def run(self, lines):
        if current not in PAGES:
            return lines
        shown, code, fence = [], False, False
        for line in lines:
            if line.lstrip().startswith(("```", "~~~")):
                fence = not fence
            if not fence and not code and line.startswith(">>> "):
                shown += ["", "```pycon"]
                code = True
            elif code and not line.strip():
                shown += ["```", ""]
                code = False
            if not fence and not code and (match := PARAMETER.match(line)):
                if shown and shown[-1].strip() and not shown[-1].startswith(("- ", "  ")):
                    shown.append("")
                names = ", ".join(f"`{name}`" for name in match[1].split(", "))
                line = f"- {names}: {line[match.end() :]}"
            shown.append(line)
        return [*shown, "```"] if code else shown


class Extend(Extension):
    def extendMarkdown(self, md):
        # Before fenced code, which has 25.
        md.preprocessors.register(Docstrings(md), "docstrings", 40)


def makeExtension(**options):
    return Extend(**options)
