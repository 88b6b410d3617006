//! How draws are divided into blocks. Each block is one request with its own seed.
//!
//! The division depends only on the number of draws before a block, never on the speed of the
//! program or on the number of processes. So the same seed gives the same draws on any machine. A
//! slow program makes few draws, and the first blocks are small: they end soon, and all processes
//! have work. A fast program soon gets large blocks, so that requests cost little.

/// Outputs per block. With more, a slow program is silent for too long.
const MAX_OUTPUTS: u64 = 16_384;
/// Cells per block, so that wide outputs do not fill the memory.
const MAX_CELLS: usize = 1 << 18;
/// Until then, a block is at most this part of the draws before it.
const PART: u64 = 32;
/// From this position on, blocks grow faster than the position: only fast programs come here.
const MANY_DRAWS: u64 = 16_384;

/// Consecutive draws of one call that one process makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its number in the call, from which its seed is derived.
    pub part: u64,
    /// The draws of the call before it.
    pub first: usize,
    /// Its draws.
    pub count: usize,
}

/// The blocks of `count` draws that come after `before` others of their side and phase. Outputs
/// have `width` cells.
#[must_use]
pub fn blocks(before: u64, count: usize, width: usize) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut first = 0;
    while first < count {
        let (position, left) = (before + first as u64, count - first);
        let mut size = usize::try_from(size(position)).unwrap_or(usize::MAX);
        // The last blocks of a call are smaller, so that all processes finish at about the same
        // time.
        if position < MANY_DRAWS {
            size = size.min((left / 16).max(size / 8).max(4));
        }
        let block = Block {
            part: blocks.len() as u64,
            first,
            count: size.min(MAX_CELLS / width).max(1).min(left),
        };
        blocks.push(block);
        first += block.count;
    }
    blocks
}

/// The size of a block after `position` draws.
fn size(position: u64) -> u64 {
    match position {
        // The first draws are made one by one: a single one may take seconds.
        0..256 => (position / 16).clamp(1, 8),
        256..MANY_DRAWS => position / PART,
        // The product does not overflow, because the size is limited long before.
        _ => {
            let times = position.min(16 * MANY_DRAWS) as f64 / MANY_DRAWS as f64;
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            // between 512 and 131,072
            let size = ((MANY_DRAWS / PART) as f64 * times * times) as u64;
            size.min(MAX_OUTPUTS)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_draw_is_in_one_block() {
        for (before, count, width) in [
            (0, 0, 1),
            (0, 1, 1),
            (0, 40_000, 3),
            (100, 65_536, 1),
            (1 << 40, 65_536, 1),
            (5, 100, 100_000),
        ] {
            let blocks = blocks(before, count, width);
            let mut next = 0;
            for (block, part) in blocks.iter().zip(0..) {
                assert_eq!((block.part, block.first), (part, next));
                assert!(
                    block.count > 0
                        && block.count * width <= MAX_CELLS
                        && block.count as u64 <= MAX_OUTPUTS
                );
                next += block.count;
            }
            assert_eq!(next, count);
        }
    }

    #[test]
    fn blocks_grow_and_stay_a_small_part_of_what_came_before() {
        assert_eq!(
            [0, 31, 32, 128, 287, 288, 16_383, 16_384, 1 << 50].map(size),
            [1, 1, 2, 8, 8, 9, 511, 512, MAX_OUTPUTS]
        );
        assert!((0..300_000).all(|position| size(position) <= size(position + 1)));
        assert!((256..MANY_DRAWS).all(|position| size(position) <= position / PART));
    }

    #[test]
    fn the_last_blocks_of_a_call_are_small() {
        let sizes: Vec<usize> = blocks(8192, 4000, 1).iter().map(|block| block.count).collect();
        assert_eq!(sizes.iter().max(), Some(&250));
        assert!(sizes[sizes.len() - 8..].iter().all(|size| *size <= 48), "{sizes:?}");
    }

    #[test]
    fn requests_are_few() {
        // Every request costs time and a seed. Workers whose seeds have 32 bits must rarely get one
        // twice.
        assert!(blocks(0, 1 << 20, 1).len() < 350, "{}", blocks(0, 1 << 20, 1).len());
    }
}
