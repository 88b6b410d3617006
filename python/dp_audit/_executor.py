"""Runs on the executors that people already have: process pools, Dask, MPI, Slurm through submitit.

An executor is anything with `submit(function, …)` that returns a future with `result()`, as `concurrent.futures.Executor` has it. A run is divided
into tasks of about equal cost. Pairs with many draws are divided too: one task learns their rules, and the others judge ranges of their draws. What
comes back are counts, rules and evidence, never outputs.

Few draws are worth an executor only if each of them takes long. Then the draws themselves are the tasks, and outputs come back.

Either way the report is the one that a single machine would have made.
"""

from __future__ import annotations

import dataclasses
import pickle
import time
from functools import lru_cache
from typing import Any, Callable, Mapping, Sequence

from . import _dp_audit, worker
from ._errors import AuditError
from ._function import Function
from ._ray import RayExecutor, is_ray

TASKS_PER_WORKER = 4  # so that a slow worker delays the end little
DEFAULT_TASKS = 16
DIVIDED_DRAWS = 1 << 19  # with fewer draws, a pair is not divided into ranges: each of them is checked for dependence, which needs draws
TRIES = 3  # of a task whose worker died
POLL = 0.02  # seconds between two looks at the futures


@dataclasses.dataclass(frozen=True)
class Sent:
    """A mechanism and its data on their way to another process. cloudpickle sends what pickle cannot, if it is installed."""

    content: bytes

    @classmethod
    def of(cls, functions: Mapping[str, Function]) -> "Sent":
        described = {name: function.description() for name, function in functions.items()}
        try:
            return cls(pickle.dumps(described))
        except Exception as error:
            try:
                import cloudpickle
            except ImportError:
                raise AuditError(
                    f"the mechanism or its data cannot be sent to another process ({error}); put the mechanism into a module, or install cloudpickle"
                ) from error
            return cls(cloudpickle.dumps(described))

    def functions(self) -> list[tuple[str, Function]]:
        return [(name, Function(**description)) for name, description in pickle.loads(self.content).items()]


@dataclasses.dataclass(frozen=True)
class Task:
    """What one worker does."""

    job: str
    item: str
    functions: Sent | None
    explored: str | None
    threads: int | None
    shared: bool


def work(task: Task) -> str:
    """Does a task, in the process of a worker."""
    functions = task.functions.functions() if task.functions else None
    return _dp_audit.run_task(task.job, task.item, functions, task.explored, task.threads, task.shared)


def number_of_tasks(executor: Any) -> int:
    """As many tasks as suit the workers of an executor, if it says how many it has."""
    workers = getattr(executor, "_max_workers", None)
    client = getattr(executor, "_client", None)
    if client is not None and hasattr(client, "ncores"):
        workers = sum(client.ncores().values())
    return TASKS_PER_WORKER * workers if isinstance(workers, int) and workers > 0 else DEFAULT_TASKS


def with_submit(executor: Any) -> Any:
    """The executor itself, or one for the module `ray`."""
    if is_ray(executor):
        return RayExecutor(executor)
    if not hasattr(executor, "submit"):
        raise TypeError(f"executor is a {type(executor).__name__}; it must have submit, as concurrent.futures.Executor has, or be the module ray")
    return executor


def run_on(
    executor: Any,
    job: str,
    functions: Mapping[str, Function] | None,
    shared: bool,
    tasks: int | None,
    threads: int | None,
    show: Callable[[int, int, float, int], object] | None,
) -> Any:
    """The report of a job whose tasks an executor runs."""
    executor = with_submit(executor)
    if tasks is not None and tasks < 1:
        raise ValueError(f"tasks is {tasks}, must be at least 1")
    sent = Sent.of(functions) if functions is not None else None
    first, others = _dp_audit.tasks(job, tasks or number_of_tasks(executor))
    progress = Tracker(sum(draws for _, draws in others), show)
    # While rules are learned there is little else to do, so this may use all cores of a worker.
    learned = Futures(executor, progress, work).results([(Task(job, item, sent, None, threads, shared), 0) for item in first])
    rules = {_dp_audit.pair_of_task(task.item): result for task, result in learned}

    def task(item: str) -> Task:
        pair = _dp_audit.pair_of_task(item)
        return Task(job, item, sent, rules.get(pair) if pair else None, threads or 1, shared)

    results = Futures(executor, progress, work).results([(task(item), draws) for item, draws in others])
    return _dp_audit.combine(job, [(task.item, result) for task, result in results])


def draw_on(executor: Any, functions: Mapping[str, Function]) -> None:
    """Lets an executor make the draws of functions."""
    executor = with_submit(executor)
    for name, function in functions.items():
        sent = Sent.of({name: function})

        def remote(side: int, blocks: list[tuple[int, str]], sent: Sent = sent) -> list[Sequence[Any]]:
            asked = [(Draws(sent, side, count, seed), 0) for count, seed in blocks]
            return [outputs for _, outputs in Futures(executor, Tracker(0, None), draw).results(asked)]

        function.remote = remote


@dataclasses.dataclass(frozen=True)
class Draws:
    """Some draws that one worker makes."""

    functions: Sent
    side: int
    count: int
    seed: str


@lru_cache(maxsize=1)
def restored(sent: Sent) -> Function:
    """The function of a worker. It serves many requests."""
    return sent.functions()[0][1]


def draw(draws: Draws) -> Sequence[Any]:
    """Makes draws, in the process of a worker."""
    return restored(draws.functions).seeded_draws(draws.side, draws.count, draws.seed)


class Tracker:
    """How many draws are done."""

    def __init__(self, planned: int, show: Callable[[int, int, float, int], object] | None) -> None:
        self.planned = planned
        self.drawn = 0
        self.show = show

    def __call__(self, draws: int = 0) -> None:
        self.drawn += draws
        if self.show is not None:
            self.show(self.drawn, self.planned, 0.0, 0)


class Futures:
    """Tasks that an executor runs. A task whose worker died is tried again; after an exception all are cancelled."""

    def __init__(self, executor: Any, progress: Tracker, work: Callable[[Any], Any]) -> None:
        self.executor = executor
        self.progress = progress
        self.work = work

    def results(self, tasks: list[tuple[Any, int]]) -> list[tuple[Any, Any]]:
        """The tasks with their results, in the same order. Each comes with the number of its draws."""
        running: dict[Any, tuple[int, int]] = {}
        done: dict[int, Any] = {}
        try:
            for place, (task, _) in enumerate(tasks):
                running[self.submit(task, None)] = (place, 1)
            while running:
                finished = [future for future in running if future.done()]
                if not finished:
                    self.progress()
                    time.sleep(POLL)
                for future in finished:
                    place, tries = running.pop(future)
                    task, draws = tasks[place]
                    try:
                        done[place] = future.result()
                        self.progress(draws)
                    except (AuditError, worker.Refusal):
                        raise
                    except Exception as error:
                        # The mechanism's own failures are results. This is about the worker.
                        if tries == TRIES:
                            raise AuditError(f"a task failed {TRIES} times, the last time with {type(error).__name__}: {error}") from error
                        running[self.submit(task, error)] = (place, tries + 1)
        except BaseException:
            for future in running:
                future.cancel()
            raise
        return [(task, done[place]) for place, (task, _) in enumerate(tasks)]

    def submit(self, task: Task, cause: Exception | None) -> Any:
        try:
            return self.executor.submit(self.work, task)
        except Exception as error:
            raise AuditError(
                f"the executor takes no more tasks ({type(error).__name__}: {error}); a pool of processes breaks when one of them dies: make a "
                "new one and run again"
            ) from (cause or error)
