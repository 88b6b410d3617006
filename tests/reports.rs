//! Reports, gates and witnesses as CI meets them: files, exit codes, environment.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dp-audit"));
    // What CI itself sets must not leak into the tests.
    command.current_dir(folder).env_remove("GITHUB_ACTIONS").env_remove("GITHUB_STEP_SUMMARY");
    command
}

fn dp_audit(folder: &Path, args: &[&str]) -> Output {
    command(folder).args(args).output().expect("the program starts")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("the program ends by itself")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn read(folder: &Path, file: &str) -> String {
    std::fs::read_to_string(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn json(folder: &Path, file: &str) -> Value {
    serde_json::from_str(&read(folder, file)).unwrap()
}

/// A Laplace count with ε = 1 and `factor` times the noise it needs.
fn laplace(name: &str, factor: f64, expect: &str) -> String {
    format!(
        r#"
name = "{name}"
mechanism = "laplace"
params = {{ query = "count", epsilon = 1.0, scale_factor = {factor:?} }}
claim = {{ epsilon = 1.0 }}
relation = "add-remove"
expect = "{expect}"

[[pair]]
name = "one more"
left = ["x"]
right = ["x", "x"]
"#
    )
}

/// A folder with these audits in `audits/`.
fn folder(audits: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("audits")).unwrap();
    for (name, text) in audits {
        std::fs::write(folder.path().join(format!("audits/{name}.toml")), text).unwrap();
    }
    folder
}

fn committed(file: &str) -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "audits", file].iter().collect();
    std::fs::read_to_string(path).unwrap()
}

/// What stands between two marks.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let start = text.find(before).unwrap_or_else(|| panic!("no «{before}» in {text:.200}")) + before.len();
    &text[start..start + text[start..].find(after).unwrap()]
}

#[test]
fn five_reports_of_one_run_agree() {
    let broken = laplace("half | the noise", 0.5, "violated");
    let files = ["notes/mode-ptr-printed.toml", "notes/response-die.toml", "benchmark/svt1.toml", "notes/k-anonymity-table.toml"];
    let committed: Vec<String> = files.iter().map(|file| committed(file)).collect();
    let good = laplace("good", 1.0, "consistent");
    let folder =
        folder(&[("a", &broken), ("b", &committed[0]), ("c", &committed[1]), ("d", &committed[2]), ("e", &committed[3]), ("f", &good)]);
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
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    let json = json(folder.path(), "o.json");
    assert_eq!(json["schema"], "dp-audit-report/1");
    assert_eq!(json["complete"], true);
    let (html, xml, markdown) = (read(folder.path(), "r.html"), read(folder.path(), "j.xml"), read(folder.path(), "s.md"));
    let mut csv = csv::Reader::from_path(folder.path().join("c.csv")).unwrap();
    let headers = csv.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
    let pairs: Vec<&Value> = json["audits"].as_array().unwrap().iter().flat_map(|audit| audit["pairs"].as_array().unwrap()).collect();
    assert_eq!(rows.len(), pairs.len());
    assert!(rows.len() >= 8, "{} pairs", rows.len());
    let cases: Vec<&str> = xml.split("<testcase ").skip(1).collect();
    assert_eq!(cases.len(), rows.len());
    let mut verdicts = std::collections::BTreeSet::new();
    for ((row, pair), case) in rows.iter().zip(&pairs).zip(cases) {
        let value = |column: &str| row[headers.iter().position(|name| name == column).unwrap()].to_owned();
        verdicts.insert(value("verdict"));
        // JSON: every column, under its name.
        for (column, cell) in headers.iter().zip(row) {
            match &pair[column] {
                Value::Null => assert_eq!(cell, "", "{column}"),
                Value::String(text) => assert_eq!(text, cell, "{column}"),
                Value::Number(number) => assert_eq!(number.as_f64(), cell.parse().ok(), "{column}"),
                other => assert_eq!(other.to_string(), cell, "{column}"),
            }
        }
        // JUnit: name, verdict, bounds.
        let escaped = value("pair").replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;");
        assert!(case.starts_with(&format!("name=\"{escaped}\"")), "{case:.200}");
        for column in ["verdict", "epsilon_lower", "delta_lower", "draws"] {
            let property = between(case, &format!("name=\"{column}\" value=\""), "\"");
            match property.parse::<f64>() {
                Ok(number) => assert_eq!(Some(number), value(column).parse().ok(), "{column}"),
                Err(_) => assert_eq!(property, value(column), "{column}"),
            }
        }
        // Markdown: one row with the same cells.
        let name = value("pair").replace('_', "\\_").replace('*', "\\*").replace('[', "\\[").replace(']', "\\]");
        let numbers = ["claim_epsilon", "claim_delta", "epsilon_lower", "delta_lower"]
            .map(|column| value(column).parse::<f64>().unwrap().to_string());
        let cells = format!("| {name} | {} |", numbers.join(" | "));
        assert!(markdown.contains(&cells), "no «{cells}» in {markdown}");
    }
    let die = pairs.iter().find(|pair| pair["audit"] == "randomized response by a die").unwrap();
    let (lower, estimate, upper) = (&die["epsilon_lower"], &die["rule_epsilon_estimate"], &die["rule_epsilon_upper"]);
    assert!(lower.as_f64() < estimate.as_f64() && estimate.as_f64() < upper.as_f64(), "{lower} < {estimate} < {upper}");
    assert!(verdicts.len() == 3, "the example has all three verdicts: {verdicts:?}");
    // HTML: a card for each audit, with its verdict and its largest bound rounded to four digits.
    let cards: Vec<&str> = html.split("<details class=\"card ").skip(1).collect();
    let audits = json["audits"].as_array().unwrap();
    assert_eq!(cards.len(), audits.len());
    for audit in audits {
        let name = format!("<span class=name>{}", audit["audit"].as_str().unwrap().replace('&', "&amp;"));
        let card = cards.iter().find(|card| card.contains(&name)).unwrap_or_else(|| panic!("no card for {name}"));
        assert!(card.starts_with(audit["verdict"].as_str().unwrap()), "{card:.100}");
        let shown: f64 = between(card, "ε ≥ <b>", "</b>").parse().unwrap();
        let reported =
            audit["pairs"].as_array().unwrap().iter().filter(|pair| pair["verdict"] == audit["verdict"] || audit["verdict"] != "violated");
        let largest = reported.map(|pair| pair["epsilon_lower"].as_f64().unwrap()).fold(0.0, f64::max);
        assert!(shown <= largest && shown >= largest * 0.999, "{name}: {shown} against {largest}");
    }
    let summary = |key: &str| json["summary"][key].as_u64().unwrap();
    assert!(html.contains(&format!("<b>{}</b> of {} claims refuted", summary("violated"), summary("audits"))));
    assert!(markdown.contains(&format!("{} of {} claims refuted", summary("violated"), summary("audits"))));
}

#[test]
fn an_unwritable_report_is_refused_before_anything_is_measured() {
    let folder = folder(&[("good", &laplace("good", 1.0, "consistent"))]);
    for option in ["--html", "--json", "--junit", "--markdown", "--csv", "--witnesses"] {
        let output = dp_audit(folder.path(), &["run", "--draws", "1e12", option, "audits/good.toml/x"]);
        assert_eq!(code(&output), 1, "{option}");
        assert!(text(&output.stderr).contains("cannot write audits/good.toml/x"), "{option}: {}", text(&output.stderr));
    }
    let output = dp_audit(folder.path(), &["run", "--draws", "1e12", "--html", "same", "--json", "same"]);
    assert_eq!(code(&output), 1);
    assert!(text(&output.stderr).contains("two reports cannot share a file"));
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_every_finished_audit_in_every_report() {
    let slow = laplace("slow", 1.0, "consistent").replace("[[pair]]", "draws = 1000000000000\n[[pair]]");
    let quick = laplace("quick", 0.5, "violated").replace("[[pair]]", "draws = 20000\n[[pair]]");
    let folder = folder(&[("a", &quick), ("b", &slow)]);
    let args = ["run", "-q", "--html", "r.html", "--junit", "j.xml", "--json", "o.json", "--markdown", "s.md"];
    let mut child = command(folder.path()).args(args).spawn().unwrap();
    let patience = std::time::Instant::now();
    while !folder.path().join("s.md").exists() && patience.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(child.try_wait().unwrap().is_none(), "the second audit is still running");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert!(!child.wait().unwrap().success());
    let json = json(folder.path(), "o.json");
    assert_eq!(json["complete"], false);
    assert_eq!(json["audits"][0]["audit"], "quick");
    assert_eq!(json["audits"][0]["verdict"], "violated");
    for (file, mark) in
        [("r.html", "Not all audits have ended"), ("s.md", "Not all audits have ended"), ("j.xml", "testsuite name=\"quick\"")]
    {
        assert!(read(folder.path(), file).contains(mark), "{file}");
    }
    assert_eq!(std::fs::read_dir(folder.path().join("results/witnesses")).unwrap().count(), 1);
}

#[test]
fn the_gate_fails_on_what_it_is_told_to() {
    let (broken, good) = (laplace("broken", 0.5, "violated"), laplace("good", 1.0, "consistent"));
    let folder = folder(&[("broken", &broken), ("good", &good)]);
    let run = |args: &[&str]| code(&dp_audit(folder.path(), &[&["run", "-q"], args].concat()));
    assert_eq!(run(&["--draws", "2e5"]), 0);
    assert_eq!(run(&["--draws", "2e5", "--fail-on", "violated"]), 2);
    assert_eq!(run(&["--draws", "2e5", "--fail-on", "inconclusive"]), 0);
    // With a thousand draws half the noise is still noticed, and nothing can be said of the good one.
    assert_eq!(run(&["--draws", "4000", "--fail-on", "inconclusive"]), 3);
    assert_eq!(run(&["--draws", "4000", "--require-power"]), 3);
    assert_eq!(run(&["--draws", "4000", "--fail-on", "violated,inconclusive"]), 2);
    assert_eq!(run(&["--draws", "4000", "--fail-on", "violated,inconclusive", "--report-only"]), 0);
    assert_eq!(run(&["--draws", "4000", "--fail-on", "nothing"]), 1);
    std::fs::write(folder.path().join("audits/broken.toml"), laplace("broken", 0.5, "consistent")).unwrap();
    assert_eq!(run(&["--draws", "2e5"]), 2);
    assert_eq!(run(&["--draws", "2e5", "--report-only"]), 0);
}

#[test]
fn a_baseline_shows_what_got_worse_and_nothing_else() {
    let folder = folder(&[("count", &laplace("count", 1.3, "consistent"))]);
    let run = |args: &[&str]| dp_audit(folder.path(), &[&["run", "--draws", "4e5"], args].concat());
    assert_eq!(code(&run(&["--json", "before.json"])), 0);
    // The same mechanism on other seeds: rules differ, but by far less than the resolution of 0.1; the counts alone give a false alarm with probability 2e-3 at most.
    for seed in ["1", "2", "3"] {
        let output = run(&["--seed", seed, "--baseline", "before.json"]);
        assert_eq!(code(&output), 0, "{}", text(&output.stdout));
        assert!(text(&output.stdout).contains("Nothing is worse"));
    }
    // Less noise, still within the claim: the verdict stays, the bound rises from 1/1.3 to 1/1.05.
    std::fs::write(folder.path().join("audits/count.toml"), laplace("count", 1.05, "consistent")).unwrap();
    let output = run(&["--baseline", "before.json"]);
    assert_eq!(code(&output), 2);
    assert!(text(&output.stdout).contains("WORSE than the baseline: count / one more: ε is at least 0.9"), "{}", text(&output.stdout));
    assert_eq!(code(&run(&["--baseline", "before.json", "--report-only"])), 0);
    // A new violation is worse even where the file has learned to expect it, and its repair is better.
    std::fs::write(folder.path().join("audits/count.toml"), laplace("count", 0.5, "violated")).unwrap();
    let output = run(&["--baseline", "before.json", "--json", "broken.json"]);
    assert_eq!(code(&output), 2);
    assert!(text(&output.stdout).contains("was consistent, is violated"));
    std::fs::write(folder.path().join("audits/count.toml"), laplace("count", 1.3, "consistent")).unwrap();
    let output = run(&["--baseline", "broken.json"]);
    assert_eq!(code(&output), 0);
    assert!(text(&output.stdout).contains("Better than the baseline: count / one more: was violated, is consistent"));
    // A bad baseline is noticed before anything is drawn.
    for (file, content, wanted) in
        [("none.json", None, "cannot read none.json"), ("odd.json", Some("{}"), "schema"), ("bad.json", Some("no"), "no JSON")]
    {
        if let Some(content) = content {
            std::fs::write(folder.path().join(file), content).unwrap();
        }
        let output = dp_audit(folder.path(), &["run", "--draws", "1e12", "--baseline", file]);
        assert_eq!(code(&output), 1);
        assert!(text(&output.stderr).contains(wanted), "{}", text(&output.stderr));
    }
}

#[test]
fn github_gets_annotations_and_a_summary() {
    let broken = laplace("50 %, worse", 0.5, "consistent");
    let weak = laplace("weak", 1.0, "consistent").replace("[[pair]]", "draws = 2000\n[[pair]]");
    let folder = folder(&[("broken", &broken.replace("[[pair]]", "draws = 50000\n[[pair]]")), ("weak", &weak)]);
    std::fs::write(folder.path().join("summary.md"), "earlier steps\n").unwrap();
    let run = |args: &[&str]| {
        let mut command = command(folder.path());
        command.args(["run", "-q"]).args(args).env("GITHUB_ACTIONS", "true").env("GITHUB_STEP_SUMMARY", "summary.md");
        command.output().unwrap()
    };
    let output = run(&[]);
    assert_eq!(code(&output), 2);
    let lines = text(&output.stdout);
    assert!(
        lines.contains(
            "::error file=audits/broken.toml,title=50 %25%2C worse::violated, expected consistent; one more: the attacker guessed right"
        ),
        "{lines}"
    );
    assert!(lines.contains("::warning file=audits/weak.toml,title=weak::inconclusive"), "{lines}");
    let summary = read(folder.path(), "summary.md");
    assert!(summary.starts_with("earlier steps\n# dp-audit: 1 of 2 claims refuted"), "{summary}");
    assert!(summary.contains("| ✗ | violated | 50 %, worse | one more | 1 | 0 |"), "{summary}");
    // Not elsewhere, and no errors where nothing may fail.
    assert!(!text(&dp_audit(folder.path(), &["run", "-q"]).stdout).contains("::"));
    assert!(!text(&run(&["--report-only"]).stdout).contains("::error"));
}

#[test]
fn a_witness_is_confirmed_by_fresh_draws_and_refused_when_anything_changed() {
    let folder = folder(&[("short", &laplace("short", 0.9, "violated")), ("good", &laplace("good", 1.0, "consistent"))]);
    assert_eq!(code(&dp_audit(folder.path(), &["run", "-q", "--draws", "1e6", "--json", "o.json"])), 0);
    let files: Vec<PathBuf> =
        std::fs::read_dir(folder.path().join("results/witnesses")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "one for each refuted claim: {files:?}");
    let file = files[0].display().to_string();
    let witness: Value = serde_json::from_str(&read(folder.path(), &file)).unwrap();
    assert_eq!(json(folder.path(), "o.json")["audits"][1]["witness"], witness, "the report has the same witness");
    let replay = |args: &[&str]| dp_audit(folder.path(), &[&["replay", &file], args].concat());
    let confirmed = replay(&[]);
    assert_eq!(code(&confirmed), 0, "{}", text(&confirmed.stdout));
    assert!(text(&confirmed.stdout).starts_with("CONFIRMED: short / one more"), "{}", text(&confirmed.stdout));
    // The seed of the run itself gives other draws than the run had: the counts differ. Another seed gives others again.
    let counted = witness["witness"]["tally"]["correct"].as_u64().unwrap();
    let bound = |output: &Output| between(&text(&output.stdout), "ε ≥ ", " ").to_owned();
    let again = replay(&["--seed", "0", "--draws", "875000"]);
    assert_eq!(code(&again), 0);
    assert!(counted > 0 && bound(&again) != bound(&replay(&["--seed", "7", "--draws", "875000"])));
    // Too few draws confirm nothing.
    let weak = replay(&["--draws", "1000"]);
    assert_eq!(code(&weak), 2);
    assert!(text(&weak.stdout).starts_with("NOT CONFIRMED"), "{}", text(&weak.stdout));
    // A changed witness.
    let refused = |content: String, wanted: &str| {
        std::fs::write(folder.path().join("changed.json"), content).unwrap();
        let output = dp_audit(folder.path(), &["replay", "changed.json"]);
        assert_eq!(code(&output), 1, "{wanted}: {}", text(&output.stdout));
        assert!(text(&output.stderr).contains(wanted), "no «{wanted}» in {}", text(&output.stderr));
    };
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut copy = witness.clone();
        change(&mut copy);
        copy.to_string()
    };
    refused(changed(&|witness| witness["witness"]["tally"]["correct"] = (counted + 1).into()), "was changed after it was written");
    refused(changed(&|witness| witness["witness"]["rule"]["answers"][0] = "abstain".into()), "was changed after it was written");
    refused(changed(&|witness| witness["witness"]["claim"]["epsilon"] = 0.5.into()), "was changed after it was written");
    refused(changed(&|witness| witness["schema"] = "dp-audit-witness/9".into()), "schema");
    refused("{}".to_owned(), "is no witness");
    refused("[".to_owned(), "is no witness");
    assert_eq!(code(&dp_audit(folder.path(), &["replay", "nowhere.json"])), 1);
    // A changed audit: data, parameters, claim, pair.
    let original = laplace("short", 0.9, "violated");
    let stale = [
        ("left = [\"x\"]\nright = [\"x\", \"x\"]", "left = [\"x\", \"x\"]\nright = [\"x\", \"x\", \"x\"]", "is about another audit"),
        ("scale_factor = 0.9", "scale_factor = 0.91", "is about another audit"),
        ("claim = { epsilon = 1.0 }", "claim = { epsilon = 1.05 }", "is about another audit"),
        ("name = \"one more\"", "name = \"one less\"", "no longer has"),
        ("name = \"short\"", "name = \"tall\"", "is about another audit"),
    ];
    for (old, new, wanted) in stale {
        assert!(original.contains(old));
        std::fs::write(folder.path().join("audits/short.toml"), original.replace(old, new)).unwrap();
        let output = replay(&[]);
        assert_eq!(code(&output), 1, "{new}");
        assert!(text(&output.stderr).contains(wanted), "no «{wanted}» in {}", text(&output.stderr));
    }
    // What does not change the question does not matter: more draws, another expectation.
    std::fs::write(folder.path().join("audits/short.toml"), original.replace("expect = \"violated\"", "draws = 500000")).unwrap();
    assert_eq!(code(&replay(&[])), 0);
}

#[test]
fn explain_says_what_is_claimed_and_what_was_found() {
    let folder = folder(&[("short", &laplace("short", 0.5, "violated"))]);
    let explained = |args: &[&str]| {
        let output = dp_audit(folder.path(), &[&["explain", "short"], args].concat());
        assert_eq!(code(&output), 0, "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let plain = explained(&[]);
    for part in [
        "private with ε = 1",
        "e^ε = 2.7183 times",
        "right at most 73.1 % of the time",
        "one has one record more",
        "D' = [x × 2]",
        "expects: violated",
    ] {
        assert!(plain.contains(part), "no «{part}» in {plain}");
    }
    assert!(!plain.contains("What the run found"));
    assert_eq!(code(&dp_audit(folder.path(), &["run", "-q", "--draws", "1e5", "--json", "o.json"])), 0);
    let found = explained(&["--json", "o.json"]);
    assert!(found.contains("What the run found\n  one more: violated. The attacker guessed right 8"), "{found}");
    assert_eq!(code(&dp_audit(folder.path(), &["explain", "nobody"])), 1);
}

#[test]
fn recorded_outputs_get_the_same_reports_but_no_witness() {
    let folder = tempfile::tempdir().unwrap();
    // Counts 0 and 1 without any noise but for every tenth output, in no period: squares modulo a prime.
    let noisy = |index: u64| (index * index % 10_007).is_multiple_of(10);
    for (file, value) in [("left.csv", 0), ("right.csv", 1)] {
        let rows: Vec<String> = (1..5000).map(|index| if noisy(index + value) { 1 - value } else { value }.to_string()).collect();
        std::fs::write(folder.path().join(file), rows.join("\n")).unwrap();
    }
    let args = ["samples", "--left", "left.csv", "--right", "right.csv", "--claim-epsilon", "1", "-q", "--unordered", "--header", "absent"];
    let mut command = command(folder.path());
    command.args(args).args(["--html", "r.html", "--json", "o.json"]).env("GITHUB_ACTIONS", "true");
    let output = command.output().unwrap();
    assert_eq!(code(&output), 2, "{}", text(&output.stderr));
    assert!(text(&output.stdout).starts_with("::error title=recorded outputs::violated"), "{}", text(&output.stdout));
    let json = json(folder.path(), "o.json");
    assert_eq!(json["audits"][0]["verdict"], "violated");
    assert_eq!(json["audits"][0]["witness"], Value::Null, "there are no fresh draws to replay it with");
    let html = read(folder.path(), "r.html");
    assert!(html.contains("<b>1</b> of 1 claims refuted") && !html.contains("D (left)"));
}
