"""Releases of diffprivlib, one draw each, called as its documentation shows."""

import json
import os
import warnings
from functools import cache

# One thread for each process: the models are small, and dp-audit keeps all cores busy. This must come before numpy is imported.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import numpy as np
from diffprivlib import BudgetAccountant, mechanisms, models, tools
from diffprivlib.mechanisms import transforms
from diffprivlib.models.utils import covariance_eig

# Advice about bounds that would be taken from the data; all bounds are given here.
warnings.simplefilter("ignore")


def release(data, rng, shape, **params):
    """All releases: with one function dp-audit needs one process for all of them, and the library takes seconds to import."""
    BudgetAccountant.pop_default()  # It remembers every draw of the process, and adds them up at the next one.
    return globals()[shape](data, rng, **params)


# Mechanisms


@cache
def mechanism(kind, **params):
    return getattr(mechanisms, kind)(**params)


def noisy_count(data, rng, kind, epsilon, power=None, **params):
    """A count with the noise of an additive mechanism. With `power` it is the count above 2 to this power."""
    if epsilon > 0:
        params["epsilon"] = epsilon
    start = 0 if power is None else 2**power
    return mechanism(kind, **params).randomise(start + len(data)) - start


def rounded_count(data, rng, epsilon):
    """A count with Laplace noise, through the transformer that rounds."""
    return transforms.RoundedInteger(mechanism("Laplace", epsilon=epsilon, sensitivity=1)).randomise(len(data))


def most_frequent(data, rng, kind, epsilon, names, monotonic=False):
    """The most frequent category, by a selection mechanism whose utility is the count."""
    return selection(kind, epsilon, monotonic, tuple(data.count(name) for name in names)).randomise()


@cache
def selection(kind, epsilon, monotonic, utility):
    return getattr(mechanisms, kind)(epsilon=epsilon, sensitivity=1, monotonic=monotonic, utility=list(utility))


def category(data, rng, kind, **params):
    """The value of one person, randomised on its own."""
    return local(kind, json.dumps(params)).randomise(data[0])


@cache
def local(kind, params):
    return getattr(mechanisms, kind)(**json.loads(params))


def integer_bit(data, rng, epsilon):
    """The bit of one person as an integer, through the transformer to texts."""
    return transforms.IntToString(mechanism("Binary", epsilon=epsilon, value0="0", value1="1")).randomise(int(data[0]))


def text_count(data, rng, epsilon):
    """A count that is given as a text, through the transformer to integers."""
    return int(transforms.StringToInt(mechanism("Geometric", epsilon=epsilon)).randomise(str(len(data))))


def main_direction(data, rng, epsilon):
    """The angle of the first eigenvector, for vectors of norm 1 at most. Its sign is random."""
    vectors = np.array(data, dtype=float).reshape(-1, 2)
    x, y = mechanism("Bingham", epsilon=epsilon).randomise(vectors.T @ vectors)
    return float(np.arctan2(y, x) % np.pi)


def objective(data, rng, epsilon):
    """The slope of a perturbed linear objective at 0, for numbers between -1 and 1."""
    total = -sum(data)
    vector = mechanism("Vector", epsilon=epsilon, function_sensitivity=0, data_sensitivity=1, dimension=1, alpha=1.0)
    return float(vector.randomise(lambda w: (total * w[0], np.array([total])))(np.zeros(1))[1][0])


# Tools


def summary(data, rng, tool, epsilon, lower=None, upper=None, dtype=None, **params):
    """A statistic of numbers, between known bounds if it takes some."""
    if lower is not None:
        params["bounds"] = (lower, upper)
    if dtype is not None:
        params["dtype"] = getattr(np, dtype)
    kind = int if dtype and "int" in dtype else float
    output = getattr(tools, tool)([kind(value) for value in data], epsilon=epsilon, **params)
    return output.tolist() if isinstance(output, np.ndarray) else output


def counted(data, rng, epsilon, **bounds):
    return tools.count_nonzero(data, epsilon=epsilon)


def column_means(data, rng, epsilon, lower, upper):
    """The means of all columns of a table."""
    return tools.mean(np.array(data, dtype=float), epsilon=epsilon, bounds=(lower, upper), axis=0).tolist()


def histogram(data, rng, epsilon, lower, upper, bins):
    counts, _ = tools.histogram(data, epsilon=epsilon, bins=bins, range=(lower, upper))
    return counts.tolist()


def weighted_histogram(data, rng, epsilon, lower, upper, bins):
    """A histogram of records (value, weight)."""
    values, weights = [value for value, _ in data], [weight for _, weight in data]
    counts, _ = tools.histogram(values, epsilon=epsilon, bins=bins, range=(lower, upper), weights=weights)
    return counts.tolist()


def plane(data, rng, tool, epsilon, lower, upper, bins):
    """The counts of a grid, for points (x, y)."""
    points = np.array(data, dtype=float).reshape(-1, 2)
    sample = (points[:, 0], points[:, 1]) if tool == "histogram2d" else (points,)
    return getattr(tools, tool)(*sample, epsilon=epsilon, bins=bins, range=[(lower, upper)] * 2)[0].ravel().tolist()


# Models


def fitted(data, rng, model, attributes, labels=False, lower=None, upper=None, **params):
    """What a model has learned: some of its attributes. The last column of the data is the label, if there are labels."""
    table = np.array(data, dtype=float).reshape(len(data), -1)
    x, y = (table[:, :-1], table[:, -1]) if labels else (table, None)
    if lower is not None:
        names = ("bounds_X", "bounds_y") if model == "LinearRegression" else ("bounds",)
        params.update({name: (lower, upper) for name in names})
    result = getattr(models, model)(**params).fit(x, y)
    return [float(cell) for name in attributes for cell in np.ravel(getattr(result, name))]


def probability(data, rng, epsilon, norm):
    """The probability of class 1 that logistic regression gives the point `norm`, for records (x, class)."""
    x, y = np.array(data, dtype=float).T
    model = models.LogisticRegression(epsilon=epsilon, data_norm=norm, fit_intercept=False).fit(x.reshape(-1, 1), y)
    return float(model.predict_proba([[norm]])[0, 1])


def votes(data, rng, model, epsilon, at, **params):
    """What each tree predicts for the point `at`, for records (x, class) between 0 and 10 with classes 0 and 1."""
    x, y = np.array(data, dtype=float).T
    result = getattr(models, model)(epsilon=epsilon, bounds=(0, 10), classes=[0, 1], max_depth=1, **params).fit(x.reshape(-1, 1), y)
    return [int(tree.predict([[at]])[0]) for tree in getattr(result, "estimators_", [result])]


def eigenvalues(data, rng, epsilon, norm):
    """The eigenvalues of the covariance matrix, for vectors of a known norm."""
    return covariance_eig(np.array(data, dtype=float), epsilon=epsilon, norm=norm, eigvals_only=True).tolist()
