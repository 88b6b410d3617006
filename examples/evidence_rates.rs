//! Evidence over many nights: how often it refutes claims that hold, and after how many nights it
//! refutes a leak.
//!
//! ```sh
//! cargo run --release --example evidence_rates -- 2000
//! ```
//!
//! The first argument is the number of sequences of 30 nights. A night learns the cut of a threshold
//! rule from its exploration draws and then counts on fresh draws, as a run does, and the purses and
//! the wealth are those of the program. Only the search among many rules is left out.

use std::env;

use dp_audit::noise::{Generator, bernoulli, laplace};
use dp_audit::parts::nights::{self, Judged, PURSES, Won};
use dp_audit::parts::{Bet, Ledger, Rates};
use dp_audit::rand::{RngExt, SeedableRng};
use dp_audit::{Claim, Side, Tally};
use rayon::prelude::*;

/// The nights of a sequence.
const NIGHTS: usize = 30;

/// The draws of a night: these explore …
const EXPLORED: u64 = 5_000;
/// … and these certify.
const CERTIFIED: u64 = 35_000;

/// At 95 %, half of the error rate is for the evidence, and the first group has half of that.
const ALPHA: f64 = 0.05 / 2.0 / 2.0;

/// A mechanism: an output between 0 and 1 that is the likelier on D the smaller it is.
type Mechanism = fn(&mut Generator, Side, f64) -> f64;

fn main() {
    let sequences: u64 = env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(2_000);
    println!(
        "# Evidence over many nights\n\n\
         Made by `cargo run --release --example evidence_rates -- {sequences}`: \
         {sequences} sequences of\n{NIGHTS} nights with {} draws \
         each, one pair, confidence 95 %. Of the error rate of 5 %, a half is for the evidence, and \
         half of that for the\nfirst group of pairs: 1.25 %. The claim is ε = 1.\n\n\
         | mechanism | leak beyond the claim | refuted within {NIGHTS} nights | 99 % interval | \
         median night | one night alone |\n|---|--:|--:|--:|--:|--:|",
        EXPLORED + CERTIFIED
    );
    let mechanisms: [(&str, Mechanism); 2] =
        [("randomized response", response), ("Laplace", laplace_noise)];
    for (name, mechanism) in mechanisms {
        for leak in [-0.2, 0.0, 0.02, 0.04, 0.08] {
            let sequences = if leak > 0.0 { sequences.div_ceil(10) } else { sequences };
            println!("{}", row(name, mechanism, leak, sequences));
        }
    }
    println!(
        "\nThe last column is the share of nights that refute the claim by their own final count, \
         at the 2.5 % that each of them has for itself.\nFor leaks of at most 0 every refutation is \
         a false alarm. Rows with a leak have a tenth of the sequences."
    );
}

fn response(rng: &mut Generator, side: Side, epsilon: f64) -> f64 {
    let kept = bernoulli(rng, epsilon.exp() / (1.0 + epsilon.exp()));
    f64::from(u8::from((side == Side::Right) == kept))
}

fn laplace_noise(rng: &mut Generator, side: Side, epsilon: f64) -> f64 {
    laplace(rng, 1.0 / epsilon) + f64::from(u8::from(side == Side::Right))
}

fn row(name: &str, mechanism: Mechanism, leak: f64, sequences: u64) -> String {
    let claim = Claim::new(1.0, 0.0).expect("a claim");
    let found: Vec<(Option<usize>, usize)> = (0..sequences)
        .into_par_iter()
        .map(|sequence| {
            let mut rng = Generator::seed_from_u64(sequence);
            let nights: Vec<(Won, f64)> =
                (0..NIGHTS).map(|_| night(&mut rng, mechanism, 1.0 + leak, &claim)).collect();
            let won: Vec<Won> = nights.iter().map(|(won, _)| *won).collect();
            let refuted = nights::path(&won).iter().position(|log| *log >= -ALPHA.ln());
            (refuted.map(|night| night + 1), nights.iter().filter(|night| night.1 > 1.0).count())
        })
        .collect();
    let mut refuted: Vec<usize> = found.iter().filter_map(|(night, _)| *night).collect();
    let alone = found.iter().map(|(_, nights)| nights).sum::<usize>();
    refuted.sort_unstable();
    let (hits, all) = (refuted.len() as f64, sequences as f64);
    let [low, high] = interval(hits, all);
    // The median of all sequences: there is none if fewer than half are refuted.
    let middle = refuted.get(usize::try_from(sequences / 2).unwrap_or(usize::MAX));
    format!(
        "| {name} | {:.0} % | {:.2} % | {low:.2}–{high:.2} % | {} | {:.1} % |",
        100.0 * leak,
        100.0 * hits / all,
        middle.map_or_else(|| "–".to_owned(), ToString::to_string),
        100.0 * alone as f64 / (all * NIGHTS as f64)
    )
}

/// What the purses won in a night, and the bound that its final count shows by itself.
fn night(rng: &mut Generator, mechanism: Mechanism, epsilon: f64, claim: &Claim) -> (Won, f64) {
    let mut draw = || {
        let side = if rng.random() { Side::Left } else { Side::Right };
        (side, mechanism(rng, side, epsilon))
    };
    let explored: Vec<(Side, f64)> = (0..EXPLORED).map(|_| draw()).collect();
    let cuts = best_cuts(&explored);
    let forecast = Rates::of(tally(&explored, cuts));
    let certified: Vec<(Side, f64)> = (0..CERTIFIED).map(|_| draw()).collect();
    let tally = tally(&certified, cuts);
    let mut ledger = Ledger::default();
    ledger.push(vec![Bet { forecast, regions: 2, tally }]);
    let limit = claim.main();
    let own = ledger.path(limit).last().unwrap_or(0.0);
    let won: [f64; PURSES] = nights::won(Some(Judged { forecast, regions: 2, tally }), limit, own);
    let method = dp_audit::parts::Method::new(&limit.measure, forecast, 2, CERTIFIED);
    let limits = dp_audit::parts::Limits::new(tally, 2, 0.025, claim, method);
    (won, limits.epsilon_lower(0.0))
}

/// The best cuts of a rule that guesses D below the first and D' above the second.
fn best_cuts(draws: &[(Side, f64)]) -> [f64; 2] {
    /// Places that are tried, between the smallest and the largest output.
    const STEPS: usize = 10;
    let mut places: Vec<f64> = draws.iter().map(|(_, output)| *output).collect();
    places.sort_by(f64::total_cmp);
    let place = |share: usize| places[share * (places.len() - 1) / STEPS];
    let mut best = ([f64::NEG_INFINITY, f64::INFINITY], 0.0);
    for low in 1..STEPS {
        for high in low..STEPS {
            let cuts = [place(low), place(high)];
            let Tally { correct, wrong, .. } = tally(draws, cuts);
            let (correct, wrong) = (correct as f64, wrong as f64 + 1.0);
            // The odds, three standard errors below what was seen.
            let odds = (correct / wrong).ln() - 3.0 * (1.0 / correct.max(1.0) + 1.0 / wrong).sqrt();
            if odds > best.1 {
                best = (cuts, odds);
            }
        }
    }
    best.0
}

fn tally(draws: &[(Side, f64)], [low, high]: [f64; 2]) -> Tally {
    let mut tally = Tally::default();
    for (side, output) in draws {
        let guess = if *output <= low {
            Some(Side::Left)
        } else if *output > high {
            Some(Side::Right)
        } else {
            None
        };
        match guess {
            None => tally.abstained += 1,
            Some(guess) if guess == *side => tally.correct += 1,
            Some(_) => tally.wrong += 1,
        }
    }
    tally
}

/// Wilson's interval at 99 %, in percent.
fn interval(hits: f64, all: f64) -> [f64; 2] {
    let (z, p) = (2.576_f64, hits / all);
    let middle = (p + z * z / (2.0 * all)) / (1.0 + z * z / all);
    let half = z / (1.0 + z * z / all) * (p * (1.0 - p) / all + z * z / (4.0 * all * all)).sqrt();
    [middle - half, middle + half].map(|share| 100.0 * share.clamp(0.0, 1.0))
}
