//! A page in Markdown: its blocks of code, and the commands in them.

use std::path::Path;

use crate::harness::program::read;
use crate::harness::repository;

/// A page of the manual.
pub struct Page {
    /// Its place in the repository.
    pub place: String,
    /// Its text.
    pub text: String,
}

/// A block of code.
pub struct Block<'a> {
    /// The language: `sh`, `toml`, …
    pub language: &'a str,
    /// The file that the reader is asked to write.
    pub title: Option<&'a str>,
    /// What is in it.
    pub text: &'a str,
}

/// A command for the shell, and how it ends.
pub struct Line<'a> {
    /// The command, without its comment.
    pub command: &'a str,
    /// What the comment says, `# exit code 2`; 0 without one.
    pub exit_code: i32,
}

impl Page {
    /// The page at this place of the repository.
    pub fn read(place: &str) -> Self {
        Self { place: place.to_owned(), text: read(&repository(""), place) }
    }

    /// The README and every page of the manual, with the pages that stand beside what they are
    /// about.
    pub fn all() -> Vec<Self> {
        let mut places = vec![
            "README.md",
            "CONTRIBUTING.md",
            "DESIGN.md",
            "audits/README.md",
            "python/README.md",
            "results/README.md",
            "results/reference/README.md",
        ]
        .into_iter()
        .map(str::to_owned)
        .collect();
        collect(&repository("docs"), "docs", &mut places);
        places.iter().map(|place| Self::read(place)).collect()
    }

    /// Its blocks of code, in their order.
    pub fn blocks(&self) -> Vec<Block<'_>> {
        let mut rest = self.text.as_str();
        let mut blocks = Vec::new();
        while let Some((_, after)) = rest.split_once("\n```") {
            let (info, after) = after.split_once('\n').expect("a fence ends its line");
            let closing = "```";
            let (text, after) = if let Some(empty) = after.strip_prefix(closing) {
                ("", empty)
            } else {
                let end = after
                    .find("\n```")
                    .unwrap_or_else(|| panic!("{}: the block «{info}» does not end", self.place));
                (&after[..=end], &after[end + 1 + closing.len()..])
            };
            let title = info.split_once("title=\"").and_then(|(_, title)| title.split_once('"'));
            let language = info.split_whitespace().next().unwrap_or_default();
            blocks.push(Block { language, title: title.map(|(title, _)| title), text });
            rest = after;
        }
        blocks
    }

    /// The blocks in this language.
    pub fn code(&self, language: &str) -> Vec<&str> {
        let blocks = self.blocks();
        blocks.iter().filter(|block| block.language == language).map(|block| block.text).collect()
    }

    /// The only block that the reader is asked to write to this file.
    pub fn file(&self, title: &str) -> &str {
        let blocks = self.blocks();
        let found: Vec<&str> = blocks
            .iter()
            .filter(|block| block.title == Some(title))
            .map(|block| block.text)
            .collect();
        let [text] = found[..] else { panic!("{} blocks for {title}", found.len()) };
        text
    }

    /// All commands in blocks for the shell.
    pub fn commands(&self) -> Vec<Line<'_>> {
        self.code("sh").into_iter().flat_map(lines).collect()
    }

    /// The words of the page, separated by single blanks.
    pub fn flowing(&self) -> String {
        self.text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// The commands of a block for the shell; a backslash continues one.
pub fn lines(block: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut rest = block;
    while !rest.is_empty() {
        let mut end = 0;
        loop {
            let line_end = rest[end..].find('\n').map_or(rest.len(), |found| end + found);
            let continued = rest[..line_end].ends_with('\\') && line_end < rest.len();
            end = line_end + usize::from(line_end < rest.len());
            if !continued {
                break;
            }
        }
        let (command, comment) = rest[..end].split_once(" #").unwrap_or((&rest[..end], ""));
        let code = comment.split_once("exit code ").map(|(_, code)| {
            let digits = code.trim_start().split(|c: char| !c.is_ascii_digit()).next();
            digits.and_then(|digits| digits.parse().ok()).expect("an exit code is a number")
        });
        let command = command.trim();
        if !command.is_empty() && !command.starts_with('#') {
            lines.push(Line { command, exit_code: code.unwrap_or(0) });
        }
        rest = &rest[end..];
    }
    lines
}

/// The Markdown files in and below a folder.
fn collect(folder: &Path, name: &str, places: &mut Vec<String>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        let file = path.file_name().expect("a name").to_string_lossy().into_owned();
        let place = format!("{name}/{file}");
        if path.is_dir() {
            collect(&path, &place, places);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            places.push(place);
        }
    }
}
