#!/usr/bin/env python3
"""Lets dp-audit audit a mechanism written in Python. Needs only the standard library of Python 3.10 or later.

A mechanism is a function of a dataset, a random generator and the audit file's params. It makes one draw:

    def noisy_count(data, rng, epsilon):
        return len(data) + math.log((1 - rng.random()) / (1 - rng.random())) / epsilon

The audit file names the function. The file with the function does not need to know about dp-audit, and {worker} stands for this program:

    mechanism = "command"
    command = ["python3", "{worker}", "my_mechanism.py:noisy_count"]
    params = { epsilon = 1.0 }

`package.module:function`, `my_mechanism.py:Class.method` and `my_mechanism.py:object.method` work too. A class is instantiated once, without
arguments. Your own program can import this file and call serve(function) or serve_batch(function) instead; `dp-audit export` writes a copy of it.

`rng` is a random.Random on every machine, whether numpy is installed or not. With the option `--rng numpy` it is a numpy Generator. The global
generators of both are seeded too.

A vectorised function also takes `count` and returns that many draws at once (option --batch).

An output is whatever an attacker sees:

    a number, a string, None            one cell
    a list, a tuple, an array           one cell for each entry; shorter outputs end with absent cells
    lists in a list, all of one length  the same as an array of two dimensions
    a dict, a dataclass, other lists    a JSON text, which dp-audit takes apart again
    a set                               a JSON text: its numbers in order, or which members it has
    an exception                        the symbol `error: ValueError: its message` (--no-messages: without the message)

Types, digits beyond a double, masks and indexes are the form of an output, which is audited too.

A vectorised function must not raise an exception: nobody knows which of its draws failed, so the audit ends.

What the attacker knows, for example the inverse of a hash, is a function of one output that returns a dictionary of further columns
(option --features):

    def knowledge(output):
        return {"user": inverse_hash(output)}

docs/protocol.md describes the messages in the pipes.
"""

import time

BEGUN = time.monotonic()  # before the other imports, because they take time too

import argparse
import copy
import dataclasses
import datetime
import difflib
import enum
import functools
import importlib
import importlib.util
import inspect
import itertools
import json
import math
import os
import random
import re
import select
import struct
import sys
import traceback
from array import array

try:
    import numpy
except ImportError:
    numpy = None

VERSION = 1
SYMBOL = 0x7FFD << 48  # a NaN with these upper bits is the symbol whose place the lower bits give
ABSENT = "∅"
TRIALS = 16  # draws of each side, before the audit, that show how wide outputs are and whether seeds are honoured
TRIAL_SECONDS = 1  # if the trials would take longer, there are fewer; a time limit of the audit may ask for less


# What to change where a function does not fit. dp_audit.audit() has its own words for the same.
HINTS = {
    "python": "rng is a random.Random; for a numpy Generator, add \"--rng\", \"numpy\" to the command",
    "numpy": "rng is a numpy Generator; for a random.Random, remove \"--rng\", \"numpy\" from the command",
    "batch": "a function with --batch returns a list or an array of `count` draws",
    "features": "the function for --features",
}


class Refusal(Exception):
    """The mechanism cannot be audited; the message says why."""

    key = "error"


class Misfit(Refusal):
    """The mechanism cannot be audited on these datasets: it shows nothing on them. Others may do."""

    key = "misfit"


class Failure:
    """The output of a draw that raised an exception."""

    def __init__(self, error, messages, rng, hints):
        self.hint = f"; {about(rng, hints)}" if is_about_generator(error, rng) else ""
        message = without_addresses(str(error)) if messages else ""
        self.symbol = f"error: {type_name(type(error))}" + (f": {message}" if message else "")


def without_addresses(text):
    """The text without addresses of objects (`<Table object at 0x7f3a2c10d5e0>`), which differ from process to process and say nothing about the data.

    All other hexadecimal numbers stay.
    """
    return re.sub(r"(?<= at )0x[0-9a-fA-F]{6,16}\b", lambda found: "0x…" if is_address(int(found[0], 16)) else found[0], text)


def is_address(number):
    """Whether a number is an address in the memory of this process."""
    if any(first <= number < end for first, end in memory):
        return True
    try:
        with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
            memory[:] = [tuple(int(address, 16) for address in line.split(maxsplit=1)[0].split("-")) for line in maps]
    except (OSError, ValueError):
        return number >> 32 != 0  # where the system does not tell: what no small program has below
    return any(first <= number < end for first, end in memory)


memory = []  # the parts of this process's memory: the first address, and the first one behind them


def serve(mechanism, width=None, seeded=None, features=None, rng="python", messages=True):
    """Serves `mechanism(data, rng, **params)`, which makes one draw.

    width: cells per output, where the first few outputs show too few. Not needed: a longer output has its end in its last cell, as JSON.
    seeded: whether the same seed gives the same draws; tried out if absent.
    features: a function of one output that returns a dictionary of further columns.
    rng: "python" for a random.Random, "numpy" for a numpy Generator.
    messages: whether the message of an exception is part of the output.
    """

    forks = Forks()

    def draws(data, rng, count, **params):
        outputs = []
        for _ in range(count):
            try:
                outputs.append(mechanism(data, rng, **params))
            except Exception as error:
                forks.check()
                refuse_generator(error, rng, HINTS)
                tell_once(error)
                outputs.append(Failure(error, messages, rng, HINTS))
            forks.check()
        forks.check(last=True)
        return outputs

    fits = functools.partial(check_signature, lambda data, params: inspect.signature(mechanism).bind(data, None, **params))
    run(draws, fits, width, seeded, features, rng)


def serve_batch(mechanism, width=None, seeded=None, features=None, rng="python"):
    """Serves `mechanism(data, rng, count, **params)`, which makes `count` independent draws: an array or list with one entry or row for each."""

    forks = Forks()

    def draws(data, rng, count, **params):
        try:
            return mechanism(data, rng, count, **params)
        except Exception as error:
            forks.check()
            refuse_generator(error, rng, HINTS)
            raise
        finally:
            forks.check(last=True)

    fits = functools.partial(check_signature, lambda data, params: inspect.signature(mechanism).bind(data, None, TRIALS, **params))
    run(draws, fits, width, seeded, features, rng)


class Forked:
    """The forks of this process: how many there were, and a pipe in which children tell that they came back."""

    def __init__(self):
        self.count = 0
        self.owner = None  # the process whose children write to the pipe
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self.open, after_in_parent=self.add)

    def open(self):
        if self.owner is None:
            self.came_back, self.tell = os.pipe()
            self.owner = os.getpid()

    def add(self):
        self.count += 1


class Forks:
    """Notices a mechanism that forks and returns in both processes. The child ends after its draw, and the parent refuses the mechanism.

    Processes that a mechanism starts and that do not return to it, as those of multiprocessing and subprocess, are its own business.
    """

    PATIENCE = 0.2  # seconds that a child may need to come back, after the last draw of a request

    def __init__(self):
        self.process = os.getpid()
        self.seen = forked.count
        if forked.owner != self.process:
            forked.owner = None  # the pipe of the process that started this one

    def check(self, last=False):
        """Called after each draw, and after the last one of a request."""
        if os.getpid() != self.process:
            os.write(forked.tell, b".")
            os._exit(70)
        if self.seen == forked.count:
            return
        if select.select([forked.came_back], [], [], self.PATIENCE if last else 0)[0]:
            os.read(forked.came_back, 1 << 16)
            raise Refusal("the mechanism calls os.fork and returns in both processes; let the child end with os._exit, or use multiprocessing")
        if last:
            self.seen = forked.count


forked = Forked()

told = set()


def tell_once(error):
    """Shows the first exception of each kind on standard error, which dp-audit shows if the audit fails."""
    if type(error) not in told:
        told.add(type(error))
        traceback.print_exception(error)


def check_signature(bind, data, params):
    """Refuses a function that does not take the params of the audit file."""
    try:
        bind(data, params)
    except TypeError as error:
        raise Refusal(f"the function does not take what the audit file gives it: {error}; params are {params}") from None
    except ValueError:
        pass  # some functions that are written in C do not say what they take


reusable = True  # whether this process may serve another pair of datasets


def run(draws, fits, width, seeded, features, kind):
    """Answers requests until there are no more. Each pair of datasets begins with a greeting."""
    requests, answers = pipes()
    try:
        for line in requests:
            request = json.loads(line)
            if "dp_audit" in request:
                start_up = time.monotonic() - BEGUN
                if request["dp_audit"] != VERSION:
                    raise Refusal(f"this worker speaks version {VERSION} of the protocol")
                sides = {side: [record(value) for value in request[side]] for side in ("left", "right")}
                originals = copy.deepcopy(sides)
                params = request["params"]
                generator = generators(kind)
                fits(sides["left"], params)
                columns, honours_seeds = try_out(draws, sides, params, width, seeded, features, generator, request)
                if "width" in request:
                    columns.set_width(request["width"])
                hello = {"dp_audit": VERSION, "width": columns.width + len(columns.names), "seeded": honours_seeds, "reusable": reusable, "start_up": start_up}
                names = columns.all_names()
                answers.write(message(hello | ({"columns": names} if names else {})))
                answers.flush()
                continue
            side = request["side"]
            outputs = draws(sides[side], generator(int(request["seed"], 16)), request["count"], **params)
            if sides[side] != originals[side]:
                raise Refusal("the mechanism changed its dataset, so its draws are not independent; let it work on a copy")
            count, symbols, block, forms = columns.pack(outputs)
            answers.write(message({"count": count, "symbols": symbols, "forms": forms}))
            if sys.byteorder == "big":
                block = block.byteswap() or block  # an array has swapped itself
            answers.write(block)
            answers.flush()
    except BrokenPipeError:
        sys.exit(1)
    except Exception as error:
        if not isinstance(error, Refusal):
            traceback.print_exc()
            error = Refusal(f"{type(error).__name__}: {error}")
        give_up(error)


def record(value):
    """A record of a dataset: {"number": "nan"} stands for a number that JSON does not have."""
    if isinstance(value, list):
        return [record(field) for field in value]
    return float(value["number"]) if isinstance(value, dict) else value


def give_up(refusal):
    """Tells dp-audit why the mechanism cannot be audited."""
    _, answers = pipes()
    answers.write(message({refusal.key: str(refusal)}))
    answers.flush()
    sys.exit(1)


@functools.cache
def pipes():
    """The way to dp-audit and back. Whatever the mechanism prints goes to standard error from now on, not between the answers."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return requests, answers


def message(content):
    return json.dumps(content).encode() + b"\n"


def generators(kind):
    """The function that makes a generator from a seed. It seeds the global ones too, for mechanisms that use these, with other streams."""
    if kind not in ("python", "numpy"):
        raise Refusal(f"rng is {kind!r}, must be \"python\" or \"numpy\"")
    if kind == "numpy" and numpy is None:
        raise Refusal(f"--rng numpy needs numpy, and {sys.executable} has none; run `{sys.executable} -m pip install numpy`, or name another Python in `command`")

    def generator(seed):
        random.seed(f"global {seed}")
        if numpy is not None:
            numpy.random.seed([*(seed >> shift & 0xFFFFFFFF for shift in (0, 32, 64, 96)), 1])
        return own_generator(kind, seed)

    return generator


def own_generator(kind, seed):
    """The generator that a mechanism gets."""
    return random.Random(seed) if kind == "python" else numpy.random.default_rng(seed)


def about(rng, hints):
    """What the generator is, and how to get the other one."""
    return hints["python" if isinstance(rng, random.Random) else "numpy"]


def refuse_generator(error, rng, hints):
    """A mechanism that asks the wrong kind of generator for something is not audited: its exception says nothing about the mechanism."""
    if isinstance(error, AttributeError) and error.obj is rng:
        raise Refusal(f"rng has no {error.name}: {about(rng, hints)}") from None


def is_about_generator(error, rng):
    """Whether a method of the generator did not take its arguments: the other kind may have a method of this name that does."""
    method = re.match(r"(?:\w+\.)?(\w+)\(\) ", str(error))
    return isinstance(error, TypeError) and method is not None and hasattr(rng, method[1])


class Columns:
    """The cells of an output, and the columns that a function computes from it."""

    def __init__(self, width, features, trials, hints):
        self.features = features
        self.hints = hints
        shapes = {shape(output) for output in trials if not isinstance(output, Failure)}
        # Lists in lists are flattened if all have one shape; otherwise the shape would be lost.
        self.shape = shapes.pop() if len(shapes) == 1 else None
        self.width = max(width or 1, *(len(self.cells(output)) for output in trials))
        # The names in the order in which they first occur.
        self.names = list({name: None for output in trials for name in self.of(output)})

    def set_width(self, width):
        """Takes over the width of another process, whose trials may have shown other outputs."""
        self.width = max(width - len(self.names), 1)
        if self.shape and math.prod(self.shape) != self.width:
            self.shape = None

    def of(self, output):
        """The further columns of one output."""
        if self.features is None or isinstance(output, Failure):
            return {}
        found = self.features(output)
        if not isinstance(found, dict):
            raise Refusal(f"{self.hints['features']} returned a {type(found).__name__}; it must return a dictionary of columns")
        return {str(name): value for name, value in found.items()}

    def all_names(self):
        """The names of all columns, with the indices that Python has; none for a single number."""
        if not (self.names or self.shape or self.width > 1):
            return []
        if self.shape and math.prod(self.shape) == self.width:
            places = itertools.product(*map(range, self.shape))
            own = ["y" + "".join(f"[{index}]" for index in place) for place in places]
        else:
            own = ["y"] if self.width == 1 else [f"y[{index}]" for index in range(self.width)]
        return own + self.names

    def pack(self, outputs):
        """The outputs as a block of doubles: how many there are, the symbols in the order of their places, an array of the doubles, and the forms
        of the outputs: one for each, or one for all."""
        if not self.names:
            packed = pack_arrays(outputs, self.shape, self.width) or pack_numbers(outputs, self.shape, self.width)
            if packed is not None:
                block, forms = packed
                return len(outputs), [], block, forms
        codes = Codes()
        encoded = array("d", [encode(cell, codes) for output in outputs for cell in self.row(output)])
        return len(outputs), list(codes), encoded, joined(form(output) for output in outputs)

    def same(self, outputs, others):
        """Whether outputs are equal, NaN included."""
        (*one, block, forms), (*other, other_block, other_forms) = self.pack(outputs), self.pack(others)
        return one == other and forms == other_forms and bytes(block) == bytes(other_block)

    def row(self, output):
        """The cells of an output and its further columns, in the full width."""
        row = self.cells(output)
        if len(row) > self.width:
            row = [*row[: self.width - 1], list(row[self.width - 1 :])]
        elif len(row) < self.width:
            row = [*row, *[ABSENT] * (self.width - len(row))]
        if self.names:
            found = self.of(output)
            unknown = [name for name in found if name not in self.names]
            if unknown:
                raise Refusal(f"{self.hints['features']} returned the new column {unknown[0]!r}; it must return the same columns for all outputs")
            row = [*row, *[found.get(name, ABSENT) for name in self.names]]
        return row

    def cells(self, output):
        """The cells of an output, as many as it has."""
        if isinstance(output, Failure):
            return [output.symbol]
        if shape(output) != self.shape:
            return [output]  # a table of another shape is one text
        if hasattr(output, "tolist"):
            output = entries_of(output)
        if not isinstance(output, (list, tuple)):
            return [output]
        return flatten(output, self.shape) if self.shape else output


def try_out(draws, sides, params, width, seeded, features, generator, greeting, hints=HINTS):
    """Finds out what was not said: the columns of an output, and whether the same seed gives the same draws."""

    def trial(seed, count):
        found = [draws(data, generator(seed), count, **params) for data in sides.values()]
        for outputs in found:
            if not hasattr(outputs, "__len__") or len(outputs) != count:
                what = f"{len(outputs)} outputs" if hasattr(outputs, "__len__") else f"a {type(outputs).__name__}"
                raise Refusal(f"asked for {count} output{'s' * (count > 1)}, got {what}; {hints['batch']}")
        return found

    # The first draws have a seed that no other process has. If a mechanism keeps its noise, it is other noise in each process, and dp-audit sees it.
    own = int.from_bytes(os.urandom(16), "big")
    begun = time.monotonic()
    trials = trial(own, 1)
    # As many as the time allows: there are three rounds of them.
    allowed = int(min(TRIAL_SECONDS, greeting.get("seconds", TRIAL_SECONDS)) / 3 / max(time.monotonic() - begun, 1e-9))
    is_slow = allowed < 1 and not only_failures(trials)
    count = 1 if is_slow else TRIALS if only_failures(trials) else min(TRIALS, allowed)
    if is_slow:
        # Every draw costs time, so the first ones do, and what another process has found out is believed.
        seeded = greeting.get("seeded") if seeded is None else seeded
    else:
        if count > 1:
            trial(own, count)
        own, trials = 1, trial(1, count)
    if only_failures(trials):
        refuse_same_failures(trials)
    columns = Columns(width, features, [output for outputs in trials for output in outputs], hints)
    if seeded is None:
        seeded = all(columns.same(one, other) for one, other in zip(trials, trial(own, count)))
    return columns, seeded


def only_failures(trials):
    return all(isinstance(output, Failure) for outputs in trials for output in outputs)


def refuse_same_failures(trials):
    """If a mechanism fails on both datasets, only two messages that tell them apart are worth an audit."""
    failure = trials[0][0]
    left, right = ({output.symbol for output in outputs} for outputs in trials)
    text = f"the mechanism only fails, on both datasets ({failure.symbol})"
    if left == right and len(left) == 1:
        # An exception about the generator is no fault of the datasets.
        refusal = Refusal if failure.hint else Misfit
        raise refusal(f"{text}; that is private, but hardly what is to be audited{failure.hint}")
    if failure.hint or left & right or len(left) > 1 or len(right) > 1:
        raise Refusal(f"{text}, with one message or another; let it work on these datasets, or always fail with the same message{failure.hint}")


def shape(output):
    """The shape of a table of two or more dimensions, such as (2, 3); None for anything else."""
    if numpy is not None and isinstance(output, numpy.ndarray):
        return output.shape if output.ndim > 1 else None
    if not isinstance(output, (list, tuple)) or not output or not isinstance(output[0], (list, tuple)):
        return None
    inner = {(len(row), shape(row)) if isinstance(row, (list, tuple)) else None for row in output}
    if len(inner) > 1:
        return None
    length, deeper = inner.pop()
    if length == 0 or deeper is None and any(isinstance(entry, (list, tuple)) for row in output for entry in row):
        return None
    return (len(output), *(deeper or (length,)))


def flatten(table, shape):
    """The entries of a table, row after row."""
    for _ in shape[1:]:
        table = list(itertools.chain.from_iterable(table))
    return table


def pack_arrays(outputs, expected, width):
    """The fastest way: an array of numbers for all outputs, or one for each."""
    if numpy is None or len(outputs) == 0:
        return None
    numbers = outputs
    if not isinstance(outputs, numpy.ndarray):
        wanted, first = expected or (width,), outputs[0]
        if not isinstance(first, numpy.ndarray):
            return None
        if not all(type(output) is type(first) and output.shape == wanted and output.dtype == first.dtype for output in outputs):
            return None
        # What is under a mask is released too.
        numbers = numpy.array([numpy.ma.getdata(output) for output in outputs])
    numbers = numpy.ma.getdata(numbers)
    if numbers.dtype.kind not in "fiub" or numbers.size != len(numbers) * width or expected and numbers.shape[1:] != expected or is_lossy(numbers):
        return None
    if isinstance(outputs, numpy.ma.MaskedArray):
        forms = joined(form(outputs[place : place + 1]) for place in range(len(outputs)))
    elif isinstance(outputs[0], numpy.ma.MaskedArray):
        forms = joined(map(form, outputs))
    else:
        forms = [form(outputs[0])]
    return numpy.ascontiguousarray(numbers, float), forms


def is_lossy(numbers):
    """Whether doubles do not have all digits of an array of numbers."""
    if numbers.dtype.kind in "iu" and numbers.dtype.itemsize == 8:
        return numbers.size > 0 and (numbers.max() > MAX_WHOLE or numbers.min() < -MAX_WHOLE)
    return numbers.dtype.itemsize > 8


def pack_numbers(outputs, expected, width):
    """The second fastest: numbers only, all rows of full width."""
    try:
        flat = outputs
        if expected:
            if not all(shape(output) == expected for output in outputs):
                return None
            flat = [flatten(output, expected) for output in outputs]
        if width > 1:
            if not all(isinstance(row, (list, tuple)) and len(row) == width for row in flat):
                return None
            flat = list(itertools.chain.from_iterable(flat))
        block, types = array("d", flat), set(map(type, flat))
        whole = {kind for kind in types if not has_double(kind)}
        if whole and (not all(map(is_whole, whole)) or max(flat) > MAX_WHOLE or min(flat) < -MAX_WHOLE):
            return None
        alike = len(types) == 1 and len(set(map(type, outputs))) == 1 and not expected
        return block, [form(outputs[0])] if alike else joined(map(form, outputs))
    except (TypeError, ValueError, OverflowError, IndexError):
        return None


def has_double(kind):
    """Whether each number of a type is a double."""
    if issubclass(kind, (float, bool)):
        return True
    return numpy is not None and issubclass(kind, (numpy.floating, numpy.bool_)) and numpy.dtype(kind).itemsize <= 8


def is_whole(kind):
    """Whether a type has whole numbers only."""
    return issubclass(kind, int) or numpy is not None and issubclass(kind, numpy.integer)


MAX_WHOLE = 2**53  # doubles have all whole numbers up to this
PLAIN_TEXTS = {"∅", "NaN", "null", "true", "false"}  # texts that look like other values
NUMBERS = {float: "float", int: "int", bool: "bool"}


def joined(forms):
    """One form, if all are the same."""
    forms = list(forms)
    return forms[:1] if forms and forms.count(forms[0]) == len(forms) else forms


def type_name(kind):
    """The name of a type, with its module unless that is `builtins`."""
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def form(output):
    """What an attacker sees of an output beside its cells: types, digits beyond a double, a mask, an index. None if its cells show everything."""
    known = NUMBERS.get(type(output))
    if known is not None and (known != "int" or -MAX_WHOLE <= output <= MAX_WHOLE):
        return known
    if isinstance(output, Failure) or output is None:
        return None
    if type(output) is str:
        return "str" if output in PLAIN_TEXTS or output.startswith(("error: ", "{", "[")) else None
    notes = {}
    note(output, "", notes, True)
    kind = notes.pop("", None) or type_name(type(output))
    return json.dumps({"type": kind, **notes}) if notes else kind


def note(value, path, notes, is_cell):
    """Adds what JSON does not show of a value, or a double of a cell, to the notes."""
    kind = type(value)
    if value is None or kind is str and not (is_cell and path and form(value)):
        return
    if kind in NUMBERS and (not is_cell or kind is float or -MAX_WHOLE <= value <= MAX_WHOLE):
        if is_cell:
            notes[path] = NUMBERS[kind]
        elif value != value and math.copysign(1, value) < 0:
            notes[path] = "-NaN"
        return
    if kind is dict:
        for key, entry in value.items():
            if type(key) is not str:
                notes[f"{path}.{key} key"] = type_name(type(key))
            note(entry, f"{path}.{key}", notes, False)
        return
    if kind in (list, tuple):
        note_entries(value, path, notes, is_cell)
        if kind is tuple or not path:
            notes[path] = " of ".join([type_name(kind), *([notes[path]] if path in notes else [])])
        return
    name = type_name(kind)
    if isinstance(value, int):  # also beyond a double, and other types of whole numbers
        notes[path] = name if -MAX_WHOLE <= value <= MAX_WHOLE else f"{name} {int(value)}"
    elif isinstance(value, float):
        notes[path] = name
    elif numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        note_array(value, path, notes, name)
    elif type(value).__name__ in ("Series", "DataFrame") and hasattr(value, "index"):
        note_frame(value, path, notes, name)
    elif dataclasses.is_dataclass(value):
        notes[path] = name
        for field in dataclasses.fields(value):
            note(getattr(value, field.name), f"{path}.{field.name}", notes, False)
    elif hasattr(value, "__float__") and not hasattr(value, "tolist"):
        written = str(value)
        notes[path] = name
        if written != repr(float(value)):
            notes[f"{path} exact".lstrip()] = written
    else:
        notes[path] = f"{name}, fold" if getattr(value, "fold", 0) else name  # the later of two equal times


def note_entries(values, path, notes, are_cells):
    """The notes on the entries of a list. If all numbers have one type, that is said once."""
    types = set(map(type, values)) - {str, type(None)}
    if len(types) == 1 and types <= NUMBERS.keys() and not any(type(value) is str and form(value) for value in values):
        (kind,) = types
        if kind is float or all(value is None or type(value) is str or -MAX_WHOLE <= value <= MAX_WHOLE for value in values):
            if are_cells:
                notes[path] = NUMBERS[kind]
            if are_cells or kind is not float:
                return
    for place, value in enumerate(values, 1):
        note(value, f"{path}[{place}]", notes, are_cells)


def note_array(value, path, notes, name):
    """The notes on an array or a number of numpy."""
    notes[path] = f"{name} of {value.dtype}" if isinstance(value, numpy.ndarray) else name
    if isinstance(value, numpy.ma.MaskedArray):
        notes[f"{path} mask".lstrip()] = numpy.ma.getmaskarray(value).astype(int).tolist()
        if value is not numpy.ma.masked:
            notes[f"{path} fill value".lstrip()] = str(value.fill_value)
    if value.dtype.kind == "O" or value.dtype.kind in "fiu" and value.size and is_lossy(value):
        exact = [str(number) for number in numpy.ma.getdata(value).reshape(-1).tolist()] if value.dtype.kind != "O" else None
        if exact is None:
            note_entries(value.reshape(-1).tolist(), f"{path} entries".lstrip(), notes, True)
        else:
            notes[f"{path} exact".lstrip()] = exact if isinstance(value, numpy.ndarray) else exact[0]


def note_frame(value, path, notes, name):
    """The notes on a series or a frame of pandas: what its values, as lists, do not show."""
    index = value.index
    notes[path] = name
    notes[f"{path} types".lstrip()] = [type_of_values(kind) for kind in (value.dtypes if name.endswith("DataFrame") else [value.dtype])]
    if getattr(value, "name", None) is not None and not name.endswith("DataFrame"):
        notes[f"{path} name".lstrip()] = plain(value.name)
    if not (type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)):
        notes[f"{path} index".lstrip()] = [plain(label) for label in index]
        notes[f"{path} index type".lstrip()] = f"{type(index).__name__} of {getattr(index, 'dtype', '')}"
    for axis, names in (("index", index.names), ("column", value.columns.names if name.endswith("DataFrame") else [])):
        if any(label is not None for label in names):
            notes[f"{path} {axis} names".lstrip()] = [plain(label) for label in names]


def type_of_values(kind):
    """The type of the values of a series. Categories are part of it, and so is their order."""
    categories = getattr(kind, "categories", None)
    return str(kind) if categories is None else [str(kind), [plain(category) for category in categories], bool(kind.ordered)]


def entries_of(value):
    """An array or a series as a list. What is under a mask is part of it."""
    if numpy is not None and isinstance(value, numpy.ma.MaskedArray):
        value = value.data
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)) and value.dtype.kind == "f" and value.dtype.itemsize > 8:
        value = value.astype(float)  # tolist() leaves long doubles as they are
    return value.tolist()


class Codes(dict):
    """The symbols of a block, and the NaN that stands for each."""

    def __missing__(self, symbol):
        if not symbol.isascii():
            try:
                symbol.encode()
            except UnicodeEncodeError as error:
                raise Refusal(f"a text is not valid Unicode ({error}); decode bytes as UTF-8, or return them as bytes") from None
        self[symbol] = struct.unpack("=d", struct.pack("=Q", SYMBOL | len(self)))[0]
        return self[symbol]


def encode(cell, codes):
    """A number as it is, anything else as the NaN of its symbol."""
    if not isinstance(cell, str):
        cell = plain(cell)
        if isinstance(cell, (int, float)):
            try:
                return float(cell)
            except OverflowError:
                return math.copysign(math.inf, cell > 0 or -1)
        if not isinstance(cell, str):
            cell = json.dumps(cell)
    return codes[cell]


def plain(value):
    """A value as JSON has them: None, a number, a string, a list or a dictionary of these."""
    if value is None or isinstance(value, (float, int, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, dict):
        return plain_members(value.items())
    if isinstance(value, (set, frozenset)):
        return plain_set([plain(entry) for entry in value])
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, (enum.Enum, datetime.date, datetime.time, datetime.timedelta)) or type(value).__name__ == "NAType":
        return str(value)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).hex()
    if hasattr(value, "tolist"):
        return plain(entries_of(value))
    if type(value).__name__ == "DataFrame":
        return plain_members((label, value.iloc[:, place]) for place, label in enumerate(value.columns))
    if hasattr(value, "__float__"):
        return float(value)
    raise Refusal(
        f"a {type(value).__name__} cannot be an output; return what an attacker sees of it: numbers, strings, None, or lists, sets, dictionaries and dataclasses of these"
    )


def plain_members(members):
    """A dictionary whose keys are texts. Keys that become the same text stay apart."""
    found = {}
    for key, entry in members:
        name = key if isinstance(key, str) else json.dumps(plain(key))
        while name in found:
            name += " again"
        found[name] = plain(entry)
    return found


def plain_set(members):
    """A set has no order. Numbers with a fraction are sorted; of anything else one sees which members it has."""
    if members and all(isinstance(member, (int, float)) for member in members) and any(isinstance(member, float) for member in members):
        return sorted(members)
    if all(isinstance(member, str) for member in members):
        return {member: True for member in sorted(members)}
    return {name: True for name in sorted(json.dumps(member) for member in members)}


def load(path):
    """The module of a Python file, or a module by its name, and how to call it in messages."""
    sys.path.insert(0, os.getcwd())
    if not path.endswith(".py") and not os.path.isfile(path):
        return importlib.import_module(path)
    if not os.path.isfile(path):
        raise Refusal(f"there is no Python file {path} in {os.getcwd()}")
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    name = os.path.splitext(os.path.basename(path))[0]
    if name in sys.modules:
        name = f"audited_{name}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise Refusal(f"{path} is no Python file; its name must end with .py")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look themselves up here.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        if "relative import" in str(error):
            traceback.print_exc()
            raise Refusal(f"{path} is part of a package ({error}); name it by its module, as in package.module:function") from None
        raise
    return module


def find(module, path, name):
    """The function with this name, which may be in a class or an object: `Class.method`."""
    found = module
    for part in name.split("."):
        owner = found
        found = getattr(owner, part, None)
        if found is None:
            own = [known for known in dir(owner) if getattr(getattr(owner, known), "__module__", None) == module.__name__]
            names = [known for known in own if not known.startswith("_") and callable(getattr(owner, known))]
            close = difflib.get_close_matches(part, names, 1)
            hint = f"did you mean {close[0]}?" if close else f"it has {', '.join(names) or 'none'}"
            raise Refusal(f"{path} has no function {name}; {hint}")
        if inspect.isclass(owner) and inspect.isfunction(inspect.getattr_static(owner, part)):
            found = getattr(instance(owner), part)
    if inspect.isclass(found):
        found = instance(found)
    if not callable(found):
        raise Refusal(f"{name} in {path} is a {type(found).__name__} and cannot be called; name a function, or an object with a method __call__")
    return found


def instance(owner):
    try:
        return owner()
    except TypeError as error:
        raise Refusal(f"{owner.__name__} needs arguments ({error}); name a function that makes the object, or an object of the file") from None


def main():
    parser = argparse.ArgumentParser(description="Serves a Python function to dp-audit.")
    parser.add_argument("function", metavar="FILE[:FUNCTION]", help="the function to audit, `mechanism` if absent; also package.module:function and FILE:Class.method")
    parser.add_argument("--batch", action="store_true", help="the function takes `count` and returns that many draws")
    parser.add_argument("--rng", choices=["python", "numpy"], default="python", help="rng is a random.Random (python) or a numpy Generator (numpy); python if absent")
    parser.add_argument("--width", type=int, metavar="N", help="cells per output, if most outputs are longer than the first few show")
    parser.add_argument("--unseeded", action="store_true", help="the function ignores seeds; found out if absent, unless outputs hardly vary")
    parser.add_argument("--no-messages", action="store_true", help="the output of an exception is its type, without its message")
    parser.add_argument("--features", metavar="FUNCTION", help="a function of the same file: output → dictionary of further columns that the attacker knows")
    parser.add_argument("--fresh", action="store_true", help="start new processes for each pair, for a module that keeps something of the data")
    options = parser.parse_args()
    global reusable
    reusable = not options.fresh
    path, _, name = options.function.partition(":")
    pipes()
    try:
        module = load(path)
        function = find(module, path, name or "mechanism")
        features = find(module, path, options.features) if options.features else None
    except Refusal as error:
        pipes()[0].readline()  # the greeting comes first
        give_up(error)
    seeded = False if options.unseeded else None
    if options.batch:
        serve_batch(function, options.width, seeded, features, options.rng)
    else:
        serve(function, options.width, seeded, features, options.rng, not options.no_messages)


if __name__ == "__main__":
    main()
