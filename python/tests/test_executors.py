"""Runs on executors. The report is the one that a single process makes, to the last byte but for the seconds."""

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

import dp_audit as dpa
import mechanisms

ROOT = Path(__file__).parents[2]
ONE, TWO = ["x"], ["x", "y"]
CLAIM = dpa.PureDp(1.0)
DRAWS = 2_000_000


def without_seconds(found):
    """The report, with what was measured by a clock taken out wherever it is."""

    def timeless(part):
        if isinstance(part, dict):
            return {key: timeless(value) for key, value in part.items() if key not in ("seconds", "timing")}
        return [timeless(value) for value in part] if isinstance(part, list) else part

    return timeless(json.loads(found.to_json()))


@pytest.fixture(scope="module")
def pool():
    # Forking a process that has threads may hang.
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


@pytest.fixture(scope="module")
def plain():
    return dpa.audit(mechanisms.laplace_count, ONE, TWO, claim=CLAIM, draws=DRAWS, until="budget")


@pytest.mark.parametrize("tasks", [1, 2, 7, 16])
def test_a_function_on_a_process_pool(pool, plain, tasks):
    result = dpa.audit(mechanisms.laplace_count, ONE, TWO, claim=CLAIM, draws=DRAWS, executor=pool, tasks=tasks)
    assert without_seconds(result) == without_seconds(plain)


def test_few_slow_draws_are_made_by_all_processes(pool):
    def found(**options):
        return dpa.audit(mechanisms.slow, ONE, TWO, claim=CLAIM, draws=1000, name="slow", **options)

    assert without_seconds(found(executor=pool)) == without_seconds(found())


def test_several_pairs_and_a_refutation(pool):
    def found(**options):
        pairs = {"one": (ONE, TWO), "none": ([], ONE)}
        return dpa.audit(mechanisms.laplace_count, pairs=pairs, claim=dpa.PureDp(0.5), draws=300_000, **options)

    there = found(executor=pool, tasks=5)
    assert there.verdict == "violated" and without_seconds(there) == without_seconds(found())
    assert there.witness.replay(draws=20_000).confirmed


def test_files_on_a_process_pool(pool):
    there = dpa.run(ROOT / "audits" / "basics", draws=200_000, executor=pool)
    assert without_seconds(there) == without_seconds(dpa.run(ROOT / "audits" / "basics", draws=200_000))


def test_until_decided_is_not_divided_and_the_same(pool):
    def found(**options):
        return dpa.audit(mechanisms.laplace_count, ONE, TWO, claim=dpa.PureDp(0.5), draws=DRAWS, until="decided", **options)

    assert without_seconds(found(executor=pool, tasks=4)) == without_seconds(found())


def test_a_mechanism_that_fails_is_an_error(pool):
    with pytest.raises(dpa.AuditError, match="only fails.*no database"):
        dpa.audit(mechanisms.always_fails, ONE, TWO, claim=CLAIM, draws=1000, executor=pool)


def test_a_lambda_needs_cloudpickle(pool, plain):
    pytest.importorskip("cloudpickle")
    mechanism = lambda data, rng, count: len(data) + rng.laplace(size=count)  # noqa: E731
    mechanism.__name__ = "laplace_count"
    result = dpa.audit(mechanism, ONE, TWO, claim=CLAIM, draws=DRAWS, executor=pool)
    assert without_seconds(result) == without_seconds(plain)


def test_what_cannot_be_sent_is_an_error(pool):
    class Local:
        def __call__(self, data, rng, count):
            return rng.random(count)

        def __reduce__(self):
            raise TypeError("a socket")

    with pytest.raises((dpa.AuditError, TypeError), match="a socket"):
        dpa.audit(Local(), ONE, TWO, claim=CLAIM, draws=1000, executor=pool)


class Unreliable:
    """An executor that loses every third task."""

    def __init__(self):
        self.submitted = 0

    def submit(self, function, argument):
        self.submitted += 1
        future = Future()
        if self.submitted % 3 == 0:
            future.set_exception(ConnectionError("a worker died"))
        else:
            future.set_result(function(argument))
        return future


def test_a_task_whose_worker_died_is_tried_again(plain):
    executor = Unreliable()
    result = dpa.audit(mechanisms.laplace_count, ONE, TWO, claim=CLAIM, draws=DRAWS, executor=executor, tasks=8)
    assert without_seconds(result) == without_seconds(plain) and executor.submitted > 4


def test_a_pool_that_breaks_is_an_error_and_no_hang():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        with pytest.raises(dpa.AuditError, match="takes no more tasks|failed 3 times"):
            dpa.audit(mechanisms.DiesAlways(os.getpid()), ONE, TWO, claim=CLAIM, draws=DRAWS, executor=pool)


@pytest.mark.parametrize("options, error", [({"executor": 3}, TypeError), ({"executor": ThreadPoolExecutor(1), "tasks": 0}, ValueError)])
def test_bad_executors(options, error):
    with pytest.raises(error, match="executor|tasks"):
        dpa.audit(mechanisms.laplace_count, ONE, TWO, claim=CLAIM, **options)


def test_progress_of_an_executor(pool, monkeypatch):
    monkeypatch.setattr("dp_audit._progress.PATIENCE", 0)
    seen = []
    dpa.audit(mechanisms.laplace_count, ONE, TWO, claim=CLAIM, draws=DRAWS, executor=pool, tasks=4, progress=lambda *numbers: seen.append(numbers))
    assert seen[-1][0] == seen[-1][1] > 0


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, distributed.Client(cluster) as client:
        client.run(lambda path: sys.path.insert(0, path), str(Path(__file__).parent))
        yield client


class TestDask:
    def test_the_same_bytes(self, client, plain):
        result = dpa.audit(mechanisms.laplace_count, ONE, TWO, claim=CLAIM, draws=DRAWS, executor=client.get_executor(), tasks=6)
        assert without_seconds(result) == without_seconds(plain)

    def test_a_worker_that_is_killed_loses_nothing(self, client, plain, tmp_path):
        mechanism = mechanisms.DiesOnce(tmp_path / "died", os.getpid())
        result = dpa.audit(mechanism, ONE, TWO, claim=CLAIM, draws=DRAWS, executor=client.get_executor(pure=False, retries=2), tasks=6)
        assert (tmp_path / "died").exists()
        assert without_seconds(result) == without_seconds(plain)


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray")
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": path}})
    yield ray
    ray.shutdown()


# Ray leaves files and sockets of its own open.
@pytest.mark.filterwarnings("ignore")
class TestRay:
    def test_the_same_bytes(self, ray, plain):
        result = dpa.audit(mechanisms.laplace_count, ONE, TWO, claim=CLAIM, draws=DRAWS, executor=ray, tasks=4)
        assert without_seconds(result) == without_seconds(plain)

    def test_a_worker_that_is_killed_loses_nothing(self, ray, plain, tmp_path):
        mechanism = mechanisms.DiesOnce(tmp_path / "died", os.getpid())
        result = dpa.audit(mechanism, ONE, TWO, claim=CLAIM, draws=DRAWS, executor=ray, tasks=4)
        assert (tmp_path / "died").exists()
        assert without_seconds(result) == without_seconds(plain)

    def test_workers_that_always_die_are_an_error_and_no_hang(self, ray):
        with pytest.raises(dpa.AuditError):
            dpa.audit(mechanisms.DiesAlways(os.getpid()), ONE, TWO, claim=CLAIM, draws=DRAWS, executor=ray, tasks=4)

    def test_few_slow_draws(self, ray):
        one = dpa.audit(mechanisms.laplace_count, ONE, TWO, claim=CLAIM, draws=200)
        other = dpa.audit(mechanisms.laplace_count, ONE, TWO, claim=CLAIM, draws=200, executor=ray)
        assert without_seconds(one) == without_seconds(other)


def test_mpi():
    pytest.importorskip("mpi4py")
    mpiexec = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if mpiexec is None:
        pytest.skip("there is no mpiexec")
    command = [mpiexec, "-n", "3", sys.executable, "-m", "mpi4py.futures", str(Path(__file__).parent / "mpi_program.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout == "the same\n", done.stderr


def test_submitit(plain, tmp_path):
    submitit = pytest.importorskip("submitit")
    executor = submitit.AutoExecutor(folder=tmp_path, cluster="local")
    executor.update_parameters(timeout_min=5)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    try:
        result = dpa.audit(mechanisms.laplace_count, ONE, TWO, claim=CLAIM, draws=DRAWS, executor=executor, tasks=3)
    finally:
        os.environ["PYTHONPATH"] = os.environ["PYTHONPATH"].partition(os.pathsep)[2]
    assert without_seconds(result) == without_seconds(plain)
