#!/usr/bin/env python3
"""Tries the GitHub Action and the CI examples without GitHub and GitLab.

For each of them, copies examples/ci/package (a Python package with a right and a wrong mechanism) to an empty folder, reads the steps from the YAML file
itself, and runs their scripts with bash there. Steps with `uses:` (checkout, Python, caches, uploads) are skipped with a message. dp-audit is installed from
this checkout; what is in its target folder is not compiled again.

What must be seen: red with exactly one finding for the wrong mechanism, with a replay command that works; green after the fix; and red for everything that
keeps an audit from being run.

Needs bash, cargo, git and PyYAML (pip install pyyaml).   Usage: python3 scripts/try_ci.py [github|without-action|gitlab …]
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path
from urllib.parse import unquote

import yaml

REPOSITORY = Path(__file__).resolve().parent.parent
CI = REPOSITORY / "examples/ci"
WRONG, RIGHT = "laplace(rng, 0.1 * upper", "laplace(rng, upper"


class Checkout:
    """An empty place with a copy of the package, a home of its own, and a Python of its own."""

    def __init__(self, place):
        self.place = Path(place)
        self.workspace = self.place / "workspace"
        shutil.copytree(CI / "package", self.workspace)
        subprocess.run([sys.executable, "-m", "venv", self.place / "python"], check=True)
        home = Path.home()
        # Only what a runner has: no variable of this shell reaches the scripts, except where cargo and rustup are.
        self.env = {
            "HOME": str(self.place / "home"),
            "PATH": f"{self.place / 'python/bin'}{os.pathsep}{os.environ['PATH']}",
            "CARGO_HOME": os.environ.get("CARGO_HOME", str(home / ".cargo")),
            "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(home / ".rustup")),
            "LANG": "C.UTF-8",
            "CI": "true",
        }
        (self.place / "home").mkdir()

    def correct(self):
        self.replace("noisy_stats/__init__.py", WRONG, RIGHT)

    def replace(self, file, old, new):
        text = (self.workspace / file).read_text()
        assert old in text, f"{file} has no {old}"
        (self.workspace / file).write_text(text.replace(old, new))

    def bash(self, script, env, folder="."):
        """Runs a script as the runners do. Returns its exit code and what it wrote."""
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]
        done = subprocess.run(
            command, cwd=self.workspace / folder, env=self.env | env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        print(re.sub("^", "      | ", done.stdout.rstrip(), flags=re.M))
        return done.returncode, done.stdout


class GitHub:
    """Runs the steps of an action or a job, with the expressions and conditions that our files use."""

    def __init__(self, checkout, steps, inputs, env):
        self.checkout, self.steps, self.env = checkout, steps, env
        self.values = {f"inputs.{name}": value for name, value in inputs.items()} | {f"env.{name}": value for name, value in env.items()}
        self.values |= {"runner.os": "Linux", "runner.arch": "X64"}

    def value(self, expression):
        expression = expression.strip()
        if re.fullmatch(r"steps\.[\w-]+\.outputs\.[\w-]+", expression):
            return self.values.get(expression, "")
        return self.values[expression]  # an expression that is not known here is an error

    def expand(self, text):
        return re.sub(r"\$\{\{(.*?)\}\}", lambda match: self.value(match[1]), str(text))

    def holds(self, condition, failed):
        parts = [part.strip() for part in condition.split("&&")] if condition else []
        always = "always()" in parts
        for part in parts:
            if part != "always()":
                left, right = part.split("!=")
                if self.value(left) == right.strip().strip("'"):
                    return False
        return always or not failed

    def run(self):
        """The exit code of the first step that fails, or 0, and what all steps wrote."""
        code, output = 0, ""
        for number, step in enumerate(self.steps):
            name = step.get("name") or step.get("uses")
            if not self.holds(step.get("if"), code != 0):
                print(f"    - {name}: not run, because of its condition ({step.get('if', 'success()')})")
            elif "uses" in step:
                print(f"    - {name}: SKIPPED, {step['uses']} needs GitHub")
            else:
                print(f"    - {name}")
                outputs = self.checkout.place / f"output-{number}"
                outputs.write_text("")
                given = {key: self.expand(value) for key, value in step.get("env", {}).items()}
                github = {
                    "GITHUB_ACTIONS": "true",
                    "GITHUB_WORKSPACE": str(self.checkout.workspace),
                    "GITHUB_ACTION_PATH": str(REPOSITORY),
                    "GITHUB_OUTPUT": str(outputs),
                    "GITHUB_STEP_SUMMARY": str(self.checkout.place / "summary.md"),
                }
                status, text = self.checkout.bash(step["run"], github | self.env | given, self.expand(step.get("working-directory", ".")))
                print(f"      exit code {status}")
                output += text
                code = code or status
                for line in outputs.read_text().splitlines():
                    key, _, value = line.partition("=")
                    self.values[f"steps.{step.get('id')}.outputs.{key}"] = value
        return code, output


def annotations(output):
    return [line for line in output.splitlines() if re.match("::(error|warning|notice)", line)]


def shown(annotation):
    """An annotation as GitHub shows it."""
    level, file, line, title, message = re.fullmatch(r"::(\w+) (?:file=([^,]*),)?(?:line=(\d+),)?title=(.*?)::(.*)", annotation).groups()
    return f"[{level}] {unquote(file or '')}:{line or ''} {unquote(title)}\n{unquote(message)}"


def action(checkout, **inputs):
    """Runs the steps of action.yml."""
    file = yaml.safe_load((REPOSITORY / "action.yml").read_text())
    unknown = set(inputs) - set(file["inputs"])
    assert not unknown, unknown
    given = {name: declared["default"] for name, declared in file["inputs"].items()} | inputs
    return GitHub(checkout, file["runs"]["steps"], given, {}).run()


def check_finding(checkout, output, program):
    """One annotation, of the claim's line, whose replay command confirms the finding."""
    found = annotations(output)
    assert len(found) == 1 and found[0].startswith("::error file=audits/mean.toml,line=5,title=Claim refuted%3A noisy mean::"), found
    text = shown(found[0])
    print(re.sub("^", "    > ", text, flags=re.M))
    for part in ["noisy_mean", "claims ε = 1, but its ε is at least", "What to do: ", "Repeat it: dp-audit run audits/mean.toml"]:
        assert part in text, part
    replay = re.search(r"Check it with fresh draws: dp-audit (.*)", text)[1]
    code, said = checkout.bash(f"{shlex.quote(program)} {replay}", {})
    assert code == 0 and "CONFIRMED" in said, "the replay command of the annotation does not work"


def installed(checkout):
    (program,) = (checkout.place / "home/.cache/dp-audit").glob("**/bin/dp-audit")
    return str(program)


def try_github(checkout):
    title("the wrong mechanism is red, with one finding")
    code, output = action(checkout, pip="-r requirements.txt")
    assert code == 2, code
    check_finding(checkout, output, installed(checkout))
    report = checkout.workspace / "dp-audit-report"
    files = ["audit.csv", "report.html", "report.json", "report.xml"]
    assert all((report / file).stat().st_size > 0 for file in files) and list((report / "witnesses").glob("noisy-mean-*.json"))
    assert "1 of 2 claims refuted" in (checkout.place / "summary.md").read_text()

    title("green after the fix; the installed program is used again")
    checkout.correct()
    code, output = action(checkout)
    assert code == 0 and annotations(output) == [] and "cargo" not in output, code
    shutil.copy(report / "report.json", checkout.workspace / "baseline.json")

    title("from another working directory, with a baseline: green, and files are named from the root")
    code, output = action(checkout, **{"working-directory": "audits", "audits": "count.toml\nmean.toml", "baseline": "../baseline.json"})
    assert code == 0 and "Nothing is worse" in output, code
    code, output = action(checkout, **{"working-directory": "audits", "audits": "mean.toml", "args": "--draws 200"})
    assert code == 3 and "file=audits/mean.toml,line=5," in annotations(output)[0], annotations(output)

    title("nothing that keeps an audit from being run is green")
    cases = [
        (1, {"baseline": "no-such.json"}, "no-such.json"),
        (1, {"audits": "no-such-folder"}, "no-such-folder"),
        (1, {"args": "--no-such-option"}, "--no-such-option"),
        (1, {"path": "noisy_stats"}, "not the source of dp-audit"),
    ]
    for wanted, inputs, part in cases:
        code, output = action(checkout, **inputs)
        assert code == wanted, code
        assert len(annotations(output)) == 1 and part in shown(annotations(output)[0]), annotations(output)
    code, _ = action(checkout, pip="no-such-package --no-index")
    assert code != 0, "a package that cannot be installed"
    checkout.replace("noisy_stats/__init__.py", "import math", "import no_such_module")
    code, output = action(checkout)
    assert code == 5 and len(annotations(output)) == 2 and "no_such_module" in shown(annotations(output)[0]), annotations(output)


def try_without_action(checkout):
    def run():
        file = yaml.safe_load((CI / "dp-audit-without-action.yml").read_text())
        env = file["env"] | {"DP_AUDIT_SOURCE": f"--path {REPOSITORY}"}
        return GitHub(checkout, file["jobs"]["audit"]["steps"], {}, env).run()

    title("the wrong mechanism is red, with one finding")
    code, output = run()
    assert code == 2, code
    check_finding(checkout, output, installed(checkout))
    title("green after the fix")
    checkout.correct()
    code, output = run()
    assert code == 0 and annotations(output) == [], code


def try_gitlab(checkout):
    job = yaml.safe_load((CI / "dp-audit.gitlab-ci.yml").read_text())["privacy audit"]

    def run():
        variables = job["variables"] | {"DP_AUDIT_SOURCE": f"--path {REPOSITORY}"}
        root = str(checkout.workspace)
        env = {"CI_PROJECT_DIR": root, "GITLAB_CI": "true"} | {key: value.replace("$CI_PROJECT_DIR", root) for key, value in variables.items()}
        code, _ = checkout.bash("\n".join(job["before_script"] + job["script"]), env)
        print(f"      exit code {code}")
        reports = job["artifacts"]["reports"]
        issues = json.loads((checkout.workspace / reports["codequality"]).read_text())
        tests = xml.etree.ElementTree.parse(checkout.workspace / reports["junit"]).getroot()
        return code, issues, (tests.get("tests"), tests.get("failures"))

    title("the wrong mechanism is red, with one finding")
    code, issues, tests = run()
    print(json.dumps(issues, indent=2, ensure_ascii=False))
    assert code == 2 and tests == ("2", "1"), (code, tests)
    (issue,) = issues
    assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
    assert issue["location"] == {"path": "audits/mean.toml", "lines": {"begin": 5}} and issue["check_name"] == "dp-audit/claim-refuted"
    title("green after the fix")
    checkout.correct()
    code, issues, tests = run()
    assert (code, issues, tests) == (0, [], ("2", "0")), (code, issues, tests)


def title(text):
    print(f"\n  == {text}")


TRIES = {"github": try_github, "without-action": try_without_action, "gitlab": try_gitlab}


def main():
    for name in sys.argv[1:] or TRIES:
        print(f"\n== {name}")
        with tempfile.TemporaryDirectory(prefix="dp-audit-ci-") as place:
            TRIES[name](Checkout(place))
    print("\nEverything ended as it should.")


if __name__ == "__main__":
    main()
