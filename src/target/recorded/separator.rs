//! What separates the cells of a row, and what a comma in a number means.

use std::fmt;

/// What separates the cells of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Separator {
    /// `1.5,2`
    Comma,
    /// `1.5;2` or, with decimal commas, `1,5;2`
    Semicolon,
    /// The same with tabs
    Tab,
}

impl Separator {
    /// The character.
    #[must_use]
    pub fn character(self) -> char {
        match self {
            Self::Comma => ',',
            Self::Semicolon => ';',
            Self::Tab => '\t',
        }
    }

    /// What the first rows of a file show. Semicolons and tabs separate cells if there are no
    /// commas, or if every row has them and all commas are between digits.
    pub fn detect<'a>(rows: impl Iterator<Item = &'a str>) -> Self {
        let rows: Vec<String> = rows.filter(|row| !is_json(row)).map(without_quoted).collect();
        let separates = |separator: &Self| {
            let has = |row: &String| row.trim().contains(separator.character());
            let commas_are_decimal = |row: &String| {
                row.split(separator.character())
                    .all(|cell| !cell.contains(',') || with_comma(cell.trim()).is_some())
            };
            rows.iter().any(has)
                && (rows.iter().all(|row| !row.contains(','))
                    || rows.iter().all(|row| has(row) && commas_are_decimal(row)))
        };
        [Self::Tab, Self::Semicolon].into_iter().find(separates).unwrap_or(Self::Comma)
    }
}

impl fmt::Display for Separator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Comma => "commas",
            Self::Semicolon => "semicolons",
            Self::Tab => "tabs",
        })
    }
}

/// The row with `q` for everything between quotation marks.
fn without_quoted(row: &str) -> String {
    row.split('"').step_by(2).collect::<Vec<_>>().join("q")
}

/// Whether the whole row is a JSON object or array.
pub fn is_json(row: &str) -> bool {
    row.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(row).is_ok()
}

/// A number. Where commas do not separate cells, they may be part of it.
pub fn parse_number(text: &str, separator: Separator) -> Option<f64> {
    let plain = |text: &str| {
        text.parse()
            .ok()
            .or_else(|| if separator == Separator::Comma { None } else { with_comma(text) })
    };
    plain(text).or_else(|| plain(&without_groups(text)?))
}

/// The number without what separates its groups of three digits: an apostrophe or a narrow space.
/// None if there is none.
fn without_groups(text: &str) -> Option<String> {
    const MARKS: [char; 4] = ['\'', '’', '\u{a0}', '\u{202f}'];
    let three_digits =
        |group: &str| group.len() >= 3 && group.bytes().take(3).all(|byte| byte.is_ascii_digit());
    let ends = |group: &str| group[3..].is_empty() || group[3..].starts_with(['.', ',']);
    let mut groups = text.split(MARKS);
    let first = groups.next()?;
    let rest: Vec<&str> = groups.collect();
    let (last, others) = rest.split_last()?;
    let is_number =
        first.ends_with(|c: char| c.is_ascii_digit()) && three_digits(last) && ends(last);
    (is_number && others.iter().all(|group| three_digits(group) && group.len() == 3))
        .then(|| text.replace(MARKS, ""))
}

/// A number with commas: `1,5` and `1.234,5` have a decimal comma; in `1,234.5` and `1,234,567`
/// commas separate groups.
fn with_comma(text: &str) -> Option<f64> {
    let is_grouped = |text: &str, mark: char| {
        text.split(mark)
            .skip(1)
            .all(|group| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let (first, last) = (text.split_once(',')?, text.rsplit_once(',')?);
    let (before_dot, fraction) = text.split_once('.').unwrap_or((text, ""));
    if first == last && !first.1.contains('.') {
        return if is_grouped(first.0, '.') {
            format!("{}.{}", first.0.replace('.', ""), first.1).parse().ok()
        } else {
            None
        };
    }
    if !fraction.contains(',') && is_grouped(before_dot, ',') {
        text.replace(',', "").parse().ok()
    } else {
        None
    }
}

/// The first of these rows that shows that commas, which separate cells, are decimal commas: all
/// rows are two whole numbers, perhaps with a unit, and the second one begins with a zero (`3,05
/// kg`), or the first row is a single name. Without such a sign they may be two cells.
pub fn decimal_commas<'a>(rows: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let rows: Vec<&str> = rows.map(str::trim).collect();
    let is_number = |row: &&&str| parts(row).is_some();
    let names = rows.first().filter(|row| !is_number(row));
    if names.is_some_and(|names| names.contains(',')) {
        return None;
    }
    let rows = &rows[usize::from(names.is_some())..];
    let is_padded = |row: &&&str| {
        parts(row).is_some_and(|(_, fraction)| fraction.len() > 1 && fraction.starts_with('0'))
    };
    let sign = if names.is_some() { rows.first() } else { rows.iter().find(is_padded) };
    sign.copied().filter(|_| rows.iter().all(|row| is_number(&row)))
}

/// The parts of a row such as `-3,05` or `€ 12’003,05`, without the unit.
fn parts(row: &str) -> Option<(String, &str)> {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_unit = |c: char| !c.is_ascii_digit() && !",;\"\t".contains(c);
    let (whole, fraction) = row.split_once(',')?;
    let whole = whole.trim_start_matches(is_unit);
    let whole = without_groups(whole).unwrap_or_else(|| whole.to_owned());
    let unit = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
    let fraction = &fraction[..fraction.len() - unit.len()];
    (is_digits(&whole) && is_digits(fraction) && unit.chars().all(is_unit))
        .then_some((whole, fraction))
}

/// A text with `#` for each number, with its sign and all marks in it. Texts of one shape say the
/// same thing about different numbers.
pub fn number_shape(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_digit() || "+-−.,'’\u{a0}\u{202f}".contains(c);
    let mut shape = String::new();
    for part in text.split_inclusive(|c| !is_part(c)) {
        let end = part.find(|c| !is_part(c)).unwrap_or(part.len());
        let (number, rest) = part.split_at(end);
        shape.push_str(if number.contains(|c: char| c.is_ascii_digit()) { "#" } else { number });
        shape.push_str(rest);
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_digits_may_have_marks() {
        for (text, number) in [
            ("16'059.12", 16_059.12),
            ("-1\u{202f}234\u{202f}567", -1_234_567.0),
            ("12’003", 12_003.0),
        ] {
            assert_eq!(parse_number(text, Separator::Comma), Some(number), "{text}");
        }
        assert_eq!(parse_number("16\u{a0}059,12", Separator::Tab), Some(16_059.12));
        for text in ["1'2", "1'2345", "'123", "it's", "1'23é", "1'234'5", "1'é23"] {
            assert_eq!(parse_number(text, Separator::Comma), None, "{text}");
        }
    }

    #[test]
    fn shapes_are_texts_without_their_numbers() {
        for (text, shape) in [
            ("2.371kg", "#kg"),
            ("-1'606.5 kg", "# kg"),
            ("a-b", "a-b"),
            ("", ""),
            ("€5", "€#"),
            ("1 of 2", "# of #"),
        ] {
            assert_eq!(number_shape(text), shape, "{text}");
        }
    }

    #[test]
    fn decimal_commas_in_a_single_column_are_noticed() {
        let found = |text: &'static str| decimal_commas(text.lines());
        assert_eq!(found("1,25\n-3,05\n7,5"), Some("-3,05"));
        assert_eq!(found("y\n1,5\n2,7"), Some("1,5"));
        assert_eq!(found("€1,25\n€12'003,05"), Some("€12'003,05"));
        assert_eq!(found("1,25 kg\n3,05 kg"), Some("3,05 kg"));
        for two_cells in [
            "1,25\n3,5",
            "1,05\n2,5,7",
            "1,05\n2",
            "y,n\n1,05\n",
            "1,05\n1.5,2",
            "1,-05",
            "1,05 m2",
            "a,05",
            "",
            "y",
            "1,0",
        ] {
            assert_eq!(found(two_cells), None, "{two_cells}");
        }
    }
}
