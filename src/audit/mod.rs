//! The pipeline: plan → run → evidence → verdict.
//!
//! An [`Audit`] makes [`Statement`]s, of the kinds in `statement/`. Its [`Plan`]s say what to do; a
//! plan can be written to a file and run by another process. [`run`] runs all plans of all audits
//! and reports events to a [`Listener`]. An [`AuditReport`] holds everything that was found,
//! including errors, and judges it once: its [`Judged`] statements are what reports are made of.
//!
//! The steps of a privacy statement are public: [`explore`] → [`Exploration`], [`certify_range`] →
//! [`CertifyPart`] for ranges of draws on any machines, [`conclude`] → [`PrivacyEvidence`].
//! [`divide()`] divides a whole run into shards of [`WorkItem`]s of about equal [`Costs`], [`run_item`] runs one, and
//! [`Combined`] gives their results to a run that makes no draws.

mod across_runs;
mod advice;
mod combine;
mod control;
mod costs;
mod divide;
mod events;
mod judged;
mod measurement;
mod plan;
mod prepare;
mod result;
mod run;
mod searched;
mod side_by_side;
mod statement;
mod time_limit;
mod work;

pub use across_runs::{AcrossRuns, EarlierRuns};
pub use advice::{AFTER_CERTAINTY, AFTER_REFUTATION};
pub use combine::{CombineError, Combined};
pub use costs::{Costs, Measured};
pub use divide::{Part, WorkItem, divide, explorations};
pub use events::{Event, Listener};
pub use judged::Judged;
pub use measurement::{DELTAS, DeltaAt, EpsilonAt, Measurement};
pub use plan::{Audit, Control, Pair, PairPlan};
pub use prepare::Preparer;
pub use result::{AuditReport, RunReport, StatementResult};
pub use run::{Here, Known, TargetSource, Worker, count_uncertain, run, run_rest, run_with};
pub use searched::{Heat, Placing, Racer, SearchHistory};
pub use statement::*;
pub use work::{PartResult, WorkResult, run_item};
