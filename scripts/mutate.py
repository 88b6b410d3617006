#!/usr/bin/env python3
"""Changes valid inputs at random and checks that the program refuses or runs them: no panic, no signal, no endless run.

    cargo build --release
    python3 scripts/mutate.py --seconds 60                # a new seed from the operating system, which is printed
    python3 scripts/mutate.py --seconds 600 --seed 7      # these changes again
    python3 scripts/mutate.py --only journals --keep out  # one kind of input; what fails is kept in a folder

The inputs: audit files, shards, witnesses, results of runs, journals, sample files, and the answers of a program under audit. Lines of JSON are changed as text and
as values; hashes and checksums are made right again in half of the cases, so that what comes after them is reached too. Needs only the standard
library. Ends with `Nothing fell over.`, or with exit code 1 and the inputs that fail.
"""

import argparse
import copy
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("DP_AUDIT", ROOT / "target" / "release" / "dp-audit"))
LIMIT = 60  # seconds that one run may take
MEMORY = 8 << 30  # bytes of address space
INTERNAL = {70, 101}  # the exit codes of a panic
MASK = (1 << 64) - 1

AUDIT = """
name = "count"
mechanism = "laplace"
params = { query = "count", epsilon = 1.0, scale_factor = 0.5 }
claim = { epsilon = 1.0 }
relation = "add-remove"
expect = "violated"
draws = 4000

[[pair]]
name = "one record more"
left = ["x"]
right = ["x", "x"]

[[accuracy]]
name = "near"
data = ["x", "x"]
event = { within = 3.0, of = 2.0 }
probability = 0.9
"""

WORKER = '''
import json, random, sys

plan = random.Random(int(sys.argv[1]))
lines = sys.stdin.buffer
out = sys.stdout.buffer
numbers = ["0", "-1", "1e400", "NaN", "1e308", "9" * 40, "true", "null", "[]", "{}", '"x"', "[" * 2000, '"\\\\ud800"']


def changed(line):
    line = bytearray(line)
    for _ in range(plan.choice([0, 0, 0, 1, 1, 2])):
        at, way = plan.randrange(len(line) + 1), plan.randrange(5)
        if way == 0:
            line[at:at] = bytes(plan.randrange(256) for _ in range(plan.randrange(1, 9)))
        elif way == 1:
            del line[at : at + plan.randrange(1, 30)]
        elif way == 2:
            line[at:at] = plan.choice(numbers).encode()
        elif way == 3:
            line[at:at] = line[: plan.randrange(len(line) + 1)]
        else:
            line += b"\\n"
    return bytes(line)


for line in lines:
    request = json.loads(line)
    if "dp_audit" in request:
        hello = {"dp_audit": 1, "width": plan.choice([1, 1, 1, 2, 3]), "seeded": plan.random() < 0.5}
        width = hello["width"]
        if plan.random() < 0.3:
            hello["columns"] = ["a"] * plan.choice([width, width, 0, 5])
        out.write(changed(json.dumps(hello).encode() + b"\\n"))
    elif plan.random() < 0.5:
        rng = random.Random(request["seed"])
        kinds = [lambda: rng.gauss(0, 1), lambda: rng.choice("ab"), lambda: json.dumps({"n": rng.random()}), lambda: f"about {rng.random()} of 3,5"]
        kind = plan.choice(kinds)
        answer = [[kind() for _ in range(width)] for _ in range(request["count"])]
        out.write(changed(json.dumps(answer).encode() + b"\\n"))
    else:
        import struct

        rng = random.Random(request["seed"])
        cells = [rng.gauss(0, 1) for _ in range(request["count"] * width)]
        block = bytearray(struct.pack(f"<{len(cells)}d", *cells))
        for _ in range(plan.choice([0, 0, 1, 3])):
            at = 8 * plan.randrange(len(cells))
            block[at : at + 8] = struct.pack("<Q", plan.choice([0x7FFD << 48 | plan.randrange(5), 0xFFF8 << 48, 0x7FF0 << 48, plan.getrandbits(64)]))
        names = ["x", "y", "{", '{"a": 1}', "\\u202e", ""]
        symbols = [plan.choice(names) for _ in range(plan.choice([0, 0, 2, 5]))]
        out.write(changed(json.dumps({"count": request["count"], "symbols": symbols}).encode() + b"\\n"))
        out.write(changed(bytes(block)) if plan.random() < 0.2 else bytes(block))
    out.flush()
'''

TOKENS = [
    "nan", "inf", "-inf", "1e308", "-0.0", "1e-320", "9223372036854775807", "-9223372036854775808", "18446744073709551616", "0", "-1", "1e400",
    "true", "null", '""', "[]", "{}", "\\u0000", "\u202e", "\x1b[2J", "∅", "[" * 600, "{" * 600, "'''", '"', "\n", "\r", "[[pair]]", "=", ".", "é",
]
VALUES = [
    None, True, False, 0, -1, 1, 2, 3, 0.5, 1e308, -1e308, 5e-324, 2**53, 2**63 - 1, 2**63, 2**64, -(2**63), "", "x", "inf", "nan", [], {}, [[]],
    [0] * 300, {"": {}}, "∅", "\u202e", "9" * 400,
]


def changed_text(rng, text):
    """Text with one to three changes."""
    for _ in range(rng.choice([1, 1, 2, 3])):
        at = rng.randrange(len(text) + 1)
        end = min(len(text), at + rng.randrange(1, 40))
        way = rng.randrange(8)
        if way == 0:
            text = text[:at] + rng.choice(TOKENS) + text[at:]
        elif way == 1:
            text = text[:at] + text[end:]
        elif way == 2:
            text = text[:at] + text[at:end] * rng.randrange(2, 5) + text[end:]
        elif way == 3:
            text = text[:at]
        elif way == 4:
            lines = text.split("\n")
            one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[one], lines[other] = lines[other], lines[one]
            text = "\n".join(lines)
        else:
            # A number or a word becomes another one.
            words = [index for index in range(len(text)) if text[index].isalnum() and (index == 0 or not text[index - 1].isalnum())]
            if words:
                at = rng.choice(words)
                end = at
                while end < len(text) and (text[end].isalnum() or text[end] in "._-"):
                    end += 1
                text = text[:at] + rng.choice(TOKENS) + text[end:]
    return text


def changed_value(rng, value):
    """A JSON value with one to three changed places."""
    value = json.loads(json.dumps(value))
    for _ in range(rng.choice([1, 1, 2, 3])):
        places = []

        def collect(found):
            keys = found if isinstance(found, dict) else range(len(found)) if isinstance(found, list) else ()
            for key in keys:
                places.append((found, key))
                collect(found[key])

        collect(value)
        if not places:
            return rng.choice(VALUES)
        parent, key = rng.choice(places)
        way = rng.randrange(6)
        if way == 0:
            del parent[key]
        elif way == 1 and isinstance(parent, list):
            parent.extend(copy.deepcopy(parent[key]) for _ in range(rng.choice([1, 2, 40])))
        elif way == 2 and isinstance(parent[key], (int, float)) and not isinstance(parent[key], bool):
            parent[key] = rng.choice([-parent[key], parent[key] + 1, parent[key] * 1e9, parent[key] / 1e9, 2**63 - 1])
        else:
            parent[key] = copy.deepcopy(rng.choice(VALUES))
    return value


def word(mix, number):
    mixed = (mix ^ number) * 0xFF51AFD7ED558CCD & MASK
    return ((mixed << 29 | mixed >> 35) + 0x52DCE729) & MASK


def end(mix):
    mix = (mix ^ mix >> 30) * 0xBF58476D1CE4E5B9 & MASK
    mix = (mix ^ mix >> 27) * 0x94D049BB133111EB & MASK
    return mix ^ mix >> 31


EMPTY = 0x9E3779B97F4A7C15


def checksum(text):
    """The fingerprint of one text, as `src/output/hash.rs` has it."""
    data = text.encode("utf-8", "surrogatepass")

    def half(salt):
        mix = word(word(EMPTY, salt), len(data))
        for byte in data:
            mix = word(mix, byte)
        return end(mix)

    return f"{half(3):016x}{half(4):016x}"


def bytes_hash(data):
    mix = word(EMPTY, len(data))
    for start in range(0, len(data), 1 << 16):
        block = data[start : start + (1 << 16)]
        whole = len(block) // 8 * 8
        for at in range(0, whole, 8):
            mix = word(mix, int.from_bytes(block[at : at + 8], "little"))
        for byte in block[whole:]:
            mix = word(mix, byte)
    return f"{end(mix):016x}"


def dumped(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def changed_lines(rng, text):
    """Lines of JSON, one of them changed as a value, or all as text."""
    if rng.random() < 0.3:
        return changed_text(rng, text)
    lines = text.splitlines()
    index = rng.randrange(len(lines))
    try:
        lines[index] = dumped(changed_value(rng, json.loads(lines[index])))
    except ValueError:
        return changed_text(rng, text)
    return "\n".join(lines) + "\n"


class Mutator:
    """Valid inputs in a folder, and the runs on changed ones."""

    def __init__(self, folder):
        self.folder = Path(folder)
        (self.folder / "count.toml").write_text(AUDIT)
        (self.folder / "worker.py").write_text(WORKER)
        self.run(["run", "count.toml", "--quiet"], check=True)
        self.result = (self.folder / "results" / "audit.json").read_text()
        self.witness = next((self.folder / "results" / "witnesses").iterdir()).read_text()
        for number in (1, 2):
            self.run(["run", "count.toml", "--shard", f"{number}/2", "--out", "shards", "--quiet"], check=True)
        self.shards = {path.name: path.read_text() for path in (self.folder / "shards").iterdir()}
        self.journal = self.interrupted()
        files = [path for path in (ROOT / "audits").rglob("*.toml") if "libraries" not in path.parts]
        self.audits = [text for text in map(Path.read_text, files) if 'mechanism = "command"' not in text] + [AUDIT]
        self.samples = [
            "\n".join(f"{random.gauss(side, 1)},{random.choice('ab')}" for _ in range(300)) + "\n" for side in (0, 1)
        ]

    def interrupted(self):
        """The journal of a run in which one audit cannot be run."""
        broken = AUDIT.replace('"count"', '"broken"', 1).replace('"laplace"', '"command"\ncommand = ["false"]')
        broken = broken[: broken.index("[[accuracy]]")].replace(", scale_factor = 0.5", "")
        (self.folder / "broken.toml").write_text(broken)
        self.run(["run", "count.toml", "broken.toml", "--quiet"])
        return (self.folder / "results" / "audit.csv.journal").read_text()

    def run(self, arguments, check=False):
        """The exit code, what was printed, and what is wrong with it."""

        def limits():
            os.setsid()
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        child = subprocess.Popen(
            [PROGRAM, *arguments, *(["--threads", "2"] if arguments[0] in ("run", "samples", "replay") else [])],
            cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=limits,
        )
        try:
            output, _ = child.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            return f"does not end in {LIMIT} s"
        text = output.decode("utf-8", "replace")
        if check and child.returncode != 0:
            sys.exit(f"{' '.join(arguments)}: exit code {child.returncode}\n{text}")
        if child.returncode in INTERNAL or child.returncode < 0 or "panicked" in text:
            return f"exit code {child.returncode}: {text[-600:]}"
        if "\x1b" in text or "\u202e" in text:
            return f"prints a control character: {text[-600:]!r}"
        return None

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)

    def audit_files(self, rng):
        self.write("changed.toml", changed_text(rng, rng.choice(self.audits)))
        how = rng.choice([["run", "changed.toml", "--csv", "c.csv", "--no-programs", "--draws", "2000", "--max-seconds", "2", "--quiet"],
                          ["run", "changed.toml", "--csv", "c.csv", "--no-programs", "--draws", "64", "--html", "c.html", "--json", "c.json"],
                          ["show", "changed.toml", "--plain"]])
        return self.run(how)

    def shard_files(self, rng):
        name = rng.choice(list(self.shards))
        for other, text in self.shards.items():
            self.write(f"changed/{other}", text)
        text = changed_lines(rng, self.shards[name])
        if rng.random() < 0.5:
            # With the right hash.
            lines = text.splitlines(keepends=True)[:-1]
            body = "".join(lines)
            text = body + dumped({"hash": bytes_hash(body.encode("utf-8", "surrogatepass"))}) + "\n"
        self.write(f"changed/{name}", text)
        return self.run(["merge", "changed", "--csv", "c.csv", "--html", "c.html", "--json", "c.json"])

    def unfinished_shards(self, rng):
        name = "shard-1-of-2.jsonl"
        text = "".join(self.shards[name].splitlines(keepends=True)[:-1])
        self.write(f"changed/{name}", changed_lines(rng, text))
        return self.run(["run", "count.toml", "--shard", "1/2", "--out", "changed", "--resume", "--quiet"])

    def witnesses(self, rng):
        if rng.random() < 0.3:
            text = changed_text(rng, self.witness)
        else:
            value = json.loads(self.witness)
            value["witness"] = changed_value(rng, value["witness"])
            text = dumped(value)
            if isinstance(value["witness"], dict):
                # The program writes keys in alphabetical order.
                value["checksum"] = checksum(json.dumps(value["witness"], ensure_ascii=False, separators=(",", ":"), sort_keys=True))
                text = dumped(value)
        self.write("changed.json", text)
        return self.run(["replay", "changed.json", "count.toml", "--draws", "2000", "--seed", "1"])

    def results(self, rng):
        if rng.random() < 0.3:
            text = changed_text(rng, self.result)
        else:
            value = json.loads(self.result)
            part = rng.choice(["run", "run", "audits", "settings"])
            value[part] = changed_value(rng, value[part])
            text = dumped(value)
        self.write("changed.json", text)
        if rng.random() < 0.3:
            return self.run(["compare", "changed.json", "results/audit.json", "--verbose"])
        formats = [("html", "html"), ("junit", "xml"), ("code-quality", "quality"), ("markdown", "md"), ("csv", "csv")]
        return self.run(["report", "changed.json", "--verbose", "--plots", "plots", *(f"--{name}=c.{end}" for name, end in formats)])

    def journals(self, rng):
        self.write("results/audit.csv.journal", changed_lines(rng, self.journal))
        return self.run(["run", "count.toml", "broken.toml", "--resume", "--html", "c.html", "--json", "c.json"])

    def sample_files(self, rng):
        left, right = self.samples
        texts = [changed_text(rng, left) if rng.random() < 0.7 else left, changed_text(rng, right)]
        for name, text in zip("lr", texts):
            data = bytearray(text.encode("utf-8", "surrogatepass"))
            if rng.random() < 0.2:
                data[rng.randrange(len(data) + 1) :][:1] = bytes([rng.randrange(256)])
            self.write(f"{name}.csv", bytes(data))
        return self.run(["samples", "--left", "l.csv", "--right", "r.csv", "--claim-epsilon", "1", "--csv", "c.csv"])

    def answers(self, rng):
        text = AUDIT[: AUDIT.index("[[accuracy]]")].replace(", scale_factor = 0.5", "").replace("draws = 4000", "draws = 2000\ntimeout = 3")
        text = text.replace('"laplace"', f'"command"\ncommand = ["python3", "worker.py", "{rng.randrange(1 << 30)}"]')
        self.write("program.toml", text)
        return self.run(["run", "program.toml", "--csv", "c.csv", "--json", "c.json"])


KINDS = ["audit_files", "shard_files", "unfinished_shards", "witnesses", "results", "journals", "sample_files", "answers"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60, help="how long (60)")
    parser.add_argument("--seed", type=int, help="of all changes (a new one)")
    parser.add_argument("--only", choices=KINDS, help="one kind of input")
    parser.add_argument("--keep", type=Path, help="a folder for inputs that fail")
    options = parser.parse_args()
    seed = int.from_bytes(os.urandom(4), "big") if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    kinds = [options.only] if options.only else KINDS
    counts, failures, deadline = dict.fromkeys(kinds, 0), 0, time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as folder:
        random.seed(0)
        mutator = Mutator(folder)
        number = 0
        while time.monotonic() < deadline:
            kind = kinds[number % len(kinds)]
            problem = getattr(mutator, kind)(random.Random(f"{seed} {kind} {number}"))
            counts[kind] += 1
            if problem:
                failures += 1
                print(f"FAIL {kind} number {number}: {problem}", flush=True)
                if options.keep:
                    shutil.copytree(folder, options.keep / f"{kind}-{seed}-{number}", dirs_exist_ok=True)
            number += 1
    print(", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in counts.items()))
    if failures:
        sys.exit(f"{failures} failed")
    print("Nothing fell over.")


if __name__ == "__main__":
    main()
