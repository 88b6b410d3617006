"""Audit files: datasets, queries, and the pairs that patterns generate."""

import math
import tomllib


class Number(float):
    """A float that remembers how it is written, for the number of its digits."""

    def __new__(cls, text):
        self = super().__new__(cls, text.replace("_", ""))
        self.text = text
        return self


def load(path):
    """The audits of a file: one, or each [[audit]] with the keys that they share."""
    shared = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Number)
    audits = shared.pop("audit", [{}])
    return [shared | audit | {"params": shared.get("params", {}) | audit.get("params", {})} for audit in audits]


def records(data):
    """The records, each as often as it occurs."""
    found = []
    for record in data:
        if isinstance(record, dict) and record.keys() == {"value", "times"}:
            found += [freeze(record["value"])] * int(record["times"])
        else:
            found.append(freeze(record))
    return found


def freeze(record):
    """Lists and tables as tuples, numbers as plain floats, so that records can be compared and counted."""
    if isinstance(record, dict):
        return tuple((name, freeze(field)) for name, field in sorted(record.items()))
    if isinstance(record, list):
        return tuple(freeze(field) for field in record)
    return record if isinstance(record, str) else float(record)


def universe(left, right):
    """All distinct records of both sides in order."""
    return sorted(set(left) | set(right))


def counts(data, categories):
    return [data.count(category) for category in categories]


# The pairs that `pairs.patterns` generates for k components (audits/README.md). The first two are those of single-component neighbours.
def patterns(k, relation):
    half = k // 2
    every = [
        ("one above", [1] * k, [0] + [1] * (k - 1)),
        ("one below", [1] * k, [2] + [1] * (k - 1)),
        ("one above, rest below", [1] * k, [2] + [0] * (k - 1)),
        ("one below, rest above", [1] * k, [0] + [2] * (k - 1)),
        ("half half", [1] * k, [2] * half + [0] * (k - half)),
        ("all above", [1] * k, [2] * k),
        ("all below", [1] * k, [0] * k),
        ("X shape", [1] * half + [0] * (k - half), [0] * half + [1] * (k - half)),
    ]
    for name, left, right in every[: 2 if relation == "single-component" else None]:
        yield {"name": name, "left": left, "right": right}
        yield {"name": name + ", swapped", "left": right, "right": left}


def pairs(audit):
    """All pairs, each with the truth that holds for it (or none)."""
    found = [dict(pair) for pair in audit.get("pair", [])]
    given = [(records(pair["left"]), records(pair["right"])) for pair in found]
    generated = audit.get("pairs", {}).get("patterns")
    if generated:
        for pair in patterns(int(generated["components"]), audit["relation"]):
            datasets = (records(pair["left"]), records(pair["right"]))
            if datasets not in given:
                given.append(datasets)
                found.append(pair)
    for pair in found:
        pair.setdefault("truth", audit.get("truth"))
    return found


def query(params, data, categories):
    """The exact answers of a query and the sensitivity that the query itself names, in the arithmetic that the audit asks for."""
    kind = params["query"]
    name, options = (kind, {}) if isinstance(kind, str) else next(iter(kind.items()))
    if name == "count":
        return [float(len(data))], 1.0
    if name == "histogram":
        return [float(count) for count in counts(data, categories)], 1.0
    if name == "values":
        return list(data), 1.0
    low, high = options["lower"], options["upper"]
    total = running_sum([min(max(value, low), high) for value in data], options.get("arithmetic", "f64"))
    if name == "sum":
        return [total], max(abs(low), abs(high))
    return [total / len(data)], (high - low) / len(data)


def running_sum(values, arithmetic):
    """The sum as a computer makes it: rounded after every record, or wrapped."""
    total = 0.0
    for value in values:
        total += value
        if arithmetic == "f32":
            # A sum of two singles in double precision, rounded to single, is the rounded sum: 53 >= 2 * 24 + 2 bits.
            total = single(total)
        elif arithmetic == "wrapping-i32":
            total = (total + 2.0**31) % 2.0**32 - 2.0**31
    return total


def single(x):
    """The nearest number with 24 bits, ties to even."""
    if x == 0:
        return 0.0
    unit = math.ldexp(1.0, math.frexp(x)[1] - 24)
    return round(x / unit) * unit
