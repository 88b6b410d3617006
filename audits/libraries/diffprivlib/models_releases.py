"""Models of diffprivlib, fitted once for each draw."""

import warnings

import numpy as np
from diffprivlib import models

# Advice about bounds that would be taken from the data; all bounds are given here.
warnings.simplefilter("ignore")


def regression(data, rng, epsilon, lower, upper):
    """The slope of a line through the origin, for records (x, y)."""
    x, y = np.array(data, dtype=float).T
    model = models.LinearRegression(epsilon=epsilon, bounds_X=(lower, upper), bounds_y=(lower, upper), fit_intercept=False)
    return float(model.fit(x.reshape(-1, 1), y).coef_[0])


def class_labels(data, rng, epsilon, lower, upper):
    """The classes that naive Bayes knows, for records (x, class)."""
    x, y = np.array(data, dtype=float).T
    return models.GaussianNB(epsilon=epsilon, bounds=(lower, upper)).fit(x.reshape(-1, 1), y).classes_.tolist()


def clusters(data, rng, epsilon, lower, upper):
    """The centre of one cluster, and the sum of squared distances from it."""
    model = models.KMeans(1, epsilon=epsilon, bounds=(lower, upper)).fit(np.array(data, dtype=float).reshape(-1, 1))
    return [float(model.cluster_centers_[0, 0]), float(model.inertia_)]
