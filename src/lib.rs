//! Does a differentially private mechanism leak more than it claims?
//!
//! [`audit()`] audits a closure, so that `cargo test` can:
//!
//! ```
//! use dp_audit::noise::laplace;
//!
//! dp_audit::audit(|values: &Vec<f64>, rng| values.iter().sum::<f64>() + laplace(rng, 1.0))
//!     .claim(1.0, 0.0)                                     // ε, δ
//!     .pair(vec![0.2, 0.9], vec![0.2, 0.9, 1.0])           // neighbours
//!     .draws(200_000)
//!     .seed(7)
//!     .run()
//!     .assert_consistent();
//! ```
//!
//! What the closure returns is what an attacker sees: any [`Output`]. A [`Finding`] has the
//! verdict, the bounds, and the rule that shows the leak.
//!
//! # Plan, run, result
//!
//! Below that API lies the unit of work that all fronts share. A [`Plan`] says what to audit; it
//! can be written to a file and sent to another machine. [`Plan::run`] audits it, given a
//! [`Target`], and returns a [`StatementResult`] with all that was found, errors included.
//! [`prepare`] makes the target of a plan that names a built-in mechanism or a program. [`run`]
//! does all statements of several [`Audit`]s and tells a [`Listener`] each [`Event`]. What it
//! returns has the verdicts: each [`Judged`] statement of an [`AuditReport`] has one.
//!
//! ```
//! use dp_audit::{Audit, Plan, Settings, StatementResult, prepare};
//!
//! let audit: Audit = serde_json::from_str(r#"{
//!     "name": "Laplace count", "file": "", "draws": null, "source": null, "resolution": 0.1, "expect": "consistent", "relation": "add-remove",
//!     "subject": { "registered": { "mechanism": "laplace", "params": { "query": "count", "epsilon": 1.0 } } },
//!     "claim": { "epsilon": 1.0 }, "attacks": ["coordinates"],
//!     "pairs": [{ "name": "one more", "left": ["x"], "right": ["x", "x"], "expect": null, "truth": {} }]
//! }"#).unwrap();
//! let settings = Settings { draws: Some(100_000), ..Settings::default() };
//! for plan in audit.plans(settings, 1) {
//!     let sent = serde_json::to_string(&plan).unwrap();                  // … to another process
//!     let plan: Plan = serde_json::from_str(&sent).unwrap();
//!     let result: StatementResult = plan.run(prepare(plan.pair()).unwrap().as_ref(), &());
//!     assert!(result.outcome.unwrap().privacy().unwrap().bounds.epsilon_lower <= 1.0);
//! }
//! ```
//!
//! A pair can also be divided: [`explore`] freezes its rules, [`certify_range`] judges them on a
//! part of the draws, in any process, and [`conclude`] makes the [`PrivacyEvidence`] of the whole
//! from the parts.
//!
//! # The modules
//!
//! The order is the data flow; each knows only those above it, and `tests/architecture.rs` checks
//! it. Only what this page lists is the public API: besides the
//! names of the crate itself, [`parts`] has the statistics and the attack by themselves, and
//! `fronts` what another front needs.
//!
//! ```text
//! model      claims, datasets, tallies, verdicts, settings: data that everyone knows
//! noise      every sampler
//! output     what a mechanism releases: rows of cells, names of symbols
//! stats      tallies → wealth, limits, bounds, power; independence of draws
//! target     whatever is audited: closures, files, programs, mechanisms in Rust
//! catalogue  the mechanisms that audit files can name, by family
//! sample     coin, batches, rounds and looks: folds draws, knows no rules
//! attack     rows → scores → bins → orders → guess rule
//! audit      plan → run → result; events
//! search     a domain → candidates → a race → frozen pairs, certified and shrunk
//! api        a closure → a finding, with assertions
//! suite      audit files → checked audits                                 (feature cli, as all below)
//! report     formats, gates, baselines, journals, witnesses, replays
//! calibrate  the same audits with many seeds → false-alarm rates, power
//! cli        the program
//! ```
//!
//! Without the default feature `cli` the library has what auditing needs and no more.

// What only the program uses has no user in the library alone; with the program, the compiler finds
// code that nobody uses.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))]

mod api;
mod attack;
mod audit;
#[cfg(feature = "cli")]
mod calibrate;
mod catalogue;
#[cfg(feature = "cli")]
mod cli;
mod model;
pub mod noise;
mod output;
#[cfg(feature = "cli")]
mod report;
mod sample;
pub mod search;
mod stats;
#[cfg(feature = "cli")]
pub mod suite;
mod target;

pub use api::{Finding, MechanismAudit, audit};
pub use attack::{Attack, Clues, Contribution, Example, ExampleCell, Simplest};
#[doc(inline)]
pub use audit::{
    Accuracy, AccuracyEvidence, AccuracyPlan, AcrossRuns, Audit, AuditReport, Canaries,
    CanaryCount, CanaryCounts, CanaryCurves, CanaryEvidence, CanaryPlan, CanaryScores, CertifyPart,
    Control, Curves, DeltaAt, Earlier, EarlierRuns, EpsilonAt, Event, Evidence, EvidencePath,
    Exploration, FrozenTally, Growth, Judged, Listener, LookTallies, Measurement, Pair, PairPlan,
    PairStatement, PartsError, Piece, Plan, Preparer, PrivacyEvidence, ProfilePoint, RuleJudgement,
    RunReport, Rung, ScoreSource, ScoredTrial, SimplestRule, StabilityEvidence, Statement,
    StatementResult, TargetSource, TrainingPlan, WealthPoint, certify_range, conclude, explore,
    run,
};
pub use model::{
    AccuracyClaim, Agreement, AskedReach, Bounds, Claim, Conclusion, Confidence, ControlResult,
    Dataset, Expectation, FailureLimits, Reason, Record, Relation, Settings, Side, Tally, Truth,
    Until, Verdict,
};
pub use output::{Cell, Output, OutputEvent, OutputRow, Rows, Symbols, TextView};
pub use rand;
pub use target::{PrepareError, Share, StreamSeed, Subject, Target, TargetError, Training, Turns};

/// The parts that audits are made of, for those who study or measure them: statistics of counts,
/// learners, samplers. The program needs none of these names.
pub mod parts {
    pub use crate::attack::{
        AnswerCounts, Cost, DrawBudget, Explorer, GuessRule, LEARNERS, Learner, LearnerName,
        ScoreHistogram, Tallies, judge, tally_of,
    };
    pub use crate::model::Grounds;
    pub use crate::sample::{Sampler, Schedule};
    pub use crate::stats::binomial::{lower_limit, upper_tail};
    pub use crate::stats::canary;
    pub use crate::stats::fixed::Limits;
    pub use crate::stats::nights;
    pub use crate::stats::power::{detectable_epsilon, power};
    pub use crate::stats::wealth::{Bet, Ledger};
    pub use crate::stats::{Certified, Level, Method, Rates, Weights, bounds};
    pub use crate::target::{PairStream, Phase};
}

/// What a front of its own needs: reports, gates, files, divided runs, and targets that ask a
/// function in blocks. The program `dp-audit` and the Python package are two fronts.
#[cfg(feature = "cli")]
pub mod fronts {
    pub use crate::audit::{
        CombineError, Combined, Costs, Kind, Known, Measured, Part, Picture, Row, Scale, Shown,
        TableCell, Whole, Words, WorkItem, WorkResult, divide, explorations, run_item, run_with,
    };
    pub use crate::cli::{main, main_with};
    pub use crate::model::checked::Positive;
    pub use crate::model::{Error, MAX_THREADS};
    pub use crate::output::{MAX_WIDTH, OutputBlock, Probe, Reading};
    pub use crate::report::formats::explain::explain;
    pub use crate::report::formats::html::{Html, cards};
    pub use crate::report::formats::json::{Json, JsonReport};
    pub use crate::report::formats::measurement::json as measurements_json;
    pub use crate::report::gate::Gate;
    pub use crate::report::gate::baseline::{Change, Comparison, Difference};
    pub use crate::report::gate::exit_code::ExitCode;
    pub use crate::report::persistence::evidence_file::{EvidenceFile, EvidenceOptions};
    pub use crate::report::persistence::files::Format;
    pub use crate::report::persistence::identity::bytes_hash;
    pub use crate::report::persistence::journal::{Journal, Start};
    pub use crate::report::persistence::replay::{ReplaySettings, pair as replayed_pair, replay};
    pub use crate::report::persistence::store::Destination;
    pub use crate::report::persistence::witness::{Witness, identity};
    pub use crate::target::columns::{
        Columns, FIRST_OUTPUTS, first_requests, first_seed, more_requests,
    };
    pub use crate::target::process::blocks::{Block, blocks};
    pub use crate::target::recorded::{
        HeaderRow, Recorded, Recording, RowOrder, SampleNames, draws,
    };
    pub use crate::target::{Stop, Stoppable};
}

/// Makes the target of a plan that names a built-in mechanism or a program.
///
/// # Errors
/// When the mechanism is not known, its parameters are wrong, or the data does not fit it.
pub fn prepare(plan: &PairPlan) -> Result<Box<dyn Target>, PrepareError> {
    Preparer::default().target(plan)
}
