//! What identifies a run: two parts of one run must agree in everything that its bounds and random
//! streams depend on.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::audit::Audit;
use crate::model::Settings;
use crate::model::checked::Positive;
use crate::model::number::counted;
use crate::output::{Mix, fingerprint};
use crate::report::persistence::witness;

/// Everything that all bounds and random streams of a run depend on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunIdentity {
    /// The version of dp-audit.
    pub version: String,
    /// A hash of the program, because the built-in mechanisms are part of it.
    pub build: String,
    /// The settings of the run.
    pub settings: Settings,
    /// The number of statements that the confidence is divided over.
    pub pairs: usize,
    /// The number of audits.
    pub audits: usize,
    /// A hash of their names, in order.
    pub names: String,
}

/// A mismatch between two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// They have different versions of dp-audit.
    Version([String; 2]),
    /// They have different builds.
    Build,
    /// They have different values of an option.
    Option(&'static str, [String; 2]),
    /// They have different audits: how many audits and pairs.
    Audits([String; 2]),
}

impl RunIdentity {
    /// The identity of a run of this program.
    #[must_use]
    pub fn new(audits: &[Audit], settings: Settings) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            build: std::env::current_exe()
                .map(|program| content_hash(&program))
                .unwrap_or_default(),
            settings,
            pairs: audits.iter().map(Audit::statement_count).sum(),
            audits: audits.len(),
            names: fingerprint(&audits.iter().map(|audit| audit.name.as_str()).collect::<Vec<_>>()),
        }
    }

    /// The first mismatch with another run; `None` if both are the same.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<Mismatch> {
        let both = [self, other];
        if self.version != other.version {
            return Some(Mismatch::Version(both.map(|run| run.version.clone())));
        }
        if self.build != other.build {
            return Some(Mismatch::Build);
        }
        let options = options(self.settings).into_iter().zip(options(other.settings));
        let different = options.into_iter().find(|((_, one), (_, other))| one != other);
        if let Some(((option, one), (_, other))) = different {
            return Some(Mismatch::Option(option, [one, other]));
        }
        let is_same =
            self.audits == other.audits && self.pairs == other.pairs && self.names == other.names;
        (!is_same).then(|| {
            Mismatch::Audits(both.map(|run| {
                format!("{} with {}", counted(run.audits, "audit"), counted(run.pairs, "pair"))
            }))
        })
    }
}

impl Mismatch {
    /// In words, if the first run wrote a file and the second one is running.
    #[must_use]
    pub fn since_then(&self) -> String {
        match self {
            Self::Version([then, now]) => {
                format!("dp-audit {then} wrote it, and this is dp-audit {now}")
            }
            Self::Build => {
                "another build of dp-audit wrote it, and its mechanisms may be different".to_owned()
            }
            Self::Option(option, [then, now]) => format!("{option} was {then}, now it is {now}"),
            Self::Audits([then, now]) => {
                format!(
                    "its audits or pairs are different ({then}; now {now}), and the confidence is divided over all pairs"
                )
            }
        }
    }
}

fn options(settings: Settings) -> [(&'static str, String); 8] {
    let Settings {
        draws,
        seed,
        confidence,
        until,
        controls,
        max_seconds,
        max_seconds_total,
        evidence,
    } = settings;
    let flag = |given| if given { "present" } else { "absent" }.to_owned();
    let seconds = |limit: Option<Positive>| {
        limit.map_or_else(|| "absent".to_owned(), |limit| limit.to_string())
    };
    [
        ("--seed", seed.to_string()),
        ("--draws", draws.map_or_else(|| "absent".to_owned(), |draws| draws.to_string())),
        ("--confidence", confidence.to_string()),
        ("--until", format!("{until:?}").to_lowercase()),
        ("--max-seconds", seconds(max_seconds)),
        ("--max-seconds-total", seconds(max_seconds_total)),
        ("--controls", flag(controls)),
        ("--evidence", flag(evidence)),
    ]
}

/// A hash of everything that an audit's reports depend on, including the files that its command
/// names.
#[must_use]
pub fn audit_fingerprint(audit: &Audit) -> String {
    let Audit {
        file, expect, source, draws, max_seconds, resolution, reach, control, attacks, ..
    } = audit;
    let mut parts = vec![format!(
        "{file:?} {expect:?} {source:?} {draws:?} {max_seconds:?} {resolution} {reach:?} {control:?} {attacks:?}"
    )];
    let identity = |pair| witness::identity(audit, pair);
    parts.extend(
        audit
            .pairs
            .iter()
            .map(|pair| format!("{} {:?} {:?}", identity(pair), pair.expect, pair.truth)),
    );
    let others = audit.statements().skip(audit.pairs.len());
    parts.extend(others.map(|other| format!("{:?} {:?} {other:?}", audit.subject, audit.claim)));
    parts.extend(audit.files().map(content_hash));
    if let Some(command) = audit.subject.command() {
        parts.push(command.to_string());
        parts.extend(command.files().map(|file| content_hash(&file)));
    }
    fingerprint(&parts.iter().map(String::as_str).collect::<Vec<_>>())
}

/// A hash of a file's content. It reads one block at a time and hashes eight bytes at a time,
/// because programs are large. A file that cannot be read has the hash 0.
#[must_use]
pub fn content_hash(file: &Path) -> String {
    let read = || -> io::Result<u64> {
        let file = File::open(file)?;
        hash(&file, file.metadata()?.len())
    };
    format!("{:016x}", read().unwrap_or_default())
}

/// A hash of these bytes.
#[must_use]
pub fn bytes_hash(bytes: &[u8]) -> String {
    format!("{:016x}", hash(bytes, bytes.len() as u64).unwrap_or_default())
}

fn hash(mut reader: impl Read, length: u64) -> io::Result<u64> {
    const BLOCK: u64 = 1 << 16;
    let (mut mix, mut block) = (Mix::new().word(length), Vec::new());
    while reader.by_ref().take(BLOCK).read_to_end(&mut block)? > 0 {
        let (words, rest) = block.as_chunks();
        mix = words.iter().fold(mix, |mix, word| mix.word(u64::from_le_bytes(*word)));
        mix = rest.iter().fold(mix, |mix, byte| mix.word(u64::from(*byte)));
        block.clear();
    }
    Ok(mix.end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attack::Attack;
    use crate::audit::Control;
    use crate::model::{AskedReach, Expectation, Params};
    use crate::report::testing::audit;
    use crate::target::Subject;
    use crate::target::process::CommandLine;

    #[test]
    fn the_fingerprint_of_an_audit_depends_on_all_that_reports_show() {
        let original = audit_fingerprint(&audit("count"));
        assert_eq!(audit_fingerprint(&audit("count")), original);
        let changes: [fn(&mut Audit); 14] = [
            |audit| audit.name.push('2'),
            |audit| audit.file.push("2"),
            |audit| {
                audit.subject =
                    Subject::Registered { mechanism: "laplace".to_owned(), params: Params::new() }
            },
            |audit| audit.claim = crate::model::Claim::new(2.0, 0.0).unwrap(),
            |audit| audit.expect = Expectation::Violated,
            |audit| audit.source = Some("a paper".to_owned()),
            |audit| audit.draws = Some(1),
            |audit| audit.resolution *= 2.0,
            |audit| audit.reach = AskedReach::new(1.0.try_into().unwrap(), None).unwrap(),
            |audit| audit.control = Some(Control::Audit("twin".to_owned())),
            |audit| audit.attacks = vec![Attack::Coordinates],
            |audit| audit.pairs[0].expect = Some(Expectation::Consistent),
            |audit| audit.pairs[0].truth.epsilon = Some(1.0),
            |audit| audit.pairs[0].left = audit.pairs[0].right.clone(),
        ];
        let mut all = vec![original];
        for change in changes {
            let mut changed = audit("count");
            change(&mut changed);
            all.push(audit_fingerprint(&changed));
        }
        let different: std::collections::HashSet<&String> = all.iter().collect();
        assert_eq!(different.len(), 1 + changes.len());
    }

    #[test]
    fn the_fingerprint_of_a_program_depends_on_the_files_in_its_command() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("count.toml");
        let command = |words: &[&str]| {
            let words = words.iter().map(|word| (*word).to_owned()).collect();
            let command = CommandLine::new(words, &file, None, None).unwrap();
            audit_fingerprint(&Audit {
                subject: Subject::Program { command, params: Params::new() },
                ..audit("count")
            })
        };
        std::fs::write(folder.path().join("worker.sh"), "exit 1").unwrap();
        let before = command(&["sh", "worker.sh"]);
        assert_eq!(command(&["sh", "worker.sh"]), before);
        assert_ne!(command(&["sh", "worker.sh", "-x"]), before);
        std::fs::write(folder.path().join("worker.sh"), "exit 2").unwrap();
        assert_ne!(command(&["sh", "worker.sh"]), before);
    }

    #[test]
    fn the_hash_of_a_file_depends_on_every_byte_and_on_its_length() {
        let folder = tempfile::tempdir().unwrap();
        let hash = |content: &[u8]| {
            let file = folder.path().join("file");
            std::fs::write(&file, content).unwrap();
            content_hash(&file)
        };
        // More than one block of 65,536 bytes, and not a multiple of eight.
        let content = vec![b'x'; 65_536 + 13];
        let original = hash(&content);
        assert_eq!(hash(&content), original);
        assert_eq!(bytes_hash(&content), original);
        for position in [0, 65_535, 65_536, 65_536 + 12] {
            let mut changed = content.clone();
            changed[position] = b'y';
            assert_ne!(hash(&changed), original, "byte {position}");
        }
        assert_ne!(hash(&content[1..]), original);
        assert_ne!(hash(b""), hash(b"\0"));
        assert_eq!(content_hash(&folder.path().join("missing")), "0000000000000000");
    }
}
