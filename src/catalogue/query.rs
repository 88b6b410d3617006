//! What is computed from the data before noise is added.

use serde::Deserialize;

use crate::catalogue::arithmetic::Arithmetic;
use crate::model::Dataset;
use crate::model::checked::Finite;
use crate::target::{Misfit, Universe};

/// A numeric query.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Query {
    /// The number of records. Sensitivity 1 under add-remove.
    Count,
    /// The sum of the records, each clamped to `[lower, upper]`. Sensitivity `max(|lower|,
    /// |upper|)` under add-remove.
    Sum {
        /// Smaller values count as this one.
        lower: Finite,
        /// Larger values count as this one.
        upper: Finite,
        /// The type of numbers used for the sum.
        #[serde(default)]
        arithmetic: Arithmetic,
    },
    /// The average of the clamped records; the size is public. Sensitivity `(upper − lower)/n`
    /// under replace-one.
    Mean {
        /// Smaller values count as this one.
        lower: Finite,
        /// Larger values count as this one.
        upper: Finite,
    },
    /// The count of every category in the pair. ℓ₁ sensitivity 1 under add-remove, 2 under
    /// replace-one.
    Histogram,
    /// The records themselves: each is the answer to one query. Each answer has sensitivity 1.
    /// Under single-component neighbours that is the sensitivity of all answers together; under
    /// component-wise neighbours it is per answer.
    Values,
}

/// The answers to a query, and how far one record can move them.
pub struct QueryAnswers {
    /// One number per output cell.
    pub values: Vec<f64>,
    /// The ℓ₁ sensitivity under the relation in the documentation of the query.
    pub sensitivity: f64,
}

impl Query {
    /// Answers the query exactly.
    pub fn answer(&self, data: &Dataset, universe: &Universe) -> Result<QueryAnswers, Misfit> {
        match self {
            Self::Count => Ok(QueryAnswers { values: vec![data.len() as f64], sensitivity: 1.0 }),
            Self::Sum { lower, upper, arithmetic } => {
                let (sum, lower, upper) = clamped_sum(data, *lower, *upper, *arithmetic)?;
                Ok(QueryAnswers { values: vec![sum], sensitivity: lower.abs().max(upper.abs()) })
            }
            Self::Mean { lower, upper } => {
                let (sum, lower, upper) = clamped_sum(data, *lower, *upper, Arithmetic::F64)?;
                if data.is_empty() {
                    return Err(Misfit::Data(
                        "the average of no records is not defined; give the dataset at least one"
                            .to_owned(),
                    ));
                }
                let n = data.len() as f64;
                Ok(QueryAnswers { values: vec![sum / n], sensitivity: (upper - lower) / n })
            }
            Self::Histogram => {
                let values = universe.counts(data).into_iter().map(|count| count as f64).collect();
                Ok(QueryAnswers { values, sensitivity: 1.0 })
            }
            Self::Values => Ok(QueryAnswers { values: data.numbers()?, sensitivity: 1.0 }),
        }
    }
}

fn clamped_sum(
    data: &Dataset,
    lower: Finite,
    upper: Finite,
    arithmetic: Arithmetic,
) -> Result<(f64, f64, f64), Misfit> {
    let clamped = clamped(data, lower, upper, "query")?;
    Ok((arithmetic.sum(clamped)?, lower.get(), upper.get()))
}

/// The records, each clamped to `[lower, upper]`. `key` is the parameter that is named if these are
/// not in order.
pub fn clamped(
    data: &Dataset,
    lower: Finite,
    upper: Finite,
    key: &str,
) -> Result<impl Iterator<Item = f64> + use<>, Misfit> {
    let (lower, upper) = (lower.get(), upper.get());
    if lower >= upper {
        let what = if key == "lower" { "" } else { "lower " };
        return Err(Misfit::params(
            key,
            &format!("{what}is {lower}, must be less than upper, which is {upper}"),
        ));
    }
    Ok(data.numbers()?.into_iter().map(move |x| x.clamp(lower, upper)))
}
