//! The program as its users call it: folders with audits, exit codes, messages, files.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// The program, to be started in a folder.
pub fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dp-audit"));
    // What CI or a user sets must not leak into the tests.
    for variable in [
        "GITHUB_ACTIONS",
        "GITHUB_STEP_SUMMARY",
        "GITHUB_WORKSPACE",
        "CI_PROJECT_DIR",
        "CLICOLOR_FORCE",
    ] {
        command.env_remove(variable);
    }
    // Reports for people contain a date. It is the same in all tests.
    command.env("SOURCE_DATE_EPOCH", "1800000000").current_dir(folder);
    command
}

/// Runs the program in a folder.
pub fn dp_audit(folder: &Path, args: &[&str]) -> Output {
    command(folder).args(args).output().expect("the program starts")
}

/// Its exit code.
pub fn code(output: &Output) -> i32 {
    output.status.code().expect("the program ends by itself")
}

/// What it wrote to standard output.
pub fn shown(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What it wrote to standard error.
pub fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The text in one line.
pub fn flowing(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Fails unless the text has all of these parts, which may be broken into lines.
#[track_caller]
pub fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(
            text.contains(part) || flowing(text).contains(&flowing(part)),
            "no «{part}» in: {text}"
        );
    }
}

/// Waits, at most a minute, until something is true of a program that is still running then.
pub fn wait_until(child: &mut Child, ready: impl Fn() -> bool) {
    let start = Instant::now();
    while !ready() && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    if !ready() {
        // A test that fails leaves no program behind.
        let _ = child.kill();
        let _ = child.wait();
        panic!("it takes too long");
    }
    assert!(child.try_wait().expect("a child").is_none(), "the program is still running");
}

/// Starts the program and interrupts it, as Ctrl-C does, when this file of the folder is there. What
/// it wrote to standard error.
#[cfg(unix)]
pub fn interrupted(folder: &Path, args: &[&str], file: &str) -> String {
    let mut command = command(folder);
    command.args(args).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    wait_until(&mut child, || folder.join(file).exists());
    // Under `nohup … &` children ignore what Ctrl-C sends; this signal does the same.
    let signal = if ignores_interrupts(child.id()) { "-TERM" } else { "-INT" };
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(kill.expect("kill").success());
    let start = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if start.elapsed() > Duration::from_secs(60) {
            let _ = child.kill();
            let _ = child.wait();
            panic!("it does not end when it gets {signal}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().expect("a child");
    assert!(!output.status.success());
    errors(&output)
}

/// Whether a process ignores SIGINT, which is signal 2. Only Linux tells.
#[cfg(unix)]
fn ignores_interrupts(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & 0b10 != 0)
}

/// An audit of a mechanism that is as good as its claim.
pub const GOOD: &str = r#"
name = "good"
mechanism = "laplace"
params = { query = "count", epsilon = 1.0 }
claim = { epsilon = 1.0 }
relation = "add-remove"
expect = "consistent"

[[pair]]
name = "one more"
left = ["x"]
right = ["x", "x"]
"#;

/// The same under another name.
pub fn named(name: &str) -> String {
    GOOD.replace("\"good\"", &format!("\"{name}\""))
}

/// A Laplace count that claims ε = 1 and has `factor` times the noise it should have.
pub fn laplace(name: &str, factor: f64, expect: &str) -> String {
    named(name)
        .replace(
            "epsilon = 1.0 }\nclaim",
            &format!("epsilon = 1.0, scale_factor = {factor:?} }}\nclaim"),
        )
        .replace("\"consistent\"", &format!("\"{expect}\""))
}

/// The audit with a number of draws of its own.
pub fn with_draws(audit: &str, draws: u64) -> String {
    audit.replace("expect", &format!("draws = {draws}\nexpect"))
}

/// An audit of a count by a program; `keys` follow its command.
pub fn of_program(name: &str, command: &[&str], keys: &str) -> String {
    named(name).replace(
        "mechanism = \"laplace\"",
        &format!("mechanism = \"command\"\ncommand = {command:?}\n{keys}"),
    )
}

/// The example worker of this language in `docs/protocol.md`: a Laplace count with noise for
/// `params.epsilon`.
pub fn documented(language: &str) -> String {
    block(include_str!("../../../docs/protocol.md"), language).to_owned()
}

/// The first block of this language in a Markdown text.
pub fn block<'a>(text: &'a str, language: &str) -> &'a str {
    between(text, &format!("\n```{language}\n"), "```\n")
}

/// What stands between two marks.
pub fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let rest = text.split_once(before).unwrap_or_else(|| panic!("no «{before}» in {text:.200}")).1;
    rest.split_once(after).unwrap_or_else(|| panic!("no «{after}» in {rest:.200}")).0
}

/// A folder with `audits/NAME.toml` for each text.
pub fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir(folder.path().join("audits")).expect("a folder");
    files
        .iter()
        .for_each(|(name, text)| write(folder.path(), &format!("audits/{name}.toml"), text));
    folder
}

/// A folder with an audit of a count by this shell script.
#[cfg(unix)]
pub fn script(text: &str) -> TempDir {
    let folder = folder(&[("count", &of_program("count", &["sh", "worker.sh"], ""))]);
    write(folder.path(), "audits/worker.sh", text);
    folder
}

/// Writes a file of the folder.
pub fn write(folder: &Path, file: &str, text: &str) {
    std::fs::write(folder.join(file), text).unwrap_or_else(|error| panic!("{file}: {error}"));
}

/// Reads a file of the folder.
pub fn read(folder: &Path, file: &str) -> String {
    std::fs::read_to_string(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Reads a file of the folder as JSON.
pub fn json(folder: &Path, file: &str) -> Value {
    serde_json::from_str(&read(folder, file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The files of a folder, sorted.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

/// The witnesses that a run left where it does without options.
pub fn witnesses(folder: &Path) -> Vec<PathBuf> {
    files(&folder.join("results/witnesses"))
}

/// Whether Python is there, with these modules. Where it is not, the test that asks says loudly
/// that it checks nothing.
pub fn python(test: &str, modules: &str) -> bool {
    let there = Command::new("python3")
        .args(["-c", modules])
        .output()
        .is_ok_and(|output| output.status.success());
    if !there {
        // Straight to standard error, which is not captured.
        let message = format!(
            "\n*** SKIPPED: {test}: `python3 -c '{modules}'` fails on this machine; Python workers are NOT tested ***\n"
        );
        let _ = std::io::stderr().write_all(message.as_bytes());
    }
    there
}

/// A CSV report but for the times in it.
#[derive(Debug, PartialEq)]
pub struct Table {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// Reads a file of the folder.
    pub fn read(folder: &Path, file: &str) -> Self {
        let mut reader = csv::Reader::from_path(folder.join(file))
            .unwrap_or_else(|error| panic!("{file}: {error}"));
        let columns: Vec<String> =
            reader.headers().expect("a header").iter().map(str::to_owned).collect();
        let timeless = |row: &csv::StringRecord| -> Vec<String> {
            let cells = columns.iter().zip(row);
            cells
                .filter(|(column, _)| *column != "seconds")
                .map(|(_, cell)| cell.to_owned())
                .collect()
        };
        let rows = reader.records().map(|row| timeless(&row.expect("a row"))).collect();
        Self {
            columns: columns.iter().filter(|column| *column != "seconds").cloned().collect(),
            rows,
        }
    }

    /// The report of `dp-audit run` without options.
    pub fn of_run(folder: &Path) -> Self {
        Self::read(folder, "results/audit.csv")
    }

    /// The report of `dp-audit run` with `--filter` or `--pair`.
    pub fn of_part(folder: &Path) -> Self {
        Self::read(folder, "results/audit-part.csv")
    }

    /// A column from top to bottom.
    pub fn column(&self, name: &str) -> Vec<&str> {
        let place = self
            .columns
            .iter()
            .position(|column| column == name)
            .unwrap_or_else(|| panic!("no column {name}"));
        self.rows.iter().map(|row| row[place].as_str()).collect()
    }

    /// A cell.
    pub fn cell(&self, row: usize, column: &str) -> &str {
        self.column(column)[row]
    }

    /// A cell that is a number.
    pub fn number(&self, row: usize, column: &str) -> f64 {
        let cell = self.cell(row, column);
        cell.parse().unwrap_or_else(|_| panic!("{column} is {cell}"))
    }
}
