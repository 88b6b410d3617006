"""PipelineDP: the additive mechanisms of its combiners. Selection of partitions and quantile trees draw inside PyDP and cannot be followed."""

from __future__ import annotations

import functools
from typing import Any, Callable

import numpy as np

MODULE = "pipeline_dp.dp_computations"
SELECTIONS = ("create_partition_selection_strategy", "create_gaussian_thresholding", "create_laplace_thresholding", "create_weighted_gaussian_thresholding")


def install(module: Any) -> Callable[[], None]:
    import pipeline_dp.partition_selection as selection

    def of_mechanism(self: Any, value: Any) -> tuple[str, float]:
        return self.noise_kind.name, self.noise_parameter

    def of_laplace(value: Any, eps: float, l1_sensitivity: float) -> tuple[str, float]:
        return "LAPLACE", l1_sensitivity / eps

    def of_gaussian(value: Any, eps: float, delta: float, l2_sensitivity: float) -> tuple[str, float]:
        return "GAUSSIAN", module.compute_sigma(eps, delta, l2_sensitivity)

    replaced = [
        (module.AdditiveMechanism, "add_noise", _recording(module.AdditiveMechanism.add_noise, of_mechanism, 1)),
        (module, "apply_laplace_mechanism", _recording(module.apply_laplace_mechanism, of_laplace, 0)),
        (module, "apply_gaussian_mechanism", _recording(module.apply_gaussian_mechanism, of_gaussian, 0)),
        (module, "compute_dp_quantiles", _untracked(module.compute_dp_quantiles, "a quantile tree of PipelineDP")),
    ]
    replaced += [(selection, name, _untracked(getattr(selection, name), "selection of partitions")) for name in SELECTIONS if hasattr(selection, name)]
    kept = [(place, name, getattr(place, name)) for place, name, _ in replaced]
    for place, name, new in replaced:
        setattr(place, name, new)

    def undo() -> None:
        for place, name, real in kept:
            setattr(place, name, real)

    return undo


NOISE = {"LAPLACE": "laplace", "GAUSSIAN": "normal"}


def _recording(real: Callable[..., Any], noise_of: Callable[..., tuple[str, float]], place: int) -> Callable[..., Any]:
    from ..execute import CURRENT
    from ..primitive import record
    from ..values import shown

    @functools.wraps(real)
    def add_noise(*arguments: Any, **options: Any) -> Any:
        tape = CURRENT.get()
        if tape is None:
            return real(*arguments, **options)
        arguments = tuple(map(shown, arguments))
        token = CURRENT.set(None)
        try:
            out = real(*arguments, **options)
            kind, scale = noise_of(*arguments, **options)
        finally:
            CURRENT.reset(token)
        value = arguments[place] if len(arguments) > place else options["value"]
        return record(tape, f"PipelineDP {kind.lower()}", np.asarray(value, float), out, noise=NOISE[kind], scale=scale, sensitivity=None, epsilon=None)

    return add_noise


def _untracked(real: Callable[..., Any], what: str) -> Callable[..., Any]:
    from ..execute import CURRENT

    @functools.wraps(real)
    def used(*arguments: Any, **options: Any) -> Any:
        tape = CURRENT.get()
        if tape is not None:
            tape.cannot_track(what)
        return real(*arguments, **options)

    return used
