//! What others copy into their repositories: the action, the CI examples, and the Code Quality
//! report. `scripts/try_ci.py` runs the steps themselves.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::harness::program::{
    assert_has, code, command, dp_audit, errors, folder, json, laplace, python, shown, with_draws,
    write,
};
use crate::harness::repository;

/// The YAML files.
const FILES: [&str; 4] = [
    "action.yml",
    "examples/ci/dp-audit.yml",
    "examples/ci/dp-audit-without-action.yml",
    "examples/ci/dp-audit.gitlab-ci.yml",
];

/// Options of cargo, pip, git and other programs in these files.
const OF_OTHERS: [&str; 11] = [
    "--disable-pip-version-check",
    "--git",
    "--locked",
    "--no-filters",
    "--no-track",
    "--path",
    "--root",
    "--stdin",
    "--tag",
    "--version",
    "--yes",
];

fn text(file: &str) -> String {
    fs::read_to_string(repository(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[test]
fn every_option_in_the_ci_files_exists() {
    let help = shown(&dp_audit(&repository(""), &["run", "--help"]));
    let known =
        |option: &str| help.split_whitespace().any(|word| word.trim_end_matches(',') == option);
    for file in FILES {
        let text = text(file);
        let words = text.split(|c: char| c != '-' && !c.is_ascii_alphanumeric());
        let options: Vec<&str> =
            words.filter(|word| word.starts_with("--") && !OF_OTHERS.contains(word)).collect();
        assert!(!options.is_empty(), "{file}");
        for option in options {
            assert!(known(option), "{file} has {option}, which dp-audit run does not know");
        }
    }
}

#[test]
fn no_step_hides_an_exit_code() {
    for file in FILES {
        for word in ["|| true", "|| :", "continue-on-error", "allow_failure", "set +e", "\t"] {
            assert!(!text(file).contains(word), "{file} has {word:?}");
        }
    }
    // The only step of the action that looks at an exit code hands it on.
    assert_has(&text("action.yml"), &["|| code=$?", "exit \"$code\""]);
}

/// Every script of a file, and whether a composite action has what GitHub asks for.
const CHECK: &str = r#"
import subprocess, sys, yaml
file = yaml.safe_load(open(sys.argv[1], encoding="utf-8"))
if "runs" in file:
    assert file["runs"]["using"] == "composite" and file["name"] and file["description"]
    steps = file["runs"]["steps"]
    assert all("shell" in step for step in steps if "run" in step), "a step of an action needs its shell"
    assert all("description" in given and "default" in given for given in file["inputs"].values())
elif "jobs" in file:
    steps = [step for job in file["jobs"].values() for step in job["steps"]]
else:
    (job,) = [job for job in file.values() if "script" in job]
    steps = [{"run": "\n".join(job["before_script"] + job["script"])}]
scripts = [step["run"] for step in steps if "run" in step]
for script in scripts:
    assert "${{" not in script, "an input in a script is code"
    subprocess.run(["bash", "-n", "-c", script], check=True)
print(len(steps), len(scripts))
"#;

#[test]
fn the_ci_files_are_yaml_and_their_scripts_are_bash() {
    if !python("the_ci_files_are_yaml_and_their_scripts_are_bash", "import yaml") {
        return;
    }
    for (file, counts) in FILES.iter().zip(["8 4", "2 0", "7 2", "1 1"]) {
        let output =
            Command::new("python3").args(["-c", CHECK]).arg(repository(file)).output().unwrap();
        assert!(output.status.success(), "{file}: {}", errors(&output));
        assert_eq!(shown(&output).trim(), counts, "{file}: steps and scripts");
    }
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
        }
    }
}

#[test]
fn the_example_package_is_red_with_one_finding_and_green_after_the_fix() {
    if !python("the_example_package_is_red_with_one_finding_and_green_after_the_fix", "import json")
    {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    copy(&repository("examples/ci/package"), folder.path());
    let run = || {
        let args = ["run", "-q", "--code-quality", "quality.json"];
        let output =
            command(folder.path()).args(args).env("GITHUB_ACTIONS", "true").output().unwrap();
        let Value::Array(issues) = json(folder.path(), "quality.json") else {
            panic!("not an array")
        };
        (code(&output), shown(&output), issues)
    };
    // The noise is ten times too small: the bound is far above 1 with any seed. The count gives a
    // false alarm with probability 0.001 at most.
    let (exit, annotations, issues) = run();
    assert_eq!((exit, annotations.lines().count(), issues.len()), (2, 1, 1), "{annotations}");
    let parts = [
        "::error file=audits/mean.toml,line=5,title=Claim refuted%3A noisy mean::The program `python3 {worker} ../noisy_stats/__init__.py:noisy_mean` claims ε = 1,",
        "D = [0, 50] and D' = [100, 50]",
        "What to do: ",
        "Repeat it: dp-audit run audits/mean.toml%0ACheck it with fresh draws: dp-audit replay results/witnesses/noisy-mean-",
    ];
    assert_has(&annotations, &parts);
    let place = r#"{"lines":{"begin":5},"path":"audits/mean.toml"}"#;
    assert_eq!(issues[0]["location"], serde_json::from_str::<Value>(place).unwrap());
    let module = folder.path().join("noisy_stats/__init__.py");
    fs::write(&module, fs::read_to_string(&module).unwrap().replace("0.1 * upper", "upper"))
        .unwrap();
    assert_eq!(run(), (0, String::new(), Vec::new()));
}

#[test]
fn code_quality_has_the_problems_that_github_is_told() {
    // Half the noise is refuted (ε ≥ 1.92 ± 0.03), and the precision of 2,000 draws is 0.25 or
    // worse where 0.1 is asked for.
    let twin = with_draws(&laplace("twin", 0.5, "violated"), 50_000);
    let weak = with_draws(&laplace("weak", 1.0, "consistent"), 2000);
    let folder = folder(&[("twin", &twin), ("weak", &weak)]);
    fs::create_dir(folder.path().join("elsewhere")).unwrap();
    let issues = |args: &[&str]| {
        let mut command = command(&folder.path().join("elsewhere"));
        command
            .args(["run", "-q", "../audits", "--code-quality", "q.json"])
            .args(args)
            .env("CI_PROJECT_DIR", folder.path());
        let exit = code(&command.output().unwrap());
        let report = json(folder.path(), "elsewhere/q.json");
        let column = |issue: &Value| {
            ["/check_name", "/severity", "/location/path"]
                .map(|key| issue.pointer(key).unwrap().as_str().unwrap().to_owned())
        };
        (exit, report.as_array().unwrap().iter().map(column).collect::<Vec<_>>())
    };
    let issue = |kind: &str, severity: &str, file: &str| {
        [format!("dp-audit/{kind}"), severity.to_owned(), format!("audits/{file}.toml")]
    };
    assert_eq!(issues(&[]), (3, vec![issue("inconclusive", "major", "weak")]));
    assert_eq!(
        issues(&["--allow-inconclusive"]),
        (0, vec![issue("inconclusive", "minor", "weak")])
    );
    let both =
        vec![issue("claim-refuted", "blocker", "twin"), issue("inconclusive", "major", "weak")];
    assert_eq!(issues(&["--fail-on", "violated"]), (2, both));
    write(
        folder.path(),
        "audits/twin.toml",
        &with_draws(&laplace("twin", 1.0, "violated"), 50_000),
    );
    assert_eq!(issues(&["--pair", "one more"]).1[0], issue("leak-not-found", "critical", "twin"));
}
