//! Finds the bin of a number in constant time.

/// The number line is divided into equal slots, and a prefix sum says how many edges are before
/// each slot. So only the edges of one slot are searched.
///
/// The result is exact despite rounding: a larger number never has a smaller slot. So all edges of
/// earlier slots are at most the number, and all edges of later slots are above it.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    start: f64,
    end: f64,
    slots_per_unit: f64,
    /// The number of edges before each slot; the last entry counts all edges.
    before: Vec<u32>,
    /// All edges, and two NaNs, which no number reaches.
    edges: Vec<f64>,
}

impl Grid {
    pub fn new(edges: &[f64]) -> Self {
        // The outermost edges may be far out; they share the first and the last slot.
        let outer = edges.len() / 32;
        let (Some(&start), Some(&end)) =
            (edges.get(outer), edges.get(edges.len().saturating_sub(outer + 1)))
        else {
            return Self { before: vec![0; 2], edges: vec![f64::NAN; 2], ..Self::default() };
        };
        let slots = 8 * edges.len();
        let slots_per_unit = slots as f64 / (end - start);
        // If the ends are infinite or too close together, there is a single slot.
        let is_divided = slots_per_unit > 0.0 && slots_per_unit.is_finite();
        let (start, end, slots_per_unit) =
            if is_divided { (start, end, slots_per_unit) } else { (0.0, 0.0, 0.0) };
        let mut grid = Self {
            start,
            end,
            slots_per_unit,
            before: vec![0; slots + 2],
            edges: [edges, &[f64::NAN; 2]].concat(),
        };
        for edge in edges {
            let slot = grid.slot(*edge) as usize;
            grid.before[slot + 1] += 1;
        }
        (0..=slots).for_each(|slot| grid.before[slot + 1] += grid.before[slot]);
        grid
    }

    /// The slot of a number. For a NaN the result has no meaning.
    #[inline]
    pub fn slot(&self, number: f64) -> u32 {
        /// Floats from 2^52 to 2^53 have no fraction. So adding 2^52 rounds to an integer, which is
        /// then in the low bits.
        const WHOLE: f64 = (1_u64 << 52) as f64;
        let number = if number < self.start { self.start } else { number };
        let number = if number > self.end { self.end } else { number };
        #[allow(clippy::cast_possible_truncation)] // the slot is in the low bits
        let slot = ((number - self.start) * self.slots_per_unit + WHOLE).to_bits() as u32;
        slot
    }

    /// How many of the edges are at most this number, which is in this slot.
    #[inline]
    pub fn count_edges(&self, slot: u32, number: f64) -> usize {
        let slot = slot as usize;
        let Some(&[from, to]) = self.before.get(slot..slot + 2) else { return 0 };
        let from = from as usize;
        if to as usize - from > 2 {
            return search(&self.edges, from, to as usize, number);
        }
        // At most two edges: comparisons without a branch. Edges of later slots are above the
        // number.
        let Some(&[first, second]) = self.edges.get(from..from + 2) else { return from };
        from + usize::from(first <= number) + usize::from(second <= number)
    }
}

/// How many edges are at most this number, if the result is known to be between `from` and `to`.
#[inline(never)]
fn search(edges: &[f64], from: usize, to: usize, number: f64) -> usize {
    from + edges[from..to].partition_point(|edge| *edge <= number)
}
