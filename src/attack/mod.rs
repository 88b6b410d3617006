//! The attacker: looks at outputs and guesses which dataset they came from.
//!
//! Everything here is learned on exploration draws and judged on other draws. A bad choice costs
//! power, never validity.
//!
//! ```text
//!  rows of cells                                    what a mechanism released, on D and on D'
//!     │  learner/   rows → scores                   a score maps a row to one value: a coordinate, a log-ratio, …
//!     ▼
//!  values
//!     │  bins/      values → counted bins           one bin per atom and symbol, quantile bins for other numbers
//!     ▼
//!  hits per bin and side
//!     │  fit/       hits → smoothed log-ratios      monotone, along a curve or a straight line, or bin by bin
//!     ▼
//!  bins in an order from "evidence for D" to "evidence for D'"
//!     │  rule/      order → cuts → guess rule       D before one cut, D' after another, no guess between them
//!     ▼
//!  a frozen GuessRule                               judged on fresh draws: correct, wrong, abstained
//! ```
//!
//! `explore.rs` controls all of this: it keeps the first rows, has scores and bins made from them,
//! counts later draws, and selects the rules.
//!
//! | file | what it does |
//! |---|---|
//! | `answer.rs` | the three answers: D, D', no guess |
//! | `bins/mod.rs` | divides the values of a score into bins |
//! | `bins/grid.rs` | finds the bin of a number in constant time |
//! | `bins/counts.rs` | hits per bin and side |
//! | `fit/smooth.rs` | curves and straight lines of log-odds, by penalised logistic regression |
//! | `fit/matrix.rs` | sums of products, Cholesky factors, eigenvectors |
//! | `fit/order.rs` | orders of bins, and the share of D in each bin |
//! | `fit/table.rs` | the log-ratio of one cell as a table |
//! | `fit/alike.rs` | whether all components have the same distribution |
//! | `lesson.rs` | the training rows of a learned score |
//! | `learner/mod.rs` | the list of all learners, and the scores that they make |
//! | `learner/view.rs` | what every score can do |
//! | `learner/output.rs` | the output itself, when it has a single component |
//! | `learner/coordinate.rs` | one component of several |
//! | `learner/whole_row.rs` | the whole row as one symbol |
//! | `learner/aggregate.rs` | sum, maximum and minimum, where the maximum is, and how many values differ |
//! | `learner/naive_bayes.rs` | the sum of the components' log-ratios |
//! | `learner/running_sum.rs` | the same for successive differences |
//! | `learner/pattern.rs` | which symbols are at which positions, together with the numbers |
//! | `learner/trend.rs` | how the count of a symbol changes the log-ratio of a number |
//! | `learner/difference.rs` | one component minus another |
//! | `learner/joint.rs` | two components at a time |
//! | `learner/linear.rs` | weighted sums: linear discriminants, directions of variance |
//! | `learner/tuple.rs` | three components at a time |
//! | `learner/order.rs` | where each item of a permutation is |
//! | `learner/memory.rs` | how often a value was seen on each side before |
//! | `learner/spike.rs` | places where the numbers of one side are close together |
//! | `learner/slice.rs` | one component where another is extreme or has a rare value |
//! | `learner/cluster.rs` | one-sided places, for the two before |
//! | `learner/parity.rs` | the parity of three or more components |
//! | `learner/forest.rs` | decision trees over all components |
//! | `learner/float_bits.rs` | what the bits of a floating-point number reveal |
//! | `learner/fraction.rs` | the fractional part of one component |
//! | `learner/residue.rs` | whole numbers modulo small numbers |
//! | `learner/plain.rs` | numbers that are computed from a row, without low bits |
//! | `learner/preselect.rs` | selects the most significant of many scores by a quick test |
//! | `learner/testing.rs` | rows and checks for the tests of learners |
//! | `rule/goal.rs` | what a rule is optimised for, and its value |
//! | `rule/gain.rs` | how well a score predicts the side of a draw |
//! | `rule/ordered.rs` | bins in an order, and the best cut |
//! | `rule/score_bins.rs` | a score, its bins and their hits |
//! | `rule/select.rs` | the best rule for each goal, by cross-validation |
//! | `rule/moment.rs` | groups of outputs for a bound on a Rényi divergence |
//! | `rule/tail.rs` | a rule for a tail that a curve predicts |
//! | `rule/guess.rs` | a frozen rule: it answers rows and can be described in words |
//! | `rule/judge.rs` | the tallies of rules on draws |
//! | `histogram.rs` | the distributions that exploration found, for pictures |
//! | `explore.rs` | from draws to rules |
//! | `clues.rs` | what people can act on: the simplest rule, each column by itself, examples |
//! | `predict/mod.rs` | predictions that are bet on while they are learned |
//! | `predict/gambler.rs` | bets on blocks of draws and learns from them |
//! | `predict/predictor.rs` | the predictors, and their mean |
//! | `predict/numbers.rs` | columns of numbers as bounded features |
//! | `predict/logistic.rs` | logistic regression for a few draws |
//! | `predict/names.rs` | values that come again |
//! | `role.rs` | what a frozen rule is for, and its share of α |
//! | `family.rs` | the attacks that an audit can name |
//! | `unread.rs` | columns that no learner can read |
//! | `tuning.rs` | every tuned constant: what it means, its unit, and where its value comes from |

mod answer;
mod bins;
mod clues;
mod explore;
mod family;
mod fit;
mod histogram;
mod learner;
mod lesson;
mod predict;
mod role;
mod rule;
pub mod tuning;
mod unread;

pub use answer::{Answer, AnswerCounts};
pub use clues::{Clues, Contribution, Example, ExampleCell, Simplest};
pub use explore::{DrawBudget, Explorer, Learned};
pub use family::{Attack, LearnerName};
pub use histogram::{Bar, Distribution, NumberLine, ScoreHistogram};
pub use learner::{Cost, LEARNERS, Learner};
pub use predict::Gambler;
pub use role::Role;
pub use rule::guess::GuessRule;
pub use rule::judge::{Tallies, judge, judge_and_keep, tally_of};
pub use rule::moment::Grouped;
