//! A claim as it is written in files.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Claim, DEFAULT_DELTA, Limit, Measure, Metric};
use crate::model::checked::{Delta, NonNegative, Order, Positive, PositiveDelta};
use crate::model::file;

/// A claim as it is written: exactly one of the units, and for ε also δ.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spelling {
    /// ε.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<NonNegative>,
    /// δ, only with ε.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<Delta>,
    /// μ of Gaussian differential privacy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mu: Option<Positive>,
    /// ρ of zero-concentrated differential privacy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rho: Option<Positive>,
    /// Rényi divergences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renyi: Option<Renyi>,
    /// A privacy profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// The stability of a transformation without noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stability: Option<Stability>,
    /// The δ at which ε is reported, for a claim that has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_delta: Option<PositiveDelta>,
}

/// One or several Rényi divergences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "must be { order = …, epsilon = … } with an order above 1 and a positive epsilon, or a list of these"
)]
pub enum Renyi {
    /// One.
    One(RenyiPoint),
    /// Several.
    Several(Vec<RenyiPoint>),
}

/// A Rényi divergence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RenyiPoint {
    /// The order λ.
    pub order: Order,
    /// The divergence of this order.
    pub epsilon: Positive,
}

/// Datasets at most `input` steps apart have outputs at most `output` apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stability {
    /// In steps of the neighbour relation.
    pub input: Positive,
    /// In the metric.
    pub output: NonNegative,
    /// The distance of two outputs.
    pub metric: Metric,
}

/// A privacy profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "must be a list of [ε, δ], or the name of a CSV file with the columns epsilon and delta"
)]
pub enum Profile {
    /// Its points `[ε, δ]`.
    Points(Vec<[f64; 2]>),
    /// A CSV file with the columns `epsilon` and `delta`.
    File(String),
}

impl Spelling {
    /// The same with the points of a profile's file in place of its name. The name is relative to
    /// `folder`.
    ///
    /// # Errors
    /// When the file cannot be read, or has no such columns.
    pub fn with_points(mut self, folder: &Path) -> Result<Self, String> {
        if let Some(Profile::File(name)) = &self.profile {
            self.profile = Some(Profile::Points(read_points(&folder.join(name))?));
        }
        Ok(self)
    }
}

/// The points of a CSV file with the columns `epsilon` and `delta`. Lines that start with `#` are
/// comments.
fn read_points(path: &Path) -> Result<Vec<[f64; 2]>, String> {
    #[derive(Deserialize)]
    struct Row {
        epsilon: f64,
        delta: f64,
    }
    let problem =
        |error: csv::Error| format!("is \"{}\", which is not a profile: {error}", path.display());
    let content = file::read(path).map_err(|error| problem(error.into()))?;
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(content.as_slice());
    reader
        .deserialize()
        .map(|row| row.map(|Row { epsilon, delta }| [epsilon, delta]).map_err(problem))
        .collect()
}

impl TryFrom<Spelling> for Claim {
    type Error = String;

    fn try_from(mut spelling: Spelling) -> Result<Self, String> {
        let units = [
            spelling
                .epsilon
                .map(|epsilon| of_epsilon(epsilon.get(), spelling.delta.unwrap_or_default().get())),
            spelling.mu.map(|mu| vec![Limit { measure: Measure::Mu, value: mu.get() }]),
            spelling.rho.map(|rho| vec![Limit { measure: Measure::Rho, value: rho.get() }]),
            spelling.renyi.as_ref().map(of_renyi).transpose()?,
            spelling.profile.as_ref().map(of_profile).transpose()?,
            spelling.stability.map(of_stability),
        ];
        let mut units: Vec<Vec<Limit>> = units.into_iter().flatten().collect();
        let one = units.pop();
        let Some(limits) = one.filter(|_| units.is_empty()) else {
            return Err("must have exactly one of epsilon, mu, rho, renyi, profile and stability"
                .to_owned());
        };
        if spelling.delta.is_some() && spelling.epsilon.is_none() {
            return Err(
                "has delta without epsilon; write at_delta for the δ at which ε is reported"
                    .to_owned(),
            );
        }
        if spelling.at_delta.is_some() && spelling.epsilon.is_some() {
            return Err("has epsilon and at_delta; the δ of such a claim is delta".to_owned());
        }
        if spelling.at_delta.is_some() && spelling.stability.is_some() {
            return Err("has stability and at_delta; a transformation without noise has no ε, so remove at_delta".to_owned());
        }
        let reported = spelling.at_delta.map_or(DEFAULT_DELTA, PositiveDelta::get);
        // A δ that was left out is 0, so that both spellings are the same claim.
        spelling.delta = spelling.epsilon.map(|_| spelling.delta.unwrap_or_default());
        let delta = spelling.delta.map_or(reported, Delta::get);
        Ok(Self { limits: limits.into(), delta, spelling })
    }
}

impl From<(NonNegative, Delta)> for Claim {
    fn from((epsilon, delta): (NonNegative, Delta)) -> Self {
        let limits = of_epsilon(epsilon.get(), delta.get()).into();
        Self {
            spelling: Spelling {
                epsilon: Some(epsilon),
                delta: Some(delta),
                ..Spelling::default()
            },
            limits,
            delta: delta.get(),
        }
    }
}

impl From<Claim> for Spelling {
    fn from(claim: Claim) -> Self {
        claim.spelling
    }
}

/// (ε, δ) limits ε at δ, and δ at ε. For ε = 0 only the latter is left, unless nothing may differ
/// at all.
fn of_epsilon(epsilon: f64, delta: f64) -> Vec<Limit> {
    let of_delta = Limit { measure: Measure::Delta { epsilon }, value: delta };
    if epsilon == 0.0 && delta > 0.0 {
        return vec![of_delta];
    }
    vec![Limit { measure: Measure::Epsilon { delta }, value: epsilon }, of_delta]
}

fn of_renyi(renyi: &Renyi) -> Result<Vec<Limit>, String> {
    let measured = match renyi {
        Renyi::One(point) => Limit {
            measure: Measure::Renyi { order: point.order.get() },
            value: point.epsilon.get(),
        },
        Renyi::Several(points) if points.is_empty() => {
            return Err("renyi is an empty list, must have an order".to_owned());
        }
        Renyi::Several(points) => {
            let points =
                points.iter().map(|point| (point.order.get(), point.epsilon.get())).collect();
            Limit { measure: Measure::Orders(points), value: 1.0 }
        }
    };
    Ok(vec![measured])
}

fn of_stability(stability: Stability) -> Vec<Limit> {
    let Stability { input, output, metric } = stability;
    vec![Limit { measure: Measure::Distance { metric, input: input.get() }, value: output.get() }]
}

fn of_profile(profile: &Profile) -> Result<Vec<Limit>, String> {
    let Profile::Points(points) = profile else {
        return Err("names a file with a profile, which only an audit file can do".to_owned());
    };
    if points.is_empty() {
        return Err("profile is empty, must have a point [ε, δ]".to_owned());
    }
    for [epsilon, delta] in points {
        if !(*epsilon > 0.0 && epsilon.is_finite() && (0.0..1.0).contains(delta)) {
            return Err(format!(
                "profile has the point [{epsilon}, {delta}], must have a positive ε and a δ from 0 to 1"
            ));
        }
    }
    let points = points.iter().map(|[epsilon, delta]| (*epsilon, *delta)).collect();
    Ok(vec![Limit { measure: Measure::Profile(points), value: 1.0 }])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Claim, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn every_unit_is_read_and_written() {
        for (json, text) in [
            (r#"{"epsilon":1.0,"delta":0.0}"#, "ε = 1"),
            (r#"{"epsilon":1.0,"delta":1e-5}"#, "ε = 1, δ = 0.00001"),
            (r#"{"epsilon":0.0,"delta":0.1}"#, "δ = 0.1"),
            (r#"{"mu":1.0}"#, "μ = 1"),
            (r#"{"rho":0.5,"at_delta":1e-6}"#, "ρ = 0.5"),
            (r#"{"renyi":{"order":8.0,"epsilon":0.5}}"#, "τ = 0.5 at order 8"),
            (
                r#"{"renyi":[{"order":2.0,"epsilon":1.0},{"order":8.0,"epsilon":4.0}]}"#,
                "τ = 1 at order 2, τ = 4 at order 8",
            ),
            (r#"{"profile":[[0.5,0.001],[1.0,1e-5]]}"#, "profile (0.5, 0.001), (1, 1e-5)"),
            (r#"{"stability":{"input":1.0,"output":2.0,"metric":"l1"}}"#, "l1 distance ≤ 2"),
            (
                r#"{"stability":{"input":2.0,"output":0.0,"metric":"insert-delete"}}"#,
                "insert-delete distance ≤ 0 at input distance 2",
            ),
        ] {
            let claim = read(json).unwrap();
            assert_eq!(claim.to_string(), text);
            assert!(claim.resolution() > 0.0, "{json}");
            let again: Claim =
                serde_json::from_str(&serde_json::to_string(&claim).unwrap()).unwrap();
            assert_eq!(again, claim, "{json}");
        }
        assert_eq!(
            read(r#"{"epsilon":1.0}"#).unwrap(),
            read(r#"{"epsilon":1.0,"delta":0.0}"#).unwrap()
        );
        assert_eq!(read(r#"{"mu":1.0}"#).unwrap().delta(), DEFAULT_DELTA);
        assert_eq!(read(r#"{"mu":1.0,"at_delta":1e-6}"#).unwrap().delta(), 1e-6);
    }

    #[test]
    fn bad_claims_are_refused_with_a_remedy() {
        for (json, message) in [
            ("{}", "exactly one of epsilon, mu, rho, renyi, profile and stability"),
            (r#"{"mu":1.0,"rho":0.5}"#, "exactly one of"),
            (r#"{"mu":1.0,"delta":0.1}"#, "write at_delta"),
            (r#"{"epsilon":1.0,"at_delta":0.1}"#, "the δ of such a claim is delta"),
            (r#"{"mu":-1.0}"#, "is -1, must be positive and finite"),
            (r#"{"epsilon":-1.0}"#, "is -1, must be at least 0 and finite"),
            (r#"{"renyi":{"order":1.0,"epsilon":0.5}}"#, "an order above 1"),
            (r#"{"renyi":[]}"#, "empty list"),
            (r#"{"profile":[]}"#, "is empty"),
            (r#"{"profile":[[-0.5,0.1]]}"#, "[-0.5, 0.1], must have a positive ε"),
            (r#"{"profile":"a.csv"}"#, "only an audit file"),
            (
                r#"{"stability":{"input":0.0,"output":2.0,"metric":"l1"}}"#,
                "is 0, must be positive and finite",
            ),
            (
                r#"{"stability":{"input":1.0,"output":-2.0,"metric":"l1"}}"#,
                "is -2, must be at least 0 and finite",
            ),
            (r#"{"stability":{"input":1.0,"output":2.0,"metric":"l3"}}"#, "unknown variant `l3`"),
            (
                r#"{"stability":{"input":1.0,"output":2.0,"metric":"l1"},"at_delta":0.1}"#,
                "remove at_delta",
            ),
            (r#"{"sigma":1.0}"#, "unknown field `sigma`"),
        ] {
            let error = read(json).unwrap_err();
            assert!(error.contains(message), "{json}: {error}");
        }
    }

    #[test]
    fn a_profile_is_read_from_a_file() {
        let folder = std::env::temp_dir().join(format!("dp-audit-profile-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let claim = |text: &str| {
            std::fs::write(folder.join("p.csv"), text).unwrap();
            let spelling = Spelling {
                profile: Some(Profile::File("p.csv".to_owned())),
                ..Spelling::default()
            };
            spelling.with_points(&folder).and_then(Claim::try_from)
        };
        let found = claim("# made by hand\nepsilon, delta\n0.5, 1e-3\n1.0, 1e-5\n").unwrap();
        assert_eq!(found, Claim::profile([(0.5, 1e-3), (1.0, 1e-5)]).unwrap());
        assert!(claim("epsilon,gamma\n1,2\n").unwrap_err().contains("p.csv"));
        assert!(claim("epsilon,delta\n1,x\n").unwrap_err().contains("p.csv"));
        let missing =
            Spelling { profile: Some(Profile::File("no.csv".to_owned())), ..Spelling::default() };
        assert!(missing.with_points(&folder).unwrap_err().contains("no.csv"));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
