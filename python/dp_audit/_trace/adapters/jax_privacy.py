"""jax_privacy: independent normal noise that a gradient privatizer adds. While a trace runs, nothing is compiled, so that every call is seen."""

from __future__ import annotations

import functools
from typing import Any, Callable

import numpy as np

MODULE = "jax_privacy.noise_addition"


def install(module: Any) -> Callable[[], None]:
    import jax

    names = ("_iid_normal_noise", "_gaussian_linear_combination", "_streaming_matrix_factorization_privatizer")
    kept = [(name, getattr(module, name)) for name in names]
    compiled = jax.config.jax_disable_jit
    drawn: list[Any] = []
    module._iid_normal_noise = _noticed(module._iid_normal_noise, drawn)
    module._gaussian_linear_combination = _noticed(module._gaussian_linear_combination, None)
    module._streaming_matrix_factorization_privatizer = _recording(module._streaming_matrix_factorization_privatizer, drawn)
    jax.config.update("jax_disable_jit", True)

    def undo() -> None:
        jax.config.update("jax_disable_jit", compiled)
        for name, real in kept:
            setattr(module, name, real)

    return undo


def _noticed(real: Callable[..., Any], drawn: list[Any] | None) -> Callable[..., Any]:
    """Noise outside a privatizer that records, or correlated noise, is not followed."""
    from ..execute import CURRENT

    @functools.wraps(real)
    def noise(*arguments: Any, **options: Any) -> Any:
        out = real(*arguments, **options)
        tape = CURRENT.get()
        if tape is not None:
            tape.cannot_track("noise of jax_privacy that is correlated, or whose privatizer was made before the trace")
        elif drawn is not None:
            drawn.append(out)
        return out

    return noise


def _recording(real: Callable[..., Any], drawn: list[Any]) -> Callable[..., Any]:
    from ..execute import CURRENT
    from ..primitive import record

    @functools.wraps(real)
    def privatizer(noising_matrix: Any, *, stddev: Any, **options: Any) -> Any:
        import jax
        import jax.numpy as jnp

        made = real(noising_matrix, stddev=stddev, **options)

        def update(sums: Any, state: Any, params: Any = None) -> Any:
            tape = CURRENT.get()
            if tape is None:
                return made.update(sums, state, params)
            drawn.clear()
            token = CURRENT.set(None)
            try:
                noisy, state = made.update(sums, state, params)
            finally:
                CURRENT.reset(token)
            values, shape = jax.tree.flatten(sums)
            outs, noises = jax.tree.leaves(noisy), [leaf for tree in drawn for leaf in jax.tree.leaves(tree)]
            given = []
            for place, (value, out) in enumerate(zip(values, outs)):
                q, t = np.asarray(value, float), np.asarray(out, float)
                noise = np.asarray(noises[place], float) if len(noises) == len(values) else None
                if noise is None or noise.shape != q.shape or not np.allclose(t - q, noise, rtol=1e-3, atol=1e-4 * (1.0 + np.abs(q).max(initial=0.0))):
                    tape.cannot_track("correlated noise of jax_privacy")
                    return noisy, state
                played = record(tape, "jax_privacy noise", q, t, noise="normal", scale=float(stddev), sensitivity=None, epsilon=None)
                given.append(jnp.asarray(played, dtype=out.dtype))
            return jax.tree.unflatten(shape, given), state

        return type(made)(made.init, update)

    return privatizer
