"""Ray as an executor: `executor=ray`, where the module is initialised or can be."""

from __future__ import annotations

import math
from typing import Any, Callable

CHILDREN_END = "kill_child_processes_on_worker_exit_with_raylet_subreaper"
RETRIES = 3  # of a task whose worker process died; Ray makes them itself


def is_ray(executor: Any) -> bool:
    """Whether this is the module `ray`, which need not be installed."""
    return getattr(executor, "__name__", None) == "ray" and hasattr(executor, "remote")


class RayFuture:
    """The result of a Ray task."""

    def __init__(self, ray: Any, reference: Any) -> None:
        self.ray = ray
        self.reference = reference

    def done(self) -> bool:
        # What is ready is not fetched before it is asked for.
        return bool(self.ray.wait([self.reference], timeout=0, fetch_local=False)[0])

    def result(self) -> Any:
        try:
            return self.ray.get(self.reference)
        except self.ray.exceptions.RayTaskError as error:
            # What the task raised, without the wrapper of Ray.
            raise (error.cause if isinstance(getattr(error, "cause", None), Exception) else error) from None

    def cancel(self) -> None:
        # A task that runs is ended with its process: Ray interrupts only what is in Python.
        self.ray.cancel(self.reference, force=True)


class RayExecutor:
    """Gives tasks to Ray.

    When a worker process dies, Ray leaves the programs that it had started unless it is told otherwise. A Ray that is started here is told; one that
    runs already must have been started with the environment variable RAY_kill_child_processes_on_worker_exit_with_raylet_subreaper=true.
    """

    def __init__(self, ray: Any) -> None:
        if not ray.is_initialized():
            ray.init(log_to_driver=False, _system_config={CHILDREN_END: True})
        self.ray = ray
        self.remote: dict[Callable[[Any], Any], Any] = {}
        self._max_workers = max(1, math.floor(ray.cluster_resources().get("CPU", 1)))

    def submit(self, function: Callable[[Any], Any], argument: Any) -> RayFuture:
        # Ray sends a function to its workers once for each remote function that is made of it.
        if function not in self.remote:
            self.remote[function] = self.ray.remote(num_cpus=1, max_retries=RETRIES)(function)
        return RayFuture(self.ray, self.remote[function].remote(argument))
