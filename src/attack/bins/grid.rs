//! Which bin a number falls into, found in constant time.

/// Finds edges without searching through all of them: the number line in equal slots, and how many edges come before each.
///
/// Exact whatever the rounding: the slot of a number does not fall as the number grows, so edges of earlier slots are passed and edges of later ones are not.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    start: f64,
    end: f64,
    slots_per_unit: f64,
    /// Edges before each slot, and in the end all of them.
    before: Vec<u32>,
    /// All edges, and two that nothing passes.
    edges: Vec<f64>,
}

impl Grid {
    pub fn new(edges: &[f64]) -> Self {
        // The outermost edges may lie far out; they share the first and the last slot.
        let outer = edges.len() / 32;
        let (Some(&start), Some(&end)) = (edges.get(outer), edges.get(edges.len().saturating_sub(outer + 1))) else {
            return Self { before: vec![0; 2], edges: vec![f64::NAN; 2], ..Self::default() };
        };
        let slots = 8 * edges.len();
        let slots_per_unit = slots as f64 / (end - start);
        // Infinite ends, and ends too close to be divided, leave a single slot.
        let divided = slots_per_unit > 0.0 && slots_per_unit.is_finite();
        let (start, end, slots_per_unit) = if divided { (start, end, slots_per_unit) } else { (0.0, 0.0, 0.0) };
        let mut grid = Self { start, end, slots_per_unit, before: vec![0; slots + 2], edges: [edges, &[f64::NAN; 2]].concat() };
        for edge in edges {
            let slot = grid.slot(*edge) as usize;
            grid.before[slot + 1] += 1;
        }
        (0..=slots).for_each(|slot| grid.before[slot + 1] += grid.before[slot]);
        grid
    }

    /// The slot of a number; of what is none, nothing to rely on.
    #[inline]
    pub fn slot(&self, number: f64) -> u32 {
        /// Numbers from here to its double have no fraction: adding it rounds, and what was added stands in the low bits.
        const WHOLE: f64 = (1_u64 << 52) as f64;
        let number = if number < self.start { self.start } else { number };
        let number = if number > self.end { self.end } else { number };
        #[allow(clippy::cast_possible_truncation)] // the low bits are meant
        let slot = ((number - self.start) * self.slots_per_unit + WHOLE).to_bits() as u32;
        slot
    }

    /// How many of the edges are at most this number of this slot.
    #[inline]
    pub fn passed(&self, slot: u32, number: f64) -> usize {
        let slot = slot as usize;
        let Some(&[from, to]) = self.before.get(slot..slot + 2) else { return 0 };
        let from = from as usize;
        if to as usize - from > 2 {
            return search(&self.edges, from, to as usize, number);
        }
        // Two edges at most: comparisons that need no branch. Edges in later slots are not passed.
        let Some(&[first, second]) = self.edges.get(from..from + 2) else { return from };
        from + usize::from(first <= number) + usize::from(second <= number)
    }
}

/// How many edges are at most this number, known to be between `from` and `to`.
#[inline(never)]
fn search(edges: &[f64], from: usize, to: usize, number: f64) -> usize {
    from + edges[from..to].partition_point(|edge| *edge <= number)
}
