//! Makes controls for mechanisms of the catalogue: the same mechanism with too little noise.

use crate::audit::{Audit, Control};
use crate::model::{Expectation, Params};
use crate::target::Subject;

/// A control is made only if the exact leakage is at least this part of the claim. Further below, more noise may be missing before the claim
/// is exceeded than one can tell from the parameters.
const TIGHT: f64 = 0.9;

/// By how many resolutions the control exceeds the claim. With one, an audit that just has enough draws would catch it with probability 0.9,
/// and one in ten such audits would be called inconclusive. With two, it is caught nearly always.
const EXCESS: f64 = 2.0;

/// The mechanism with noise that is too small by twice the audit's resolution. `None` if the audit does not say how much the mechanism
/// leaks, if that is much less than is claimed, or if the mechanism has no parameter for its noise.
///
/// The leakage is taken to grow in proportion to the parameter `epsilon`, or to fall in proportion to a standard deviation. If it grows
/// less, the control may not exceed the claim, and then it is not caught: the audit is inconclusive, never a false pass.
pub fn short_noise(audit: &Audit) -> Option<Control> {
    let Subject::Registered { params, .. } = &audit.subject else { return None };
    let expects_violated = |expect: Option<Expectation>| expect.unwrap_or(audit.expect) == Expectation::Violated;
    if expects_violated(None) || audit.pairs.iter().any(|pair| expects_violated(pair.expect)) {
        return None;
    }
    let claimed = audit.claim.epsilon.get();
    let truth = audit.pairs.iter().filter_map(|pair| pair.truth.epsilon).fold(0.0, f64::max);
    if truth < TIGHT * claimed {
        return None;
    }
    let factor = (claimed + EXCESS * audit.resolution) / truth;
    scaled(params, "epsilon", factor)
        .or_else(|| {
            let calibration = params.get("calibration")?.as_object()?;
            let sigma = scaled(calibration, "sigma", 1.0 / factor)?;
            Some(Params::from_iter([("calibration".to_owned(), sigma.into())]))
        })
        .map(Control::Params)
}

/// This parameter, multiplied by a factor.
fn scaled(params: &Params, key: &str, factor: f64) -> Option<Params> {
    let value = params.get(key)?.as_f64()?;
    Some(Params::from_iter([(key.to_owned(), (value * factor).into())]))
}
