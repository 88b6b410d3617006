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
//!              CSV, terminal                                              [`report`]     one format a file
//! ```
//!
//! [`run::run`] is that picture as code.

pub mod attack;
pub mod calibrate;
pub mod cell;
pub mod cli;
pub mod error;
pub mod evidence;
pub mod exact;
pub mod exit_code;
pub mod mechanism;
pub mod noise;
pub mod report;
pub mod run;
pub mod sample;
pub mod spec;
pub mod verdict;
