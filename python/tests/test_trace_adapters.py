"""Libraries that a trace knows. Each needs its library; without it the test is skipped."""

import pytest

import dp_audit as dpa

ONE = dpa.PureDp(1.0)


def test_diffprivlib():
    tools = pytest.importorskip("diffprivlib.tools")
    mechanisms = pytest.importorskip("diffprivlib.mechanisms")

    def right(data, rng):
        return mechanisms.Laplace(epsilon=1.0, sensitivity=1.0).randomise(float(len(data)))

    def wrong(data, rng):
        return mechanisms.Laplace(epsilon=1.0, sensitivity=1.0).randomise(float(sum(data)))

    def library(data, rng):
        return tools.sum(data, epsilon=1.0, bounds=(0.0, 1.0))

    assert dpa.trace(right, [0.5], [0.5, 1.0], claim=ONE).verdict == "bounded"
    found = dpa.trace(wrong, [0.5], [0.5, 3.0], claim=ONE)
    assert found.verdict == "suspect" and found.at_fault.file == __file__
    assert dpa.trace(library, [0.5, 0.2], [0.5, 0.9], claim=ONE).verdict == "bounded"


def test_opendp():
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    measurement = dp.m.make_laplace(*space, scale=1.0)

    def right(data, rng):
        return measurement(float(len(data)))

    def wrong(data, rng):
        return measurement(float(sum(data)))

    def scale_of_data(data, rng):
        return dp.m.make_laplace(*space, scale=float(len(data)))(float(len(data)))

    assert dpa.trace(scale_of_data, [0.5], [0.5, 1.0], claim=ONE).findings[0].kind == "scale"
    assert dpa.trace(right, [0.5], [0.5, 1.0], claim=dpa.PureDp(1.0 + 1e-6)).verdict == "bounded"
    assert dpa.trace(wrong, [0.5], [0.5, 3.0], claim=ONE).verdict == "suspect"


def clipped_sum(data):
    return sum(min(max(value, 0.0), 1.0) for value in data)


def test_pipeline_dp():
    computations = pytest.importorskip("pipeline_dp.dp_computations")

    def right(data, rng):
        return computations.LaplaceMechanism.create_from_epsilon(1.0, 1.0).add_noise(clipped_sum(data))

    def wrong(data, rng):
        return computations.LaplaceMechanism.create_from_epsilon(1.0, 1.0).add_noise(sum(data))

    def normal(data, rng):
        return computations.apply_gaussian_mechanism(clipped_sum(data), 1.0, 1e-5, 1.0)

    assert dpa.trace(right, [0.5], [0.5, 3.0], claim=ONE).verdict == "bounded"
    found = dpa.trace(wrong, [0.5], [0.5, 3.0], claim=ONE)
    assert found.verdict == "suspect" and found.at_fault.file == __file__
    assert dpa.trace(normal, [0.5], [0.5, 3.0], claim=dpa.ApproximateDp(1.0, 1.01e-5)).verdict == "bounded"
    assert dpa.trace(normal, [0.5], [0.5, 3.0], claim=dpa.ApproximateDp(0.5, 1e-5)).verdict == "suspect"


def test_pipeline_dp_as_a_pipeline():
    """Counts of public partitions, as the documentation shows; without public partitions their selection is not followed."""
    pipeline_dp = pytest.importorskip("pipeline_dp")

    def counts(data, public):
        accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=1.0, total_delta=1e-6)
        engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
        params = pipeline_dp.AggregateParams(
            metrics=[pipeline_dp.Metrics.COUNT],
            noise_kind=pipeline_dp.NoiseKind.LAPLACE,
            max_partitions_contributed=1,
            max_contributions_per_partition=1,
        )
        extractors = pipeline_dp.DataExtractors(
            privacy_id_extractor=lambda row: row[0], partition_extractor=lambda row: row[1], value_extractor=lambda row: 0
        )
        released = engine.aggregate(list(data), params, extractors, public_partitions=public)
        accountant.compute_budgets()
        return sorted((key, metrics.count) for key, metrics in released)

    pair = [("a", "x"), ("b", "y")], [("a", "x"), ("b", "y"), ("c", "x")]
    found = dpa.trace(lambda data, rng: counts(data, ["x", "y"]), *pair, claim=ONE, runs=5)
    assert found.verdict == "bounded" and len(found.calls) == 2, str(found)
    found = dpa.trace(lambda data, rng: counts(data, ["x", "y"]), *pair, claim=dpa.PureDp(0.9), runs=5)
    assert found.verdict == "suspect", str(found)
    assert dpa.trace(lambda data, rng: counts(data, None), *pair, claim=ONE, runs=5).verdict == "unclear"


def test_smartnoise_sql():
    """Its mechanisms are measurements of OpenDP."""
    mechanisms = pytest.importorskip("snsql.sql._mechanisms.laplace")

    def right(data, rng):
        return mechanisms.Laplace(1.0, sensitivity=1.0).release([clipped_sum(data)])

    def wrong(data, rng):
        return mechanisms.Laplace(1.0, sensitivity=1.0).release([sum(data)])

    assert dpa.trace(right, [0.5], [0.5, 3.0], claim=dpa.PureDp(1.0 + 1e-6)).verdict == "bounded"
    assert dpa.trace(wrong, [0.5], [0.5, 3.0], claim=ONE).verdict == "suspect"


@pytest.mark.filterwarnings("ignore")
def test_opacus():
    torch = pytest.importorskip("torch")
    optimizers = pytest.importorskip("opacus.optimizers")
    from opacus import GradSampleModule

    def training(data, noise, kind=optimizers.DPOptimizer, **options):
        torch.manual_seed(0)
        model = GradSampleModule(torch.nn.Linear(1, 1))
        plain = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer = kind(plain, noise_multiplier=noise, max_grad_norm=1.0, expected_batch_size=2, loss_reduction="sum", **options)
        rows = torch.tensor(data).reshape(-1, 1)
        seen = []
        for _ in range(3):
            optimizer.zero_grad()
            ((model(rows) - rows) ** 2).sum().backward()
            optimizer.step()
            seen.append([p.detach().numpy().copy() for p in model.parameters()])
        return seen

    # Three steps with noise 4 and sensitivity 1 are √3/4-GDP: δ(1) is 0.0054.
    claim = dpa.ApproximateDp(1.0, 0.006)
    pair = [0.2, 0.4], [0.2, 0.4, 900.0]
    found = dpa.trace(lambda data, rng: training(data, 4.0), *pair, claim=claim, runs=5)
    assert found.verdict == "bounded" and len(found.calls) == 6, str(found)
    assert dpa.trace(lambda data, rng: training(data, 2.0), *pair, claim=claim, runs=5).verdict == "suspect"
    # An optimizer whose noise is not followed: its seed is the same on both sides, but that does not make it suspect.
    adaptive = {"target_unclipped_quantile": 0.5, "clipbound_learning_rate": 0.2, "max_clipbound": 2.0, "min_clipbound": 0.1, "unclipped_num_std": 8.0}
    found = dpa.trace(lambda data, rng: training(data, 4.0, optimizers.AdaClipDPOptimizer, **adaptive), *pair, claim=claim, runs=5)
    assert found.verdict == "unclear" and "AdaClip" in found.reason


@pytest.mark.filterwarnings("ignore")
def test_jax_privacy():
    noise_addition = pytest.importorskip("jax_privacy.noise_addition")
    import jax
    import jax.numpy as jnp

    def training(data, rng, most, made=None):
        privatizer = made or noise_addition.gaussian_privatizer(stddev=4.0, prng_key=jax.random.key(int(rng.integers(2**31))))
        weights = jnp.zeros(2)
        state = privatizer.init(weights)
        seen = []

        @jax.jit
        def summed(weights):
            gradients = jnp.stack([jnp.array([1.0, x]) * (weights @ jnp.array([1.0, x]) - x) for x in data])
            norms = jnp.linalg.norm(gradients, axis=1, keepdims=True)
            return (gradients / jnp.maximum(1.0, norms / most)).sum(axis=0)

        for _ in range(3):
            noisy, state = privatizer.update(summed(weights), state)
            weights = weights - 0.1 * noisy
            seen.append(weights.tolist())
        return seen

    claim = dpa.ApproximateDp(1.0, 0.006)
    pair = [0.2, 0.4], [0.2, 0.4, 900.0]
    found = dpa.trace(lambda data, rng: training(data, rng, 1.0), *pair, claim=claim, runs=5)
    assert found.verdict == "bounded", str(found)
    found = dpa.trace(lambda data, rng: training(data, rng, 100.0), *pair, claim=claim, runs=5)
    assert found.verdict == "suspect" and found.at_fault.file == __file__, str(found)
    made = noise_addition.gaussian_privatizer(stddev=4.0, prng_key=jax.random.key(1))
    assert dpa.trace(lambda data, rng: training(data, rng, 1.0, made), *pair, claim=claim, runs=5).verdict == "unclear"


@pytest.mark.filterwarnings("ignore")
def test_opendp_on_frames():
    """Counts of public keys: the map is of frames, and a result that can be collected once is played back."""
    dp = pytest.importorskip("opendp.prelude")
    pl = pytest.importorskip("polars")
    dp.enable_features("contrib")

    def keys(values):
        return pl.LazyFrame({"key": values}, schema={"key": pl.String})

    unit, loss = dp.unit_of(contributions=1), dp.loss_of(epsilon=1.0)
    context = dp.Context.compositor(data=keys([]), privacy_unit=unit, privacy_loss=loss, split_evenly_over=1)
    query = context.query().group_by("key").agg(dp.len()).with_keys(keys(["a", "b"])).resolve()

    def counts(data, rng):
        return sorted(query(keys(data)).collect().rows())

    counts(["a"], None)
    found = dpa.trace(counts, ["b"], ["a", "b"], claim=ONE, runs=3)
    assert found.verdict == "bounded", str(found)
    assert dpa.trace(counts, ["b"], ["a", "b"], claim=dpa.PureDp(0.9), runs=3).verdict != "bounded"
