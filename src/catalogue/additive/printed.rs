//! Noisy answers printed inside a sentence.
//!
//! *Claim*: ε with Laplace noise of scale `Δ/ε`. Printing is post-processing, so it costs nothing.
//! *Neighbours*: those under which `Δ` is the query's sensitivity. *Source*: the Laplace mechanism
//! (Dwork, `McSherry`, Nissim, Smith 2006). *The bug*, one parameter away: `scale_factor` below 1
//! adds too little noise, and the true ε is `ε / scale_factor`. *True leakage*: that of the noisy
//! answers. Nine decimals are printed, so two whole answers are a whole number of steps apart, and
//! the ratio of every text outside them is that of the densities. Few texts occur twice: an
//! attacker must read the numbers in them.

use std::sync::Arc;

use super::continuous::{Laplace, PureParams};
use crate::catalogue::registry::read_params;
use crate::model::{Dataset, Params, Side};
use crate::noise;
use crate::noise::Generator;
use crate::target::{Closure, Mechanism, PrepareError, Target, Universe};

/// The name that audit files use.
pub const NAME: &str = "laplace/printed";

/// One line for `dp-audit show --mechanisms`.
pub const SUMMARY: &str = "a query plus Laplace noise of scale Δ/ε, printed in a sentence";

/// The sentence with fresh noise on every answer.
fn sentence(laplace: &Laplace, rng: &mut Generator) -> String {
    let noisy = laplace
        .values
        .iter()
        .map(|value| format!("{:.9}", value + noise::laplace(rng, laplace.scale)));
    format!("The answer is about {}.", noisy.collect::<Vec<_>>().join(" and "))
}

/// Prepares the sentence for two datasets.
///
/// # Errors
/// When the parameters are wrong, or the data does not fit the query.
pub fn prepare(
    params: &Params,
    left: &Dataset,
    right: &Dataset,
) -> Result<Box<dyn Target>, PrepareError> {
    let params: PureParams = read_params(params).map_err(|misfit| misfit.on(None))?;
    let universe = Universe::of(left, right);
    let on = |data: &Dataset, side: Side| {
        Laplace::prepare(&params, data, &universe).map_err(|misfit| misfit.on(Some(side)))
    };
    let sides = Arc::new((on(left, Side::Left)?, on(right, Side::Right)?));
    Ok(Box::new(Closure::new(Arc::new(sentence), Arc::default(), sides, 0)))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn the_sentence_has_the_noisy_answers_with_nine_decimals() {
        let laplace = Laplace { values: vec![3.0, 40.0], scale: 2.0 };
        let (mut one, mut other) = (Generator::seed_from_u64(8), Generator::seed_from_u64(8));
        for _ in 0..100 {
            let text = sentence(&laplace, &mut one);
            let numbers =
                text.strip_prefix("The answer is about ").unwrap().strip_suffix('.').unwrap();
            for (printed, value) in numbers.split(" and ").zip(&laplace.values) {
                let noisy = value + noise::laplace(&mut other, 2.0);
                assert!(
                    (printed.parse::<f64>().unwrap() - noisy).abs() <= 0.5e-9 + 1e-14,
                    "{text}: {noisy}"
                );
                assert_eq!(printed.split_once('.').unwrap().1.len(), 9, "{text}");
            }
        }
    }
}
