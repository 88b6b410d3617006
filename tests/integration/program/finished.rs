//! A finished run gives every report again, and two runs are compared.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::harness::program::{
    GOOD, assert_has, code, command, dp_audit, errors, folder, json as read_json, laplace, named,
    of_program, read, shown, with_draws, write,
};
use crate::harness::repository;

/// Every format, and the file that it is written to.
const FORMATS: [(&str, &str); 6] = [
    ("--csv", "csv"),
    ("--html", "html"),
    ("--json", "json"),
    ("--junit", "xml"),
    ("--code-quality", "quality.json"),
    ("--markdown", "md"),
];

/// Runs the program with every format in files of this name. The time of the HTML report is fixed.
fn with_every_format(folder: &Path, args: &[&str], name: &str) -> Output {
    let files = FORMATS.map(|(option, end)| [option.to_owned(), format!("out/{name}.{end}")]);
    let mut command = command(folder);
    command.args(args).args(files.as_flattened());
    command.env("SOURCE_DATE_EPOCH", "1794935940").output().unwrap()
}

/// All kinds of statements and conclusions.
fn every_kind() -> tempfile::TempDir {
    let committed = |file: &str| read(&repository("audits"), file);
    let canaries = read(&repository("src/calibrate/boundary"), "canaries-randomized-response.toml");
    folder(&[
        ("a", &laplace("half the noise", 0.5, "violated")),
        ("b", &named("good")),
        ("c", &of_program("missing", &["./there-is-no-such-program"], "")),
        ("d", &committed("accuracy/laplace-noise.toml")),
        ("e", &committed("stability/count.toml")),
        ("f", &canaries),
    ])
}

#[test]
fn every_format_of_a_finished_run_is_that_of_the_run() {
    let folder = every_kind();
    let folder = folder.path();
    let run = ["run", "--draws", "20000", "--allow-inconclusive"];
    assert_eq!(code(&dp_audit(folder, &["run", "-q", "--draws", "20000"])), 5);
    std::fs::rename(folder.join("results/audit.json"), folder.join("before.json")).unwrap();
    for more in [&[][..], &["--fail-on", "violated", "--baseline", "before.json"]] {
        let ran = with_every_format(folder, &[&run[..], more].concat(), "ran");
        let again = ["report", "out/ran.json", "--allow-inconclusive"];
        let made = with_every_format(folder, &[&again[..], more].concat(), "made");
        assert_eq!(code(&ran), if more.is_empty() { 5 } else { 2 }, "{}", errors(&ran));
        assert_eq!(code(&made), code(&ran), "{}", errors(&made));
        for (option, end) in FORMATS {
            let [ran, made] =
                ["ran", "made"].map(|name| read(folder, &format!("out/{name}.{end}")));
            assert!(ran == made, "{option} with {more:?} differs");
        }
        // What is printed: the results, up to the totals with the time that the run took.
        let results = |output: &Output| {
            let text = shown(output);
            text.split_once("\n6 audits, ").expect("totals").0.to_owned()
        };
        assert_eq!(results(&ran), results(&made));
    }
}

#[test]
fn pictures_are_those_of_the_run() {
    let folder = folder(&[("a", &laplace("half the noise", 0.5, "violated"))]);
    let folder = folder.path();
    dp_audit(folder, &["run", "-q", "--draws", "20000", "--plots", "ran"]);
    let made = dp_audit(folder, &["report", "results/audit.json", "--plots", "made"]);
    assert_eq!(code(&made), 0, "{}", errors(&made));
    let [ran, made] = ["ran", "made"].map(|name| super::resume::contents(&folder.join(name)));
    assert!(!ran.is_empty() && ran == made);
}

#[test]
fn a_run_leaves_its_result_beside_the_csv() {
    let folder = folder(&[("a", GOOD)]);
    let folder = folder.path();
    let exists = |file: &str| folder.join(file).exists();
    dp_audit(folder, &["run", "-q", "--draws", "2000", "--report-only"]);
    assert!(read_json(folder, "results/audit.json").get("selection").is_none());
    dp_audit(folder, &["run", "-q", "--draws", "2000", "--filter", "a.toml"]);
    let part = read_json(folder, "results/audit-part.json");
    assert_eq!(part["selection"], json!({ "filter": "a.toml", "pair": null }));
    dp_audit(folder, &["run", "-q", "--draws", "2000", "--csv", "mine.csv"]);
    assert!(exists("mine.json"));
    // Where it is asked for, it is nowhere else; a stream has nothing beside it.
    dp_audit(folder, &["run", "-q", "--draws", "2000", "--csv", "a.csv", "--json", "b.json"]);
    assert!(exists("b.json") && !exists("a.json"));
    dp_audit(folder, &["run", "-q", "--draws", "2000", "--csv", "-"]);
    assert!(!exists("-.json"));
    // A report of a part is no baseline of all.
    let args = ["report", "results/audit-part.json", "--update-baseline", "--baseline", "new.json"];
    let refused = dp_audit(folder, &args);
    assert_eq!(code(&refused), 1);
    assert!(!exists("new.json"), "{}", errors(&refused));
}

#[test]
fn nothing_else_is_replaced_by_the_result() {
    let folder = folder(&[("a", GOOD)]);
    let folder = folder.path();
    write(folder, "data.json", "{}");
    let refused = dp_audit(folder, &["run", "-q", "--draws", "2000", "--csv", "data.csv"]);
    assert_eq!(code(&refused), 1);
    assert_has(
        &errors(&refused),
        &["cannot write data.json: a file is there that is no report of dp-audit", "--json"],
    );
    assert_eq!(read(folder, "data.json"), "{}");
    // A baseline that each run replaces would hide what is worse.
    dp_audit(folder, &["run", "-q", "--draws", "2000", "--report-only"]);
    let before = read(folder, "results/audit.json");
    let args = ["run", "-q", "--draws", "3000", "--baseline", "results/audit.json"];
    let refused = dp_audit(folder, &args);
    assert_eq!(code(&refused), 1);
    assert_has(&errors(&refused), &["it is the --baseline, which this run would replace"]);
    assert_eq!(read(folder, "results/audit.json"), before);
    let updated =
        dp_audit(folder, &[&args[..], &["--update-baseline", "--allow-inconclusive"]].concat());
    assert_eq!(code(&updated), 0, "{}", errors(&updated));
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_the_result_is_not_followed() {
    let folder = folder(&[("a", GOOD)]);
    let folder = folder.path();
    write(folder, "victim", "precious");
    std::fs::create_dir(folder.join("results")).unwrap();
    std::os::unix::fs::symlink("../victim", folder.join("results/audit.json")).unwrap();
    let refused = dp_audit(folder, &["run", "-q", "--draws", "2000"]);
    assert_eq!(code(&refused), 1);
    assert_has(&errors(&refused), &["results/audit.json is a symbolic link to ../victim"]);
    assert_eq!(read(folder, "victim"), "precious");
}

#[test]
fn an_interrupted_run_does_not_pass() {
    let folder = folder(&[("a", GOOD)]);
    let folder = folder.path();
    dp_audit(folder, &["run", "-q", "--draws", "2000", "--report-only"]);
    let mut result = read_json(folder, "results/audit.json");
    result["run"]["statements"] = 5.into();
    write(folder, "part.json", &result.to_string());
    let args = ["report", "part.json", "--markdown", "part.md", "--report-only"];
    let made = dp_audit(folder, &args);
    assert_eq!(code(&made), 5);
    assert_has(&shown(&made), &["exit code 5", "It was interrupted, so results are missing"]);
    assert_has(&read(folder, "part.md"), &["Not all audits have ended"]);
}

#[test]
fn what_is_no_result_is_refused_with_the_reason() {
    let folder = folder(&[("a", GOOD)]);
    let folder = folder.path();
    dp_audit(folder, &["run", "-q", "--draws", "2000", "--report-only"]);
    let good = read_json(folder, "results/audit.json");
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut result = good.clone();
        change(&mut result);
        result.to_string()
    };
    let cases = [
        ("words.json", "verdict: consistent".to_owned(), "it is not JSON"),
        ("list.json", "[]".to_owned(), "its schema is none, must be dp-audit-report/1"),
        (
            "later.json",
            changed(&|result| result["schema"] = "dp-audit-report/2".into()),
            "its schema is dp-audit-report/2, must be dp-audit-report/1",
        ),
        (
            "version.json",
            changed(&|result| result["version"] = "0.0.9".into()),
            "dp-audit 0.0.9 wrote it, and this is",
        ),
        (
            "bare.json",
            changed(&|result| _ = result.as_object_mut().unwrap().remove("run")),
            "it has no \"run\", from which reports are made; run the audits again",
        ),
        (
            "broken.json",
            changed(&|result| result["run"]["audits"][0]["results"] = json!([])),
            "its \"run\" is not one of this build (the results are not those of the audit",
        ),
    ];
    for (file, text, reason) in cases {
        write(folder, file, &text);
        let refused = dp_audit(folder, &["report", file, "--html", "out.html"]);
        assert_eq!(code(&refused), 1, "{file}");
        assert_has(&errors(&refused), &[&format!("cannot read {file}: "), reason]);
        assert!(!folder.join("out.html").exists(), "{file}");
    }
    let missing = dp_audit(folder, &["report", "missing.json"]);
    assert_eq!(code(&missing), 1);
    assert_has(&errors(&missing), &["cannot read missing.json: "]);
    for option in ["--json", "--html", "--csv"] {
        let itself = dp_audit(
            folder,
            &["report", "results/audit.json", option, "results/../results/audit.json"],
        );
        assert_eq!(code(&itself), 1, "{option}");
        assert_has(&errors(&itself), &["it is the result that reports are made of"]);
    }
    assert_eq!(read_json(folder, "results/audit.json"), good);
    // A comparison needs no "run" and takes reports of other versions.
    for file in ["version.json", "bare.json"] {
        let compared = dp_audit(folder, &["compare", file, "results/audit.json"]);
        assert_eq!(code(&compared), 0, "{}", errors(&compared));
        assert_has(&shown(&compared), &["Nothing has changed in 1 audit."]);
    }
    for args in [["words.json", "bare.json"], ["bare.json", "list.json"]] {
        assert_eq!(code(&dp_audit(folder, &["compare", args[0], args[1]])), 1);
    }
}

#[test]
fn two_runs_are_compared() {
    let of = |scale: f64| with_draws(&laplace("count", scale, "consistent"), 200_000);
    let folder = folder(&[("a", &of(1.0)), ("b", &named("there before")), ("d", GOOD)]);
    let folder = folder.path();
    let run = |csv: &str| dp_audit(folder, &["run", "-q", "--draws", "200000", "--csv", csv]);
    run("old.csv");
    write(folder, "audits/a.toml", &of(0.5));
    write(folder, "audits/c.toml", &named("there now"));
    std::fs::remove_file(folder.join("audits/b.toml")).unwrap();
    run("new.csv");
    let compare =
        |more: &[&str]| dp_audit(folder, &[&["compare", "old.json", "new.json"], more].concat());
    let found = compare(&[]);
    assert_eq!(code(&found), 0, "{}", errors(&found));
    let text = shown(&found);
    let rows: Vec<Vec<&str>> = text
        .lines()
        .skip(3)
        .take_while(|line| !line.starts_with('─'))
        .map(|line| line.split_whitespace().collect())
        .filter(|row: &Vec<&str>| !row.contains(&"seconds"))
        .collect();
    assert_eq!(rows.len(), 4, "{text}");
    assert_eq!(rows[0][..5], ["✗", "verdict", "count", "/", "one"], "{text}");
    assert_eq!(rows[0][rows[0].len() - 2..], ["consistent", "violated"], "{text}");
    assert_eq!(rows[1][..2], ["✗", "bound"], "{text}");
    assert_eq!(rows[2][..3], ["new", "there", "now"], "{text}");
    assert_eq!(rows[3][..4], ["✗", "gone", "there", "before"], "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let totals = "3 audits before, 3 now: 1 verdict changed, 1 bound moved, 1 statement new, \
                  1 statement gone; 3 worse.";
    assert_has(&text.split_whitespace().collect::<Vec<_>>().join(" "), &[totals]);
    assert_eq!(code(&compare(&["--fail-on", "worse"])), 2);
    // The other way round, the verdict is better, and only what is gone is worse.
    let back = dp_audit(folder, &["compare", "new.json", "old.json"]);
    assert_has(&shown(&back), &["✓", "1 worse."]);
    let same =
        |fail: &str| dp_audit(folder, &["compare", "old.json", "old.json", "--fail-on", fail]);
    assert_eq!(code(&same("worse")), 0);
    assert_eq!(code(&same("change")), 0);
    // Something new is a change, and nothing worse.
    write(folder, "audits/a.toml", &of(0.5));
    write(folder, "audits/e.toml", &named("another"));
    run("newer.csv");
    let newer =
        |fail: &str| dp_audit(folder, &["compare", "new.json", "newer.json", "--fail-on", fail]);
    assert_eq!(code(&newer("worse")), 0, "{}", shown(&newer("worse")));
    assert_eq!(code(&newer("change")), 2);
}
