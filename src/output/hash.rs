//! The hash function of symbols, seeds and fingerprints. It is the same on every platform.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A small 64-bit hash with good diffusion (multiply, rotate, finish as `SplitMix64` does), the
/// same on every platform.
#[derive(Clone, Copy, Debug)]
pub struct Mix(u64);

impl Mix {
    /// The empty hash.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    /// The hash with one more word.
    #[inline]
    #[must_use]
    pub const fn word(self, word: u64) -> Self {
        Self(
            (self.0 ^ word)
                .wrapping_mul(0xff51_afd7_ed55_8ccd)
                .rotate_left(29)
                .wrapping_add(0x52dc_e729),
        )
    }

    /// The hash with one more text; the length of the text is hashed too.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        text.bytes().fold(self.word(text.len() as u64), |mix, byte| mix.word(u64::from(byte)))
    }

    /// The finished hash.
    #[inline]
    #[must_use]
    pub const fn end(self) -> u64 {
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl Default for Mix {
    fn default() -> Self {
        Self::new()
    }
}

/// A fingerprint of several texts: 128 bits in hexadecimal.
#[must_use]
pub fn fingerprint(parts: &[&str]) -> String {
    let half = |salt| parts.iter().fold(Mix::new().word(salt), |mix, part| mix.text(part)).end();
    format!("{:016x}{:016x}", half(3), half(4))
}

/// A map from keys of cells. Keys are well mixed or need to be mixed only once, so the hash is
/// cheaper than the standard one, which resists attacks.
pub type KeyMap<V> = HashMap<u64, V, BuildHasherDefault<KeyHasher>>;

/// The hasher of a [`KeyMap`].
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    #[inline]
    fn write_u64(&mut self, key: u64) {
        self.0 = Mix(self.0).word(key).end();
    }
}
