//! Audits of Rust code from Rust tests: a closure, a claim, a pair of neighbours.

mod finding;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub use finding::Finding;

use crate::attack::Attack;
use crate::audit::{self, Audit, PairPlan};
use crate::model::checked::Positive;
use crate::model::{AskedReach, Claim, Confidence, Settings, Until, check_draws};
use crate::noise::Generator;
use crate::output::Output;
use crate::target::{Closure, Feature, PrepareError, Target};

/// The default number of draws per pair. It takes a fraction of a second and detects a leak a few
/// per cent above ε = 1.
pub const DEFAULT_DRAWS: u64 = 1_000_000;

/// Starts to describe the audit of a mechanism, which is a function of the data and a generator.
///
/// ```
/// use dp_audit::noise::laplace;
///
/// // A count with Laplace noise of scale 1 is ε = 1 differentially private.
/// let finding = dp_audit::audit(|records: &Vec<&str>, rng| records.len() as f64 + laplace(rng, 1.0))
///     .claim(1.0, 0.0)
///     .pair(vec!["x", "y"], vec!["x", "y", "z"])
///     .draws(200_000)
///     .run();
/// finding.assert_consistent();
///
/// // With half the noise it is not.
/// dp_audit::audit(|records: &Vec<&str>, rng| records.len() as f64 + laplace(rng, 0.5))
///     .claim(1.0, 0.0)
///     .pair(vec!["x", "y"], vec!["x", "y", "z"])
///     .draws(200_000)
///     .run()
///     .assert_violated();
/// ```
///
/// The closure gets the data and a generator, [`Generator`], which is a PCG (`rand_pcg::Pcg64Mcg`)
/// of rand 0.10. [`dp_audit::rand`](crate::rand) re-exports this version of rand. Code that needs
/// another generator must seed it from this one, again in each call:
/// `StdRng::seed_from_u64(rng.next_u64())`. Calls must be independent: do not keep random state
/// from one call to the next.
///
/// The return value of the closure is the output that the attacker sees. It can be any [`Output`].
///
/// Draws are made on all cores in parallel, so the closure is shared between threads. A panic in it
/// is an output that the attacker sees.
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
        reach: AskedReach::default(),
        ignore: BTreeMap::new(),
        settings: Settings {
            draws: Some(DEFAULT_DRAWS),
            seed: 0,
            confidence: Confidence::default(),
            until: Until::Budget,
            ..Settings::default()
        },
        features: Vec::new(),
    }
}

/// A builder for the audit of a closure.
#[must_use = "nothing is audited until `run` is called"]
pub struct MechanismAudit<D, O, F> {
    mechanism: Arc<F>,
    name: String,
    claim: Option<Claim>,
    pairs: Vec<(String, D, D)>,
    attacks: Vec<Attack>,
    resolution: Option<f64>,
    reach: AskedReach,
    ignore: BTreeMap<String, String>,
    settings: Settings,
    features: Vec<Feature<O>>,
}

impl<D, O, F> MechanismAudit<D, O, F>
where
    D: Send + Sync + 'static,
    O: Output + 'static,
    F: Fn(&D, &mut Generator) -> O + Send + Sync + 'static,
{
    /// The claim: the mechanism is (ε, δ)-differentially private.
    ///
    /// # Panics
    /// When ε is negative or not finite, or when δ is not at least 0 and less than 1.
    #[track_caller]
    pub fn claim(self, epsilon: f64, delta: f64) -> Self {
        self.claim_of(Claim::new(epsilon, delta))
    }

    /// A claim in another unit, for example `Claim::mu(1.0)` or `Claim::rho(0.5)`.
    ///
    /// # Panics
    /// When the claim has a value out of its range.
    #[track_caller]
    pub fn claim_of(mut self, claim: Result<Claim, String>) -> Self {
        self.claim = Some(claim.unwrap_or_else(|reason| panic!("{reason}")));
        self
    }

    /// Two neighbouring datasets, under the relation of the claim. May be called several times: the
    /// claim must then hold for all pairs.
    pub fn pair(mut self, left: D, right: D) -> Self {
        let name = format!("pair {}", self.pairs.len() + 1);
        self.pairs.push((name, left, right));
        self
    }

    /// Draws per pair; the default is a million.
    ///
    /// # Panics
    /// When it is 0 or larger than 10^12.
    #[track_caller]
    pub fn draws(mut self, draws: u64) -> Self {
        self.settings.draws = Some(checked("the number of draws", check_draws(draws)));
        self
    }

    /// The seed of all random streams; the default is 0. The same seed gives the same finding on
    /// every machine, so a test that passes once always passes.
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// The confidence of all bounds of this audit together; the default is 0.999.
    ///
    /// It is about one call of [`run`](Self::run): a claim that holds is not refuted with at least
    /// this probability over seeds. In a suite of a hundred audits at 0.999, each new choice of
    /// seeds has a chance of up to one tenth that a claim that holds is refuted. Because seeds are
    /// fixed, this shows when the test is written and does not change later.
    ///
    /// # Panics
    /// When it is not greater than ½ and less than 1.
    #[track_caller]
    pub fn confidence(mut self, confidence: f64) -> Self {
        self.settings.confidence = checked("the confidence", confidence.try_into());
        self
    }

    /// The excess of ε over the claim that [`Finding::assert_consistent`] must be able to detect.
    /// The default is a tenth of ε, and at least 0.01.
    ///
    /// # Panics
    /// When it is not positive and finite.
    #[track_caller]
    pub fn resolution(mut self, excess: f64) -> Self {
        self.resolution = Some(checked("the resolution", Positive::try_from(excess)).get());
        self
    }

    /// The part of the claim that the attack must be seen to reach on the best pair, between 0 and
    /// 1; the default is 0.5. Without it a claim that is not refuted says nothing, because the
    /// attack may be blind. `because` says why another value is right, for example that the proof
    /// of the claim is conservative.
    ///
    /// # Panics
    /// When it is not between 0 and 1, or when it is less than 0.5 and the reason is empty.
    #[track_caller]
    pub fn reach(mut self, at_least: f64, because: &str) -> Self {
        let share = checked("the reach", at_least.try_into());
        self.reach = checked("the reach", AskedReach::new(share, Some(because.to_owned())));
        self
    }

    /// A column that need not be read, and why. A column of texts or identifiers that never repeat
    /// makes an audit inconclusive otherwise, because a leak there would not be seen.
    ///
    /// # Panics
    /// When the reason is empty.
    #[track_caller]
    pub fn ignore(mut self, column: &str, because: &str) -> Self {
        assert!(!because.trim().is_empty(), "say why {column} cannot leak");
        self.ignore.insert(column.to_owned(), because.to_owned());
        self
    }

    /// Whether to stop as soon as the claim is refuted. By default the whole budget is used, for
    /// the tightest bounds.
    pub fn until(mut self, until: Until) -> Self {
        self.settings.until = until;
        self
    }

    /// A name for reports. Random streams depend on it.
    pub fn name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// The attacks to try instead of the default ones.
    ///
    /// # Panics
    /// When the list is empty.
    #[track_caller]
    pub fn attacks(mut self, attacks: &[Attack]) -> Self {
        assert!(
            !attacks.is_empty(),
            "the audit has no attacks; name at least one, or leave .attacks out for all of them"
        );
        self.attacks = attacks.to_vec();
        self
    }

    /// What the attacker can compute from an output, as one more column: the input of a hash
    /// function, a text that a key decrypts, the rank of a number. The attacks see it beside the
    /// output. It must depend on the output alone.
    ///
    /// ```
    /// // A hash hides nothing from an attacker who can undo it.
    /// const KEY: u64 = 0x9e37_79b9_7f4a_7c15;
    /// const INVERSE: u64 = 0xf1de_83e1_9937_733d;
    /// dp_audit::audit(|bit: &u64, rng| (2 * u64::from(dp_audit::rand::Rng::next_u32(rng)) + bit).wrapping_mul(KEY).swap_bytes())
    ///     .feature("bit", |hash: &u64| hash.swap_bytes().wrapping_mul(INVERSE) & 1)
    ///     .claim(1.0, 0.0)
    ///     .pair(0, 1)
    ///     .draws(20_000)
    ///     .run()
    ///     .assert_violated();
    /// ```
    pub fn feature<P: Output>(
        mut self,
        name: &str,
        feature: impl Fn(&O) -> P + Send + Sync + 'static,
    ) -> Self {
        self.features.push(Feature::new(name, feature));
        self
    }

    /// Runs the audit.
    ///
    /// # Panics
    /// When no claim or no pair was given.
    #[track_caller]
    #[must_use = "a finding does not fail by itself; call assert_consistent or read it"]
    pub fn run(self) -> Finding {
        let Some(claim) = self.claim.clone() else {
            panic!("the audit has no claim; set it with .claim(epsilon, delta)")
        };
        assert!(
            !self.pairs.is_empty(),
            "the audit has no pair; add neighbouring datasets with .pair(left, right)"
        );
        let mut audit = Audit::given(
            &self.name,
            "closure",
            claim,
            self.pairs.iter().map(|(name, ..)| name.clone()),
        );
        audit.attacks = self.attacks;
        audit.reach = self.reach;
        audit.ignore = self.ignore;
        audit.resolution = self.resolution.unwrap_or(audit.resolution);
        let features = Arc::new(self.features);
        let data: HashMap<String, Arc<(D, D)>> = self
            .pairs
            .into_iter()
            .map(|(name, left, right)| (name, Arc::new((left, right))))
            .collect();
        let source = |plan: &PairPlan| -> Result<Box<dyn Target>, PrepareError> {
            let data = data.get(&plan.pair.name).ok_or_else(|| {
                PrepareError::Unknown(format!("no pair is called \"{}\"", plan.pair.name))
            })?;
            Ok(Box::new(Closure::new(
                Arc::clone(&self.mechanism),
                Arc::clone(&features),
                Arc::clone(data),
                plan.seed,
            )))
        };
        Finding::new(audit::run(&[audit], self.settings, &source, &()))
    }
}

#[track_caller]
fn checked<T>(name: &str, value: Result<T, String>) -> T {
    value.unwrap_or_else(|problem| panic!("{name} {problem}"))
}
