#!/usr/bin/env python3
"""Lets dp-audit audit a mechanism written in Python. Needs only the standard library; uses numpy if it is installed.

A mechanism is a function of a dataset, a random generator and the audit file's params. It makes one draw:

    def noisy_count(data, rng, epsilon):
        return len(data) + rng.laplace(scale=1 / epsilon)

The audit file names the function. The file with the function does not need to know about dp-audit, and {worker} stands for this program:

    mechanism = "command"
    command = ["python3", "{worker}", "my_mechanism.py:noisy_count"]
    params = { epsilon = 1.0 }

A vectorised function also takes `count` and returns that many draws at once (option --batch). Your own program can import this file and call
serve(function) or serve_batch(function) instead; `dp-audit export` writes a copy of it.

An output is a number, a string, None, or a list, tuple or array of these. Dictionaries and lists inside lists become JSON texts, which dp-audit
takes apart again. An exception is an output too: the symbol `error: ValueError`. But a
vectorised function must not raise an exception: nobody knows which of its draws failed, so the audit ends. `rng` is a numpy Generator, or a
random.Random if numpy is missing; the global generators of both are seeded too.

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
import functools
import importlib.util
import inspect
import itertools
import json
import math
import os
import random
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
TRIALS = 16  # draws of each side, before the audit, that show how wide outputs are and whether seeds are honoured
TRIAL_SECONDS = 4  # if the trials would take longer, there are fewer


class Refusal(Exception):
    """The mechanism cannot be audited; the message says why."""


class Failure:
    """The output of a draw that raised an exception."""

    def __init__(self, error):
        self.symbol = f"error: {type(error).__name__}"


def serve(mechanism, width=None, seeded=None, features=None):
    """Serves `mechanism(data, rng, **params)`, which makes one draw.

    width: cells per output, if some outputs are longer than the first few; shorter ones are padded.
    seeded: whether the same seed gives the same draws; tried out if absent.
    features: a function of one output that returns a dictionary of further columns.
    """

    def draws(data, rng, count, **params):
        outputs = []
        for _ in range(count):
            try:
                outputs.append(mechanism(data, rng, **params))
            except Exception as error:
                tell_once(error)
                outputs.append(Failure(error))
        return outputs

    run(draws, lambda data, rng, params: inspect.signature(mechanism).bind(data, rng, **params), width, seeded, features)


def serve_batch(mechanism, width=None, seeded=None, features=None):
    """Serves `mechanism(data, rng, count, **params)`, which makes `count` independent draws: an array or list with one entry or row for each."""
    run(mechanism, lambda data, rng, params: inspect.signature(mechanism).bind(data, rng, TRIALS, **params), width, seeded, features)


told = set()


def tell_once(error):
    """Shows the first exception of each kind on standard error, which dp-audit shows if the audit fails."""
    if type(error) not in told:
        told.add(type(error))
        traceback.print_exception(error)


reusable = True  # whether this process may serve another pair of datasets


def run(draws, fits, width, seeded, features):
    """Answers requests until there are no more. Each pair of datasets begins with a greeting."""
    requests, answers = pipes()
    try:
        for line in requests:
            request = json.loads(line)
            if "dp_audit" in request:
                start_up = time.monotonic() - BEGUN
                if request["dp_audit"] != VERSION:
                    raise Refusal(f"this worker speaks version {VERSION} of the protocol")
                sides = {side: request[side] for side in ("left", "right")}
                originals = copy.deepcopy(sides)
                params = request["params"]
                columns, honours_seeds = try_out(draws, fits, sides, params, width, seeded, features)
                hello = {"dp_audit": VERSION, "width": columns.width + len(columns.names), "seeded": honours_seeds, "reusable": reusable, "start_up": start_up}
                answers.write(message(hello | ({"columns": columns.all_names()} if columns.names else {})))
                answers.flush()
                continue
            side = request["side"]
            outputs = draws(sides[side], generator(int(request["seed"], 16)), request["count"], **params)
            if sides[side] != originals[side]:
                raise Refusal("the mechanism changed its dataset, so its draws are not independent; let it work on a copy")
            count, symbols, block = columns.pack(outputs)
            answers.write(message({"count": count, "symbols": symbols}))
            answers.write(block)
            answers.flush()
    except BrokenPipeError:
        sys.exit(1)
    except Exception as error:
        if isinstance(error, Refusal):
            reason = str(error)
        else:
            reason = f"{type(error).__name__}: {error}"
            traceback.print_exc()
        answers.write(message({"error": reason}))
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


def generator(seed):
    """A generator with this seed. Also seeds the global ones, for mechanisms that use these."""
    random.seed(seed)
    if numpy is None:
        return random.Random(seed)
    numpy.random.seed([seed >> shift & 0xFFFFFFFF for shift in (0, 32, 64, 96)])
    return numpy.random.default_rng(seed)


class Columns:
    """The cells of an output, and the columns that a function computes from it."""

    def __init__(self, width, features, trials):
        self.width = max(width, 1)
        self.features = features
        # The names in the order in which they first occur.
        self.names = list({name: None for output in trials for name in self.of(output)})

    def of(self, output):
        """The further columns of one output."""
        if self.features is None or isinstance(output, Failure):
            return {}
        found = self.features(output)
        if not isinstance(found, dict):
            raise Refusal(f"the function for --features returned a {type(found).__name__}; it must return a dictionary of columns")
        return {str(name): value for name, value in found.items()}

    def all_names(self):
        own = ["y"] if self.width == 1 else [f"y[{index + 1}]" for index in range(self.width)]
        return own + self.names

    def pack(self, outputs):
        """The outputs as a block of doubles."""
        if not self.names:
            return pack(outputs, self.width)
        return pack([self.row(output) for output in outputs], self.width + len(self.names))

    def row(self, output):
        row, found = list(cells(output)), self.of(output)
        if len(row) > self.width:
            refuse_width(len(row), self.width)
        unknown = [name for name in found if name not in self.names]
        if unknown:
            raise Refusal(f"the function for --features returned the new column {unknown[0]!r}; it must return the same columns for all outputs")
        return row + ["∅"] * (self.width - len(row)) + [found.get(name, "∅") for name in self.names]


def try_out(draws, fits, sides, params, width, seeded, features):
    """Finds out what was not said: the columns of an output, and whether the same seed gives the same draws."""
    try:
        fits(sides["left"], None, params)
    except TypeError as error:
        raise Refusal(f"the function does not take what the audit file gives it: {error}; params are {params}") from None
    begun = time.monotonic()
    trials = [draws(data, generator(1), 1, **params) for data in sides.values()]
    # As many as the time allows: they are made twice, on both sides.
    count = min(TRIALS, int(TRIAL_SECONDS / 2 / max(time.monotonic() - begun, 1e-9)))
    if only_failures(trials):
        count = TRIALS
    if count > 1:
        trials = [draws(data, generator(1), count, **params) for data in sides.values()]
    if only_failures(trials):
        raise Refusal(f"the mechanism only fails, on both datasets ({trials[0][0].symbol}); that is private, but hardly what is to be audited")
    if width is None:
        width = max(len(cells(output)) for outputs in trials for output in outputs)
    columns = Columns(width, features, [output for outputs in trials for output in outputs])
    if seeded is None:
        again = [draws(data, generator(1), max(count, 1), **params) for data in sides.values()]
        seeded = [columns.pack(outputs) for outputs in trials] == [columns.pack(outputs) for outputs in again]
    return columns, seeded


def only_failures(trials):
    return all(isinstance(output, Failure) for outputs in trials for output in outputs)


def pack(outputs, width):
    """The outputs as a block of doubles: how many there are, the symbols in the order of their places, the bytes."""
    block = pack_array(outputs, width) or pack_numbers(outputs, width)
    if block is not None:
        return len(outputs), [], block
    places, encoded = {}, []
    for output in outputs:
        row = cells(output)
        if len(row) > width:
            refuse_width(len(row), width)
        encoded.extend(encode(cell, places) for cell in row)
        encoded.extend(encode("∅", places) for _ in range(width - len(row)))
    return len(outputs), list(places), b"".join(encoded)


def refuse_width(found, width):
    raise Refusal(f"an output has {found} cells where {width} were announced; state the greatest width: serve(…, width={found})")


def pack_array(outputs, width):
    """The fastest way: an array of numbers."""
    if numpy is None or not isinstance(outputs, numpy.ndarray) or outputs.dtype.kind not in "fiub":
        return None
    if outputs.ndim > 2 or outputs.size != len(outputs) * width:
        return None
    return outputs.astype("<f8").tobytes()


def pack_numbers(outputs, width):
    """The second fastest: numbers only, all rows of full width."""
    try:
        if width > 1:
            if not all(isinstance(row, (list, tuple)) and len(row) == width for row in outputs):
                return None
            outputs = itertools.chain.from_iterable(outputs)
        block = array("d", outputs)
    except (TypeError, ValueError, OverflowError):
        return None
    if sys.byteorder == "big":
        block.byteswap()
    return block.tobytes()


def cells(output):
    """The cells of an output."""
    if numpy is not None and isinstance(output, (numpy.ndarray, numpy.generic)):
        output = output.tolist()
    if isinstance(output, Failure):
        return [output.symbol]
    return output if isinstance(output, (list, tuple)) else [output]


def encode(cell, places):
    """Eight bytes: a number as it is, anything else as a NaN with the symbol's place."""
    if hasattr(cell, "__float__"):
        try:
            return struct.pack("<d", float(cell))
        except OverflowError:
            return struct.pack("<d", math.copysign(math.inf, cell > 0 or -1))
    if cell is None:
        cell = "null"
    if isinstance(cell, (dict, list, tuple)) or (numpy is not None and isinstance(cell, numpy.ndarray)):
        cell = json.dumps(cell, default=plain)
    if not isinstance(cell, str):
        refuse_type(cell)
    return struct.pack("<Q", SYMBOL | places.setdefault(cell, len(places)))


def plain(value):
    """A value inside a dictionary or list, as JSON can hold it."""
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        return value.tolist()
    if hasattr(value, "__float__"):
        return float(value)
    refuse_type(value)


def refuse_type(value):
    raise Refusal(f"a {type(value).__name__} cannot be an output; return numbers, strings, None, or lists and dictionaries of these in a fixed order")


def main():
    parser = argparse.ArgumentParser(description="Serves a Python function to dp-audit.")
    parser.add_argument("function", metavar="FILE[:FUNCTION]", help="the function to audit; its name is `mechanism` if absent")
    parser.add_argument("--batch", action="store_true", help="the function takes `count` and returns that many draws")
    parser.add_argument("--width", type=int, metavar="N", help="cells per output, if some are longer than the first few show")
    parser.add_argument("--unseeded", action="store_true", help="the function ignores seeds; found out if absent, unless outputs hardly vary")
    parser.add_argument("--features", metavar="FUNCTION", help="a function of the same file: output → dictionary of further columns that the attacker knows")
    parser.add_argument("--fresh", action="store_true", help="start new processes for each pair, for a module that keeps something of the data")
    options = parser.parse_args()
    global reusable
    reusable = not options.fresh
    file, _, name = options.function.partition(":")
    pipes()
    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
    spec = importlib.util.spec_from_file_location("mechanism", file)
    if spec is None or not os.path.exists(file):
        sys.exit(f"there is no Python file {file} in {os.getcwd()}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def named(name):
        function = getattr(module, name, None)
        return function if callable(function) else sys.exit(f"{file} has no function {name}")

    features = named(options.features) if options.features else None
    (serve_batch if options.batch else serve)(named(name or "mechanism"), options.width, False if options.unseeded else None, features)


if __name__ == "__main__":
    main()
