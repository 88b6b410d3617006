//! The pipeline: plan → run → result.
//!
//! A [`PairPlan`] says what to audit. It can be written to a file and run by another process. [`run_pair`] explores, freezes rules,
//! certifies them and computes the verdict. A [`PairResult`] holds everything that was found, including errors. [`run`] does this for all
//! pairs of all audits and reports events to a [`Listener`].
//!
//! Pairs of a stability claim are compared exactly, in `stability.rs`.
//!
//! Accuracy claims go the same way, in one step: [`AccuracyPlan`], [`run_accuracy`], [`AccuracyResult`].

mod accuracy;
mod advice;
mod control;
mod curves;
mod events;
mod pair;
mod plan;
mod prepare;
mod result;
mod run;
mod searched;
mod stability;
mod time_limit;

pub use accuracy::{Accuracy, AccuracyEvidence, AccuracyPlan, AccuracyResult, run_accuracy};
pub use advice::AFTER_REFUTATION;
pub use curves::{Curves, ProfilePoint, WealthPoint};
pub use events::{Event, Listener};
pub use pair::{behaviour, run_pair};
pub use plan::{Audit, Control, Pair, PairPlan};
pub use prepare::Preparer;
pub use result::{AuditReport, Evidence, PairResult, RunReport};
pub use run::{KnownAudit, TargetSource, run, run_rest};
pub use searched::{Heat, Racer, SearchHistory, Standing};
