//! What the README and the manual show is true: snippets run and end as the pages say, commands
//! and options exist, and links lead somewhere.
//!
//! A page whose blocks have titles is *followed*: its files are written and its commands run, in
//! their order, in one empty folder. `# exit code 2` behind a command says how it ends. Commands
//! of other programs, and Python that needs the package, are run by `scripts/readme_example.py`.

mod page;
#[rustfmt::skip]
mod snippet;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

use crate::harness::program::{Table, between, code, dp_audit, errors, python, read, shown, write};
use crate::harness::repository;

use page::Page;

/// The first commands of the README.
const FIRST: [&str; 3] = [
    "cargo run --release -- run audits/basics",
    "cargo run --release -- run",
    "cargo test --release",
];

fn readme() -> Page {
    Page::read("README.md")
}

/// A text without regard to indentation and alignment.
fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[test]
fn the_readme_is_short_and_begins_with_what_to_run() {
    let readme = readme();
    assert!(readme.text.lines().count() <= 150, "{} lines", readme.text.lines().count());
    let first = readme.commands();
    let first: Vec<&str> = first.iter().take(3).map(|line| line.command).collect();
    assert_eq!(first, FIRST);
}

#[test]
fn the_rust_snippets_are_those_that_are_tested_here() {
    // The first gives a false alarm with probability 0.001 at most; what could be caught is
    // 1.013 ± 0.001. The second shows a claim of 1 where the truth is 2.
    let tested: Vec<&str> = include_str!("snippet.rs").split("#[test]").skip(1).collect();
    let tutorial = Page::read("docs/tutorial/rust.md");
    let shown: Vec<Vec<&str>> = tutorial.code("rust").into_iter().map(words).collect();
    let tested: Vec<Vec<&str>> =
        tested.into_iter().map(|test| [vec!["#[test]"], words(test)].concat()).collect();
    assert_eq!(shown, tested);
    assert_eq!(readme().code("rust").into_iter().map(words).collect::<Vec<_>>(), tested[..1]);
}

/// Fails unless verdict and bound are what the page says. Bounds are rounded down to the digits
/// shown, and are those of the default seed: when the draws change, the page does.
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
        "ε ≥ {found}; the page has {stated}"
    );
}

#[test]
fn a_python_mechanism_is_audited_as_described() {
    if !python("a_python_mechanism_is_audited_as_described", "import json") {
        return;
    }
    let page = Page::read("docs/tutorial/python.md");
    let flowing = page.flowing();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let audit = "my-audit.toml";
    write(folder, "my_mechanism.py", page.file("my_mechanism.py"));
    write(folder, audit, page.file(audit));
    let commands = page.commands();
    let command = commands
        .iter()
        .find(|line| line.command.starts_with("dp-audit run my-audit.toml"))
        .expect("the page runs the audit");
    let audited = || dp_audit(folder, &words(command.command)[1..]);
    let output = audited();
    ends_with(&output, folder, between(&flowing, "it ends with ", ". "));
    assert_eq!(code(&output).to_string(), between(&flowing, "The exit code is ", ","));
    // A claim that is expected to break, for which fewer draws are enough, and the same data with a
    // value replaced.
    write(
        folder,
        audit,
        &format!("{}\n{}", between(&flowing, "unless the file says `", "`"), page.file(audit)),
    );
    assert_eq!(code(&dp_audit(folder, &["run", audit, "--draws", "5e4"])), 0);
    let [relation, left] =
        between(&flowing, "replaced instead (`", "`)").split("`, `").collect::<Vec<_>>()[..]
    else {
        panic!("two lines to replace")
    };
    let replaced = page.file(audit).lines().map(|line| {
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
fn the_best_known_catch_takes_few_draws() {
    let folder = with_audits();
    let readme = readme();
    let commands = readme.commands();
    let command = commands.iter().find(|line| line.command.contains("--filter")).expect("one");
    let output = dp_audit(folder.path(), &words(command.command)[1..]);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    assert_eq!(Table::of_part(folder.path()).column("verdict"), ["violated"]);
    assert!(Table::of_part(folder.path()).number(0, "draws") < 1000.0);
    // The whole suite is the gate of CI itself.
    let others = [&FIRST[..], &["dp-audit export", command.command]].concat();
    assert!(commands.iter().all(|line| others.contains(&line.command)), "an untried command");
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
    let (shown, readme) = (shown(&output), readme());
    let ends: Vec<String> = shown.lines().map(timeless).collect();
    for line in readme.code("text")[0].lines().map(timeless).filter(|line| line != "…") {
        assert!(ends.contains(&line), "the README shows «{line}», the program {shown}");
    }
}

/// Writes the files of a page and runs its commands, in their order, in an empty folder.
#[cfg(unix)]
fn follow(place: &str) {
    let page = Page::read(place);
    let folder = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_dp-audit")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    for block in page.blocks() {
        if let Some(title) = block.title {
            let file = folder.path().join(title);
            std::fs::create_dir_all(file.parent().expect("a folder")).unwrap();
            std::fs::write(file, block.text).unwrap();
        }
        if block.language != "sh" {
            continue;
        }
        for line in page::lines(block.text) {
            if !line.command.starts_with("dp-audit ") {
                continue;
            }
            let output = std::process::Command::new("sh")
                .args(["-c", line.command])
                .current_dir(folder.path())
                .env("PATH", format!("{}:{path}", program.display()))
                .env_remove("GITHUB_ACTIONS")
                .output()
                .expect("a shell");
            assert_eq!(
                code(&output),
                line.exit_code,
                "{place}: {}\n{}{}",
                line.command,
                shown(&output),
                errors(&output)
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn pages_can_be_followed_to_their_end() {
    if !python("pages_can_be_followed_to_their_end", "import json") {
        return;
    }
    let mut followed = Vec::new();
    for page in Page::all() {
        if page.blocks().iter().any(|block| block.title.is_some()) {
            follow(&page.place);
            followed.push(page.place);
        } else {
            // These two say by themselves what they show; all others of their kind are followed.
            let only_text = ["docs/tutorial/rust.md"].contains(&page.place.as_str());
            let shown = page.commands().iter().any(|line| line.command.starts_with("dp-audit "));
            let kind = ["docs/tutorial/", "docs/how-to/"];
            assert!(
                only_text || !shown || !kind.iter().any(|kind| page.place.starts_with(kind)),
                "{} has commands that nobody tries",
                page.place
            );
        }
    }
    assert!(followed.len() >= 5, "{followed:?}");
}

#[test]
fn collected_outputs_are_audited() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "on-d.csv", "1\n2\n3\n");
    write(folder.path(), "on-d-prime.csv", "2\n3\n1\n");
    let page = Page::read("docs/collected-outputs.md");
    let commands = page.commands();
    let output = dp_audit(folder.path(), &words(commands[0].command)[1..]);
    // Three rows say nothing, and that is not a pass.
    assert_eq!(code(&output), 3, "{}", errors(&output));
}

/// The subcommands, from the help.
fn subcommands(help: &str) -> BTreeSet<&str> {
    between(help, "Commands:\n", "  help ")
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .map(|line| words(line)[0])
        .collect()
}

#[test]
fn every_option_and_every_subcommand_exists() {
    let help = |args: &[&str]| shown(&dp_audit(&repository(""), args));
    let overview = help(&["--help"]);
    let known = subcommands(&overview);
    let options: Vec<(&str, BTreeSet<String>)> = known
        .iter()
        .map(|command| {
            let text = help(&[command, "--help"]);
            let options = text
                .split(|c: char| c != '-' && !c.is_ascii_alphanumeric())
                .filter(|word| word.starts_with("--"))
                .map(str::to_owned);
            (*command, options.chain(["--help".to_owned()]).collect())
        })
        .collect();
    let mut seen = BTreeSet::new();
    for page in Page::all() {
        // Commands in blocks, and those in the text.
        let inline = page.text.split('`').filter(|text| text.starts_with("dp-audit "));
        let blocks = page.commands();
        let blocks = blocks.iter().map(|line| line.command);
        for command in blocks.chain(inline) {
            let arguments = command
                .strip_prefix("cargo run --release -- ")
                .or_else(|| command.strip_prefix("dp-audit "));
            let Some(arguments) = arguments.map(words) else { continue };
            let Some(name) = arguments
                .first()
                .filter(|name| name.chars().all(|c| c.is_ascii_lowercase()) && !name.is_empty())
            else {
                continue;
            };
            let (_, options) = options
                .iter()
                .find(|(command, _)| command == name)
                .unwrap_or_else(|| panic!("{}: there is no {command}", page.place));
            seen.insert((*name).to_owned());
            // What stands behind a pipe or in another command is not ours.
            let ours = arguments.iter().take_while(|word| !["|", "&&", ">"].contains(word));
            for option in ours.filter(|word| word.starts_with("--") && word.len() > 2) {
                let option = option.split(['=', ']', ',', ';', '.']).next().unwrap_or_default();
                assert!(options.contains(option), "{}: {option} in {command}", page.place);
            }
        }
    }
    // The reference is made of the texts that `terminal.rs` compares with the program's.
    let snapshots = repository("tests/integration/snapshots");
    for command in &known {
        assert!(read(&snapshots, &format!("help-{command}.snap")).contains("Usage: dp-audit"));
    }
    assert!(seen.len() >= 10, "{seen:?}");
}

#[test]
fn links_lead_somewhere() {
    // Anchors, and pages of the site, are checked by `scripts/site.sh`.
    for page in Page::all() {
        let folder = Path::new(&page.place).parent().expect("a folder").to_path_buf();
        let prose: String = page.text.split("\n```").step_by(2).collect();
        for link in prose.split("](").skip(1) {
            let target = link.split([')', ' ']).next().unwrap_or_default();
            let file = target.split('#').next().unwrap_or_default();
            let made = file.ends_with("command-line.md");
            if !file.is_empty() && !target.contains("://") && !made {
                let place = repository("").join(&folder).join(file);
                assert!(place.exists(), "{} links to {target}", page.place);
            }
        }
    }
}
