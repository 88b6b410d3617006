//! The attacker: looks at outputs and guesses which dataset they came from.
//!
//! Everything here is learned on exploration draws and judged on others. A bad choice costs power, never validity.
//!
//! ```text
//!  rows of cells                                    what a mechanism released, on D and on D'
//!     │  score/     row → one value                 plain (a coordinate, the sum, …) or learned (a log-ratio)
//!     ▼
//!  values
//!     │  bins/      values → counted bins           atoms and symbols by themselves, the rest by quantiles
//!     ▼
//!  hits per bin and side
//!     │  fit/       hits → smoothed log-ratios      monotone, along a curve or a line, or bin by bin
//!     ▼
//!  bins in an order from "speaks for D" to "speaks for D'"
//!     │  rule/      order → cuts → guess rule       D before one cut, D' behind another, no guess between
//!     ▼
//!  a frozen GuessRule                               judged on fresh draws: correct, wrong, abstained
//! ```
//!
//! `explore.rs` drives it: it keeps the first rows, makes scores and bins from them, counts later draws, and picks the rules.
//!
//! | file | what it does |
//! |---|---|
//! | `answer.rs` | the three answers: D, D', no guess |
//! | `bins/mod.rs` | divides the values of a score |
//! | `bins/grid.rs` | finds the bin of a number in constant time |
//! | `bins/counts.rs` | hits per bin and side |
//! | `fit/smooth.rs` | curves and lines of log-odds, by penalised logistic regression |
//! | `fit/order.rs` | orders of bins, and the share of D in each |
//! | `fit/table.rs` | the log-ratio of one cell as a table |
//! | `lesson.rs` | the rows that a score is learned from |
//! | `score/mod.rs` | all scores: what the attacker looks at |
//! | `score/float_bits.rs` | what the bits of a floating-point number give away |
//! | `score/naive_bayes.rs` | log-ratios of the components, added up |
//! | `score/pattern.rs` | which symbols stand where, with the numbers beside them |
//! | `score/trend.rs` | how a symbol's count changes what a number says |
//! | `score/joint.rs` | two components at a time |
//! | `score/plain.rs` | sums and differences without their low bits |
//! | `score/preselect.rs` | picks the most significant of many scores by a quick look |
//! | `rule/goal.rs` | what a rule is for, and what it is worth |
//! | `rule/ordered.rs` | bins in an order, and the best cut |
//! | `rule/score_bins.rs` | a score, its bins and their counts |
//! | `rule/select.rs` | the best rule for each goal, by cross-validation |
//! | `rule/tail.rs` | a rule for the tail of a learned score |
//! | `rule/guess.rs` | a frozen rule: answers rows, reads as a sentence |
//! | `rule/judge.rs` | the tallies of rules on draws |
//! | `histogram.rs` | what exploration saw, for pictures |
//! | `explore.rs` | from draws to rules |
//! | `family.rs` | the attacks that an audit can name |

pub mod answer;
pub mod bins;
pub mod explore;
mod family;
pub mod fit;
pub mod histogram;
pub mod lesson;
pub mod rule;
pub mod score;

pub use answer::{Answer, AnswerCounts};
pub use explore::{DrawBudget, Explorer, Learned};
pub use family::Attack;
pub use histogram::{Bar, Distribution, NumberLine, ScoreHistogram};
pub use rule::guess::GuessRule;
pub use rule::judge::{Tallies, judge, tally_of};
pub use score::Score;
