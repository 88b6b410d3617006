//! The commands that reports advise, ready to be typed.

use std::path::Path;

use crate::audit::{Audit, AuditReport};
use crate::model::Settings;
use crate::report::persistence::witness::Witness;

/// The command that checks the refutation of an audit with fresh draws, and the pair that it is
/// about. `None` if there is no witness.
#[must_use]
pub fn replay(
    settings: Settings,
    report: &AuditReport,
    witnesses: &Path,
) -> Option<(String, String)> {
    let witness = Witness::of(settings, report)?;
    let file = witnesses.join(witness.file_name()).display().to_string();
    Some((witness.pair, format!("dp-audit replay {}", quoted(&file))))
}

/// The command that runs an audit alone, with other options. `None` if it does not come from a
/// file.
#[must_use]
pub fn run_alone(report: &AuditReport, options: &str) -> Option<String> {
    let audit = &report.audit;
    let options = if options.is_empty() { String::new() } else { format!(" {options}") };
    audit.is_from_file().then(|| format!("dp-audit run {}{options}", selected(audit)))
}

/// The file of an audit, and its name if the file has others too, as arguments of `dp-audit run`.
#[must_use]
pub fn selected(audit: &Audit) -> String {
    let filter = if audit.one_of_several {
        format!(" --filter {}", quoted(&audit.name))
    } else {
        String::new()
    };
    quoted(&audit.file.display().to_string()) + &filter
}

/// The text as one word of a shell.
#[must_use]
pub fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./,+:@%=".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Expectation, Verdict};
    use crate::report::testing::{PAIR, pair, run};

    #[test]
    fn a_refutation_is_replayed_and_an_audit_is_run_alone() {
        let of = |verdict| {
            let run = run(vec![pair(verdict, Expectation::Consistent)]);
            (
                replay(run.settings, &run.audits[0], Path::new("my results")),
                run_alone(&run.audits[0], "--draws 10"),
            )
        };
        let (command, alone) = of(Verdict::Violated);
        let (about, command) = command.unwrap();
        assert_eq!(about, PAIR);
        assert!(
            command.starts_with("dp-audit replay 'my results/count-")
                && command.ends_with(".json'"),
            "{command}"
        );
        assert_eq!(alone.unwrap(), "dp-audit run audits/count.toml --draws 10");
        assert_eq!(of(Verdict::Consistent).0, None);
    }

    #[test]
    fn texts_are_one_word_for_a_shell() {
        for (text, word) in [
            ("a/b-c.toml", "a/b-c.toml"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$(x)", "'$(x)'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(text), word);
        }
    }
}
