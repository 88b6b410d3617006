"""k-anonymous tables: functions of the data without any noise."""

from collections import Counter

from divergence import Pair


def group(zip_code, age, rules):
    """The first digits of the zip code and the band of ages."""
    return zip_code[: rules["zip_digits"]], sum(age >= cut for cut in rules["age_cuts"])


def publish(patients, rules):
    """How many members of each group have each condition, for groups of at least k."""
    sizes = Counter(group(zip_code, age, rules) for zip_code, age, _ in patients)
    cells = Counter((group(zip_code, age, rules), condition) for zip_code, age, condition in patients)
    return {cell: count for cell, count in cells.items() if sizes[cell[0]] >= rules["k"]}


def table(params, left, right, audit):
    return Pair(*({frozenset(publish(data, params).items()): 1.0} for data in (left, right)))


def joined(params, left, right, audit):
    """The conditions that every table leaves possible for a known person; a table without their group excludes none."""
    conditions = {record[-1] for record in left + right}
    person = params["person"]
    sides = []
    for data in (left, right):
        possible = set(conditions)
        for hospital, rules in params["tables"].items():
            published = publish([record[1:] for record in data if hospital in record[0]], rules)
            mine = {condition for place, condition in published if place == group(person["zip"], person["age"], rules)}
            if mine:
                possible &= mine
        sides.append({frozenset(possible): 1.0})
    return Pair(*sides)


MODELS = {"k-anonymity/table": table, "k-anonymity/joined": joined}
