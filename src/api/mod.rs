//! Audits of Rust code from Rust tests: a closure, a claim, a pair of neighbours.
//!
//! ```
//! use dp_audit::noise::laplace;
//!
//! // A count with Laplace noise of scale 1 is ε = 1 differentially private.
//! let finding = dp_audit::audit(|records: &Vec<&str>, rng| records.len() as f64 + laplace(rng, 1.0))
//!     .claim(1.0, 0.0)
//!     .pair(vec!["x", "y"], vec!["x", "y", "z"])
//!     .draws(200_000)
//!     .run();
//! finding.assert_consistent();
//!
//! // With half the noise it is not.
//! dp_audit::audit(|records: &Vec<&str>, rng| records.len() as f64 + laplace(rng, 0.5))
//!     .claim(1.0, 0.0)
//!     .pair(vec!["x", "y"], vec!["x", "y", "z"])
//!     .draws(200_000)
//!     .run()
//!     .assert_violated();
//! ```
//!
//! The closure gets the data and a generator, [`Generator`], which is a PCG (`rand_pcg::Pcg64Mcg`) of rand 0.10; [`dp_audit::rand`](crate::rand) is that rand.
//! Code that wants another generator seeds it from this one, anew in each call: `StdRng::seed_from_u64(rng.next_u64())`. Calls must be
//! independent of each other: nothing random may be kept from one call to the next.
//!
//! What the closure returns is the output that the attacker sees: anything that is an [`Output`].

mod finding;

use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;

pub use finding::Finding;

use crate::attack::Attack;
use crate::audit::{self, Audit, PairPlan};
use crate::model::claim::Positive;
use crate::model::{Claim, Confidence, Settings, Until, check_draws};
use crate::noise::Generator;
use crate::output::Output;
use crate::target::{Closure, PrepareError, Target};

/// Draws per pair unless a test says otherwise: enough to see a leak a few per cent beyond ε = 1, in a fraction of a second.
pub const DEFAULT_DRAWS: u64 = 1_000_000;

/// Begins the audit of a mechanism: a function of the data and a generator. See the [module's example](self).
///
/// Draws are made on all cores at once, so the closure is shared between threads. A panic in it is an output that the attacker sees.
pub fn audit<D, O, F>(mechanism: F) -> MechanismAudit<D, O, F>
where
    D: Send + Sync + 'static,
    O: Output + 'static,
    F: Fn(&D, &mut Generator) -> O + Send + Sync + 'static,
{
    MechanismAudit {
        mechanism: Arc::new(mechanism),
        name: "audit".to_owned(),
        claim: None,
        pairs: Vec::new(),
        attacks: Attack::DEFAULT.to_vec(),
        resolution: None,
        settings: Settings { draws: Some(DEFAULT_DRAWS), seed: 0, confidence: Confidence::default(), until: Until::Budget },
        output: PhantomData,
    }
}

/// An audit of a closure, being described.
#[must_use = "nothing is audited before `run`"]
pub struct MechanismAudit<D, O, F> {
    mechanism: Arc<F>,
    name: String,
    claim: Option<Claim>,
    pairs: Vec<(String, D, D)>,
    attacks: Vec<Attack>,
    resolution: Option<f64>,
    settings: Settings,
    output: PhantomData<fn() -> O>,
}

impl<D, O, F> MechanismAudit<D, O, F>
where
    D: Send + Sync + 'static,
    O: Output + 'static,
    F: Fn(&D, &mut Generator) -> O + Send + Sync + 'static,
{
    /// What the mechanism promises.
    ///
    /// # Panics
    /// When ε is not positive and finite, or δ not at least 0 and less than 1.
    #[track_caller]
    pub fn claim(mut self, epsilon: f64, delta: f64) -> Self {
        self.claim = Some(Claim { epsilon: checked("ε", epsilon.try_into()), delta: checked("δ", delta.try_into()) });
        self
    }

    /// Two neighbouring datasets, under the relation that the claim is made for. May be called several times: the claim then has to hold for all pairs.
    pub fn pair(mut self, left: D, right: D) -> Self {
        let name = format!("pair {}", self.pairs.len() + 1);
        self.pairs.push((name, left, right));
        self
    }

    /// Draws per pair; [`DEFAULT_DRAWS`] if this is not called.
    ///
    /// # Panics
    /// When there are none, or more than 10^12.
    #[track_caller]
    pub fn draws(mut self, draws: u64) -> Self {
        self.settings.draws = Some(checked("the number of draws", check_draws(draws)));
        self
    }

    /// The seed of all random streams, 0 at first. The same seed gives the same finding, on any machine: a test that passes once passes always.
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// The confidence of all bounds of this audit together, 0.999 at first.
    ///
    /// It speaks of one call of [`run`](Self::run): if the claim holds, then with this probability over seeds it is not refuted. A suite with a hundred audits
    /// at 0.999 has, for each new choice of seeds, a chance of a tenth that some claim which holds is refuted; as seeds are fixed, that is settled when the test is written.
    ///
    /// # Panics
    /// When it is not greater than ½ and less than 1.
    #[track_caller]
    pub fn confidence(mut self, confidence: f64) -> Self {
        self.settings.confidence = checked("the confidence", confidence.try_into());
        self
    }

    /// By how much ε may exceed the claim before [`Finding::assert_consistent`] must notice; a tenth of ε, and at least 0.01, if this is not called.
    ///
    /// # Panics
    /// When it is not positive and finite.
    #[track_caller]
    pub fn resolution(mut self, excess: f64) -> Self {
        self.resolution = Some(checked("the resolution", Positive::try_from(excess)).get());
        self
    }

    /// Whether to stop as soon as the claim is refuted; at first the whole budget is spent, for the tightest bounds.
    pub fn until(mut self, until: Until) -> Self {
        self.settings.until = until;
        self
    }

    /// A name for reports. Random streams depend on it.
    pub fn name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// The attacks to try instead of all.
    ///
    /// # Panics
    /// When there are none.
    #[track_caller]
    pub fn attacks(mut self, attacks: &[Attack]) -> Self {
        assert!(!attacks.is_empty(), "the audit has no attacks; name at least one, or leave .attacks out for all of them");
        self.attacks = attacks.to_vec();
        self
    }

    /// Runs the audit.
    ///
    /// # Panics
    /// When no claim or no pair was given.
    #[track_caller]
    #[must_use = "a finding says nothing by itself; call assert_consistent, or look at it"]
    pub fn run(self) -> Finding {
        let Some(claim) = self.claim else { panic!("the audit has no claim; say what the mechanism promises with .claim(epsilon, delta)") };
        assert!(!self.pairs.is_empty(), "the audit has no pair; give it neighbouring datasets with .pair(left, right)");
        let mut audit = Audit::given(&self.name, "closure", claim, self.pairs.iter().map(|(name, ..)| name.clone()));
        audit.attacks = self.attacks;
        audit.resolution = self.resolution.unwrap_or(audit.resolution);
        let data: HashMap<String, Arc<(D, D)>> =
            self.pairs.into_iter().map(|(name, left, right)| (name, Arc::new((left, right)))).collect();
        let source = |plan: &PairPlan| -> Result<Box<dyn Target>, PrepareError> {
            let data =
                data.get(&plan.pair.name).ok_or_else(|| PrepareError::Unknown(format!("no pair is called \"{}\"", plan.pair.name)))?;
            Ok(Box::new(Closure::new(Arc::clone(&self.mechanism), Arc::clone(data), plan.seed)))
        };
        Finding::new(audit::run(&[audit], self.settings, &source, &()))
    }
}

#[track_caller]
fn checked<T>(what: &str, value: Result<T, String>) -> T {
    value.unwrap_or_else(|problem| panic!("{what} {problem}"))
}
