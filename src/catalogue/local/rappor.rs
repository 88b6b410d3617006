//! RAPPOR: a value's Bloom filter, every bit of it by randomized response.
//!
//! *Claim*: two values' filters differ in at most `2h` of their bits, h the number of hash
//! functions, so that reports are `2h·ln(s/(1−s))`-DP, where a set bit is reported as 1 with
//! probability s and an unset one with 1 − s. *Neighbours*: any two values of one person
//! (replace-one on a dataset of one record). *Source*: Erlingsson, Pihur, Korolova 2014. One-time
//! RAPPOR replaces every bit by 1 with probability f/2 and by 0 with f/2; then s = 1 − f/2. RAPPOR
//! reports a 1 of the result as 1 with probability q and a 0 as 1 with p; then `s = (1 − f/2)·q +
//! f/2·p`. A single report depends on these probabilities only, so the two steps are drawn as one.
//!
//! *The bug*: `background = "missing"` leaves bits that are not set as they are in the first step.
//! *True leakage*: infinite, if one value sets a bit that the other does not and the second step is
//! not made.
//!
//! Hash function i maps a text to one of the bits by `Mix`, the 64-bit hash of this program, over i
//! and the text, modulo the number of bits.

use serde::Deserialize;

use super::{Background, noisy_bit};
use crate::model::{Dataset, Record};
use crate::noise::Generator;
use crate::output::{Cell, MAX_WIDTH, Mix};
use crate::target::{Mechanism, Misfit, Universe};

/// Parameters of RAPPOR.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The probability that a bit is replaced by a fair coin.
    f: f64,
    /// The second step; one-time RAPPOR has none.
    report: Option<Report>,
    /// Bits of the Bloom filter.
    #[serde(default = "twenty")]
    bits: u16,
    /// Hash functions.
    #[serde(default = "four")]
    hashes: u16,
    #[serde(default)]
    background: Background,
}

/// The probabilities of reporting a 1.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Report {
    /// Of a bit that is set.
    q: f64,
    /// Of a bit that is not.
    p: f64,
}

fn twenty() -> u16 {
    20
}

fn four() -> u16 {
    4
}

/// The Bloom filter of one value.
fn filter(value: &str, bits: u16, hashes: u16) -> Vec<bool> {
    let mut filter = vec![false; usize::from(bits)];
    for i in 0..u64::from(hashes) {
        #[allow(clippy::cast_possible_truncation)]
        // less than the bits, of which there are fewer than 2^16
        let bit = (Mix::new().word(i).text(value).end() % u64::from(bits)) as usize;
        filter[bit] = true;
    }
    filter
}

impl Params {
    /// The probability of reporting 1 for a bit.
    fn one(&self, bit: bool) -> f64 {
        let kept = match (bit, self.background) {
            (true, _) => 1.0 - self.f / 2.0,
            (false, Background::Drawn) => self.f / 2.0,
            (false, Background::Missing) => 0.0,
        };
        self.report.map_or(kept, |report| kept * report.q + (1.0 - kept) * report.p)
    }

    /// Checks them, for outputs on this many records.
    fn check(&self, records: usize) -> Result<(), Misfit> {
        let report = self.report.unwrap_or(Report { q: 0.0, p: 0.0 });
        for (key, p) in [("f", self.f), ("report.q", report.q), ("report.p", report.p)] {
            if !(0.0..=1.0).contains(&p) {
                return Err(Misfit::params(key, &format!("is {p}, must be between 0 and 1")));
            }
        }
        let bits = self.bits;
        if bits == 0 {
            return Err(Misfit::params("bits", "is 0, must be at least 1"));
        }
        if records.saturating_mul(bits.into()) > MAX_WIDTH {
            return Err(Misfit::params(
                "bits",
                &format!(
                    "is {bits}, which on {records} records makes an output of more than {MAX_WIDTH} cells; release less"
                ),
            ));
        }
        Ok(())
    }
}

/// Noisy Bloom filters, one after another for each record.
pub struct Rappor {
    /// The probability of reporting 1, per bit.
    one: Vec<f64>,
}

impl Mechanism for Rappor {
    const NAME: &'static str = "rappor";
    const SUMMARY: &'static str =
        "a value's Bloom filter by randomized response, once (f) or twice (f, then q and p)";
    type Params = Params;

    fn prepare(params: &Params, data: &Dataset, _: &Universe) -> Result<Self, Misfit> {
        params.check(data.len())?;
        let mut one = Vec::new();
        for record in data.records() {
            match record {
                Record::Text(value) => one.extend(
                    filter(value, params.bits, params.hashes)
                        .into_iter()
                        .map(|bit| params.one(bit)),
                ),
                other => {
                    return Err(Misfit::Data(format!(
                        "the record {other} is not a string, which RAPPOR needs"
                    )));
                }
            }
        }
        Ok(Self { one })
    }

    fn width(&self) -> usize {
        self.one.len()
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        for (cell, one) in row.iter_mut().zip(&self.one) {
            *cell = noisy_bit(rng, *one);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(f: f64, report: Option<Report>) -> Params {
        Params { f, report, bits: 20, hashes: 4, background: Background::Drawn }
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-15, "{a} is not {b}");
    }

    #[test]
    fn the_audited_values_have_filters_that_differ_in_six_and_in_all_eight_bits() {
        let differing = |a: &str, b: &str| {
            filter(a, 20, 4).into_iter().zip(filter(b, 20, 4)).filter(|(a, b)| a != b).count()
        };
        assert_eq!(differing("Alan", "Grace"), 6);
        assert_eq!(differing("Grace", "Kurt"), 8);
    }

    #[test]
    fn outputs_that_are_too_wide_are_refused_before_they_are_made() {
        let params = Params { bits: u16::MAX, hashes: u16::MAX, ..params(0.5, None) };
        // Once 65,535 by 65,535 comparisons.
        assert_eq!(filter("x", params.bits, params.hashes).len(), 65_535);
        assert!(params.check(1).is_ok());
        // Two petabytes, if they were made.
        let problem = params.check(1 << 32).unwrap_err().to_string();
        assert_eq!(
            problem,
            "params.bits is 65535, which on 4294967296 records makes an output of more than 100000 cells; release less"
        );
    }

    #[test]
    fn bits_are_reported_with_the_probabilities_of_the_definition() {
        close(params(0.95, None).one(true), 0.525);
        close(params(0.95, None).one(false), 0.475);
        // 5/8 · 0.55 + 3/8 · 0.45, and the other way round.
        let report = Some(Report { q: 0.55, p: 0.45 });
        close(params(0.75, report).one(true), 0.5125);
        close(params(0.75, report).one(false), 0.4875);
        let missing = Params { background: Background::Missing, ..params(0.5, None) };
        close(missing.one(true), 0.75);
        close(missing.one(false), 0.0);
    }
}
