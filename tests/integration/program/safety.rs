//! A repository that somebody else wrote: audits of built-in mechanisms run nothing, overwrite
//! nothing and print nothing but text.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

use crate::harness::program::{
    GOOD, assert_has, code, command, dp_audit, errors, folder, laplace, of_program, read, script,
    shown, write,
};

/// All that a run printed.
fn printed(output: &Output) -> String {
    shown(output) + &errors(output)
}

fn git(folder: &Path, arguments: &[&str]) -> bool {
    let mut git = Command::new("git");
    let identity = ["-c", "user.name=t", "-c", "user.email=t@t.invalid"];
    git.arg("-C").arg(folder).args(identity).args(arguments);
    git.output().is_ok_and(|output| output.status.success())
}

#[test]
fn no_program_of_a_repository_is_run() {
    let folder = folder(&[("good", GOOD)]);
    let (audits, marker) = (folder.path().join("audits"), folder.path().join("ran"));
    // The folder of the audits is a repository to git, with a configuration of its own.
    fs::create_dir_all(audits.join("objects")).unwrap();
    fs::create_dir_all(audits.join("refs/heads")).unwrap();
    write(&audits, "HEAD", "ref: refs/heads/main\n");
    let program = format!("touch '{}' #", marker.display());
    write(
        &audits,
        "config",
        &format!(
            "[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = \"{program}\"\n"
        ),
    );
    let trap = ["-c", "safe.bareRepository=all", "status"];
    if !git(&audits, &trap) || !marker.exists() {
        eprintln!("skipped: this git does not run the trap");
        return;
    }
    fs::remove_file(&marker).unwrap();
    let run = ["run", "--html", "report.html", "--draws", "2000", "--allow-inconclusive"];
    let output = dp_audit(folder.path(), &run);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    let resumed = dp_audit(folder.path(), &[&run[..], &["--resume"]].concat());
    assert_eq!(code(&resumed), 0, "{}", printed(&resumed));
    assert!(!marker.exists(), "a program of the repository was run");
}

#[test]
fn links_that_nobody_named_are_not_followed() {
    let run: &[&str] = &["run", "--draws", "20000"];
    let shard: &[&str] = &["run", "--draws", "20000", "--shard", "1/1", "--out", "out"];
    let named: &[&str] = &["run", "--draws", "20000", "--csv", "ok.csv", "--witnesses", "out"];
    let export: &[&str] = &["export"];
    for (link, arguments) in [
        ("results/audit.csv", run),
        ("results/audit.csv.journal", run),
        ("results/witnesses", run),
        ("out/shard-1-of-1.jsonl", shard),
        ("ok.csv.journal", named),
    ] {
        let folder = folder(&[("bad", &laplace("bad", 0.5, "violated"))]);
        let outside = tempfile::tempdir().unwrap();
        let victim = outside.path().join("victim");
        write(outside.path(), "victim", "precious");
        let place = folder.path().join(link);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        symlink(&victim, &place).unwrap();
        let output = dp_audit(folder.path(), arguments);
        assert_eq!(code(&output), 1, "{link}: {}", printed(&output));
        assert_has(&errors(&output), &[link, "is a symbolic link to"]);
        assert_eq!(read(outside.path(), "victim"), "precious", "{link}");
        // What is named is followed.
        if link == "results/audit.csv" {
            let followed = dp_audit(folder.path(), &[run, &["--csv", link]].concat());
            assert_eq!(code(&followed), 0, "{}", printed(&followed));
            assert_has(&read(outside.path(), "victim"), &["bad"]);
        }
    }
    // The whole folder of results, and a link to a file that does not exist yet.
    let folder = folder(&[("bad", &laplace("bad", 0.5, "violated"))]);
    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), folder.path().join("results")).unwrap();
    symlink(outside.path().join("new"), folder.path().join("dp_audit_worker.py")).unwrap();
    assert_eq!(code(&dp_audit(folder.path(), run)), 1);
    assert_eq!(code(&dp_audit(folder.path(), export)), 0);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0, "nothing was written outside");
}

/// Sequences that clear the screen, set its title, hide text and turn it around.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;title\u{7}\u{1b}[8m\u{9b}31m\u{202e}\u{2066}\r";

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let toml: Vec<String> = HOSTILE.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    let toml = toml.concat();
    let program = of_program("p", &["sh", "worker.sh"], "")
        .replace("\"worker.sh\"]", &format!("\"worker.sh\", \"{toml}\"]\nsetup = \"{toml}\""));
    let folder = folder(&[
        ("p", &program),
        ("key", &GOOD.replace("expect", &format!("\"{toml}\" = 1\nexpect"))),
        ("value", &GOOD.replace("\"laplace\"", &format!("\"{toml}\""))),
        ("name", &GOOD.replace("\"good\"", &format!("\"{toml}\""))),
        (HOSTILE, "not toml"),
    ]);
    let octal: Vec<String> = HOSTILE.bytes().map(|byte| format!("\\{byte:03o}")).collect();
    let octal = octal.concat();
    write(folder.path(), "audits/worker.sh", &format!("printf '{octal}' >&2\nexit 1\n"));
    let files = ["p", "key", "value", "name", HOSTILE].map(|name| format!("audits/{name}.toml"));
    for file in &files {
        for arguments in [vec!["run", file], vec!["show", file], vec!["run", "--smoke", file]] {
            for forced in [false, true] {
                let mut program = command(folder.path());
                if forced {
                    program.env("CLICOLOR_FORCE", "1");
                }
                let text = printed(&program.args(&arguments).output().unwrap());
                assert!(!text.is_empty(), "{arguments:?}");
                let styles = ["0", "1", "31", "32", "33"].map(|code| format!("\u{1b}[{code}m"));
                let rest = styles.iter().fold(text.clone(), |text, style| text.replace(style, ""));
                let plain = if forced { rest } else { text };
                let found = plain.chars().find(|c| HOSTILE.contains(*c) && !c.is_ascii_graphic());
                let letters = found.filter(|c| !c.is_ascii_alphanumeric());
                assert_eq!(letters, None, "{arguments:?}: {plain:?}");
            }
        }
    }
}

#[test]
fn only_annotations_are_commands_to_github() {
    let folder = script(
        "echo '::stop-commands::token' >&2\necho '  ::error::forged' >&2\necho '##[error]old' >&2\nexit 1\n",
    );
    let outputs =
        script("read -r greeting\necho '{\"error\": \"a\\n::set-output name=x::y ##[group]z\"}'\n");
    for folder in [&folder, &outputs] {
        for arguments in [vec!["run"], vec!["run", "--smoke"], vec!["run", "::error::x"]] {
            let mut program = command(folder.path());
            let output = program.env("GITHUB_ACTIONS", "true").args(&arguments).output().unwrap();
            for line in printed(&output).lines() {
                let line = line.trim_start();
                let own = ["::error file=", "::error title=", "::notice title="];
                let is_own = own.iter().any(|start| line.starts_with(start));
                assert!(!line.starts_with("::") || is_own, "{line}");
                assert!(is_own || !line.contains("##["), "{line}");
            }
        }
    }
}

#[test]
fn a_journal_of_a_repository_and_one_that_contradicts_itself_are_refused() {
    const JOURNAL: &str = "results/audit.csv.journal";
    let broken = of_program("unable", &["false"], "");
    let folder = folder(&[("bad", &laplace("bad", 0.5, "consistent")), ("unable", &broken)]);
    let run = ["run", "--draws", "20000"];
    assert_eq!(code(&dp_audit(folder.path(), &run)), 2);
    let honest = read(folder.path(), JOURNAL);
    let resume = || dp_audit(folder.path(), &[&run[..], &["--resume"]].concat());
    assert_eq!(code(&resume()), 2, "an honest journal is believed");
    // The bound of the refuted claim, edited; its counts are left.
    let mut lines: Vec<serde_json::Value> =
        honest.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let bounds = &mut lines[1]["report"]["results"][0]["outcome"]["Ok"]["privacy"]["bounds"];
    assert!(bounds["lower"].as_f64().unwrap() > 1.5, "{bounds}");
    for key in ["lower", "epsilon_lower"] {
        bounds[key] = 0.9.into();
    }
    let edited: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
    write(folder.path(), JOURNAL, &edited.concat());
    let output = resume();
    assert_eq!(code(&output), 1, "{}", printed(&output));
    assert_has(&errors(&output), &["cannot resume", "its counts show more than its bounds say"]);
    write(folder.path(), JOURNAL, &honest);
    if !git(folder.path(), &["init", "-q"]) || !git(folder.path(), &["add", "-f", JOURNAL]) {
        eprintln!("skipped: git is not installed");
        return;
    }
    let output = resume();
    assert_eq!(code(&output), 1, "{}", printed(&output));
    assert_has(&errors(&output), &["cannot resume", "it is part of a git repository"]);
    assert_eq!(read(folder.path(), JOURNAL), honest, "it is left as it was");
}

#[test]
fn threads_and_symbols_have_limits() {
    let folder = script(
        "read -r greeting\necho '{\"dp_audit\": 1, \"width\": 1, \"seeded\": false}'\nread -r line\n\
         awk 'BEGIN { printf \"{\\\"count\\\": 1, \\\"symbols\\\": [\"; for (i = 0; i < 3000000; i++) printf \"%s\\\"s%d\\\"\", i ? \",\" : \"\", i; print \"]}\" }'\n\
         sleep 60\n",
    );
    for threads in ["100000", "60000", "1025", "0"] {
        let output = dp_audit(folder.path(), &["run", "--threads", threads]);
        assert_eq!(code(&output), 1, "{}", printed(&output));
        assert_has(&errors(&output), &["--threads", threads]);
    }
    let output = dp_audit(folder.path(), &["run"]);
    assert_eq!(code(&output), 5, "{}", printed(&output));
    assert_has(&printed(&output), &["it lists 3,000,000 symbols for 1 cells"]);
}

#[test]
fn without_programs_only_built_in_mechanisms_are_run() {
    let folder = script("touch ran\n");
    write(folder.path(), "audits/good.toml", GOOD);
    let options = ["--draws", "2000", "--allow-inconclusive", "--no-programs"];
    let output = dp_audit(folder.path(), &[&["run"], &options[..]].concat());
    assert_eq!(code(&output), 1, "{}", printed(&output));
    assert_has(&errors(&output), &["audits/count.toml", "line", "starts a program (sh worker.sh)"]);
    let smoke = dp_audit(folder.path(), &["run", "--smoke", "--no-programs"]);
    assert_eq!(code(&smoke), 1, "{}", printed(&smoke));
    let output = dp_audit(folder.path(), &[&["run", "audits/good.toml"], &options[..]].concat());
    assert_eq!(code(&output), 0, "{}", printed(&output));
    let calibrate = ["calibrate", "audits/count.toml", "--seeds", "1", "--no-programs"];
    assert_eq!(code(&dp_audit(folder.path(), &calibrate)), 1);
    assert!(!folder.path().join("audits/ran").exists());
}

#[test]
fn an_audit_may_have_sixteen_thousand_pairs() {
    use std::fmt::Write as _;
    let mut text = GOOD.split("[[pair]]").next().unwrap().to_owned();
    for pair in 0..16_000 {
        let _ = writeln!(text, "[[pair]]\nname = \"{pair}\"\nleft = [\"x\"]\nright = []");
    }
    let folder = folder(&[("many", &text)]);
    let output = dp_audit(folder.path(), &["run", "--draws", "64", "--allow-inconclusive"]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    assert_eq!(read(folder.path(), "results/audit.csv").lines().count(), 16_001);
}

#[test]
fn files_without_an_end_are_refused() {
    let folder = folder(&[("good", GOOD)]);
    let endless = Path::new("/dev/zero");
    if !endless.exists() {
        eprintln!("skipped: there is no /dev/zero");
        return;
    }
    for name in ["audits/link.toml", "witness.json", "left.csv"] {
        symlink(endless, folder.path().join(name)).unwrap();
    }
    let claim = GOOD.replace("claim = {", "claim = { profile = \"/dev/zero\" } #");
    write(folder.path(), "audits/profile.toml", &claim);
    let samples = ["samples", "--left", "left.csv", "--right", "left.csv", "--claim-epsilon", "1"];
    for (arguments, message) in [
        (&["run", "audits/link.toml"][..], "it has more than 256 MB"),
        (&["show", "audits"][..], "it has more than 256 MB"),
        (&["run", "audits/profile.toml"][..], "it has more than 256 MB"),
        (&["replay", "witness.json", "audits/good.toml"][..], "it has more than 256 MB"),
        (&samples[..], "the line has more than 64 MB"),
    ] {
        let output = dp_audit(folder.path(), arguments);
        assert_eq!(code(&output), 1, "{arguments:?}: {}", printed(&output));
        assert_has(&errors(&output), &[message]);
    }
}
