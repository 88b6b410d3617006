//! All reports of a run say the same, and hold whatever has ended.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::harness::program::{
    Table, assert_has, between, code, command, dp_audit, errors, folder, interrupted, json,
    laplace, read, shown, with_draws, witnesses, write,
};
use crate::harness::repository;

#[test]
fn every_column_of_the_csv_is_explained() {
    let folder = folder(&[("a", &laplace("count", 1.0, "consistent"))]);
    let output = dp_audit(folder.path(), &["run", "-q", "--draws", "1000", "--allow-inconclusive"]);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let page = read(&repository("results"), "README.md");
    let explained: BTreeSet<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" |").next())
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect();
    let table = Table::of_run(folder.path());
    let missing: Vec<&String> =
        table.columns.iter().filter(|column| !explained.contains(column.as_str())).collect();
    assert!(missing.is_empty(), "results/README.md does not explain {missing:?}");
    // The datasets can be told apart, and JSON readers need no other file.
    let [left, right] = ["left", "right"].map(|column| table.cell(0, column));
    assert!(left.starts_with('[') && right.starts_with('[') && left != right, "{left} {right}");
    assert!(table.cell(0, "file").contains(".toml"));
}

#[test]
fn five_reports_of_one_run_agree() {
    let broken = laplace("half | the noise", 0.5, "violated");
    let files = [
        "notes/mode-ptr-printed.toml",
        "notes/response-die.toml",
        "benchmark/svt1.toml",
        "notes/k-anonymity-table.toml",
    ];
    let committed = files.map(|file| read(&repository("audits"), file));
    let good = laplace("good", 1.0, "consistent");
    let folder = folder(&[
        ("a", &broken),
        ("b", &committed[0]),
        ("c", &committed[1]),
        ("d", &committed[2]),
        ("e", &committed[3]),
        ("f", &good),
    ]);
    let args = [
        "run",
        "-q",
        "--report-only",
        "--draws",
        "60000",
        "--html",
        "r.html",
        "--junit",
        "j.xml",
        "--json",
        "o.json",
        "--markdown",
        "s.md",
        "--csv",
        "c.csv",
    ];
    let output = dp_audit(folder.path(), &args);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let json = json(folder.path(), "o.json");
    assert_eq!(json["schema"], "dp-audit-report/1");
    assert_eq!(json["complete"], true);
    let (html, xml, markdown) =
        (read(folder.path(), "r.html"), read(folder.path(), "j.xml"), read(folder.path(), "s.md"));
    let table = Table::read(folder.path(), "c.csv");
    let pairs: Vec<&Value> = json["audits"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|audit| audit["pairs"].as_array().unwrap())
        .collect();
    assert_eq!(table.rows.len(), pairs.len());
    assert!(pairs.len() >= 8, "{} pairs", pairs.len());
    let cases: Vec<&str> = xml.split("<testcase ").skip(1).collect();
    assert_eq!(cases.len(), pairs.len());
    let mut verdicts = BTreeSet::new();
    for (row, (pair, case)) in pairs.iter().zip(cases).enumerate() {
        let value = |column| table.cell(row, column);
        verdicts.insert(value("verdict"));
        // JSON: every column, under its name.
        for (column, cell) in table.columns.iter().zip(&table.rows[row]) {
            match &pair[column] {
                Value::Null => assert_eq!(cell, "", "{column}"),
                Value::String(text) => assert_eq!(text, cell, "{column}"),
                Value::Number(number) => assert_eq!(number.as_f64(), cell.parse().ok(), "{column}"),
                other => assert_eq!(&other.to_string(), cell, "{column}"),
            }
        }
        // JUnit: name, verdict, bounds.
        let escaped = value("pair")
            .replace('&', "&amp;")
            .replace('"', "&quot;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        assert!(case.starts_with(&format!("name=\"{escaped}\"")), "{case:.200}");
        for column in ["verdict", "epsilon_lower", "delta_lower", "draws"] {
            let property = between(case, &format!("name=\"{column}\" value=\""), "\"");
            match property.parse::<f64>() {
                Ok(number) => assert_eq!(Some(number), value(column).parse().ok(), "{column}"),
                Err(_) => assert_eq!(property, value(column), "{column}"),
            }
        }
        // Markdown: one row with the same cells.
        let name = value("pair")
            .replace('_', "\\_")
            .replace('*', "\\*")
            .replace('[', "\\[")
            .replace(']', "\\]");
        let numbers = ["claim_epsilon", "claim_delta", "epsilon_lower", "delta_lower"]
            .map(|column| value(column).parse::<f64>().unwrap().to_string());
        let cells = format!("| {name} | {} |", numbers.join(" | "));
        assert_has(&markdown, &[&cells]);
    }
    let die = pairs.iter().find(|pair| pair["audit"] == "randomized response by a die").unwrap();
    let (lower, estimate, upper) =
        (&die["epsilon_lower"], &die["rule_epsilon_estimate"], &die["rule_epsilon_upper"]);
    assert!(
        lower.as_f64() < estimate.as_f64() && estimate.as_f64() < upper.as_f64(),
        "{lower} < {estimate} < {upper}"
    );
    // With 50,000 draws half the noise is violated (1.92 ± 0.03) and the good one is consistent
    // (its precision is 0.065 ± 0.007 where 0.095 is needed; false alarm 0.001). SVT1 is
    // inconclusive.
    assert!(verdicts.len() == 3, "the example has all three verdicts: {verdicts:?}");
    // HTML: a card for each audit, with its verdict and its largest bound rounded to four digits.
    let cards: Vec<&str> = html.split("<details class=\"card ").skip(1).collect();
    let audits = json["audits"].as_array().unwrap();
    assert_eq!(cards.len(), audits.len());
    for audit in audits {
        let name = format!(
            "<span class=\"name\">{}",
            audit["audit"].as_str().unwrap().replace('&', "&amp;")
        );
        let card = cards
            .iter()
            .find(|card| card.contains(&name))
            .unwrap_or_else(|| panic!("no card for {name}"));
        assert!(card.starts_with(audit["verdict"].as_str().unwrap()), "{card:.100}");
        let shown: f64 = between(card, "ε ≥ <b>", "</b>").parse().unwrap();
        let reported =
            audit["pairs"].as_array().unwrap().iter().filter(|pair| {
                pair["verdict"] == audit["verdict"] || audit["verdict"] != "violated"
            });
        let largest =
            reported.map(|pair| pair["epsilon_lower"].as_f64().unwrap()).fold(0.0, f64::max);
        assert!(shown <= largest && shown >= largest * 0.999, "{name}: {shown} against {largest}");
    }
    let summary = |key: &str| json["summary"][key].as_u64().unwrap();
    assert!(html.contains(&format!(
        "<b>{}</b> of {} claims refuted",
        summary("violated"),
        summary("audits")
    )));
    assert!(markdown.contains(&format!(
        "{} of {} claims refuted",
        summary("violated"),
        summary("audits")
    )));
}

#[test]
fn an_unwritable_report_is_refused_before_anything_is_measured() {
    let folder = folder(&[("good", &laplace("good", 1.0, "consistent"))]);
    for option in [
        "--html",
        "--json",
        "--junit",
        "--code-quality",
        "--markdown",
        "--csv",
        "--witnesses",
        "--plots",
    ] {
        let output =
            dp_audit(folder.path(), &["run", "--draws", "1e12", option, "audits/good.toml/x"]);
        assert_eq!(code(&output), 1, "{option}");
        assert_has(&errors(&output), &["cannot write audits/good.toml/x"]);
    }
    let output =
        dp_audit(folder.path(), &["run", "--draws", "1e12", "--html", "same", "--json", "same"]);
    assert_eq!(code(&output), 1);
    assert_has(&errors(&output), &["two reports cannot share a file"]);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_every_finished_audit_in_every_report() {
    let slow = with_draws(&laplace("slow", 1.0, "consistent"), 1_000_000_000_000);
    let quick = with_draws(&laplace("quick", 0.5, "violated"), 20_000);
    let folder = folder(&[("a", &quick), ("b", &slow)]);
    let args = [
        "run",
        "-q",
        "--html",
        "r.html",
        "--junit",
        "j.xml",
        "--json",
        "o.json",
        "--code-quality",
        "c.json",
        "--markdown",
        "s.md",
    ];
    // The last of the reports that are written when an audit ends.
    interrupted(folder.path(), &args, "s.md");
    let json = json(folder.path(), "o.json");
    assert_eq!(json["complete"], false);
    assert_eq!(json["audits"][0]["audit"], "quick");
    assert_eq!(json["audits"][0]["verdict"], "violated");
    for (file, mark) in [
        ("r.html", "Not all audits have ended"),
        ("s.md", "Not all audits have ended"),
        ("j.xml", "testsuite name=\"quick\""),
        ("c.json", "dp-audit/unfinished"),
    ] {
        assert_has(&read(folder.path(), file), &[mark]);
    }
    assert_eq!(witnesses(folder.path()).len(), 1);
}

#[test]
fn recorded_outputs_get_the_same_reports_but_no_witness() {
    let folder = tempfile::tempdir().unwrap();
    // Counts 0 and 1 without any noise but for every tenth output, in no period: squares modulo a
    // prime.
    let noisy = |index: u64| (index * index % 10_007).is_multiple_of(10);
    for (file, value) in [("left.csv", 0), ("right.csv", 1)] {
        let rows: Vec<String> = (1..5000)
            .map(|index| if noisy(index + value) { 1 - value } else { value }.to_string())
            .collect();
        write(folder.path(), file, &rows.join("\n"));
    }
    let args = [
        "samples",
        "--left",
        "left.csv",
        "--right",
        "right.csv",
        "--claim-epsilon",
        "1",
        "-q",
        "--unordered",
        "--header",
        "absent",
    ];
    let mut command = command(folder.path());
    command.args(args).args(["--html", "r.html", "--json", "o.json"]).env("GITHUB_ACTIONS", "true");
    let output = command.output().unwrap();
    assert_eq!(code(&output), 2, "{}", errors(&output));
    let line = "::error title=Claim refuted%3A recorded outputs::The mechanism that made these outputs claims ε = 1, but its ε is at least 2.";
    assert!(shown(&output).starts_with(line), "{}", shown(&output));
    let json = json(folder.path(), "o.json");
    assert_eq!(json["audits"][0]["verdict"], "violated");
    assert_eq!(
        json["audits"][0]["witness"],
        Value::Null,
        "there are no fresh draws to replay it with"
    );
    let html = read(folder.path(), "r.html");
    assert!(
        html.contains("<b>1</b> of 1 claim refuted")
            && html.contains("<h1 class=\"bad\">1 not as expected</h1>")
            && !html.contains("D (left)")
    );
}

#[test]
fn plain_words_say_what_is_claimed_and_what_was_found() {
    let folder = folder(&[("short", &laplace("short", 0.5, "violated"))]);
    let explained = |args: &[&str]| {
        let output = dp_audit(folder.path(), &[&["show", "short"], args].concat());
        assert_eq!(code(&output), 0, "{}", errors(&output));
        shown(&output)
    };
    let plain = explained(&["--plain"]);
    let parts = [
        "private with ε = 1",
        "e^ε = 2.7183 times",
        "right at most 73.1 % of the time",
        "one has one record more",
        "D' = [x × 2]",
        "expects: violated",
    ];
    assert_has(&plain, &parts);
    assert!(!plain.contains("What the run found"));
    assert_eq!(
        code(&dp_audit(folder.path(), &["run", "-q", "--draws", "1e5", "--json", "o.json"])),
        0
    );
    assert_has(
        &explained(&["--report", "o.json"]),
        &["What the run found\n  one more: violated. The attacker guessed right 8"],
    );
    assert_eq!(code(&dp_audit(folder.path(), &["show", "nobody", "--plain"])), 1);
}
