//! Makes controls for mechanisms of the catalogue: the same mechanism with too little noise.

use serde_json::Value;

use crate::audit::{Audit, Control};
use crate::model::{Expectation, Params};
use crate::target::Subject;

/// A control is made only if the exact leakage is at least this part of the claim. Further below,
/// more noise may be missing before the claim is exceeded than one can tell from the parameters.
const TIGHT: f64 = 0.9;

/// By how many resolutions the control exceeds the claim. With one, an audit that just has enough
/// draws would catch it with probability 0.9, and one in ten such audits would be called
/// inconclusive. With two, it is caught nearly always.
const EXCESS: f64 = 2.0;

/// The mechanism with noise that is too small by twice the audit's resolution. `None` if the audit
/// does not say how much the mechanism leaks, if that is much less than is claimed, or if the
/// mechanism has no parameter for its noise.
///
/// The leakage is taken to grow in proportion to the parameter `epsilon`, or to fall in proportion
/// to a standard deviation. If it grows less, the control may not exceed the claim, and then it is
/// not caught: the audit is inconclusive, never a false pass.
pub fn short_noise(audit: &Audit) -> Option<Control> {
    let Subject::Registered { params, .. } = &audit.subject else { return None };
    let expects_violated =
        |expect: Option<Expectation>| expect.unwrap_or(audit.expect) == Expectation::Violated;
    if expects_violated(None) || audit.pairs.iter().any(|pair| expects_violated(pair.expect)) {
        return None;
    }
    // In other units the noise does not grow in proportion to the claim.
    audit.claim.second()?;
    let claimed = audit.claim.epsilon();
    let truth = audit.pairs.iter().filter_map(|pair| pair.truth.epsilon).fold(0.0, f64::max);
    if truth < TIGHT * claimed {
        return None;
    }
    let factor = (claimed + EXCESS * audit.resolution) / truth;
    less_noise(params, factor).map(Control::Params)
}

/// The first parameter for the size of the noise, here or in a table within, changed so that the
/// noise is smaller by this factor.
fn less_noise(params: &Params, factor: f64) -> Option<Params> {
    params.iter().find_map(|(key, value)| {
        let changed: Value = match (key.as_str(), value) {
            ("epsilon", Value::Number(number)) => (number.as_f64()? * factor).into(),
            ("sigma", Value::Number(number)) => (number.as_f64()? / factor).into(),
            (_, Value::Object(table)) => {
                let mut table = table.clone();
                table.extend(less_noise(&table, factor)?);
                table.into()
            }
            _ => return None,
        };
        Some(Params::from_iter([(key.clone(), changed)]))
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn control(params: &str, claim: &str, truth: &str) -> Option<Control> {
        let text = format!(
            "name = \"a\"\nmechanism = \"gaussian\"\nparams = {params}\nclaim = {claim}\nrelation = \"add-remove\"\nresolution = 0.25\n\
             [[pair]]\nname = \"b\"\nleft = [\"x\"]\nright = [\"x\", \"x\"]\n{truth}"
        );
        super::super::parse(Path::new("a.toml"), &text).unwrap().control
    }

    fn params(json: &str) -> Control {
        Control::Params(serde_json::from_str(json).unwrap())
    }

    #[test]
    fn the_noise_is_too_small_by_twice_the_resolution() {
        let sigma = "{ query = \"count\", calibration = { sigma = 3.0 } }";
        assert_eq!(
            control(sigma, "{ epsilon = 1 }", "truth = { epsilon = 1 }"),
            Some(params(r#"{ "calibration": { "sigma": 2.0 } }"#))
        );
        let analytic =
            "{ calibration = { analytic = { epsilon = 2.0, delta = 0.1 } }, query = \"count\" }";
        let expected =
            params(r#"{ "calibration": { "analytic": { "epsilon": 3.0, "delta": 0.1 } } }"#);
        assert_eq!(control(analytic, "{ epsilon = 1 }", "truth = { epsilon = 1 }"), Some(expected));
        // It leaks 1.25 of a claimed 1.25 + 2 · 0.25, whatever its parameter says.
        let expected =
            params(r#"{ "calibration": { "analytic": { "epsilon": 2.8, "delta": 0.1 } } }"#);
        assert_eq!(
            control(analytic, "{ epsilon = 1.25 }", "truth = { epsilon = 1.25 }"),
            Some(expected)
        );
    }

    #[test]
    fn there_is_none_where_it_might_not_exceed_the_claim() {
        let sigma = "{ query = \"count\", calibration = { sigma = 3.0 } }";
        for truth in [
            "",
            "truth = { epsilon = 0.8 }",
            "truth = { delta = 0.1 }",
            "truth = { epsilon = 2 }\nexpect = \"violated\"",
        ] {
            assert_eq!(control(sigma, "{ epsilon = 1 }", truth), None, "{truth}");
        }
        assert_eq!(
            control("{ query = \"count\" }", "{ epsilon = 1 }", "truth = { epsilon = 1 }"),
            None,
            "no parameter for the noise"
        );
    }
}
