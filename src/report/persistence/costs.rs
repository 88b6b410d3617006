//! The CSV report of an earlier run → how long its statements took.

use std::collections::HashMap;
use std::path::Path;

use crate::audit::{Audit, Costs, Measured};
use crate::model::{Error, Settings};
use crate::report::formats::csv::unescaped;

/// What to give instead of a file that cannot be used.
const REMEDY: &str = "--costs takes the CSV report of an earlier run of these audits";

/// The costs of these audits by the CSV report of an earlier run.
///
/// # Errors
/// When it is not such a report, or has none of these audits. The error names line and column.
pub fn read_costs(path: &Path, audits: &[Audit], settings: Settings) -> Result<Costs, Error> {
    let refused = |reason: String| Error::Read {
        path: path.to_path_buf(),
        reason: format!("{reason}; {REMEDY}"),
    };
    let content = std::fs::read(path).map_err(|error| refused(error.to_string()))?;
    let costs = Costs::measured(audits, settings, &parse(&content).map_err(refused)?);
    if costs.is_empty() {
        return Err(refused("no row with seconds is about an audit of this run".to_owned()));
    }
    Ok(costs)
}

/// The rows that have a result, by the names of audit and statement.
fn parse(content: &[u8]) -> Result<HashMap<(String, String), Measured>, String> {
    let mut reader = ::csv::Reader::from_reader(content);
    let columns = reader.headers().map_err(|error| error.to_string())?.clone();
    let column = |name: &str| {
        let found = columns.iter().position(|column| column == name);
        found.ok_or_else(|| format!("line 1 has no column \"{name}\""))
    };
    let (audit, pair) = (column("audit")?, column("pair")?);
    let (draws, seconds) = (column("draws")?, column("seconds")?);
    let mut rows = HashMap::new();
    for record in reader.records() {
        // A row that is too short or too long; the error has its line.
        let record = record.map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, ::csv::Position::line);
        let bad = |name: &str, value: &str, what: &str| {
            Err(format!("line {line}, column {name}: \"{value}\" is not {what}"))
        };
        let names = [audit, pair].map(|column| unescaped(&record[column]).to_owned());
        let seconds = match &record[seconds] {
            // It could not be run.
            "" => continue,
            text => match text.parse::<f64>() {
                Ok(seconds) if seconds.is_finite() && seconds >= 0.0 => seconds,
                _ => return bad("seconds", text, "a number of seconds"),
            },
        };
        let draws = match &record[draws] {
            "" => None,
            text => match text.parse::<u64>() {
                Ok(draws) => Some(draws),
                Err(_) => return bad("draws", text, "a number of draws"),
            },
        };
        let [audit, pair] = names;
        let twice = format!("line {line}: {audit} / {pair} has a row before this one");
        if rows.insert((audit, pair), Measured { seconds, draws }).is_some() {
            return Err(twice);
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "audit,pair,draws,seconds,error\n";

    fn parsed(rows: &str) -> Result<HashMap<(String, String), Measured>, String> {
        parse(format!("{HEADER}{rows}").as_bytes())
    }

    #[test]
    fn rows_with_a_result_are_read_by_name() {
        let rows = parsed("a,one,1000,0.5,\na,\"'-1, or\nless\",,2,\nb,one,,,not run\n").unwrap();
        let of = |audit: &str, pair: &str| {
            rows.get(&(audit.to_owned(), pair.to_owned())).map(|row| (row.seconds, row.draws))
        };
        assert_eq!(of("a", "one"), Some((0.5, Some(1000))));
        assert_eq!(of("a", "-1, or\nless"), Some((2.0, None)));
        assert_eq!((of("b", "one"), rows.len()), (None, 2));
    }

    #[test]
    fn bad_rows_are_refused_with_their_place() {
        for (rows, reason) in [
            ("a,one,10,x,\n", "line 2, column seconds: \"x\" is not a number of seconds"),
            ("a,one,10,1,\na,two,10,-1,\n", "line 3, column seconds: \"-1\" is not"),
            ("a,one,10,inf,\n", "line 2, column seconds: \"inf\" is not"),
            ("a,one,1e3,1,\n", "line 2, column draws: \"1e3\" is not a number of draws"),
            ("a,one,10,1,\na,one,10,2,\n", "line 3: a / one has a row before this one"),
            ("a,one\n", "line: 2"),
        ] {
            let problem = parsed(rows).unwrap_err();
            assert!(problem.contains(reason), "{problem}");
        }
        assert_eq!(parse(b"audit,pair,draws\n").unwrap_err(), "line 1 has no column \"seconds\"");
        assert_eq!(parse(b"").unwrap_err(), "line 1 has no column \"audit\"");
    }
}
