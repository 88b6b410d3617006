"""SQL queries of smartnoise-sql on a pandas frame in which each row is a person.

`PrivateReader.execute` parses the query and searches for the scale of the noise each time, in a tenth of a second. Here its steps are done once for a
dataset: the rewritten query, its exact aggregates, and the mechanism of each column. A draw is the rest: noise, the threshold, the outer query."""

import warnings
from functools import cache

import pandas as pd

# Its parser warns about escapes in its source.
warnings.simplefilter("ignore")

import snsql
from snsql import Mechanism, Privacy, Stat

COLUMNS = {"x": {"type": "float", "lower": -10.0, "upper": 10.0}, "i": {"type": "int", "lower": 0, "upper": 10}, "g": {"type": "string"}}


@cache
def prepared(query, rows, epsilon, delta, gaussian, groups):
    """The noise of each column, the exact aggregates, the threshold, and the outer query. Without groups there is one row, and none is left out."""
    table = {"row_privacy": True, "censor_dims": groups, **COLUMNS}
    privacy = Privacy(epsilon=epsilon, delta=delta)
    if gaussian:
        privacy.mechanisms.map = {stat: Mechanism.gaussian for stat in Stat}
    frame = pd.DataFrame(list(rows), columns=list(COLUMNS))
    reader = snsql.from_df(frame, privacy=privacy, metadata={"": {"S": {"T": table}}})
    subquery, outer = reader._rewrite(query)
    names, *exact = reader._get_reader(subquery)._execute_ast(subquery)
    mechanisms = reader._get_mechanisms(subquery)
    key = reader._get_keycount_position(subquery)
    names = [symbol.name.lower() for symbol in subquery._select_symbols]
    return mechanisms, exact, (key, mechanisms[key].threshold) if groups else None, names, outer.select.namedExpressions


def answer(data, rng, query, epsilon, delta=1e-9, gaussian=False, groups=False):
    """The numbers of the single row of the answer, or with groups a dictionary."""
    mechanisms, exact, threshold, names, expressions = prepared(query, tuple(map(tuple, data)), epsilon, delta, gaussian, groups)
    noisy = [[each.release([value or 0.0])[0] if each else value for each, value in zip(mechanisms, row)] for row in exact]
    kept = [row for row in noisy if threshold is None or row[threshold[0]] > threshold[1]]
    values = [[each.expression.evaluate(dict(zip(names, row))) for each in expressions] for row in kept]
    return dict(values) if groups else values[0]
