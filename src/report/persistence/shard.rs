//! Which shard of a run: given, or found in the environment of a job array.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One of several shards of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Its number, from 1.
    pub number: usize,
    /// How many shards there are.
    pub of: usize,
}

/// The most shards of a run. More are rejected as typos.
const MAX_SHARDS: usize = 100_000;

impl Shard {
    /// A shard.
    ///
    /// # Errors
    /// When there is no such shard.
    pub fn new(number: usize, of: usize) -> Result<Self, String> {
        if of > MAX_SHARDS {
            return Err(format!("there can be at most {MAX_SHARDS} shards, not {of}"));
        }
        if (1..=of).contains(&number) {
            Ok(Self { number, of })
        } else {
            Err(format!("there is no shard {number} of {of}; the first is 1/{of}"))
        }
    }

    /// Its index, from 0.
    #[must_use]
    pub fn index(self) -> usize {
        self.number - 1
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// The value of `--shard`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardChoice {
    /// `3/16`.
    Given(Shard),
    /// `auto`, or `auto/16` if the environment does not say how many shards there are.
    Auto(Option<usize>),
}

impl FromStr for ShardChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str = "must be like 3/16, auto or auto/16";
        let number = |text: &str| text.parse::<usize>().map_err(|_| FORM.to_owned());
        match text.split_once('/') {
            None if text == "auto" => Ok(Self::Auto(None)),
            None => Err(FORM.to_owned()),
            Some(("auto", of)) => {
                number(of).and_then(|of| Shard::new(1, of)).map(|shard| Self::Auto(Some(shard.of)))
            }
            Some((shard, of)) => Shard::new(number(shard)?, number(of)?).map(Self::Given),
        }
    }
}

impl ShardChoice {
    /// The shard. `variable` looks up a variable of the environment.
    ///
    /// # Errors
    /// When the environment is not that of a job array, or does not say how many jobs there are.
    pub fn resolve(self, variable: impl Fn(&str) -> Option<String>) -> Result<Shard, String> {
        let of = match self {
            Self::Given(shard) => return Ok(shard),
            Self::Auto(of) => of,
        };
        let number = |name: &str| {
            let text = variable(name).filter(|text| !text.is_empty());
            text.map(|text| {
                text.parse::<usize>()
                    .map_err(|_| format!("{name} is '{text}', must be a whole number"))
            })
            .transpose()
        };
        let count = |found: Option<usize>, from: &str| {
            of.or(found).ok_or_else(|| format!("{from} does not say how many shards there are; write --shard auto/N, for example auto/16"))
        };
        if let Some(id) = number("SLURM_ARRAY_TASK_ID")? {
            let (tasks, first) =
                (number("SLURM_ARRAY_TASK_COUNT")?, number("SLURM_ARRAY_TASK_MIN")?.unwrap_or(1));
            let step = number("SLURM_ARRAY_TASK_STEP")?.unwrap_or(1).max(1);
            let of = count(tasks, "Slurm")?;
            // A job array of fewer tasks runs some shards again. Their numbers are then the tasks
            // of an array that begins with 1.
            let again = tasks.is_some_and(|tasks| tasks != of);
            let (first, step) = if again { (1, 1) } else { (first, step) };
            let index = id.checked_sub(first).ok_or_else(|| {
                format!("Slurm's task {id} is not a shard of {of}: number the array 1-{of}")
            })? / step;
            return Shard::new(index + 1, of);
        }
        if let Some(index) = number("JOB_COMPLETION_INDEX")? {
            return Shard::new(index + 1, count(number("JOB_COMPLETIONS")?, "Kubernetes")?);
        }
        if let Some(node) = number("CI_NODE_INDEX")? {
            return Shard::new(node, count(number("CI_NODE_TOTAL")?, "the CI server")?);
        }
        Err("--shard auto finds none of SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX and CI_NODE_INDEX in the environment; write --shard 3/16"
            .to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(choice: &str, variables: &[(&str, &str)]) -> Result<String, String> {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        choice.parse::<ShardChoice>()?.resolve(variable).map(|shard| shard.to_string())
    }

    #[test]
    fn a_shard_is_given_or_refused() {
        assert_eq!(found("3/16", &[("CI_NODE_INDEX", "1")]), Ok("3/16".to_owned()));
        for wrong in [
            "0/16", "17/16", "0/0", "3", "3/", "/3", "a/3", "-1/3", "auto/0", "1/100001", "auto/x",
            "",
        ] {
            assert!(found(wrong, &[]).is_err(), "{wrong}");
        }
        assert!(found("auto", &[]).unwrap_err().contains("SLURM_ARRAY_TASK_ID"));
    }

    #[test]
    fn slurm_arrays_begin_anywhere() {
        let task = |choice: &str, id: &str, count: &str, min: &str, step: &str| {
            let variables = [
                ("SLURM_ARRAY_TASK_ID", id),
                ("SLURM_ARRAY_TASK_COUNT", count),
                ("SLURM_ARRAY_TASK_MIN", min),
                ("SLURM_ARRAY_TASK_STEP", step),
            ];
            found(choice, &variables)
        };
        assert_eq!(task("auto", "1", "16", "1", "1"), Ok("1/16".to_owned()));
        assert_eq!(task("auto", "0", "16", "0", "1"), Ok("1/16".to_owned()));
        assert_eq!(task("auto", "15", "16", "0", "1"), Ok("16/16".to_owned()));
        assert_eq!(task("auto", "9", "4", "1", "4"), Ok("3/4".to_owned()));
        // Task 7 alone is shard 7 of 16, not the first of one.
        assert_eq!(task("auto/16", "7", "1", "7", "1"), Ok("7/16".to_owned()));
        assert!(task("auto/16", "0", "1", "0", "1").unwrap_err().contains("1-16"));
        assert_eq!(task("auto/16", "0", "16", "0", "1"), Ok("1/16".to_owned()));
        assert!(task("auto", "x", "16", "1", "1").unwrap_err().contains("'x'"));
    }

    #[test]
    fn kubernetes_and_ci_servers_number_their_jobs() {
        assert_eq!(found("auto/8", &[("JOB_COMPLETION_INDEX", "0")]), Ok("1/8".to_owned()));
        assert_eq!(
            found("auto", &[("JOB_COMPLETION_INDEX", "7"), ("JOB_COMPLETIONS", "8")]),
            Ok("8/8".to_owned())
        );
        assert!(found("auto", &[("JOB_COMPLETION_INDEX", "0")]).unwrap_err().contains("auto/16"));
        assert!(found("auto/8", &[("JOB_COMPLETION_INDEX", "8")]).is_err());
        assert_eq!(
            found("auto", &[("CI_NODE_INDEX", "2"), ("CI_NODE_TOTAL", "5")]),
            Ok("2/5".to_owned())
        );
        assert!(found("auto", &[("CI_NODE_INDEX", "0"), ("CI_NODE_TOTAL", "5")]).is_err());
    }
}
