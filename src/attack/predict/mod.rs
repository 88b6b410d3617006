//! Predictions of the side of a draw, learned from the draws before it.
//!
//! Rules are learned carefully and then frozen; predictors are small, learn after every block of
//! draws and say how sure they are. A [`Gambler`] bets on their prediction, first on a block and
//! with what was learned from the blocks before it; then it learns from that block. So no draw is
//! spent on learning alone, and nothing is judged by what it was learned from.

mod gambler;
mod logistic;
mod names;
mod numbers;
mod predictor;

pub use gambler::Gambler;
