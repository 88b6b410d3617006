//! The pipeline: plan → run → result.
//!
//! A [`PairPlan`] says what to audit; it can be written to a file and run by another process. [`run_pair`] explores, freezes rules, certifies them and
//! judges. A [`PairResult`] holds all that was found, errors included. [`run`] does this for all pairs of all audits and tells a [`Listener`] about it.

mod curves;
mod events;
mod pair;
mod plan;
mod result;
mod run;

pub use curves::{Curves, ProfilePoint, WealthPoint};
pub use events::{Event, Listener};
pub use pair::{behaviour, run_pair};
pub use plan::{Audit, Pair, PairPlan};
pub use result::{AuditReport, Evidence, PairResult, RunReport};
pub use run::{TargetSource, run, run_rest};
