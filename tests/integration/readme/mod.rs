//! What the README shows is true: its snippets run and end as it says, its commands and options
//! exist.

#[rustfmt::skip]
mod snippet;

use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

use crate::harness::program::{
    Table, between, block, code, dp_audit, errors, folder, named, python, read, shown, write,
};
use crate::harness::repository;

const README: &str = include_str!("../../../README.md");

/// The part under a heading.
fn section(heading: &str) -> &'static str {
    between(README, &format!("\n## {heading}\n"), "\n## ")
}

/// A text without regard to indentation and alignment.
fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// The arguments of all `dp-audit` commands in the README's blocks for the shell.
fn commands() -> Vec<Vec<&'static str>> {
    let blocks =
        README.split("\n```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
    let programs = ["cargo run --release -- ", "dp-audit "];
    let lines = blocks
        .flat_map(str::lines)
        .filter_map(|line| programs.iter().find_map(|program| line.strip_prefix(program)));
    lines.map(|line| words(line.split('#').next().unwrap_or_default())).collect()
}

/// Runs the only command with these words, as the README has it but for `more` arguments.
fn run(folder: &Path, with: &[&str], more: &[&str]) -> Output {
    let found: Vec<Vec<&str>> = commands()
        .into_iter()
        .filter(|command| with.iter().all(|word| command.contains(word)))
        .collect();
    let [command] = &found[..] else { panic!("{} commands with {with:?}", found.len()) };
    dp_audit(folder, &[command, more].concat())
}

#[test]
fn the_rust_snippet_is_the_one_that_is_tested_here() {
    // The snippet itself gives a false alarm with probability 0.001 at most; what could be caught
    // is 1.013 ± 0.001.
    let tested = include_str!("snippet.rs").split_once("#[test]").expect("a test").1;
    assert_eq!(
        words(block(README, "rust").split_once("#[test]").expect("a test").1),
        words(tested)
    );
}

/// Fails unless verdict and bound are what the README says. Bounds are rounded down to the digits
/// shown, and are those of the default seed: when the draws change, the README does.
fn ends_with(output: &Output, folder: &Path, stated: &str) {
    let (verdict, bound) = stated
        .strip_prefix('`')
        .and_then(|rest| rest.split_once("`, ε ≥ "))
        .unwrap_or_else(|| panic!("{stated}"));
    let table = Table::of_run(folder);
    assert_eq!(table.column("verdict"), [verdict], "{}{}", shown(output), errors(output));
    let (digits, number) = (
        bound.split_once('.').map_or(0, |(_, digits)| digits.len()),
        bound.parse::<f64>().unwrap(),
    );
    let found = table.number(0, "epsilon_lower");
    assert!(
        (number..number + 0.1_f64.powi(i32::try_from(digits).unwrap())).contains(&found),
        "ε ≥ {found}; the README has {stated}"
    );
}

#[test]
fn a_python_mechanism_is_audited_as_described() {
    if !python("a_python_mechanism_is_audited_as_described", "import json") {
        return;
    }
    let text = section("Audit your own mechanism in five minutes");
    let flowing = words(text).join(" ");
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let file = |ending: &str| {
        let name = text.split('`').find(|name| name.ends_with(ending) && name.len() > ending.len());
        name.unwrap_or_else(|| panic!("the README names a file *{ending}"))
    };
    let audit = file(".toml");
    write(folder, file(".py"), block(text, "python"));
    write(folder, audit, block(text, "toml"));
    let audited = || run(folder, &[audit], &[]);
    let output = audited();
    ends_with(&output, folder, between(&flowing, "it ends with ", ". "));
    assert_eq!(code(&output).to_string(), between(&flowing, "The exit code is ", ","));
    // A claim that is expected to break, for which fewer draws are enough, and the same data with a
    // value replaced.
    write(
        folder,
        audit,
        &format!("{}\n{}", between(&flowing, "unless the file says `", "`"), block(text, "toml")),
    );
    assert_eq!(code(&dp_audit(folder, &["run", audit, "--draws", "5e4"])), 0);
    let [relation, left] =
        between(&flowing, "replaced instead (`", "`)").split("`, `").collect::<Vec<_>>()[..]
    else {
        panic!("two lines to replace")
    };
    let replaced = block(text, "toml").lines().map(|line| {
        let changed = [relation, left]
            .into_iter()
            .find(|new| new.split_whitespace().next() == line.split_whitespace().next());
        changed.unwrap_or(line)
    });
    write(folder, audit, &replaced.collect::<Vec<_>>().join("\n"));
    let output = audited();
    ends_with(&output, folder, between(&flowing, "the same code is ", ". "));
    assert_eq!(code(&output), 0);
}

/// A folder in which the program finds the committed audits.
#[cfg(unix)]
fn with_audits() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(repository("audits"), folder.path().join("audits")).unwrap();
    folder
}

#[cfg(unix)]
#[test]
fn the_best_known_catch_takes_about_a_thousand_draws() {
    // The look at 1,024 draws decided on each of 1,000 seeds.
    let folder = with_audits();
    let output = run(folder.path(), &["--filter"], &[]);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    assert_eq!(Table::of_part(folder.path()).column("verdict"), ["violated"]);
    assert!((500.0..2000.0).contains(&Table::of_part(folder.path()).number(0, "draws")));
}

#[cfg(unix)]
#[test]
fn a_run_ends_as_shown() {
    let folder = with_audits();
    let output = dp_audit(
        folder.path(),
        &["run", "audits/basics", "audits/notes/median-local-sensitivity.toml"],
    );
    let timeless =
        |line: &str| words(line.split(" draws in ").next().unwrap_or_default()).join(" ");
    let (shown, example) = (shown(&output), block(README, "text"));
    let ends: Vec<String> = shown.lines().map(timeless).collect();
    for line in example.lines().map(timeless).filter(|line| line != "…") {
        assert!(ends.contains(&line), "the README shows «{line}», the program {shown}");
    }
}

#[test]
fn a_gate_compares_with_a_baseline() {
    let folder = folder(&[("good", &named("good"))]);
    let output = run(folder.path(), &["--update-baseline"], &["--draws", "1e5"]);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let output = run(folder.path(), &["--baseline", "--html"], &["--draws", "1e5"]);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    for file in ["report.html", "report.xml"] {
        assert!(!read(folder.path(), file).is_empty());
    }
}

#[test]
fn collected_outputs_are_audited() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "on-d.csv", "1\n2\n3\n");
    write(folder.path(), "on-d-prime.csv", "2\n3\n1\n");
    let output = run(folder.path(), &["samples"], &[]);
    // Three rows say nothing, and that is not a pass.
    assert_eq!(code(&output), 3, "{}", errors(&output));
}

#[test]
fn every_command_is_tried() {
    // The whole suite is the gate of CI itself; the others are above.
    let others = commands().into_iter().filter(|command| command != &["run"]);
    let tried = others.filter(|command| {
        ["--filter", "--baseline", "samples", "my-audit.toml"]
            .iter()
            .filter(|word| command.contains(word))
            .count()
            == 1
    });
    assert_eq!(tried.count() + 1, commands().len(), "{:?}", commands());
}

#[test]
fn every_option_and_every_subcommand_exists() {
    let help = |args: &[&str]| shown(&dp_audit(&repository(""), args));
    let listed = block(section("The command line"), "text");
    let mut subcommands = Vec::new();
    for line in listed.lines() {
        if let Some(command) = line.strip_prefix("dp-audit ") {
            subcommands.push(command.split(' ').next().unwrap_or_default());
        }
        let known = help(&[subcommands.last().expect("a subcommand first"), "--help"]);
        let options = line
            .split(|c: char| c != '-' && !c.is_ascii_alphanumeric())
            .filter(|word| word.starts_with("--"));
        for option in options {
            assert!(
                words(&known).iter().any(|word| word.trim_end_matches(',') == option),
                "{option} in: {line}"
            );
        }
    }
    // Only a run on many machines can use `explore`; the page about them describes it.
    assert!(read(&repository("docs"), "many-machines.md").contains("dp-audit explore "));
    subcommands.push("explore");
    for command in
        between(&help(&["--help"]), "Commands:\n", "  help ").lines().map(|line| words(line)[0])
    {
        assert!(subcommands.contains(&command), "{command} is not in the README");
    }
}
