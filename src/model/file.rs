//! Reads files that somebody else may have written. A name may lead to a device without an end.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;

/// The largest file that is read as a whole, in bytes. The largest audit files with 16,000 pairs
/// have a hundredth of it.
const LARGEST_FILE: u64 = 1 << 28;

/// The longest line of a file, in bytes: 100,000 numbers have a thirtieth of it.
const LONGEST_LINE: u64 = 1 << 26;

/// The content of a file.
///
/// # Errors
/// When it cannot be read, or has no end within 256 MB.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    up_to(File::open(path)?, LARGEST_FILE)
}

/// The content of a text file.
///
/// # Errors
/// When it cannot be read, has no end within 256 MB, or is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|_| {
        io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8")
    })
}

/// Reads a line with its end, and says how many bytes it has.
///
/// # Errors
/// When it cannot be read, has no end within 64 MB, or is not UTF-8.
pub fn read_line(lines: &mut impl BufRead, line: &mut String) -> io::Result<usize> {
    let bytes = lines.take(LONGEST_LINE).read_line(line)?;
    if bytes as u64 == LONGEST_LINE { Err(too_large("the line", LONGEST_LINE)) } else { Ok(bytes) }
}

fn up_to(mut source: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    let bytes = source.by_ref().take(most + 1).read_to_end(&mut content)?;
    if bytes as u64 > most { Err(too_large("it", most)) } else { Ok(content) }
}

fn too_large(what: &str, most: u64) -> io::Error {
    io::Error::other(format!("{what} has more than {} MB", most >> 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_refused() {
        assert_eq!(up_to(&b"abc"[..], 3).unwrap(), b"abc");
        let error = up_to(io::repeat(0), 1 << 20).unwrap_err();
        assert_eq!(error.to_string(), "it has more than 1 MB");
        let mut endless = io::BufReader::new(io::repeat(b'1'));
        let error = read_line(&mut endless, &mut String::new()).unwrap_err();
        assert_eq!(error.to_string(), "the line has more than 64 MB");
    }

    #[test]
    fn lines_are_read_one_by_one() {
        let (mut lines, mut line) = (&b"one\ntwo"[..], String::new());
        assert_eq!(read_line(&mut lines, &mut line).unwrap(), 4);
        assert_eq!(read_line(&mut lines, &mut line).unwrap(), 3);
        assert_eq!(read_line(&mut lines, &mut line).unwrap(), 0);
        assert_eq!(line, "one\ntwo");
        assert!(read_line(&mut &b"\xff\n"[..], &mut line).is_err());
    }
}
