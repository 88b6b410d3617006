//! The pipeline: plan → run → result.
//!
//! A [`PairPlan`] says what to audit. It can be written to a file and run by another process.
//! [`run_pair`] explores, freezes rules, certifies them and computes the verdict. A [`PairResult`]
//! holds everything that was found, including errors. [`run`] does this for all pairs of all audits
//! and reports events to a [`Listener`].
//!
//! The steps of a pair are public: [`explore`] → [`Exploration`], [`certify_range`] →
//! [`CertifyPart`] for ranges of draws on any machines, [`conclude`] → [`Evidence`]. [`divide()`]
//! divides a whole run into shards of [`WorkItem`]s, [`run_item`] runs one, and [`Combined`] gives
//! their results to a run that makes no draws.
//!
//! Pairs of a stability claim are compared exactly, in `stability.rs`.
//!
//! Accuracy claims go the same way, in one step: [`AccuracyPlan`], [`run_accuracy`],
//! [`AccuracyResult`].

mod accuracy;
mod advice;
mod certify;
mod combine;
mod conclude;
mod control;
mod curves;
mod divide;
mod events;
mod explore;
mod pair;
mod path;
mod plan;
mod prepare;
mod result;
mod run;
mod searched;
mod stability;
mod time_limit;
mod work;

pub use accuracy::{Accuracy, AccuracyEvidence, AccuracyPlan, AccuracyResult, run_accuracy};
pub use advice::AFTER_REFUTATION;
pub use certify::{CertifyPart, LookTallies, Piece, certify_range};
pub use combine::{CombineError, Combined};
pub use conclude::{PartsError, conclude};
pub use curves::{Curves, ProfilePoint, WealthPoint};
pub use divide::{Statement, WorkItem, divide, explorations};
pub use events::{Event, Listener};
pub use explore::{Exploration, explore};
pub use pair::{behaviour, run_pair};
pub use path::EvidencePath;
pub use plan::{Audit, Control, Pair, PairPlan};
pub use prepare::Preparer;
pub use result::{AuditReport, Evidence, PairResult, RunReport};
pub use run::{Here, KnownAudit, TargetSource, Worker, run, run_rest, run_with};
pub use searched::{Heat, Placing, Racer, SearchHistory};
pub use work::{PartResult, WorkResult, run_item};
