//! Time limits and `--smoke`, as users call them. No test depends on how fast the machine is.

use crate::harness::program::{
    GOOD, Table, code, dp_audit, errors, folder, named, of_program, read, script, shown, write,
};
use crate::harness::{assert_rare, laplace, report, settings};
use dp_audit::Settings;

/// A worker that never makes more than a hundred draws a second, with outputs that vary.
const SLOW: &str = r#"
read -r greeting; echo '{"dp_audit": 1, "width": 1, "seeded": true}'
while read -r line; do
    n=${line#*\"count\":}; n=${n%%,*}; seed=${line#*\"seed\":\"}
    sleep "$(awk -v n="$n" 'BEGIN { print n / 100 }')"
    awk -v n="$n" -v seed="$((0x$(printf '%s' "$seed" | cut -c 1-7)))" 'BEGIN {
        srand(seed); for (i = 0; i < n; i++) printf "%s%.17g", i ? "," : "[", rand(); print "]" }'
done
"#;

#[test]
fn a_slow_program_ends_in_time_and_the_report_says_what_was_cut() {
    let folder = script(SLOW);
    let output = dp_audit(folder.path(), &["run", "--max-seconds", "4", "--json", "report.json"]);
    assert_eq!(code(&output), 3, "{}", errors(&output));
    let table = Table::of_run(folder.path());
    assert_eq!(
        (table.cell(0, "verdict"), table.cell(0, "reason")),
        ("inconclusive", "too-few-draws")
    );
    assert!((1.0..10_000_000.0).contains(&table.number(0, "draws")), "{}", table.cell(0, "draws"));
    assert!(shown(&output).contains("the time limit of 4 s left time for"), "{}", shown(&output));
    let json: serde_json::Value =
        serde_json::from_str(&read(folder.path(), "report.json")).unwrap();
    let pair = &json["audits"][0]["pairs"][0];
    assert!(pair["note"].as_str().unwrap().contains("of 10,000,000 draws"), "{pair}");
    assert!(
        pair["timing"]["draw"].as_f64().unwrap() > 0.0
            && pair["timing"]["processes"].as_u64().unwrap() >= 2,
        "{pair}"
    );
    assert_eq!(json["settings"]["max_seconds"], 4.0);
}

#[test]
fn limits_of_the_run_and_of_audit_files_hold_too() {
    let folder = script(SLOW);
    let output = dp_audit(folder.path(), &["run", "--max-seconds-total", "3"]);
    assert_eq!(code(&output), 3, "{}", errors(&output));
    assert!(shown(&output).contains("the time limit of 3 s left time for"), "{}", shown(&output));
    write(
        folder.path(),
        "audits/count.toml",
        &of_program("count", &["sh", "worker.sh"], "max_seconds = 2"),
    );
    let output = dp_audit(folder.path(), &["run"]);
    assert_eq!(code(&output), 3, "{}", errors(&output));
    assert!(shown(&output).contains("the time limit of 2 s left time for"), "{}", shown(&output));
}

#[test]
fn bad_limits_are_refused() {
    for (keys, wanted) in [
        ("max_seconds = 0", "max_seconds is 0, must be positive and finite"),
        ("max_seconds = \"1\"", "max_seconds"),
    ] {
        let folder = folder(&[("bad", &GOOD.replace("mechanism", &format!("{keys}\nmechanism")))]);
        let output = dp_audit(folder.path(), &["run"]);
        assert_eq!(code(&output), 1);
        assert!(errors(&output).contains(wanted), "{}", errors(&output));
    }
    let folder = folder(&[("good", GOOD)]);
    for value in ["0", "-1", "inf", "soon"] {
        let output = dp_audit(folder.path(), &["run", &format!("--max-seconds={value}")]);
        assert_eq!(code(&output), 1, "{value}");
    }
}

#[test]
fn a_limit_that_cuts_nothing_changes_nothing() {
    let folder = folder(&[("good", GOOD)]);
    let run = |options: &[&str]| {
        dp_audit(folder.path(), &[&["run", "-q", "--draws", "20000"], options].concat());
        Table::of_run(folder.path())
    };
    assert_eq!(run(&["--max-seconds", "1e9", "--max-seconds-total", "1e12"]), run(&[]));
}

#[test]
fn bounds_of_runs_that_were_cut_are_rarely_above_the_truth() {
    // A billion draws take seconds, so a limit of a millisecond cuts every run. Where it cuts is
    // chance; the bound must hold anyway.
    const SEEDS: u64 = 200;
    let audits = laplace(1.0);
    let limit =
        |seed| Settings { max_seconds: 0.001.try_into().ok(), ..settings(1_000_000_000, seed) };
    let found: Vec<_> = (0..SEEDS).map(|seed| report(&audits, limit(seed))).collect();
    assert!(found.iter().all(|evidence| evidence.note.is_some() && evidence.draws < 1_000_000_000));
    let above = found.iter().filter(|evidence| evidence.bounds.epsilon_lower > 1.0).count();
    assert_rare("bounds above 1", above, SEEDS, 0.05);
}

#[test]
fn a_smoke_test_shows_every_cause_once() {
    let broken = |name: &str, command: &[&str]| of_program(name, command, "");
    let two_pairs =
        |text: String| format!("{text}\n[[pair]]\nname = \"none\"\nleft = []\nright = [\"x\"]\n");
    let folder = folder(&[
        ("a", GOOD),
        ("b", &two_pairs(broken("missing", &["./no-such-program"]))),
        ("c", &broken("missing too", &["./no-such-program", "again"])),
        ("d", &broken("gives up", &["sh", "gives_up.sh"])),
    ]);
    write(folder.path(), "audits/gives_up.sh", "echo a module is missing >&2; exit 1\n");
    let output = dp_audit(folder.path(), &["run", "--smoke"]);
    assert_eq!(code(&output), 5, "{}", shown(&output));
    let text = shown(&output);
    assert_eq!(text.matches("cannot be started").count(), 1, "{text}");
    assert_eq!(text.matches("a module is missing").count(), 1, "{text}");
    assert!(
        text.contains("missing too / ") && text.contains("1 more of the same program, not tried"),
        "{text}"
    );
    assert!(text.contains("4 of 5 checks cannot be run, for 2 reasons"), "{text}");
    assert!(!folder.path().join("results").exists(), "a smoke test writes nothing");
}

#[test]
fn what_a_smoke_test_does_not_do_is_refused() {
    let folder = folder(&[("a", GOOD)]);
    for options in [
        &["--html", "r.html"][..],
        &["--baseline", "b.json"],
        &["--csv", "-"],
        &["--resume"],
        &["--controls"],
    ] {
        let output = dp_audit(folder.path(), &[&["run", "--smoke"], options].concat());
        assert_eq!(code(&output), 1, "{options:?}");
        assert!(
            errors(&output).contains("cannot be used with") && errors(&output).contains(options[0]),
            "{}",
            errors(&output)
        );
    }
    assert!(!folder.path().join("r.html").exists());
}

#[test]
fn a_smoke_test_judges_nothing() {
    // A claim that is refuted in any audit can be run.
    let folder = folder(&[
        ("a", GOOD),
        ("b", &named("second").replace("epsilon = 1.0 }\nclaim", "epsilon = 9.0 }\nclaim")),
    ]);
    let output = dp_audit(folder.path(), &["run", "--smoke"]);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    assert!(shown(&output).contains("everything can be run (2 checks)"), "{}", shown(&output));
}
