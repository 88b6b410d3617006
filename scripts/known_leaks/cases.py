"""The cases of examples/known_leaks.rs: what they leak in truth, and the events that an attacker who knows the mechanism would use.

An *event family* is a list of guess rules, from bold to cautious. A rule guesses "left" where the likelihood ratio of the output is above some
cut, "right" where it is below another one, and nothing between. By Neyman and Pearson no other rule with as many guesses is right more often.
"""

import csv
import dataclasses
import json
import math
import pathlib
import subprocess

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SAMPLING_RATE = 0.1


@dataclasses.dataclass
class Rules:
    """One entry per cut. The coin that chooses the side is part of all probabilities."""

    correct: np.ndarray
    wrong: np.ndarray
    # How many of the two answers the rules ever give.
    answers: int


def pure(epsilon):
    """Outputs whose ratio is e^epsilon or e^-epsilon, each side half of the time: always guess."""
    right = 1 / (1 + math.exp(-epsilon))
    return Rules(np.array([right]), np.array([1 - right]), 2)


def laplace(epsilon):
    """Left below 1/2 - t, right above 1/2 + t. Beyond t = 1/2 the ratio stays the same and fewer draws count."""
    t = np.linspace(0, 0.5, 101)
    below = lambda x: np.where(x < 0, 0.5 * np.exp(epsilon * np.minimum(x, 0)), 1 - 0.5 * np.exp(-epsilon * np.maximum(x, 0)))
    return Rules(below(0.5 - t), below(-0.5 - t), 2)


def laplace_sum(epsilon, releases, steps=2000):
    """Several releases of epsilon / releases each: the log-ratios add up.

    For one release with a = epsilon / releases, the log-ratio under the left side is a with probability 1/2, -a with probability e^-a / 2, and
    a - 2 a y with density a e^(-a y) / 2 for 0 < y < 1. It is put on a grid, and the grid is convolved with itself.
    """
    a = epsilon / releases
    y = np.linspace(0, 1, steps + 1)
    mass = 0.5 * (np.exp(-a * y[:-1]) - np.exp(-a * y[1:]))
    one = np.zeros(steps + 1)
    one[0], one[-1] = 0.5, 0.5 * math.exp(-a)
    one[:-1] += mass / 2
    one[1:] += mass / 2
    size = releases * steps + 1
    padded = 1 << (size - 1).bit_length()
    left = np.fft.irfft(np.fft.rfft(one, padded) ** releases, padded)[:size].clip(0)
    ratio = epsilon - 2 * a / steps * np.arange(size)
    right = left * np.exp(-ratio)
    # Entry k: guess left if the log-ratio is at least ratio[k], right if it is at most -ratio[k].
    cuts = np.arange(0, size // 2 + 1, max(1, size // 1000))
    return Rules(np.cumsum(left)[cuts], np.cumsum(right)[cuts], 2)


def gaussian(distance):
    """Left below the middle minus t, right above the middle plus t."""
    t = np.linspace(0, 7, 701)
    return Rules(ndtr(distance / 2 - t), ndtr(-distance / 2 - t), 2)


def gaussian_delta(distance, epsilon):
    """Balle & Wang 2018, theorem 8."""
    return ndtr(distance / 2 - epsilon / distance) - math.exp(epsilon + log_ndtr(-distance / 2 - epsilon / distance))


def subsampled(distance):
    """Right above t; nothing else, because the left side is at most 1 / (1 - rate) times as likely. Noise has standard deviation 1."""
    t = np.linspace(-2, 7, 901)
    without, with_record = ndtr(-t), ndtr(distance - t)
    return Rules(((1 - SAMPLING_RATE) * without + SAMPLING_RATE * with_record) / 2, without / 2, 1)


def subsampled_delta(distance, epsilon):
    """The right side exceeds e^epsilon times the left one above t, where (1 - q) + q e^(distance t - distance^2 / 2) = e^epsilon."""
    t = (math.log((math.exp(epsilon) - 1 + SAMPLING_RATE) / SAMPLING_RATE) + distance**2 / 2) / distance
    right = (1 - SAMPLING_RATE) * ndtr(-t) + SAMPLING_RATE * ndtr(distance - t)
    return right - math.exp(epsilon) * ndtr(-t)


def certain(_):
    """Every output shows its side."""
    return Rules(np.array([1.0]), np.array([0.0]), 2)


def rarely_certain(share):
    """A share of the outputs shows its side; the others are not used, because their ratio is at most e."""
    return Rules(np.array([share]), np.array([0.0]), 2)


@dataclasses.dataclass
class Kind:
    """A mechanism of the example: the best rules and the privacy profile for each strength."""

    rules: object
    # (strength, epsilon) -> delta; None if the strength is epsilon and delta is 0.
    delta: object = None
    infinite: bool = False

    def epsilon(self, strength, delta):
        """The least epsilon that holds at this delta."""
        if self.infinite:
            return math.inf
        if self.delta is None:
            assert delta == 0, "the profile of this mechanism is stated for delta = 0 only"
            return strength
        return brentq(lambda epsilon: self.delta(strength, epsilon) - delta, 1e-9, 60, xtol=1e-14)

    def strength(self, epsilon, delta):
        """The strength at which exactly this epsilon holds at this delta."""
        if self.delta is None:
            return epsilon
        return brentq(lambda strength: self.delta(strength, epsilon) - delta, 1e-2, 30, xtol=1e-14)


CORRELATED = Kind(gaussian, gaussian_delta)
KINDS = {
    "randomized-response": Kind(pure),
    "laplace": Kind(laplace),
    # The neighbours differ by one step, so every output has a ratio of e^epsilon.
    "discrete-laplace": Kind(pure),
    "gaussian": Kind(gaussian, gaussian_delta),
    "subsampled-gaussian": Kind(subsampled, subsampled_delta),
    "laplace-8": Kind(lambda epsilon: laplace_sum(epsilon, 8)),
    "laplace-20": Kind(lambda epsilon: laplace_sum(epsilon, 20)),
    # The likelihood ratio is that of the projection onto one direction.
    "random-covariance-5": CORRELATED,
    "random-covariance-10": CORRELATED,
    "random-covariance-50": CORRELATED,
    "equal-correlation-10": CORRELATED,
    # Only the parity depends on the data.
    "three-bits": Kind(pure),
    # Printed with nine decimals: the answers are whole numbers, so rounding moves no output across an answer, and few texts occur twice.
    "sentence": Kind(laplace),
    "json": Kind(laplace),
    "table": Kind(certain, infinite=True),
    # The outputs of the two answers are different numbers.
    "few-bits": Kind(certain, infinite=True),
    # Within 1e-5 of an answer the other side has a few draws in a million, which hardly matters.
    "spike": Kind(rarely_certain, infinite=True),
    "rare-slice": Kind(rarely_certain, infinite=True),
    # Only the digit, the parity or the half depends on the data.
    "last-digit": Kind(pure),
    "five-bits": Kind(pure),
    "permutation": Kind(pure),
}


def program():
    """Builds the example and returns its path as cargo gives it."""
    command = ["cargo", "build", "--release", "--locked", "--example", "known_leaks", "--message-format=json-render-diagnostics"]
    output = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    messages = [json.loads(line) for line in output.splitlines()]
    (path,) = [message["executable"] for message in messages if message.get("target", {}).get("name") == "known_leaks" and message.get("executable")]
    return path


def audits(path, kind, strength, claim, draws, confidence, first_seed, seeds):
    """The rows of the program, one per seed."""
    arguments = [kind, strength, *claim, int(draws), confidence, first_seed, seeds]
    output = subprocess.run([path, *map(str, arguments)], check=True, stdout=subprocess.PIPE, text=True).stdout
    rows = list(csv.DictReader(output.splitlines()))
    assert len(rows) == seeds, f"{kind}: {len(rows)} rows for {seeds} seeds"
    return rows
