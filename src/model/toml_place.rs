//! Finds values in the text of a TOML file by their path.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// One step of the path to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStep<'p> {
    /// A key of a table.
    Key(&'p str),
    /// An item of an array.
    Index(usize),
}

/// The steps of a path such as `params.query.sum` or `pair.2.left`. Numbers are positions in an
/// array.
pub fn path_steps(path: &str) -> Vec<PathStep<'_>> {
    let step = |part| str::parse(part).map_or(PathStep::Key(part), PathStep::Index);
    path.split('.').filter(|part| !part.is_empty()).map(step).collect()
}

/// The value at a path; `None` if a key or an index is missing.
pub fn find<'t, 'i>(
    table: &'t DeTable<'i>,
    path: &[PathStep<'_>],
) -> Option<&'t Spanned<DeValue<'i>>> {
    let (value, taken) = follow(table, path)?;
    (taken == path.len()).then_some(value)
}

/// The value at a path, or the innermost value on the way to it; `None` if the first key is
/// missing.
pub fn find_innermost<'t, 'i>(
    table: &'t DeTable<'i>,
    path: &[PathStep<'_>],
) -> Option<&'t Spanned<DeValue<'i>>> {
    follow(table, path).map(|(value, _)| value)
}

/// Follows a path as far as it goes: the last value, and the number of steps to it.
fn follow<'t, 'i>(
    table: &'t DeTable<'i>,
    path: &[PathStep<'_>],
) -> Option<(&'t Spanned<DeValue<'i>>, usize)> {
    let (PathStep::Key(first), rest) = path.split_first()? else { return None };
    let (mut value, mut taken) = (table.get(*first)?, 1);
    for step in rest {
        let next = match (value.get_ref(), step) {
            (DeValue::Table(table), PathStep::Key(key)) => table.get(*key),
            (DeValue::Array(items), PathStep::Index(index)) => items.get(*index),
            _ => None,
        };
        let Some(next) = next else { break };
        (value, taken) = (next, taken + 1);
    }
    Some((value, taken))
}

/// The line of a byte position, counted from 1. The position is a character boundary.
pub fn line_at(text: &str, position: usize) -> usize {
    text[..position].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a = { b = [1, { c = 2 }] }\n[d]\ne = \"ä\"\n";

    #[test]
    fn a_number_in_a_path_is_an_index() {
        use PathStep::{Index, Key};
        assert_eq!(path_steps("pair.2.left"), [Key("pair"), Index(2), Key("left")]);
        assert_eq!(path_steps(""), []);
    }

    #[test]
    fn only_the_innermost_value_replaces_a_missing_one() {
        let root = DeTable::parse(TEXT).unwrap();
        let both = |path: &str| {
            let steps = path_steps(path);
            [find(root.get_ref(), &steps), find_innermost(root.get_ref(), &steps)]
                .map(|value| value.map(|value| &TEXT[value.span()]))
        };
        assert_eq!(both("a.b.1.c"), [Some("2"); 2]);
        assert_eq!(both("d.e"), [Some("\"ä\""); 2]);
        assert_eq!(both("a.b.2"), [None, Some("[1, { c = 2 }]")], "a missing index");
        assert_eq!(both("a.b.1.x.y"), [None, Some("{ c = 2 }")], "a missing key");
        assert_eq!(both("a.b.c"), [None, Some("[1, { c = 2 }]")], "a key of an array");
        assert_eq!(both("a.b.0.c"), [None, Some("1")], "a key of a number");
        for path in ["x", "x.y", "0", ""] {
            assert_eq!(both(path), [None; 2], "{path}");
        }
    }

    #[test]
    fn lines_are_counted_from_one() {
        let line = |part: &str| line_at(TEXT, TEXT.find(part).unwrap());
        assert_eq!([line("a ="), line("[d]"), line("\"ä\"")], [1, 2, 3]);
        assert_eq!([line_at("", 0), line_at("\n", 1)], [1, 2]);
    }
}
