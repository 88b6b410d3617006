//! Runs the audits of a folder with all learners and without each of them, and prints one CSV row
//! per pair. `scripts/ablation.py` makes a table of it.
//!
//! ```sh
//! cargo run --release --example ablation -- audits 200000
//! ```
//!
//! The first argument is the folder, the second the number of draws per pair.

use std::error::Error;
use std::io;
use std::path::PathBuf;

use dp_audit::parts::{LEARNERS, Learner};
use dp_audit::{Audit, Evidence, Preparer, Settings, run, suite};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder: PathBuf = arguments.next().ok_or("the first argument is a folder")?.into();
    let draws = arguments.next().ok_or("the second argument is the number of draws")?.parse()?;
    let settings = Settings { draws: Some(draws), ..Settings::default() };
    let audits = suite::load(&[folder])?;
    let mut csv = csv::Writer::from_writer(io::stdout());
    csv.write_record(["without", "audit", "pair", "claim", "verdict", "lower", "seconds"])?;
    let names = LEARNERS.iter().map(|learner| learner.name);
    for without in std::iter::once("").chain(names) {
        let audits: Vec<Audit> =
            audits.iter().map(|audit| ablated(audit.clone(), without)).collect();
        for report in run(&audits, settings, &Preparer::default(), &()).audits {
            for judged in report.statements() {
                if let Some(error) = judged.error() {
                    return Err(error.to_string().into());
                }
                let lower = judged.evidence().map_or(0.0, Evidence::lower);
                csv.write_record([
                    without,
                    &report.audit.name,
                    judged.name(),
                    &report.audit.claim.main().value.to_string(),
                    &judged.conclusion().to_string(),
                    &lower.to_string(),
                    &judged.result.seconds.to_string(),
                ])?;
            }
        }
        csv.flush()?;
    }
    Ok(())
}

/// The privacy claims of an audit, without this learner.
fn ablated(audit: Audit, without: &str) -> Audit {
    let attacks = Learner::all_but(&audit.attacks, without);
    Audit { attacks, accuracy: Vec::new(), control: None, ..audit }
}
