//! Measurements: lower bounds on the whole privacy profile of a pair, without a claim.
//!
//! Rules are learned for something, so a pair is audited under several *lenses*: ε at δ = 0, ε at
//! δ = 1e-5, and μ. Each lens is an audit of its own with its own share of α, and its frozen rules
//! share that. The confidence region of a rule knows no ε and no δ (`stats/region.rs`), so whatever
//! the regions of all rules of all lenses imply holds together, at every δ and in every unit.

use serde::Serialize;

use super::statement::FrozenTally;
use super::{Audit, AuditReport, Judged, RunReport};
use crate::model::number::round_down;
use crate::model::{Claim, Settings};
use crate::stats::Certified;

/// The δ of the table.
pub const DELTAS: [f64; 7] = [0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1];

/// The number of intervals between the points of the picture.
const POINTS: u32 = 60;

/// Significant digits of bounds.
const DIGITS: i32 = 6;

/// A name, and a claim for which rules are learned.
type Lens = (&'static str, fn() -> Result<Claim, String>);

/// What the rules of one audit of a pair are learned for.
const LENSES: [Lens; 3] = [
    ("ε at δ = 0", || Claim::new(1.0, 0.0)),
    ("ε at δ = 1e-5", || Claim::new(1.0, 1e-5)),
    ("μ", || Claim::mu(1.0)),
];

/// How many audits of each pair a measurement makes; they divide its draws.
const LENS_COUNT: u64 = LENSES.len() as u64;

/// What was measured on one pair. All bounds hold together, with those of the other pairs of the
/// same run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    /// The file of the audit; empty if there is none.
    pub file: String,
    /// The audit.
    pub audit: String,
    /// The pair.
    pub pair: String,
    /// The dataset D.
    pub left: String,
    /// Its neighbour D'.
    pub right: String,
    /// The confidence of all bounds together.
    pub confidence: f64,
    /// The seed.
    pub seed: u64,
    /// All draws.
    pub draws: u64,
    /// Lower bounds on ε, for each δ of the table.
    pub epsilon: Vec<EpsilonAt>,
    /// The mechanism's μ (Gaussian DP) is at least this.
    pub mu_lower: f64,
    /// Its ρ (zero-concentrated DP) is at least this.
    pub rho_lower: f64,
    /// Lower bounds on δ as a function of ε, for a picture.
    pub profile: Vec<DeltaAt>,
    /// What the rules that show most look at: at which δ, and the rule.
    pub rules: Vec<(String, String)>,
    /// The columns that no learner can read: a leak there would not be seen.
    pub unread: Vec<String>,
    /// Why nothing was measured, if nothing was.
    pub error: Option<String>,
}

/// A bound on ε.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EpsilonAt {
    /// At this δ …
    pub delta: f64,
    /// … ε is at least this.
    pub epsilon_lower: f64,
}

/// A bound on δ.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DeltaAt {
    /// At this ε …
    pub epsilon: f64,
    /// … δ is at least this.
    pub delta_lower: f64,
}

impl Audit {
    /// The audits that measure the pairs of this one. What it claims, besides, is left out.
    ///
    /// # Errors
    /// Never for the lenses that there are.
    pub fn lenses(&self) -> Result<Vec<Self>, String> {
        let lens = |(name, claim): &Lens| {
            let mut audit = self.clone();
            audit.name = lens_name(&self.name, name);
            audit.claim = claim()?;
            audit.resolution = audit.claim.resolution();
            (audit.control, audit.search, audit.reserved) = (None, None, 0);
            audit.earlier.clear();
            audit.accuracy.clear();
            audit.canaries.clear();
            // A truth would be about the claim of the file.
            for pair in &mut audit.pairs {
                (pair.truth, pair.expect) = (crate::model::Truth::default(), None);
            }
            Ok(audit)
        };
        LENSES.iter().map(lens).collect()
    }

    /// The settings of a run of the lenses of these settings: they divide the draws of a pair.
    #[must_use]
    pub fn lens_draws(&self, settings: Settings) -> u64 {
        let draws = settings.draws.or(self.draws).unwrap_or(crate::model::DEFAULT_DRAWS);
        (draws / LENS_COUNT).max(1)
    }
}

fn lens_name(audit: &str, lens: &str) -> String {
    format!("{audit}, {lens}")
}

impl Measurement {
    /// What a run of the lenses of these audits measured, pair by pair. `deltas` are those of the
    /// table.
    #[must_use]
    pub fn all(audits: &[Audit], run: &RunReport, deltas: &[f64]) -> Vec<Self> {
        let of_audit = |audit: &Audit| -> Vec<Self> {
            let names = LENSES.map(|(lens, _)| lens_name(&audit.name, lens));
            let of_lens = |name: &String| run.audits.iter().find(|found| found.audit.name == *name);
            let lenses: Vec<&AuditReport> =
                names.iter().filter_map(of_lens).map(AsRef::as_ref).collect();
            let pairs = audit.pairs.iter();
            pairs.map(|pair| Self::new(audit, &pair.name, &lenses, run.settings, deltas)).collect()
        };
        audits.iter().flat_map(of_audit).collect()
    }

    fn new(
        audit: &Audit,
        pair: &str,
        lenses: &[&AuditReport],
        settings: Settings,
        deltas: &[f64],
    ) -> Self {
        let judged: Vec<Judged<'_>> = lenses
            .iter()
            .filter_map(|lens| lens.statements().find(|judged| judged.name() == pair))
            .collect();
        // Draws that depend on each other are so under every lens, whichever finds it.
        let error = judged.iter().find_map(|judged| judged.error()).map(ToString::to_string);
        let error = error.or_else(|| {
            (judged.len() < LENSES.len()).then(|| "the run ended before it was measured".to_owned())
        });
        let evidence: Vec<_> =
            judged.iter().filter_map(|judged| judged.evidence()?.privacy()).collect();
        let tallies: Vec<&FrozenTally> = evidence
            .iter()
            .filter(|_| error.is_none())
            .flat_map(|evidence| &evidence.frozen)
            .collect();
        let mut epsilon: Vec<EpsilonAt> = deltas
            .iter()
            .map(|delta| EpsilonAt {
                delta: *delta,
                epsilon_lower: Claim::new(1.0, *delta).map_or(0.0, |claim| best(&tallies, &claim)),
            })
            .collect();
        // A bound at a larger δ holds at each smaller one too.
        epsilon.sort_by(|one, other| one.delta.total_cmp(&other.delta));
        let mut known = 0.0_f64;
        for point in epsilon.iter_mut().rev() {
            known = known.max(point.epsilon_lower);
            point.epsilon_lower = known;
        }
        let in_unit = |claim: Result<Claim, String>| claim.map_or(0.0, |one| best(&tallies, &one));
        let mut unread: Vec<String> =
            evidence.iter().flat_map(|evidence| evidence.unread.clone()).collect();
        unread.sort();
        unread.dedup();
        let end = 1.2 * epsilon.first().map_or(0.0, |point| point.epsilon_lower);
        let data = audit.pairs.iter().find(|found| found.name == pair);
        let side = |left: bool| {
            let side = data.map(|pair| if left { &pair.left } else { &pair.right });
            side.filter(|_| audit.is_from_file()).map(ToString::to_string).unwrap_or_default()
        };
        let rules = LENSES
            .iter()
            .zip(&evidence)
            .map(|((lens, _), evidence)| ((*lens).to_owned(), evidence.rule_text()));
        Self {
            file: audit.file.display().to_string(),
            audit: audit.name.clone(),
            pair: pair.to_owned(),
            left: side(true),
            right: side(false),
            confidence: settings.confidence.get(),
            seed: settings.seed,
            draws: evidence.iter().map(|evidence| evidence.draws).sum(),
            mu_lower: in_unit(Claim::mu(1.0)),
            rho_lower: in_unit(Claim::rho(1.0)),
            profile: if end > 0.0 { profile(&tallies, end) } else { Vec::new() },
            rules: rules.collect(),
            unread: unread
                .into_iter()
                .filter(|column| !audit.ignore.contains_key(column))
                .collect(),
            epsilon,
            error,
        }
    }

    /// The largest bound of the table.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.epsilon.iter().all(|point| point.epsilon_lower <= 0.0)
    }
}

/// The best bound in the unit of a claim that any rule shows. The value of the claim does not
/// matter.
fn best(frozen: &[&FrozenTally], claim: &Claim) -> f64 {
    let of = |frozen: &&FrozenTally| certified(frozen, claim).lower();
    round_down(frozen.iter().map(of).fold(0.0, f64::max), DIGITS)
}

fn certified(frozen: &FrozenTally, claim: &Claim) -> Certified {
    let judged = frozen.judged_by;
    Certified::new(frozen.tally, frozen.regions, judged.alpha, claim, judged.method)
}

/// δ as a function of ε, from 0 to `end`. It never rises.
fn profile(frozen: &[&FrozenTally], end: f64) -> Vec<DeltaAt> {
    let mut points: Vec<DeltaAt> = (0..=POINTS)
        .map(|index| {
            let epsilon = round_down(end * f64::from(index) / f64::from(POINTS), DIGITS);
            let of = |frozen: &&FrozenTally| {
                // The claim says where the region is to be fine.
                let claim = Claim::new(epsilon, 0.0).ok()?;
                Some(certified(frozen, &claim).limits().delta_lower(epsilon))
            };
            let delta = frozen.iter().filter_map(of).fold(0.0, f64::max);
            DeltaAt { epsilon, delta_lower: round_down(delta, DIGITS) }
        })
        .collect();
    let mut known = 0.0_f64;
    for point in points.iter_mut().rev() {
        known = known.max(point.delta_lower);
        point.delta_lower = known;
    }
    points
}
