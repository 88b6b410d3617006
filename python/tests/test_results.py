"""What people look at: print, notebooks, JSON, frames, pictures, witnesses; samples, files and reports."""

import json
import math
import pickle
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

import dp_audit as dpa

ROOT = Path(__file__).parents[2]


def count(data, rng, count):
    return len(data) + rng.laplace(size=count)


@pytest.fixture(scope="module")
def violated():
    return dpa.audit(count, ["x"], ["x", "y"], claim=dpa.PureDp(0.5), draws=100_000)


@pytest.fixture(scope="module")
def consistent():
    return dpa.audit(count, ["x"], ["x", "y"], claim=dpa.PureDp(1.0), draws=100_000)


def test_print_says_what_leaked(violated, consistent):
    text = str(violated)
    assert "refuted with confidence 99.9 %" in text and "guessed right" in text and "Rule: left if" in text
    assert max(map(len, text.splitlines())) <= 100
    assert "not a proof" in str(consistent)


def test_a_notebook_shows_the_card(violated):
    html = violated._repr_html_()
    assert html.startswith('<div class="dp-audit">') and "count" in html and "<svg" in html
    assert "<html" not in html and "<script" not in html
    assert violated.to_html().startswith("<!DOCTYPE html>")


def test_results_can_be_sent_and_written(violated):
    again = pickle.loads(pickle.dumps(violated))
    assert again == violated and str(again) == str(violated)
    assert again._repr_html_() == violated._repr_html_()
    report = json.loads(violated.to_json())
    assert report["schema"] == "dp-audit-report/1"
    assert violated.to_dict() == report["audits"][0]
    loaded = dpa.load(violated.to_json())
    assert loaded[0].verdict == "violated" and loaded["count"].epsilon_lower == violated.epsilon_lower


def test_results_become_a_frame(violated):
    pytest.importorskip("pandas")
    frame = violated.to_pandas()
    assert list(frame.verdict) == ["violated"] and "rule" in frame.columns


class TestClues:
    """Two entries of four leak ε = 2 each. The strongest rule looks at both; people need one threshold."""

    @staticmethod
    def summary(data, rng):
        count, low, mean, top = len(data) + rng.laplace(scale=[10.0, 10.0, 0.5, 0.5])
        return {"count": count, "low": low, "mean": mean, "top": top}

    @pytest.fixture(scope="class")
    @classmethod
    def found(cls):
        return dpa.audit(cls.summary, ["x"], ["x", "y"], claim=dpa.PureDp(1.0), draws=40_000, until="budget")

    def test_the_simplest_rule_names_the_column(self, found):
        assert found.verdict == "violated"
        words = found.simplest_rule.split()
        assert words[0] in ("left", "right") and words[1] == "if" and words[2] in ("y.mean", "y.top") and len(words) == 5
        # By itself such a column leaks ε = 2; both together 4.
        assert 1 < found.worst.simplest_lower <= 2.0 and found.lower <= 4.2
        first, second, *_ = found.contributions
        assert {first.column, second.column} == {"y.mean", "y.top"}
        # The other two leak ε = 0.1 each.
        assert all(one.estimate < 0.5 for one in found.contributions if one.column in ("y.count", "y.low"))

    def test_examples_are_outputs_of_the_side_that_they_betray(self, found):
        assert found.examples
        for example in found.examples:
            more, less = (example.left, example.right) if example.side == "left" else (example.right, example.left)
            assert more > math.e * less
            # Only where both entries together are below 3 is D more likely by a factor of e.
            assert (example.output["y.mean"] + example.output["y.top"] < 3) == (example.side == "left")

    def test_they_are_in_every_view(self, found):
        text = str(found)
        assert f"Or: {found.simplest_rule}" in text.replace("\n    ", " ") and "For example" in text
        html = found._repr_html_()
        assert "simplest rule" in html and "each column alone" in html and "example output" in html

    def test_who_claims_what_holds_is_told_nothing(self, consistent):
        assert consistent.simplest_rule is None and consistent.contributions == () and consistent.examples == ()

    def test_arrays_are_counted_from_zero(self):
        def pair(data, rng):
            return list(len(data) + rng.laplace(scale=[10.0, 0.5, 0.5]))

        found = dpa.audit(pair, ["x"], ["x", "y"], claim=dpa.PureDp(1.0), draws=40_000, until="budget")
        assert found.simplest_rule.split()[2] in ("y[1]", "y[2]")
        assert {one.column for one in found.contributions} >= {"y[0]", "y[1]", "y[2]"}


def test_the_datasets_are_in_every_report():
    def count(data, rng, count):
        return len(data) + rng.laplace(size=count)

    found = dpa.audit(count, ["x"] * 30, ["x"] * 31, claim=dpa.PureDp(1.0), draws=20_000)
    assert (found.pairs[0].left, found.pairs[0].right) == ("[x × 30]", "[x × 31]")
    assert found.data["pairs"][0]["datasets"]["right"] == [{"value": "x", "times": 31}]
    assert "[x × 31]" in found._repr_html_() and "[x × 31]" in found.to_html()
    other = dpa.audit(count, {"a": 1}, {"a": 1, "b": 2}, claim=dpa.PureDp(1.0), draws=20_000, relation="dictionaries of records")
    assert other.pairs[0].right == "[{'a': 1, 'b': 2}]"


def test_results_are_drawn(violated):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    axes = violated.plot()
    assert [ax.get_xlabel() for ax in axes] == ["y", "ε", "draws"]
    assert violated.plot_profile().get_ylabel() == "δ"
    symbols = dpa.audit(lambda data, rng: "yes" if rng.random() < (0.9 if data else 0.1) else "no", 0, 1, claim=dpa.PureDp(1.0), draws=5000)
    assert symbols.plot() is not None
    with pytest.raises(ValueError, match="the pairs are 'left and right'"):
        violated.plot("another")
    pyplot.close("all")


def test_a_witness_is_replayed_with_fresh_draws(violated, consistent):
    witness = violated.witness
    first, second = witness.replay(draws=50_000), witness.replay(draws=50_000)
    assert first.confirmed and second.confirmed
    assert first.seed != second.seed and (first.correct, first.wrong) != (second.correct, second.wrong)
    assert witness.replay(draws=50_000, seed=first.seed).correct == first.correct
    assert first.correct + first.wrong + first.abstained == 50_000 and first.epsilon_lower <= 1.0
    assert "CONFIRMED" in str(first)
    assert consistent.witness is None


def test_a_witness_that_was_sent_has_no_mechanism(violated):
    with pytest.raises(dpa.AuditError, match="not here"):
        pickle.loads(pickle.dumps(violated)).witness.replay()


def test_assertions(violated, consistent):
    consistent.assert_consistent().assert_not_violated()
    violated.assert_violated()
    with pytest.raises(AssertionError, match="refuted"):
        violated.assert_consistent()
    with pytest.raises(AssertionError, match="refuted"):
        violated.assert_not_violated()
    with pytest.raises(AssertionError, match="not refuted"):
        consistent.assert_violated()


class TestSamples:
    def outputs(self, shift, kind=lambda values: values):
        rng = numpy.random.default_rng(int(shift * 10))
        return kind(shift + rng.laplace(size=60_000))

    @pytest.mark.parametrize("kind", [lambda values: values, list, lambda values: values.reshape(-1, 1), lambda values: [f"{value}" for value in values]])
    def test_arrays_and_lists_of_outputs_are_audited(self, kind):
        left, right = self.outputs(0, kind), self.outputs(1, kind)
        assert dpa.samples(left, right, claim=dpa.PureDp(0.5)).verdict == "violated"

    def test_a_claim_that_holds_is_consistent(self):
        assert dpa.samples(self.outputs(0), self.outputs(1), claim=dpa.PureDp(1.0)).verdict == "consistent"

    def test_dependent_outputs_are_an_error_unless_they_were_sorted(self):
        left, right = numpy.sort(self.outputs(0)), numpy.sort(self.outputs(1))
        with pytest.raises(dpa.AuditError, match="not independent"):
            dpa.samples(left, right, claim=dpa.PureDp(1.0))
        assert dpa.samples(left, right, claim=dpa.PureDp(1.0), ordered=False).verdict == "consistent"

    @pytest.mark.parametrize("left, error", [([], ValueError), (3.0, TypeError), ("text", TypeError)])
    def test_anything_else_is_an_error(self, left, error):
        with pytest.raises(error, match="left"):
            dpa.samples(left, [1.0], claim=dpa.PureDp(1.0))


class TestFiles:
    def test_audit_files_are_run(self):
        run = dpa.run(ROOT / "audits" / "basics", draws=200_000)
        assert len(run) >= 8 and run.exit_code in (0, 3)
        assert {result.verdict for result in run} >= {"violated", "consistent"}
        assert run["Laplace count"].epsilon_lower <= 1.0
        assert "audits" in str(run) and run._repr_html_().count('class="card') == len(run)
        assert dpa.load(run.to_json()).results[0].name == run[0].name

    def test_bad_files_are_value_errors(self, tmp_path):
        bad = tmp_path / "bad.toml"
        bad.write_text('name = "x"\nmechanism = "laplac"\n')
        with pytest.raises(ValueError, match="bad.toml"):
            dpa.run(bad)
        with pytest.raises(ValueError, match="cannot be read"):
            dpa.run(tmp_path / "missing")

    def test_a_report_of_something_else_is_a_value_error(self, tmp_path):
        with pytest.raises(ValueError, match="schema"):
            dpa.load("{}")
        with pytest.raises(FileNotFoundError):
            dpa.load(tmp_path / "missing.json")


@pytest.mark.parametrize("arguments, code", [(["--version"], 0), (["show", str(ROOT / "audits" / "basics")], 0), (["nonsense"], 1)])
def test_the_command_is_in_the_package(arguments, code):
    done = subprocess.run([sys.executable, "-m", "dp_audit", *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stderr
    assert (done.stdout if code == 0 else done.stderr) != ""


def test_the_command_runs_the_worker_of_the_package(tmp_path):
    (tmp_path / "m.py").write_text("def mechanism(data, rng):\n    return len(data) + rng.random()\n")
    (tmp_path / "a.toml").write_text(
        f'name = "a"\nmechanism = "command"\ncommand = ["{sys.executable}", "{{worker}}", "m.py"]\nclaim = {{ epsilon = 1.0 }}\n'
        'relation = "add-remove"\nexpect = "violated"\n[[pair]]\nname = "p"\nleft = []\nright = ["x"]\n'
    )
    run = dpa.run(tmp_path / "a.toml", draws=2000)
    assert run[0].verdict == "violated" and run.exit_code == 0


def test_the_worker_in_another_process_draws_the_same_numbers(tmp_path):
    """The same function in this process and as a program: same audit name, pair, seed, so the same draws and the same result."""
    (tmp_path / "m.py").write_text("def mechanism(data, rng):\n    return len(data) + rng.expovariate(1) - rng.expovariate(1)\n")
    (tmp_path / "a.toml").write_text(
        f'name = "a"\nmechanism = "command"\ncommand = ["{sys.executable}", "{{worker}}", "m.py"]\nclaim = {{ epsilon = 1.0 }}\n'
        'relation = "add-remove"\n[[pair]]\nname = "left and right"\nleft = []\nright = ["x"]\n'
    )
    there = dpa.run(tmp_path / "a.toml", draws=50_000, seed=5)[0].pairs[0]
    here = dpa.audit(
        lambda data, rng: len(data) + rng.expovariate(1) - rng.expovariate(1), [], ["x"], claim=dpa.PureDp(1.0), draws=50_000, seed=5, until="budget", rng="python", name="a"
    ).pairs[0]
    assert (here.epsilon_lower, here.delta_lower, here.rule) == (there.epsilon_lower, there.delta_lower, there.rule)


def test_doctests():
    import doctest

    from dp_audit import _audit, _claims, _function, _neighbours, _progress, _result

    for module in (dpa, _audit, _claims, _function, _neighbours, _progress, _result):
        found = doctest.testmod(module)
        assert found.failed == 0, module
        assert found.attempted > 0 or module in (_result,), module
