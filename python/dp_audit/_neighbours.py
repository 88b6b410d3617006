"""Whether two datasets are neighbours, as far as their types allow to say."""

from __future__ import annotations

import difflib
import pickle
from collections import Counter
from typing import Any, Hashable

CHECKED = ("add-remove", "replace-one")


def relation_of(left: Any, right: Any, relation: str | None) -> str | dict[str, Any]:
    """The neighbour relation of two datasets, in the form that the core has.

    Without a relation, datasets of records must differ in one record. A relation that is no name is the reason why the two are neighbours.

    >>> relation_of([1, 2], [1, 2, 3], None)
    'add-remove'
    >>> relation_of([1, 2], [1, 3], None)
    'replace-one'
    >>> relation_of(0, 1, None)
    {'custom': {'reason': 'as the caller says'}}
    >>> relation_of([1, 2], [3, 4], "one household")
    {'custom': {'reason': 'one household'}}
    """
    if relation is not None and relation not in CHECKED:
        refuse_near_miss(relation)
        return {"custom": {"reason": relation}}
    of_left, of_right = records(left), records(right)
    if of_left is None or of_right is None:
        if relation is not None:
            what = type(left if of_left is None else right).__name__
            raise ValueError(
                f"relation is {relation!r}, and a {what} has no records that could be compared; "
                "state in relation why the datasets are neighbours"
            )
        return {"custom": {"reason": "as the caller says"}}
    only_left, only_right = (sum((one - other).values()) for one, other in ((of_left, of_right), (of_right, of_left)))
    found = {(1, 0): "add-remove", (0, 1): "add-remove", (1, 1): "replace-one"}.get((only_left, only_right))
    if found is None or relation not in (None, found):
        same_records = only_left == only_right == 0
        how = "in no record" if same_records else f"by {only_left} records that only left has and {only_right} that only right has"
        order = "; if their order is what differs, say so in relation" if same_records else ""
        raise ValueError(
            f"left and right are not {relation or 'add-remove or replace-one'} neighbours: they differ {how}. Correct the pair, or state in "
            f"relation why they are neighbours, as in relation='one household'{order}"
        )
    return found


def refuse_near_miss(relation: str) -> None:
    """Rejects what is no reason: an empty text, and a misspelt name, which would switch the check of the datasets off.

    >>> refuse_near_miss("Add_Remove")
    Traceback (most recent call last):
    ValueError: relation is 'Add_Remove'; did you mean 'add-remove'? Any other text is the reason why the datasets are neighbours
    >>> refuse_near_miss("add or remove one household")
    """
    if not relation.strip():
        raise ValueError("relation is empty; it must be 'add-remove', 'replace-one', or the reason why the datasets are neighbours")
    letters = "".join(letter for letter in relation.lower() if letter.isalnum())
    names = {name.replace("-", ""): name for name in CHECKED}
    near = difflib.get_close_matches(letters, names, n=1, cutoff=0.75)
    if near:
        raise ValueError(
            f"relation is {relation!r}; did you mean {names[near[0]]!r}? Any other text is the reason why the datasets are neighbours"
        )


def records(data: Any) -> Counter[Hashable] | None:
    """The records of a dataset with their numbers; None if its type does not say what its records are."""
    if isinstance(data, (list, tuple)):
        rows = data
    elif isinstance(data, (set, frozenset)):
        rows = list(data)
    elif isinstance(data, dict):
        rows = list(data.items())
    elif type(data).__name__ == "ndarray" and getattr(data, "ndim", 0) > 0:
        rows = list(data)
    elif hasattr(data, "itertuples"):  # pandas
        rows = list(data.itertuples(index=False, name=None))
    elif hasattr(data, "iter_rows"):  # polars
        rows = list(data.iter_rows())
    elif type(data).__name__ == "Series" and hasattr(data, "to_list"):
        rows = data.to_list()
    else:
        return None
    return Counter(map(key, rows))


def key(record: Any) -> Hashable:
    """Equal records have equal keys. Unlike hash values, keys tell NaN and −0 apart, and lists have them too."""
    if hasattr(record, "tolist"):
        record = record.tolist()
    if isinstance(record, float):
        return ("number", record.hex())
    if isinstance(record, int):
        return ("number", float(record).hex()) if abs(record) <= 2**53 else ("number", str(record))
    if isinstance(record, (list, tuple)):
        return ("list", *map(key, record))
    if isinstance(record, dict):
        return ("dict", frozenset((key(name), key(value)) for name, value in record.items()))
    try:
        hash(record)
    except TypeError:
        return pickle.dumps(record)
    return record
