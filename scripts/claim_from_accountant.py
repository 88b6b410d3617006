#!/usr/bin/env python3
"""Makes a privacy profile for `claim = { profile = "file.csv" }` with Google's dp-accounting.

    pip install --requirement scripts/claim_from_accountant.requirements.txt
    python3 scripts/claim_from_accountant.py --sigma 1 --sampling-probability 0.1 --steps 50 --epsilons 0.5 1 2 --out profile.csv

The mechanism is T steps of DP-SGD: each step samples every record with probability q, adds up vectors of length at most 1, and adds Gaussian noise of
standard deviation sigma (the noise multiplier). With q = 1, the default, it is the plain Gaussian mechanism T times. Neighbours: add-remove.

Every delta in the file is a pessimistic estimate: the claim holds. The header states all parameters and how far the estimate can be from the exact value.
"""

import argparse
import importlib.metadata
import math
import pathlib
import sys

# Below this the rounding errors of the Fourier transform, some 1e-16 for each of up to a million losses, are no longer small beside delta.
LEAST_DELTA = 1e-9
# The mass of losses that is cut off and counted as a loss of infinity.
TAIL_MASS = 1e-15
LOG_TRUNCATION = -50


def number(least, most, what, whole=False):
    """A reader of arguments within limits."""

    def read(text):
        try:
            value = int(text) if whole else float(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"is '{text}', must be {what}") from None
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"is {text}, must be {what}")
        return value

    return read


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    positive = sys.float_info.min
    parser.add_argument("--sigma", required=True, type=number(0.05, 1e6, "a number from 0.05 to 1e6"), help="the noise multiplier")
    parser.add_argument(
        "--sampling-probability", default=1.0, type=number(positive, 1.0, "greater than 0 and at most 1"), help="q (1: all records in every step)"
    )
    parser.add_argument("--steps", default=1, type=number(1, 10**7, "a whole number from 1 to 10,000,000", whole=True), help="T (1)")
    parser.add_argument(
        "--epsilons", required=True, nargs="+", type=number(positive, 100.0, "greater than 0 and at most 100"), help="the places of the profile, at least one"
    )
    parser.add_argument("--interval", default=1e-4, type=number(1e-6, 0.1, "a number from 1e-6 to 0.1"), help="the grid of privacy losses (1e-4)")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="the CSV file to write")
    found = parser.parse_args()
    if len(set(found.epsilons)) < len(found.epsilons):
        parser.error("argument --epsilons: has the same number twice")
    if not found.out.parent.is_dir():
        parser.error(f"argument --out: there is no folder {found.out.parent}")
    return parser, found


def profile(options, pessimistic):
    """delta at each epsilon: an upper or a lower estimate. The lower one rounds every loss down to the grid."""
    from dp_accounting.pld import privacy_loss_distribution

    step = privacy_loss_distribution.from_gaussian_mechanism(
        options.sigma,
        pessimistic_estimate=pessimistic,
        value_discretization_interval=options.interval,
        log_mass_truncation_bound=LOG_TRUNCATION,
        sampling_prob=options.sampling_probability,
        use_connect_dots=pessimistic,
    )
    # A lower estimate may not count tails as infinite losses.
    whole = step.self_compose(options.steps, TAIL_MASS if pessimistic else 0.0)
    return [float(whole.get_delta_for_epsilon(epsilon)) for epsilon in options.epsilons]


def closed_form(mu, epsilon):
    """delta of the Gaussian mechanism (Balle & Wang 2018, theorem 8)."""
    phi = lambda x: 0.5 * math.erfc(-x / math.sqrt(2))
    return phi(mu / 2 - epsilon / mu) - math.exp(epsilon) * phi(-mu / 2 - epsilon / mu)


def rounded_up(delta):
    """Six digits, and never below delta."""
    text = f"{delta:.5e}"
    while float(text) < delta:
        mantissa, exponent = text.split("e")
        text = f"{float(mantissa) + 1e-5:.5f}e{exponent}"
    return text


def main():
    parser, options = arguments()
    options.epsilons.sort()
    try:
        version = importlib.metadata.version("dp-accounting")
    except importlib.metadata.PackageNotFoundError:
        sys.exit("dp-accounting is not installed; run: pip install --requirement scripts/claim_from_accountant.requirements.txt")
    upper = profile(options, pessimistic=True)
    for epsilon, delta in zip(options.epsilons, upper):
        if delta < LEAST_DELTA:
            parser.error(f"argument --epsilons: delta at {epsilon:g} is below {LEAST_DELTA:g}, too small for the arithmetic; choose smaller ones")
    plain = options.sampling_probability == 1.0
    if plain:
        lower = [closed_form(math.sqrt(options.steps) / options.sigma, epsilon) for epsilon in options.epsilons]
        against = "the exact value, which has a closed form here"
    else:
        lower = profile(options, pessimistic=False)
        against = "an optimistic estimate on the same grid; the exact value lies between the two"
    if any(low > high for low, high in zip(lower, upper)):
        sys.exit("an estimate that should be pessimistic is below one that is not; this is an error of dp-accounting or of this script")
    gaps = [high - low for low, high in zip(lower, upper)]
    relative = max(gap / high for gap, high in zip(gaps, upper))
    header = [
        f"{options.steps} steps of DP-SGD" if not plain else f"the Gaussian mechanism, {options.steps} times",
        f"noise multiplier sigma = {options.sigma!r}, sampling probability q = {options.sampling_probability!r} (Poisson), steps T = {options.steps}",
        "neighbours: add-remove; sensitivity 1",
        f"made by scripts/claim_from_accountant.py with dp-accounting {version}: privacy loss distribution, connect the dots, pessimistic",
        f"losses on a grid of {options.interval:g}; truncated mass e^{LOG_TRUNCATION} per step and {TAIL_MASS:g} in all, counted as infinite losses",
        f"discretisation error: delta is at most {max(gaps):.2g} (relative {relative:.2g}) above {against}",
        "delta is rounded up to six digits",
    ]
    lines = [f"# {line}" for line in header] + ["epsilon,delta"]
    lines += [f"{epsilon!r},{rounded_up(delta)}" for epsilon, delta in zip(options.epsilons, upper)]
    options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
