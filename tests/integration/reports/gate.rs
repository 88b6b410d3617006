//! What fails a run: expectations, options, baselines; and what GitHub is told.
//!
//! A claim that holds is refuted with probability 0.001 at most in each run: the default
//! confidence.

use crate::harness::program::{
    assert_has, code, command, dp_audit, errors, folder, laplace, of_program, read, shown,
    with_draws, witnesses, write,
};

#[test]
fn the_gate_fails_on_what_it_is_told_to() {
    let (broken, good) = (laplace("broken", 0.5, "violated"), laplace("good", 1.0, "consistent"));
    let folder = folder(&[("broken", &broken), ("good", &good)]);
    let run = |args: &[&str]| code(&dp_audit(folder.path(), &[&["run", "-q"], args].concat()));
    assert_eq!(run(&["--draws", "2e5"]), 0);
    assert_eq!(run(&["--draws", "2e5", "--fail-on", "violated"]), 2);
    // With 4,000 draws half the noise is still noticed (1.73 ± 0.08: bad luck 1e-20), and nothing
    // can be said of the good one (its precision is 0.215 ± 0.018, never below 0.19, where 0.1 is
    // asked for).
    assert_eq!(run(&["--draws", "4000"]), 3);
    assert_eq!(run(&["--draws", "4000", "--allow-inconclusive"]), 0);
    assert_eq!(run(&["--draws", "4000", "--fail-on", "violated"]), 2);
    assert_eq!(run(&["--draws", "4000", "--fail-on", "violated", "--report-only"]), 0);
    assert_eq!(run(&["--draws", "4000", "--fail-on", "nothing"]), 1);
    write(folder.path(), "audits/broken.toml", &laplace("broken", 0.5, "consistent"));
    assert_eq!(run(&["--draws", "2e5"]), 2);
    assert_eq!(run(&["--draws", "2e5", "--report-only"]), 0);
}

#[test]
fn a_baseline_shows_what_got_worse_and_nothing_else() {
    let folder = folder(&[("count", &laplace("count", 1.3, "consistent"))]);
    let run = |args: &[&str]| dp_audit(folder.path(), &[&["run", "--draws", "4e5"], args].concat());
    assert_eq!(code(&run(&["--json", "before.json"])), 0);
    // The same mechanism on other seeds: rules differ, but by far less than the resolution of 0.1;
    // the counts alone give a false alarm with probability 2e-3 at most. There was none on 400
    // seeds.
    for seed in ["1", "2", "3"] {
        let output = run(&["--seed", seed, "--baseline", "before.json"]);
        assert_eq!(code(&output), 0, "{}", shown(&output));
        assert_has(&shown(&output), &["Nothing is worse"]);
    }
    // Less noise, still within the claim: the verdict stays, the bound rises from 1/1.3 to 1/1.05
    // (0.936 ± 0.005: below 0.9 with probability 4e-15).
    write(folder.path(), "audits/count.toml", &laplace("count", 1.05, "consistent"));
    let output = run(&["--baseline", "before.json"]);
    assert_eq!(code(&output), 2);
    assert_has(&shown(&output), &["WORSE than the baseline: count / one more: ε is at least 0.9"]);
    assert_eq!(code(&run(&["--baseline", "before.json", "--report-only"])), 0);
    // A new violation is worse even where the file has learned to expect it, and its repair is
    // better.
    write(folder.path(), "audits/count.toml", &laplace("count", 0.5, "violated"));
    let output = run(&["--baseline", "before.json", "--json", "broken.json"]);
    assert_eq!(code(&output), 2);
    assert_has(&shown(&output), &["was consistent, is violated"]);
    write(folder.path(), "audits/count.toml", &laplace("count", 1.3, "consistent"));
    let output = run(&["--baseline", "broken.json"]);
    assert_eq!(code(&output), 0);
    assert_has(
        &shown(&output),
        &["Better than the baseline: count / one more: was violated, is consistent"],
    );
    // A bad baseline is noticed before anything is drawn.
    for (file, content, wanted) in [
        ("none.json", None, "cannot read none.json"),
        ("odd.json", Some("{}"), "schema"),
        ("bad.json", Some("no"), "not JSON"),
    ] {
        if let Some(content) = content {
            write(folder.path(), file, content);
        }
        let output = dp_audit(folder.path(), &["run", "--draws", "1e12", "--baseline", file]);
        assert_eq!(code(&output), 1);
        assert_has(&errors(&output), &[wanted]);
    }
}

#[test]
fn github_gets_annotations_and_a_summary() {
    // ε ≥ 1.92 ± 0.03, and the precision of 2,000 draws is 0.25 or worse where 0.1 is asked for.
    let broken = with_draws(&laplace("50 %, worse", 0.5, "consistent"), 50_000);
    let weak = with_draws(&laplace("weak", 1.0, "consistent"), 2000);
    let folder = folder(&[("broken", &broken), ("weak", &weak)]);
    write(folder.path(), "summary.md", "earlier steps\n");
    let run = |args: &[&str]| {
        let mut command = command(folder.path());
        command
            .args(["run", "-q"])
            .args(args)
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_STEP_SUMMARY", "summary.md");
        command.output().unwrap()
    };
    let output = run(&[]);
    assert_eq!(code(&output), 2);
    let lines = [
        "::error file=audits/broken.toml,line=5,title=Claim refuted%3A 50 %25%2C worse::The mechanism laplace claims ε = 1, but its ε is at least 1.9",
        "%0ARepeat it: dp-audit run audits/broken.toml%0ACheck it with fresh draws: dp-audit replay results/witnesses/50-worse-",
        "::error file=audits/weak.toml,line=5,title=Not decided%3A weak::",
        "%0AWhy (too-few-draws): the draws are too few to tell a claim that just holds from one that just fails; use more draws.%0A",
    ];
    assert_has(&shown(&output), &lines);
    let summary = read(folder.path(), "summary.md");
    assert!(summary.starts_with("earlier steps\n# dp-audit: 1 of 2 claims refuted"), "{summary}");
    assert_has(&summary, &["| ✗ | violated | 50 %, worse | one more | 1 | 0 |"]);
    // Files are named from the root of the repository.
    let mut inner = command(&folder.path().join("audits"));
    inner
        .args(["run", "-q", "weak.toml"])
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_WORKSPACE", folder.path());
    assert_has(&shown(&inner.output().unwrap()), &["::error file=audits/weak.toml,line=5,"]);
    // Not elsewhere, and no errors where nothing may fail.
    assert!(!shown(&dp_audit(folder.path(), &["run", "-q"])).contains("::"));
    assert!(!shown(&run(&["--report-only"])).contains("::error"));
}

#[test]
fn github_is_told_why_nothing_was_run() {
    let folder = folder(&[("bad", "name = 1"), ("good", &laplace("good", 1.0, "consistent"))]);
    let run = |args: &[&str]| {
        let output = command(folder.path())
            .arg("run")
            .args(args)
            .env("GITHUB_ACTIONS", "true")
            .output()
            .unwrap();
        assert_eq!(
            (code(&output), shown(&output)),
            (1, String::new()),
            "standard output may be a report"
        );
        errors(&output)
    };
    assert_has(
        &run(&[]),
        &[
            "::error file=audits/bad.toml,title=dp-audit could not run the audits::audits/bad.toml: line 1",
        ],
    );
    assert_has(&run(&["nowhere"]), &["::error ", "nowhere"]);
    assert_has(
        &run(&["--no-such-option"]),
        &["::error title=dp-audit was called with wrong arguments::", "--no-such-option"],
    );
}

#[test]
fn a_baseline_is_made_updated_and_guards_against_deleted_audits() {
    let (one, two) = (laplace("one", 1.3, "consistent"), laplace("two", 1.3, "consistent"));
    let folder = folder(&[("one", &one), ("two", &two)]);
    let run = |args: &[&str]| {
        dp_audit(
            folder.path(),
            &[&["run", "--draws", "2e5", "--baseline", "base.json"], args].concat(),
        )
    };
    assert_eq!(code(&run(&[])), 1, "there is no baseline yet");
    let made = run(&["--update-baseline"]);
    assert_eq!(code(&made), 0, "{}", errors(&made));
    assert_has(&shown(&made), &["Baseline: base.json; commit it"]);
    assert_eq!(code(&run(&[])), 0);
    // A part of the audits is compared with the same part of the baseline.
    for part in [["--filter", "one"], ["--pair", "one more"]] {
        let output = run(&part);
        assert_eq!(code(&output), 0, "{}", shown(&output));
    }
    std::fs::remove_file(folder.path().join("audits/two.toml")).unwrap();
    let missing = run(&[]);
    assert_eq!(code(&missing), 2);
    assert_has(
        &shown(&missing),
        &[
            "WORSE than the baseline: two / one more: in the baseline, but not run now",
            "--update-baseline",
        ],
    );
    assert_eq!(code(&run(&["--update-baseline"])), 0);
    assert_eq!(code(&run(&[])), 0);
    // A renamed audit is one that is missing.
    write(folder.path(), "audits/one.toml", &laplace("uno", 1.3, "consistent"));
    assert_eq!(code(&run(&[])), 2);
    // An update does not hide a verdict that nobody expects, and it is never a part.
    write(folder.path(), "audits/one.toml", &laplace("one", 0.5, "consistent"));
    assert_eq!(code(&run(&["--update-baseline"])), 2);
    assert_eq!(code(&run(&["--update-baseline", "--filter", "one"])), 1);
    assert_eq!(
        code(&dp_audit(folder.path(), &["run", "--update-baseline"])),
        1,
        "without --baseline"
    );
    // What could not be run is no baseline.
    let before = read(folder.path(), "base.json");
    write(folder.path(), "audits/one.toml", &of_program("one", &["no-such-program"], ""));
    let dead = run(&["--update-baseline"]);
    assert_eq!(code(&dead), 5);
    assert_has(&shown(&dead), &["base.json was not written"]);
    assert_eq!(read(folder.path(), "base.json"), before);
}

#[test]
fn a_file_may_allow_its_audit_to_be_inconclusive() {
    let weak = with_draws(&laplace("weak", 1.0, "consistent"), 1000);
    let allowed = weak.replace("expect", "allow_inconclusive = \"a second for each draw\"\nexpect");
    let run = |text: &str| {
        let folder = folder(&[("weak", text)]);
        let output = dp_audit(folder.path(), &["run"]);
        (code(&output), shown(&output) + &errors(&output))
    };
    assert_eq!(run(&weak).0, 3);
    let (code, text) = run(&allowed);
    assert_eq!(code, 0, "{text}");
    assert_has(&text, &["inconclusive"]);
    // It does not excuse a refuted claim.
    assert_eq!(run(&allowed.replace("scale_factor = 1.0", "scale_factor = 0.2")).0, 2);
    let (code, text) = run(&weak.replace("expect", "allow_inconclusive = \" \"\nexpect"));
    assert_eq!(code, 1);
    assert_has(&text, &["allow_inconclusive is empty; say why"]);
}

#[test]
fn a_partial_run_keeps_the_report_on_all_audits_and_stale_witnesses_go() {
    let (broken, good) = (laplace("broken", 0.5, "violated"), laplace("good", 0.5, "violated"));
    let folder = folder(&[("broken", &broken), ("good", &good)]);
    let run = |args: &[&str]| dp_audit(folder.path(), &[&["run", "--draws", "5e4"], args].concat());
    assert_eq!(code(&run(&[])), 0);
    assert_eq!(witnesses(folder.path()).len(), 2);
    let all = read(folder.path(), "results/audit.csv");
    assert_has(&shown(&run(&["--filter", "broken"])), &["Report: results/audit-part.csv"]);
    assert_eq!(read(folder.path(), "results/audit.csv"), all);
    assert_eq!(witnesses(folder.path()).len(), 2, "the witness of the other audit is still true");
    // A folder or file of one's own replaces the report, and says so.
    let output = run(&["audits/broken.toml"]);
    assert_has(
        &shown(&output),
        &["results/audit.csv has replaced a report with 1 audit that this run does not have"],
    );
    // A mechanism that is mended leaves no witness, whatever its parameters are now.
    write(folder.path(), "audits/good.toml", &laplace("good", 1.0, "consistent"));
    write(folder.path(), "results/witnesses/notes.json", "{}");
    assert_eq!(code(&dp_audit(folder.path(), &["run", "--draws", "2e5"])), 0);
    let left: Vec<String> = witnesses(folder.path())
        .iter()
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    assert!(
        left.iter().any(|name| name.starts_with("broken-"))
            && !left.iter().any(|name| name.starts_with("good-")),
        "{left:?}"
    );
    assert_eq!(
        read(folder.path(), "results/witnesses/notes.json"),
        "{}",
        "other files are left alone"
    );
}
