//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::calibrate::{self, Plan};
use crate::error::Error;
use crate::run::{Settings, Until};
use crate::spec::{self, Audit, Confidence};

/// Does a differentially private mechanism leak more than it claims?
#[derive(Parser)]
#[command(version, about, after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 every verdict as expected; 1 wrong usage, a bad audit file or an unwritable result; \
2 a verdict differs from what was expected; 3 inconclusive with --require-power; 5 a mechanism could not be run; 70 internal error.";

/// The subcommands.
#[derive(Subcommand)]
pub enum Command {
    /// Run audits and compare the verdicts with what they should be
    Run(RunArgs),
    /// List the audits, or the mechanisms that audit files can name
    List(ListArgs),
    /// Show one audit: claim, parameters, pairs
    Show(ShowArgs),
    /// Measure the auditor: false alarms on mechanisms that sit exactly on their claims, and power against too little noise
    Calibrate(CalibrateArgs),
}

/// Arguments of `run`.
#[derive(Args)]
pub struct RunArgs {
    /// Audit files, or folders that hold some
    #[arg(default_value = "audits")]
    pub paths: Vec<PathBuf>,
    /// Draws per pair, instead of what the audit files say (10,000,000 if they say nothing)
    #[arg(long, value_name = "N", value_parser = draws)]
    pub draws: Option<u64>,
    /// The seed of all random streams; the same seed gives the same report
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// The confidence with which all bounds of the run hold together
    #[arg(long, value_name = "P", default_value = "0.999")]
    pub confidence: Confidence,
    /// Spend the whole budget for the tightest bounds, or stop as soon as a claim is refuted
    #[arg(long, value_enum, default_value_t)]
    pub until: Until,
    /// Worker threads; all cores if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Where the CSV report goes
    #[arg(long, value_name = "FILE", default_value = "results/audit.csv")]
    pub csv: PathBuf,
    /// Only audits whose name, mechanism or file contains this text
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Only pairs whose name contains this text
    #[arg(long, value_name = "TEXT")]
    pub pair: Option<String>,
    /// Fail (exit code 3) when an audit is inconclusive
    #[arg(long)]
    pub require_power: bool,
    /// No progress and no table; only the report file and the exit code
    #[arg(long, short)]
    pub quiet: bool,
}

impl RunArgs {
    /// The settings of the run.
    #[must_use]
    pub fn settings(&self) -> Settings {
        Settings { draws: self.draws, seed: self.seed, confidence: self.confidence, until: self.until }
    }
}

/// Arguments of `list`.
#[derive(Args)]
pub struct ListArgs {
    /// Audit files, or folders that hold some
    #[arg(default_value = "audits")]
    pub paths: Vec<PathBuf>,
    /// Only audits whose name, mechanism or file contains this text
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// List the registered mechanisms instead
    #[arg(long)]
    pub mechanisms: bool,
}

/// Arguments of `show`.
#[derive(Args)]
pub struct ShowArgs {
    /// The audit's name, a part of it, or its file
    pub audit: String,
    /// Where to look for audits
    #[arg(default_value = "audits")]
    pub paths: Vec<PathBuf>,
}

/// Arguments of `calibrate`.
#[derive(Args)]
pub struct CalibrateArgs {
    /// Audit files to repeat, instead of the built-in mechanisms; those that expect `violated` show power, all others false alarms
    #[arg(conflicts_with = "power")]
    pub paths: Vec<PathBuf>,
    /// Power curves of Laplace noise that is 1.01 to 2 times too small, instead of false alarms
    #[arg(long)]
    pub power: bool,
    /// Runs of each audit (2,000, or 200 with --power)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub seeds: Option<u64>,
    /// Draws per pair; several, separated by commas, make a curve (20,000, or 1,000 to 3,000,000 with --power)
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = draws)]
    pub draws: Vec<u64>,
    /// The first seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// The confidence of each run
    #[arg(long, value_name = "P", default_value = "0.95")]
    pub confidence: Confidence,
    /// Where the rates go (results/calibration.csv, or results/power.csv with --power)
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// A folder for pictures: false-alarms.svg or power.svg
    #[arg(long, value_name = "DIR")]
    pub pictures: Option<PathBuf>,
    /// Worker threads; all cores if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// No progress and no table; only the files and the exit code
    #[arg(long, short)]
    pub quiet: bool,
}

impl CalibrateArgs {
    /// The audits to repeat.
    ///
    /// # Errors
    /// When a named file is no valid audit.
    pub fn audits(&self) -> Result<Vec<Audit>, Error> {
        match (self.power, self.paths.as_slice()) {
            (true, _) => calibrate::all_short(),
            (false, []) => calibrate::boundary(),
            (false, paths) => spec::load(paths),
        }
    }

    /// The budgets of each audit.
    #[must_use]
    pub fn budgets(&self) -> Vec<u64> {
        match (self.power, self.draws.as_slice()) {
            (true, []) => calibrate::POWER_DRAWS.to_vec(),
            (false, []) => vec![calibrate::FALSE_ALARM_DRAWS],
            (_, draws) => draws.to_vec(),
        }
    }

    /// How each audit is repeated.
    #[must_use]
    pub fn plan(&self) -> Plan {
        let seeds = self.seeds.unwrap_or(if self.power { calibrate::POWER_SEEDS } else { calibrate::FALSE_ALARM_SEEDS });
        Plan { first_seed: self.seed, seeds, confidence: self.confidence }
    }

    /// Where the rates go.
    #[must_use]
    pub fn csv(&self) -> PathBuf {
        let default = if self.power { "results/power.csv" } else { "results/calibration.csv" };
        self.csv.clone().unwrap_or_else(|| default.into())
    }
}

/// A number of draws: plain, with underscores, or like `2e7`.
fn draws(text: &str) -> Result<u64, String> {
    const MOST: f64 = 1e12;
    let plain = text.replace('_', "");
    let number: f64 = plain.parse().map_err(|_| "must be a whole number like 20000 or 2e7".to_owned())?;
    if number.fract() != 0.0 || !(1.0..=MOST).contains(&number) {
        return Err(format!("must be a whole number from 1 to {MOST:e}"));
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked above
    Ok(number as u64)
}
