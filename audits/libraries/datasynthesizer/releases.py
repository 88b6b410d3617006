"""The noisy counts from which DataSynthesizer's PrivBayes makes its conditional distributions."""

import warnings

import pandas as pd
from DataSynthesizer.lib.PrivBayes import get_noisy_distribution_of_attributes

warnings.simplefilter("ignore")


def noisy_counts(data, rng, epsilon):
    """Counts of all combinations of two attributes; a record is (a, b), both 0 or 1. One parent, so a single table gets all of epsilon."""
    frame = pd.DataFrame(data, columns=["a", "b"]).astype(int)
    return get_noisy_distribution_of_attributes(["a", "b"], frame, epsilon)["count"].tolist()
