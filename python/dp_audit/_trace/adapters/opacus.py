"""Opacus: the noise that an optimizer adds to the sum of clipped gradients."""

from __future__ import annotations

import functools
from typing import Any, Callable

MODULE = "opacus.optimizers"
OPTIMIZERS = ("DPOptimizer", "DPOptimizerFastGradientClipping")


def install(module: Any) -> Callable[[], None]:
    kept = []
    for name, cls in list(vars(module).items()):
        if isinstance(cls, type) and "add_noise" in vars(cls):
            kept.append((cls, cls.add_noise))
            cls.add_noise = _recording(cls.add_noise) if name in OPTIMIZERS else _untracked(cls.add_noise, name)

    def undo() -> None:
        for cls, real in kept:
            cls.add_noise = real

    return undo


def _recording(real: Callable[..., Any]) -> Callable[..., Any]:
    from ..execute import CURRENT
    from ..primitive import record

    @functools.wraps(real)
    def add_noise(self: Any) -> None:
        import torch

        tape = CURRENT.get()
        if tape is None or not self.noise_multiplier > 0:
            return real(self)
        sums = [p.summed_grad.detach().cpu().double().numpy().copy() for p in self.params]
        real(self)
        scale = float(self.noise_multiplier) * float(self.max_grad_norm)
        for p, value in zip(self.params, sums):
            out = p.grad.detach().cpu().double().numpy().reshape(value.shape)
            given = record(tape, "Opacus noise", value, out, noise="normal", scale=scale, sensitivity=None, epsilon=None)
            p.grad = torch.as_tensor(given, dtype=p.grad.dtype, device=p.grad.device).view_as(p)
        return None

    return add_noise


def _untracked(real: Callable[..., Any], name: str) -> Callable[..., Any]:
    from ..execute import CURRENT

    @functools.wraps(real)
    def add_noise(self: Any) -> None:
        tape = CURRENT.get()
        if tape is not None:
            tape.cannot_track(f"the noise of Opacus' {name}")
        real(self)

    return add_noise
