//! The modules point one way: each knows only those that come before it in the data flow. Read from
//! the source, line by line.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The order of `lib.rs`: a module may use those above it.
const ORDER: [&str; 15] = [
    "model",
    "noise",
    "output",
    "stats",
    "target",
    "catalogue",
    "sample",
    "attack",
    "audit",
    "search",
    "api",
    "suite",
    "report",
    "calibrate",
    "cli",
];

/// Modules that stand side by side: neither may use the other.
const APART: [(&str, &str); 3] = [("report", "suite"), ("suite", "api"), ("report", "api")];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// All files below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.append(&mut files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The path of a file's module: `attack::rule::guess`; of `mod.rs`, that of its folder.
fn module(file: &Path) -> Vec<String> {
    let relative = file.strip_prefix(source()).unwrap().with_extension("");
    let mut path: Vec<String> =
        relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if path.last().is_some_and(|last| last == "mod") {
        path.pop();
    }
    path
}

/// The source without its tests, which may use anything.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text)
}

/// All paths that begin with `crate::` or `super::` in a file, as paths from the crate's root: one
/// for each name of a list in braces.
fn uses(file: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(file).unwrap();
    let here = module(file);
    let parent = if file.file_name().is_some_and(|name| name == "mod.rs") {
        here.clone()
    } else {
        here[..here.len() - 1].to_vec()
    };
    let mut found = Vec::new();
    for line in without_tests(&text).lines().filter(|line| !line.trim_start().starts_with("//")) {
        for (start, _) in line.match_indices("crate::") {
            found.extend(leaves(&[], &line[start + "crate::".len()..]));
        }
        if let Some(rest) = line.trim_start().trim_start_matches("pub ").strip_prefix("use super::")
        {
            // In `mod.rs` super is the folder above; in any other file it is the folder itself.
            let base = if file.file_name().is_some_and(|name| name == "mod.rs") {
                &here[..here.len() - 1]
            } else {
                &parent
            };
            found.extend(leaves(base, rest));
        }
    }
    found
}

/// The paths that the beginning of a text names: `a::b::{c, d}` is two.
fn leaves(base: &[String], text: &str) -> Vec<Vec<String>> {
    let end =
        text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(text.len());
    let mut path = base.to_vec();
    path.extend(text[..end].split("::").filter(|part| !part.is_empty()).map(str::to_owned));
    // A list that goes on in the next line is known by its path.
    match text[end..].strip_prefix('{').filter(|list| list.contains('}')) {
        Some(list) => {
            let list = list.split('}').next().unwrap_or_default();
            let names = list.split(',').map(|name| {
                name.trim()
                    .split(' ')
                    .next()
                    .unwrap_or_default()
                    .split("::")
                    .next()
                    .unwrap_or_default()
            });
            names
                .filter(|name| !name.is_empty())
                .map(|name| [path.as_slice(), &[name.to_owned()]].concat())
                .collect()
        }
        None => vec![path],
    }
}

fn place(module: &str) -> Option<usize> {
    ORDER.iter().position(|known| *known == module)
}

/// Arrows against the order.
fn wrong_arrows(arrows: impl IntoIterator<Item = (String, String)>) -> Vec<(String, String)> {
    let is_wrong = |from: &str, to: &str| {
        let apart = APART
            .iter()
            .any(|(one, other)| (from, to) == (*one, *other) || (to, from) == (*one, *other));
        place(from) < place(to) || apart
    };
    arrows
        .into_iter()
        .filter(|(from, to)| place(to).is_some() && from != to && is_wrong(from, to))
        .collect()
}

#[test]
fn every_module_has_its_place() {
    let mut found: Vec<String> = fs::read_dir(source())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| module(&path)[0].clone())
        .collect();
    found.retain(|name| !["lib", "main"].contains(&name.as_str()));
    found.sort_unstable();
    let mut known = ORDER.map(str::to_owned).to_vec();
    known.sort_unstable();
    assert_eq!(found, known);
}

#[test]
fn no_module_uses_one_that_comes_after_it() {
    let mut wrong = Vec::new();
    let (mut seen, mut read) = (0, 0);
    for file in
        files(&source()).iter().filter(|file| !["lib", "main"].contains(&module(file)[0].as_str()))
    {
        let arrows: Vec<(String, String)> =
            uses(file).into_iter().map(|path| (module(file)[0].clone(), path[0].clone())).collect();
        seen += arrows.len();
        read += 1;
        wrong.extend(
            wrong_arrows(arrows)
                .into_iter()
                .map(|(from, to)| format!("{}: {from} uses {to}", file.display())),
        );
    }
    assert_eq!(read, files(&source()).len() - 2, "all files but lib.rs and main.rs");
    assert!(seen > 300, "only {seen} uses were read");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_way_to_write_a_use_is_read() {
    let paths =
        |text: &str| leaves(&[], text).iter().map(|path| path.join("::")).collect::<Vec<_>>();
    assert_eq!(paths("suite::load;"), ["suite::load"]);
    assert_eq!(paths("suite::{self, load};"), ["suite::self", "suite::load"]);
    assert_eq!(paths("suite::{"), ["suite"], "a list over several lines");
    assert_eq!(paths("{model::Claim, suite::load};"), ["model", "suite"]);
    assert_eq!(paths("suite::load(paths)?"), ["suite::load"]);
}

#[test]
fn an_arrow_that_is_turned_round_is_noticed() {
    let arrow = |from: &str, to: &str| wrong_arrows([(from.to_owned(), to.to_owned())]).len();
    for (index, earlier) in ORDER.iter().enumerate() {
        for later in &ORDER[index + 1..] {
            assert_eq!(arrow(earlier, later), 1, "{earlier} uses {later}");
        }
    }
    assert_eq!(
        (arrow("attack", "model"), arrow("report", "suite"), arrow("model", "fmt")),
        (0, 1, 0)
    );
}

#[test]
fn files_of_the_attack_have_no_cycle() {
    let all: Vec<PathBuf> =
        files(&source().join("attack")).into_iter().filter(|file| module(file).len() > 1).collect();
    let modules: BTreeSet<Vec<String>> = all.iter().map(|file| module(file)).collect();
    let mut edges: BTreeMap<Vec<String>, BTreeSet<Vec<String>>> = BTreeMap::new();
    for file in &all {
        let here = module(file);
        for path in uses(file).iter().filter(|path| path[0] == "attack") {
            // The longest module that the path begins with; a folder's own file may use what is in
            // it.
            let target = (2..=path.len())
                .rev()
                .map(|length| path[..length].to_vec())
                .find(|module| modules.contains(module));
            if let Some(target) = target.filter(|target| *target != here) {
                edges.entry(here.clone()).or_default().insert(target);
            }
        }
    }
    assert!(edges.len() > 10, "{edges:?}");
    let mut left: BTreeSet<Vec<String>> = modules.clone();
    // Take away what uses nothing that is left, again and again: a cycle stays.
    loop {
        let free: Vec<Vec<String>> = left
            .iter()
            .filter(|module| edges.get(*module).is_none_or(|uses| uses.is_disjoint(&left)))
            .cloned()
            .collect();
        if free.is_empty() {
            break;
        }
        free.iter().for_each(|module| _ = left.remove(module));
    }
    assert!(left.is_empty(), "a cycle among {left:?}");
}

#[test]
fn the_page_about_the_attack_names_every_file() {
    let page = fs::read_to_string(source().join("attack/mod.rs")).unwrap();
    for file in files(&source().join("attack")) {
        let name = file
            .strip_prefix(source().join("attack"))
            .unwrap()
            .to_string_lossy()
            .replace('\\', "/");
        let documented = ["mod.rs", "fit/mod.rs", "rule/mod.rs"].contains(&name.as_str())
            || page.contains(&format!("`{name}`"));
        assert!(documented, "attack/mod.rs does not explain {name}");
    }
}

#[test]
fn the_library_never_prints_and_has_no_global_table() {
    for file in
        files(&source()).iter().filter(|file| !["cli", "main"].contains(&module(file)[0].as_str()))
    {
        let text = fs::read_to_string(file).unwrap();
        for word in ["println!", "print!(", "LazyLock", "build_global", "static mut"] {
            assert!(!without_tests(&text).contains(word), "{} has {word}", file.display());
        }
    }
}
