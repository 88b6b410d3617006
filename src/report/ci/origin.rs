//! When and from which state of the audited repository a report was made.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::report::git;

/// The variable that fixes the date, as in reproducible builds: seconds since 1970.
const DATE_VARIABLE: &str = "SOURCE_DATE_EPOCH";

/// The origin of a report. Only reports for people contain it, so that the others can be compared
/// byte by byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The date and time in UTC.
    pub date: Option<String>,
    /// The commit of the audited repository, if git knows it.
    pub commit: Option<String>,
}

impl Origin {
    /// The present time, or that of `SOURCE_DATE_EPOCH`, and the commit of the repository that
    /// contains this folder.
    #[must_use]
    pub fn of(folder: &Path) -> Self {
        let fixed = std::env::var(DATE_VARIABLE).ok().and_then(|seconds| seconds.parse().ok());
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|time| time.as_secs());
        Self { date: fixed.or_else(now).map(date), commit: git::commit(folder) }
    }
}

/// Seconds since 1970 as `2026-01-31 23:59 UTC`.
fn date(seconds: u64) -> String {
    let (days, minutes) = (seconds / 86_400, seconds % 86_400 / 60);
    // Days since 1 March of the year 0: leap days are at the end of such years (H. Hinnant,
    // "chrono-compatible low-level date algorithms").
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02} {:02}:{:02} UTC", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        // From `date -u -d @SECONDS`.
        for (seconds, expected) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_399, "2000-02-28 23:59 UTC"),
            (951_868_799, "2000-02-29 23:59 UTC"),
            (951_868_800, "2000-03-01 00:00 UTC"),
            (1_735_689_599, "2024-12-31 23:59 UTC"),
            (1_794_935_940, "2026-11-17 17:19 UTC"),
            (4_107_542_400, "2100-03-01 00:00 UTC"),
        ] {
            assert_eq!(date(seconds), expected);
        }
    }
}
