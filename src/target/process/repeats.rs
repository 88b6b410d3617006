//! Notices a program that answers different requests with the same draws.
//!
//! A generator seeded with a constant, or with the time, makes few draws look like many, and bounds from copies are worth nothing. It is an easy
//! mistake, so the beginning of every answer is remembered. Outputs that hardly vary may well repeat and are let pass.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::model::Side;
use crate::output::{Cell, Mix, Rows};
use crate::target::StreamSeed;

/// So many outputs at the beginning of an answer are compared.
const COMPARED: usize = 256;

/// The answers of all processes of a pair: a hash of each beginning, and the seed that it was the answer to.
#[derive(Default)]
pub struct Repeats(Mutex<HashMap<u64, StreamSeed>>);

impl Repeats {
    /// Whether the same draws were the answer to another seed, and that cannot be chance: at most half of them are alike, so for two independent
    /// answers to agree has a probability below 1e-30.
    pub fn found(&self, side: Side, seed: StreamSeed, rows: &Rows) -> bool {
        if rows.len() < COMPARED {
            return false;
        }
        let keys: Vec<u64> = rows.iter().take(COMPARED).map(|row| Cell::of_row(row).key()).collect();
        let beginning = keys.iter().fold(Mix::new().word(side as u64), |mix, key| mix.word(*key)).end();
        let earlier = *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(beginning).or_insert(seed);
        earlier != seed && vary(keys)
    }
}

/// Whether no value makes up more than half.
fn vary(mut keys: Vec<u64>) -> bool {
    keys.sort_unstable();
    keys.chunk_by(|a, b| a == b).all(|alike| 2 * alike.len() <= COMPARED)
}
