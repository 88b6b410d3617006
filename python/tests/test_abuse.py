"""Mechanisms that misbehave: each is a clear error or a counted output, never a hang or a crash of the interpreter."""

import functools
import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy
import pytest

import dp_audit as dpa

CLAIM = dpa.PureDp(1.0)


def audit(mechanism, left=0, right=1, **options):
    options = {"draws": 20_000} | options
    return dpa.audit(mechanism, left, right, claim=CLAIM, **options)


def test_a_mechanism_that_always_fails_is_an_error():
    def mechanism(data, rng):
        raise RuntimeError("no database")

    with pytest.raises(dpa.AuditError, match="only fails.*no database"):
        audit(mechanism)


def test_an_address_in_a_message_is_not_taken_for_noise():
    def mechanism(data, rng):
        if data == 1:
            raise TypeError(f"{object()} is no number")
        return rng.random()

    result = audit(mechanism, until="budget")
    assert result.verdict == "violated"
    assert result.epsilon_lower > 5.0  # the exception tells both sides apart in every draw


def test_a_vectorised_mechanism_that_fails_now_and_then_is_an_error_with_its_cause():
    def mechanism(data, rng, count):
        if rng.random() < 0.3:
            raise ValueError("bad luck")
        return rng.random(count)

    with pytest.raises(dpa.AuditError, match="nobody knows in which of") as found:
        audit(mechanism)
    assert isinstance(found.value.__cause__, ValueError)


def test_a_vectorised_mechanism_that_always_fails_on_one_dataset_leaks_that():
    def mechanism(data, rng, count):
        if not data:
            raise ZeroDivisionError("empty")
        return rng.random(count)

    assert audit(mechanism, [], [1.0]).verdict == "violated"


def test_what_a_vectorised_mechanism_says_about_the_number_of_draws_is_no_output():
    def mechanism(data, rng, count):
        raise ValueError(f"cannot draw {count} times")

    def fails_on_one(data, rng, count):
        return rng.random(count) if data else mechanism(data, rng, count)

    assert audit(fails_on_one, [], [1.0], draws=100_000).verdict == "violated"


def test_sys_exit_ends_the_audit_and_not_the_interpreter():
    def mechanism(data, rng):
        sys.exit(3)

    with pytest.raises(dpa.AuditError, match="sys.exit"):
        audit(mechanism)


def test_a_later_sys_exit_is_an_error_too():
    calls = []

    def mechanism(data, rng):
        calls.append(1)
        if len(calls) > 5000:
            sys.exit(3)
        return rng.random()

    with pytest.raises(dpa.AuditError, match="sys.exit"):
        audit(mechanism)


@pytest.mark.parametrize("mechanism", [lambda data, rng: data.append(1) or rng.random(), lambda data, rng, count: data.append(1) or rng.random(count)])
def test_a_mechanism_that_changes_its_data_is_an_error(mechanism):
    with pytest.raises(dpa.AuditError, match="changed its dataset"):
        audit(mechanism, [0], [0, 1])


def test_a_changed_array_is_noticed():
    def mechanism(data, rng):
        data[0] += 1
        return rng.random()

    with pytest.raises(dpa.AuditError, match="changed its dataset"):
        audit(mechanism, numpy.zeros(2), numpy.zeros(3))


@pytest.mark.parametrize("result", [lambda count: [0.5] * (count + 1), lambda count: 0.5, lambda count: None, lambda count: numpy.float64(0.5)])
def test_a_vectorised_mechanism_must_return_as_many_draws(result):
    with pytest.raises(dpa.AuditError, match="asked for"):
        audit(lambda data, rng, count: result(count))


def test_ragged_outputs_are_outputs():
    def mechanism(data, rng):
        return [rng.random()] * int(rng.integers(1, 3 + data))

    assert audit(mechanism).verdict == "violated"


def test_ragged_batches_are_outputs():
    def mechanism(data, rng, count):
        return [[0.0] * int(rng.integers(1, 3)) for _ in range(count)]

    assert audit(mechanism).verdict == "inconclusive"


def test_outputs_may_become_wider_than_the_first_ones():
    calls = []

    def mechanism(data, rng):
        calls.append(1)
        return [rng.random()] * (5 if len(calls) > 3000 and rng.random() < 0.5 else 2)

    assert audit(mechanism).draws == 20_000


def test_an_output_that_cannot_be_shown_is_an_error():
    with pytest.raises(dpa.AuditError, match="cannot be an output"):
        audit(lambda data, rng: object())


def test_the_wrong_generator_is_an_error_with_a_remedy():
    with pytest.raises(dpa.AuditError, match="gauss.*rng='python'"):
        audit(lambda data, rng: rng.gauss(0, 1))


def test_noise_in_a_cache_is_an_error():
    @functools.lru_cache(maxsize=None)
    def noise(data):
        return data + numpy.random.default_rng().laplace()

    with pytest.raises(dpa.AuditError, match="not independent.*lru_cache"):
        audit(lambda data, rng: noise(data))


def test_a_cache_of_something_else_is_no_error():
    @functools.lru_cache(maxsize=None)
    def answer(data):
        return float(data)

    assert audit(lambda data, rng: answer(data)).verdict == "violated", "a constant that shows the data"


def test_draws_that_depend_on_each_other_are_an_error():
    state = {"level": 0.0}

    def mechanism(data, rng):
        state["level"] = 0.99 * state["level"] + rng.normal()
        return state["level"]

    with pytest.raises(dpa.AuditError, match="not independent"):
        audit(mechanism, draws=100_000)


def test_a_fixed_seed_in_every_batch_is_an_error():
    def mechanism(data, rng, count):
        return data + numpy.random.default_rng(7).laplace(size=count)

    with pytest.raises(dpa.AuditError, match="not independent"):
        audit(mechanism, draws=1_000_000)


def test_a_mechanism_may_use_threads():
    def mechanism(data, rng):
        found = []
        thread = threading.Thread(target=lambda: found.append(rng.laplace()))
        thread.start()
        thread.join()
        return data + found[0]

    assert audit(mechanism, draws=4000).draws == 4000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_mechanism_may_start_a_process_that_does_not_return():
    def mechanism(data, rng):
        if rng.random() < 0.002:
            child = os.fork()
            if child == 0:
                os._exit(0)
            os.waitpid(child, 0)
        return data + rng.laplace()

    assert audit(mechanism, draws=4000).draws == 4000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("batch", [False, True])
def test_a_mechanism_that_forks_and_returns_twice_is_refused_at_its_first_draws(batch, tmp_path):
    log = tmp_path / "processes"

    def one(data, rng):
        os.fork()
        with open(log, "a") as file:
            file.write(f"{os.getpid()}\n")
        return data + rng.laplace()

    def many(data, rng, count):
        os.fork()
        with open(log, "a") as file:
            file.write(f"{os.getpid()}\n")
        return data + rng.laplace(size=count)

    with pytest.raises(dpa.AuditError, match="returns in both processes"):
        audit(many if batch else one, draws=4000)
    # Each draw has one child, which makes no further draw.
    assert len(set(log.read_text().split())) < 200


@pytest.mark.parametrize("threads", [100_000, 65_536, 0, -1])
def test_threads_have_a_limit(threads):
    with pytest.raises((ValueError, OverflowError), match="threads"):
        audit(lambda data, rng: data + rng.laplace(), draws=4000, threads=threads)


SLOW = """
    import sys, time
    import dp_audit as dpa

    def mechanism(data, rng):
        time.sleep(0.001)
        return data + rng.laplace(scale={scale})

    print("ready", flush=True)
    try:
        dpa.audit(mechanism, 0, 1, claim=dpa.PureDp(1.0), draws=10**7, until="budget", progress=False)
    except KeyboardInterrupt as interrupted:
        result = interrupted.result
        print(type(interrupted).__name__, result.verdict, result.draws, result.epsilon_lower, result.pairs[0].note)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("scale, verdict", [(0.2, "violated"), (1.0, "inconclusive")])
def test_ctrl_c_ends_the_audit_with_what_is_known(scale, verdict):
    script = textwrap.dedent(SLOW).format(scale=scale)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(6)
        process.send_signal(signal.SIGINT)
        text, _ = process.communicate(timeout=60)
    name, found, draws, bound, note = text.split(maxsplit=4)
    assert (name, found) == ("Interrupted", verdict)
    assert 0 < int(draws) < 10**7 and float(bound) <= 1 / scale
    assert "interrupted" in note


def test_an_exception_in_the_progress_function_ends_the_audit():
    def show(drawn, planned, bound, finished):
        raise LookupError("no screen")

    def mechanism(data, rng):
        time.sleep(0.001)
        return rng.random()

    with pytest.raises(LookupError, match="no screen"):
        audit(mechanism, draws=10**7, progress=show)


def test_nothing_leaks_over_a_thousand_audits():
    resource = pytest.importorskip("resource")

    def mechanism(data, rng, count):
        return data + rng.laplace(size=count)

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def some(number):
        for seed in range(number):
            audit(mechanism, draws=500, seed=seed)
        gc.collect()
        return len(gc.get_objects()), peak()

    some(100)
    objects, memory = some(100)
    more_objects, more_memory = some(900)
    # Peak memory in KiB (in bytes on macOS). An audit that kept its draws, its report or its threads would cost at least 4 KiB each.
    unit = 1024 if sys.platform == "darwin" else 1
    assert more_objects - objects < 500
    assert (more_memory - memory) / unit < 4 * 900
