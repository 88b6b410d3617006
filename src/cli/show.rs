//! `dp-audit show`: the audits, one audit in full or in plain words, or the mechanisms.

use std::path::{Path, PathBuf};

use super::args::{AUDITS, ShowArgs};
use super::screen::print;
use super::tables;
use super::wrap::{width, wrapped_list};
use crate::audit::Audit;
use crate::model::Error;
use crate::report::formats::explain::explain;
use crate::report::formats::json::JsonReport;
use crate::report::gate::exit_code::ExitCode;
use crate::suite;

/// Shows what was asked for: several audits in a table, one audit in full.
pub fn show(args: &ShowArgs) -> Result<ExitCode, Error> {
    if args.mechanisms {
        print(tables::mechanisms())?;
        return Ok(ExitCode::AsExpected);
    }
    let report = args.report.as_deref().map(JsonReport::read).transpose()?;
    let audits = chosen(&args.what)?;
    if args.plain || report.is_some() {
        let texts: Vec<String> =
            audits.iter().map(|audit| explain(audit, report.as_ref())).collect();
        print(wrapped_list(&texts.join("\n"), width()))?;
    } else if let [audit] = audits.as_slice() {
        print(wrapped_list(&tables::audit(audit), width()))?;
    } else {
        print(tables::audits(&audits))?;
    }
    Ok(ExitCode::AsExpected)
}

/// The audits of the files and folders in `what`, reduced to those that its names match. Whatever
/// does not exist is a name, or part of the name of a file.
fn chosen(what: &[PathBuf]) -> Result<Vec<Audit>, Error> {
    let (mut paths, names): (Vec<PathBuf>, Vec<PathBuf>) =
        what.iter().cloned().partition(|path| path.exists());
    if paths.is_empty() {
        // Without a folder to look for names in, the message is about what was given.
        let nowhere = !names.is_empty() && !Path::new(AUDITS).exists();
        paths = if nowhere { names.clone() } else { vec![AUDITS.into()] };
    }
    let mut audits = suite::load(&paths)?;
    if !names.is_empty() {
        let mut found = Vec::new();
        for name in &names {
            let is_file = name.extension().is_some_and(|extension| extension == "toml");
            let named = suite::named(audits.clone(), &name.to_string_lossy()).or_else(|error| {
                if is_file { suite::load(std::slice::from_ref(name)) } else { Err(error) }
            })?;
            found.extend(named.into_iter().map(|audit| audit.name));
        }
        audits.retain(|audit| found.contains(&audit.name));
    }
    Ok(audits)
}
