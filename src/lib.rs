//! Does a differentially private mechanism leak more than it claims?
//!
//! ```text
//! audits/*.toml ─ spec ─▶ Audit { claim, relation, pairs, mechanism }     [`spec`]       file → validated plan
//!                               │
//!                     Target::draw(side, count, seed)                     [`mechanism`]  the thing under audit
//!                               │  rows of cells                          [`cell`]
//!              explore: doubling rounds, 1/8 of the budget                [`sample`]     seeds, batches, schedule
//!                               │
//!              learn a GuessRule: D, D' or no guess                       [`attack`]     scores, bins, selection
//!                               │
//!              certify: fresh draws → Tally { correct, wrong, abstained } [`sample`]
//!                               │
//!              wealth, ε lower bound, δ lower bound                       [`evidence`]   pure functions of tallies
//!                               │
//!              Violated | Consistent | Inconclusive                       [`verdict`]
//!                               │
//!              terminal, CSV, HTML, JSON, JUnit, Markdown                [`report`]     one format a file
//! ```
//!
//! [`run::run`] is that picture as code. [`gate`] turns what was found into an exit code, and [`replay`] checks a [`witness`] with fresh draws.
//!
//! # In a test of your own
//!
//! [`audit()`] audits a closure, so that `cargo test` can:
//!
//! ```
//! use dp_audit::noise::laplace;
//!
//! dp_audit::audit(|values: &Vec<f64>, rng| values.iter().sum::<f64>() + laplace(rng, 1.0))
//!     .claim(1.0, 0.0)
//!     .pair(vec![0.2, 0.9], vec![0.2, 0.9, 1.0])
//!     .draws(200_000)
//!     .seed(7)
//!     .run()
//!     .assert_consistent();
//! ```

pub mod api;
pub mod attack;
pub mod baseline;
pub mod calibrate;
pub mod cell;
pub mod cli;
pub mod error;
pub mod evidence;
pub mod exact;
pub mod exit_code;
pub mod gate;
pub mod journal;
pub mod mechanism;
pub mod noise;
pub mod recorded;
pub mod replay;
pub mod report;
pub mod run;
pub mod sample;
pub mod spec;
pub mod verdict;
pub mod witness;

pub use api::{Finding, MechanismAudit, Output, audit};
pub use rand;
