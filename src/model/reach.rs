//! How much of its claim an audit must see.

use serde::{Deserialize, Serialize};

use super::checked::Share;

/// The reach that an audit asks for: the part of the claim that the attack must be seen to reach on
/// its best pair. Without it, a claim that is not refuted says nothing, because the attack may be
/// blind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenReach")]
pub struct AskedReach {
    at_least: Share,
    because: Option<String>,
}

/// As in an audit file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenReach {
    at_least: Share,
    because: Option<String>,
}

impl AskedReach {
    /// What is asked for unless an audit says otherwise. Less than this needs a reason.
    pub const DEFAULT: f64 = 0.5;

    /// Asks for this part of the claim.
    ///
    /// # Errors
    /// When it is less than the default and no reason is given.
    pub fn new(at_least: Share, because: Option<String>) -> Result<Self, String> {
        let because = because.filter(|reason| !reason.trim().is_empty());
        if at_least.get() < Self::DEFAULT && because.is_none() {
            return Err(format!(
                "is {at_least}, and less than {} needs a reason; add because = \"why the claim is not tight here\"",
                Self::DEFAULT
            ));
        }
        Ok(Self { at_least, because })
    }

    /// The part of the claim, between 0 and 1.
    #[must_use]
    pub fn at_least(&self) -> f64 {
        self.at_least.get()
    }

    /// Why it is not the default.
    #[must_use]
    pub fn because(&self) -> Option<&str> {
        self.because.as_deref()
    }
}

impl Default for AskedReach {
    fn default() -> Self {
        Self { at_least: Share::HALF, because: None }
    }
}

impl TryFrom<WrittenReach> for AskedReach {
    type Error = String;

    fn try_from(written: WrittenReach) -> Result<Self, String> {
        Self::new(written.at_least, written.because)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(at_least: f64, because: Option<&str>) -> Result<AskedReach, String> {
        AskedReach::new(Share::try_from(at_least)?, because.map(str::to_owned))
    }

    #[test]
    fn less_than_the_default_needs_a_reason_that_can_be_read() {
        assert_eq!(AskedReach::default().at_least(), AskedReach::DEFAULT);
        assert!(asked(0.5, None).is_ok() && asked(1.0, None).is_ok());
        assert!(asked(0.3, Some("the proof is conservative")).is_ok());
        for reason in [None, Some(""), Some(" \t")] {
            assert!(asked(0.5_f64.next_down(), reason).unwrap_err().contains("add because"));
        }
    }

    #[test]
    fn it_is_between_0_and_1() {
        for bad in [-0.1, 1.1, f64::NAN] {
            assert!(asked(bad, Some("x")).is_err(), "{bad}");
        }
        assert!(asked(0.0, Some("x")).is_ok());
    }
}
