"""Programs to be traced: planted bugs, each with the line at fault marked `# FAULT`, and sound programs.

PLANTED: name → (program, left, right, claim). SOUND: the same. FOOLING names planted bugs that a recorder of calls misses if it compares what it
recorded with `!=`, looks only at calls of the second run, trusts declared noise, or compares printed parameters.
`scripts/trace_planted.py` makes a table of all of them.
"""

import inspect
import math

import numpy as np

import dp_audit as dpa

ONE = dpa.PureDp(1.0)
GAUSS = dpa.ApproximateDp(1.0, 0.01)


def clip(x, low=0.0, high=1.0):
    return min(max(x, low), high)


def line_at_fault(program):
    """The line with the marker."""
    lines, start = inspect.getsourcelines(program)
    (at,) = [start + place for place, line in enumerate(lines) if "# FAULT" in line]
    return at


# Planted bugs.


def unclipped_sum(data, rng):
    total = sum(data)
    return total + rng.laplace(scale=1.0)  # FAULT


def half_the_noise(data, rng):
    return len(data) + rng.laplace(scale=0.5)  # FAULT


def scale_from_data(data, rng):
    total = sum(data)
    return total + rng.laplace(scale=max(data))  # FAULT


def scale_from_size(data, rng):
    mean = sum(map(clip, data)) / len(data)
    noise = rng.laplace() / len(data)
    return mean + noise  # FAULT


def maximum_beside_noise(data, rng):
    noisy = len(data) + rng.laplace(scale=1.0)
    return noisy, max(data)  # FAULT


def clamped_to_truth(data, rng):
    noisy = sum(map(clip, data)) + rng.laplace(scale=1.0)
    noisy = min(float(noisy), max(data) * len(data))  # FAULT
    return noisy


def branch_on_truth(data, rng):
    noisy = len(data) + rng.laplace(scale=1.0)
    answer = float(noisy)
    if len(data) < 2:
        answer = 0.0  # FAULT
    return answer


def call_for_each_record(data, rng):
    return [clip(x) + rng.laplace(scale=1.0) for x in data]  # FAULT


def extra_call(data, rng):
    first = len(data) + rng.laplace(scale=1.0)
    found = [float(first)]
    if max(data) > 0.9:
        found.append(sum(map(clip, data)) + float(first) * 0 + rng.laplace(scale=1.0))  # FAULT
    return found


def order_of_data(data, rng):
    counts = {}
    for x in data:
        counts[int(x * 2)] = counts.get(int(x * 2), 0) + 1
    released = {}
    for key in sorted({0, 1, 2}, key=lambda key: -counts.get(key, 0)):
        released[key] = counts.get(key, 0) + rng.laplace(scale=1.0)
    return released  # FAULT


def nan_passes(data, rng):
    total = sum(x if math.isnan(x) else clip(x) for x in data)
    return total + rng.laplace(scale=1.0)  # FAULT


def infinity_passes(data, rng):
    total = sum(max(x, 0.0) for x in data)
    return total + rng.laplace(scale=1.0)  # FAULT


def group_sizes(data, rng):
    sums = np.zeros(2)
    for x in data:
        sums[int(x > 0.5)] += clip(x)
    sizes = [sum(x <= 0.5 for x in data), sum(x > 0.5 for x in data)]
    noisy = np.asarray(sums + rng.laplace(scale=1.0, size=2))
    means = noisy / np.maximum(sizes, 1)  # FAULT
    return means


def batches_are_not_clipped(data, rng):
    gradients = np.array([[x, 2 * x] for x in data])
    mean = gradients.sum(axis=0)  # each gradient should be clipped to length 1
    return mean + rng.normal(scale=4.0, size=2)  # FAULT


def whole_batch_is_clipped(data, rng):
    total = sum(np.array([x, -x]) for x in data)
    step = total / max(1.0, np.linalg.norm(total)) * 3.0
    return step + rng.normal(scale=1.0, size=2)  # FAULT


def forgotten_last_step(data, rng):
    state = 0.0
    for step in range(3):
        state = float(0.5 * state + sum(map(clip, data)) + rng.laplace(scale=3.0))
    state = state + 0.1 * sum(data)  # FAULT
    return state


def noise_used_twice(data, rng):
    noise = rng.laplace(scale=2.0)
    return [len(data) + noise, sum(map(clip, data)) + 0.5 * len(data) + noise]  # FAULT


def composition_forgotten(data, rng):
    count = len(data) + rng.laplace(scale=1.0)  # FAULT
    return count, sum(map(clip, data)) + rng.laplace(scale=1.0)


def error_tells(data, rng):
    if len(data) < 2:
        raise ValueError("too few records")  # FAULT
    return len(data) + rng.laplace(scale=1.0)


def private_text_in_answer(data, rng):
    noisy = len(data) + rng.laplace(scale=1.0)
    text = "x" * 5000 + repr(max(data))
    return {"count": noisy, "model": text}  # FAULT


def int_of_truth(data, rng):
    noisy = float(sum(map(clip, data)) + rng.laplace(scale=1.0))
    bias = sum(data)
    noisy = noisy + 1e-9 * bias  # FAULT
    return noisy


def histogram_of_wrong_bins(data, rng):
    edges = np.linspace(0, max(data), 4)
    counts, _ = np.histogram(data, edges)
    return [float(x) for x in counts + rng.laplace(scale=1.0, size=3)], float(edges[1])  # FAULT


def as_many_as_records(data, rng):
    noisy = np.asarray(np.bincount([int(clip(x) * 3) for x in data], minlength=4) + rng.laplace(scale=1.0, size=4))
    chances = np.maximum(noisy, 0.01) / np.maximum(noisy, 0.01).sum()
    return rng.choice(4, size=100 + len(data), p=chances)  # FAULT


def fewer_calls(data, rng):
    noisy = float(len(data) + rng.laplace(scale=1.0))
    if max(data) < 0.9:
        noisy = float(noisy + rng.laplace(scale=1.0))  # FAULT
    return noisy


def scale_inside_a_long_array(data, rng):
    scales = np.full(5000, 1e5)
    scales[2500] *= 1 + max(data)
    return np.asarray(np.ones(5000) * len(data) + rng.laplace(scale=scales))  # FAULT


def candidate_in_a_long_list(data, rng):
    candidates = [f"word {number}" for number in range(2999)] + [repr(max(data))]
    noisy = float(len(data) + rng.laplace(scale=1.0))
    return noisy, candidates[2990:]  # FAULT


def keys_without_threshold(data, rng):
    counts = {}
    for x in data:
        counts[round(x, 1)] = counts.get(round(x, 1), 0) + 1
    return {key: count + rng.laplace(scale=1.0) for key, count in sorted(counts.items())}  # FAULT


def noise_of_four_workers(data, rng):
    gradients = [np.array([1.0, x]) / max(1.0, math.hypot(1.0, x)) for x in data]
    noise = sum(rng.normal(scale=4.0, size=2) for _ in range(4)) / 4
    return np.sum(gradients, axis=0) + noise  # FAULT


DATA, MORE = [0.2, 0.4], [0.2, 0.4, 1.0]

PLANTED = {
    "unclipped_sum": (unclipped_sum, DATA, [0.2, 0.4, 3.0], ONE),
    "half_the_noise": (half_the_noise, DATA, MORE, ONE),
    "scale_from_data": (scale_from_data, DATA, MORE, ONE),
    "scale_from_size": (scale_from_size, DATA, MORE, ONE),
    "maximum_beside_noise": (maximum_beside_noise, DATA, MORE, ONE),
    "clamped_to_truth": (clamped_to_truth, DATA, MORE, ONE),
    "branch_on_truth": (branch_on_truth, [0.2], [0.2, 1.0], ONE),
    "call_for_each_record": (call_for_each_record, DATA, MORE, ONE),
    "extra_call": (extra_call, DATA, MORE, ONE),
    "order_of_data": (order_of_data, [0.2, 0.7], [0.2, 0.7, 0.6], ONE),
    "nan_passes": (nan_passes, DATA, [0.2, 0.4, math.nan], ONE),
    "infinity_passes": (infinity_passes, DATA, [0.2, 0.4, math.inf], ONE),
    "group_sizes": (group_sizes, [0.2, 0.4], [0.2, 0.4, 0.3], ONE),
    "batches_are_not_clipped": (batches_are_not_clipped, DATA, [0.2, 0.4, 9.0], GAUSS),
    "whole_batch_is_clipped": (whole_batch_is_clipped, [0.5], [0.5, -3.0], GAUSS),
    "forgotten_last_step": (forgotten_last_step, DATA, MORE, ONE),
    "noise_used_twice": (noise_used_twice, DATA, MORE, ONE),
    "composition_forgotten": (composition_forgotten, DATA, MORE, ONE),
    "error_tells": (error_tells, [0.2], [0.2, 1.0], ONE),
    "private_text_in_answer": (private_text_in_answer, DATA, MORE, ONE),
    "int_of_truth": (int_of_truth, DATA, MORE, ONE),
    "as_many_as_records": (as_many_as_records, DATA, MORE, ONE),
    "histogram_of_wrong_bins": (histogram_of_wrong_bins, DATA, MORE, ONE),
    "fewer_calls": (fewer_calls, DATA, MORE, ONE),
    "scale_inside_a_long_array": (scale_inside_a_long_array, DATA, MORE, ONE),
    "candidate_in_a_long_list": (candidate_in_a_long_list, DATA, MORE, ONE),
    "keys_without_threshold": (keys_without_threshold, DATA, MORE, ONE),
    "noise_of_four_workers": (noise_of_four_workers, DATA, MORE, dpa.ApproximateDp(1.0, 1e-4)),
}

FOOLING = ("nan_passes", "fewer_calls", "half_the_noise", "scale_inside_a_long_array", "candidate_in_a_long_list")


# Sound programs.


def laplace_sum(data, rng):
    return sum(map(clip, data)) + rng.laplace(scale=1.0)


def gauss_two(data, rng):
    return np.array([len(data), sum(map(clip, data))]) + rng.normal(scale=6.0, size=2)


def noisy_mean(data, rng):
    total = sum(map(clip, data)) + rng.laplace(scale=2.0)
    count = len(data) + rng.laplace(scale=2.0)
    return max(0.0, min(1.0, float(total) / max(float(count), 1.0)))


def geometric_count(data, rng):
    return len(data) + rng.geometric(1 - math.exp(-1)) - rng.geometric(1 - math.exp(-1))


def exponential_mechanism(data, rng):
    scores = np.array([-abs(sum(x < c for x in data) - sum(x > c for x in data)) for c in (0.0, 0.25, 0.5, 0.75, 1.0)], float)
    weights = np.exp(scores / 2)
    return float(rng.choice([0.0, 0.25, 0.5, 0.75, 1.0], p=weights / weights.sum()))


def noisy_maximum(data, rng):
    counts = np.bincount([int(clip(x) * 3) for x in data], minlength=4)
    return int(np.argmax(counts + rng.laplace(scale=1.0, size=4)))


def above_threshold(data, rng):
    threshold = 2 + rng.laplace(scale=2.0)
    for number, limit in enumerate((0.1, 0.3, 0.5, 0.7)):
        if sum(x > limit for x in data) + rng.laplace(scale=4.0) >= threshold:
            return number
    return None


def randomised_response(data, rng):
    return [x if rng.random() < math.e / (1 + math.e) else 1 - x for x in data]


def dp_sgd(data, rng):
    weights = np.zeros(2)
    for _ in range(5):
        gradients = [np.array([1.0, x]) * (weights @ [1.0, x] - x) for x in data]
        clipped = [g / max(1.0, np.linalg.norm(g)) for g in gradients]
        weights = weights - 0.1 * np.asarray(np.sum(clipped, axis=0) + rng.normal(scale=12.0, size=2)) / 10
    return weights


def tree_of_sums(data, rng):
    counts = np.bincount([int(clip(x) * 3.999) for x in data], minlength=4).astype(float)
    levels = [counts, counts.reshape(2, 2).sum(axis=1), counts.sum(keepdims=True)]
    return [np.maximum(np.round(level + rng.laplace(scale=3.0, size=level.size)), 0) for level in levels]


def shares_of_noise(data, rng):
    shares = [clip(x) + rng.normal(scale=3.0) for x in data]
    return sum(shares[1:], shares[0])


def cauchy_median(data, rng):
    ordered = sorted(map(clip, data))
    return ordered[len(ordered) // 2] + 4.0 * rng.standard_cauchy()


SOUND = {
    "laplace_sum": (laplace_sum, DATA, MORE, ONE),
    "gauss_two": (gauss_two, DATA, MORE, dpa.ApproximateDp(1.0, 1e-3)),
    "noisy_mean": (noisy_mean, DATA, MORE, ONE),
    "geometric_count": (geometric_count, DATA, MORE, ONE),
    "exponential_mechanism": (exponential_mechanism, DATA, MORE, ONE),
    "noisy_maximum": (noisy_maximum, DATA, MORE, ONE),
    "above_threshold": (above_threshold, DATA, MORE, ONE),
    "randomised_response": (randomised_response, [0, 1], [0, 0], ONE),
    "dp_sgd": (dp_sgd, DATA, MORE, dpa.ApproximateDp(1.0, 1e-2)),
    "tree_of_sums": (tree_of_sums, DATA, MORE, ONE),
    "shares_of_noise": (shares_of_noise, DATA, [0.2, 1.0], dpa.ApproximateDp(1.0, 1e-2)),
    "cauchy_median": (cauchy_median, [0.2, 0.4, 0.6], [0.2, 0.4, 0.6, 1.0], ONE),
}
