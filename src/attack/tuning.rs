//! Every tuned constant of the attack: what it means, its unit, and where its value comes from.
//!
//! None of them can break validity, because rules are frozen before they are judged. They decide
//! how much power and time an audit has. Constants of mathematics and of file formats are where
//! they are used. The origins are:
//!
//! - **by trial**: on Laplace noise (ε = 1 and 0.1), on Gaussian noise (exactly (1, 0.01)) and on a
//!   few audits;
//! - **limit**: a limit of time or memory, of which only the order of magnitude matters;
//! - **usual**: a value that is usual for such a procedure;
//! - **no record**: what it was compared with is not written down.
//!
//! `scripts/ablation.py` shows what each learner is worth. A new value is compared with the old one
//! by `dp-audit calibrate --power` and `scripts/known_leaks/share_of_best.py`.

/// What exploration keeps (`explore.rs`).
pub mod explore {
    use std::ops::RangeInclusive;

    /// Rows that are kept for learning, both sides together: an eighth of the exploration, within
    /// these limits. It is the lower limit for outputs with one component, where there is no score
    /// to learn. Later draws are only counted. Origin: limit.
    pub const KEPT: RangeInclusive<u64> = 1 << 18..=1 << 20;

    /// The part of the exploration that is kept, as a divisor. Origin: by trial, no record.
    pub const KEPT_PART: u64 = 8;

    /// The most cells that are kept, so that fewer rows of wide outputs are kept. Origin: limit,
    /// 256 MB.
    pub const KEPT_CELLS: u64 = 1 << 25;

    /// The fewest rows that are kept, however wide they are. Origin: by trial, no record.
    pub const MIN_KEPT: u64 = 1 << 12;

    /// Candidates on which later draws are counted: for each goal, this many plain and this many
    /// learned ones. Origin: limit of time, because every candidate is counted on all later draws.
    pub const MAX_CANDIDATES: usize = 3;
}

/// What people can act on (`clues.rs`).
pub mod clues {
    /// The columns that are looked at by themselves; if there are more, the most significant ones.
    /// Origin: limit of time.
    pub const COLUMNS: usize = 16;

    /// Rows of each side on which columns are counted. Origin: limit of time.
    pub const ROWS: usize = 1 << 16;

    /// The most cells of these rows. Origin: limit, 32 MB.
    pub const CELLS: usize = 1 << 22;

    /// The fewest rows, however wide they are. Origin: by trial, no record.
    pub const FEWEST_ROWS: usize = 1 << 10;

    /// The part of the largest promise from which on a rule is as good for people, so that the one
    /// with the shortest text is taken. Origin: what a reader does not mind.
    pub const NEARLY: f64 = 0.97;

    /// Example outputs. Origin: what a reader looks at.
    pub const EXAMPLES: usize = 3;

    /// The most of them from one side. Origin: what a reader looks at.
    pub const OF_ONE_SIDE: usize = 2;

    /// The most cells of an example. Origin: limit of the size of reports.
    pub const SHOWN_CELLS: usize = 64;
}

/// Shares of α (`role.rs`).
pub mod role {
    /// The share of the fixed sample's α for a steady rule, and for a rule for δ. Origin: by trial,
    /// no record.
    pub const SIDE_SHARE: f64 = 0.1;

    /// The share for a tail rule. Origin: by trial, no record.
    pub const TAIL_SHARE: f64 = 0.4;

    /// The share for groups of outputs, where a claim limits a Rényi divergence. They take the
    /// place of a tail rule. Origin: by trial, no record.
    pub const GROUPS_SHARE: f64 = 0.6;
}

/// The parts of a lesson (`lesson.rs`).
pub mod lesson {
    /// Rows per side for a quick first estimate. Origin: limit of time, because it chooses among
    /// hundreds of pairs and thousands of triples.
    pub const BRIEF: usize = 8192;
}

/// Single components (`learner/coordinate.rs`, `learner/float_bits.rs`).
pub mod coordinate {
    /// The number of components that are tried; if there are more, the most significant ones.
    /// Origin: limit of time.
    pub const MAX_COORDINATES: usize = 3;
}

/// The quick test that chooses among scores (`learner/preselect.rs`).
pub mod preselect {
    /// The most rows per side. Origin: limit of time.
    pub const MAX_ROWS: usize = 1 << 16;

    /// The fewest rows per side, however wide they are. Origin: by trial, no record.
    pub const MIN_ROWS: usize = 1 << 12;

    /// The most cells per side, so that fewer rows of wide outputs are read. Origin: limit of time.
    pub const MAX_CELLS: usize = 1 << 21;

    /// Rows per side from which bins are made. Origin: limit of time.
    pub const BINNED: usize = 1 << 12;
}

/// Naive Bayes (`learner/naive_bayes.rs`).
pub mod naive_bayes {
    /// A gain of log-likelihood below this may be chance; in nats. With one degree of freedom,
    /// chance exceeds it in 1.4 % of all cases. Origin: by trial, no record.
    pub const CHANCE: f64 = 3.0;

    /// A component is left out if its gain is also below this share of the largest gain. The chance
    /// errors of components that say nothing would blur one that says much. Origin: by trial, no
    /// record.
    pub const LITTLE: f64 = 0.01;
}

/// Patterns of symbols (`learner/pattern.rs`).
pub mod pattern {
    /// A pattern with fewer training rows than this has score 0. Origin: by trial, no record.
    pub const MIN_ROWS: usize = 64;
}

/// Lines in the count of a symbol (`learner/trend.rs`).
pub mod trend {
    /// Groups of the smallest number. Origin: by trial, no record.
    pub const GROUPS: usize = 24;

    /// The rows that are examined for the symbol whose count varies most. Origin: limit of time.
    pub const MAX_ROWS: usize = 4096;

    /// How many groups on each side are pooled with a group: its slope is small compared with its
    /// standard error. Origin: by trial, no record.
    pub const REACH: usize = 1;

    /// A trend is fitted again from this many times as many rows as were kept. Origin: by trial, no
    /// record.
    pub const RELEARN: f64 = 2.0;
}

/// Two components (`learner/difference.rs`, `learner/joint.rs`).
pub mod pair {
    /// With more components there are too many pairs to try. Origin: limit of time, 276 pairs.
    pub const MAX_COMPONENTS: usize = 24;

    /// Parts of the first component; each has a table for the second one. Origin: by trial, no
    /// record.
    pub const PARTS: usize = 8;
}

/// Weighted sums (`learner/linear.rs`).
pub mod linear {
    /// More components than this have no linear score. Origin: limit, covariances of 32 MB.
    pub const MAX_COMPONENTS: usize = 2048;

    /// More components than this have no directions of variance. Origin: limit of time;
    /// eigenvectors take the third power.
    pub const MAX_EIGEN: usize = 256;

    /// The fewest rows per side for each component. Origin: by trial, no record.
    pub const ROWS_PER_COMPONENT: usize = 2;

    /// Added to each variance, as a share of it. Noise that cancels leaves rounding errors, which
    /// must not be mistaken for data: they are far below the square root of this. Origin: by trial,
    /// no record.
    pub const RIDGE: f64 = 1e-6;

    /// For heavy tails, the side of the middle on which a number lies says more than its size. So
    /// one discriminant clips each component to this middle part of its numbers. Origin: by trial,
    /// no record.
    pub const MIDDLE: f64 = 0.2;

    /// The same for the sum with one weight for all components: little more than the number of
    /// components above their medians. Origin: by trial, no record.
    pub const TIED_MIDDLE: f64 = 0.02;
}

/// Three components (`learner/tuple.rs`).
pub mod tuple {
    /// With more components there are too many triples to try. Origin: limit of time, 4960 triples.
    pub const MAX_COMPONENTS: usize = 32;

    /// The most parts of a component, and the most symbols with a part of their own. Origin: limit;
    /// three components have 729 combinations at most.
    pub const PARTS: usize = 4;
}

/// What was seen before (`learner/memory.rs`).
pub mod memory {
    /// Values that were seen at most this often have a class for each number of times on both
    /// sides. More frequent ones have bins of their own elsewhere. Origin: twice `bins::REPEATS`,
    /// rounded down to an odd number so that no class is in the middle.
    pub const RARE: usize = 7;

    /// The chi-square statistic of the classes, in standard deviations above its mean, from which
    /// the score is tried. Origin: usual for a test that is made often.
    pub const CONTRAST: f64 = 5.0;

    /// Values repeat if so many standard deviations more of their hashes meet than by chance.
    /// Origin: usual; a false alarm costs time only.
    pub const MEETINGS: f64 = 2.0;

    /// The share of different values from which a column counts as new in every row. Origin: not
    /// tuned; columns of interest have far more or far fewer.
    pub const NEW: f64 = 0.9;

    /// The most values that are remembered. Origin: limit; a witness of about 2 MB.
    pub const MAX_KEYS: usize = 1 << 17;

    /// The most cells that are read for one column. Origin: limit of time.
    pub const MAX_CELLS: usize = 1 << 22;

    /// The scores that are tried. Origin: limit of time.
    pub const MAX_SCORES: usize = 2;
}

/// One-sided places (`learner/cluster.rs`).
pub mod cluster {
    /// One value of the other side cancels this many of the own side. Values without noise have
    /// none of the other side; noise with ε below 2 has more. Origin: e², rounded up.
    pub const ODDS: f64 = 8.0;

    /// How many times wider as many values beside a dense place must be. Origin: not tuned; values
    /// without noise are thousands of times closer together than values with noise.
    pub const DENSE: f64 = 8.0;

    /// How far a dense place reaches beyond its middle half, in widths of this half. For Laplace
    /// noise it has 99.8 % of the values. Origin: theory.
    pub const REACH: f64 = 4.0;

    /// The most places. Origin: limit of time.
    pub const MAX_CLUSTERS: usize = 16;
}

/// Spikes (`learner/spike.rs`).
pub mod spike {
    /// The fewest values of one side. A run of as many tosses of a coin is in one of 1,000 places,
    /// and far fewer are dense. Origin: 2⁻¹⁰.
    pub const LEAST: f64 = 10.0;

    /// The most cells that are read for one component. Origin: limit of time.
    pub const MAX_CELLS: usize = 1 << 22;
}

/// Rare slices (`learner/slice.rs`).
pub mod slice {
    /// With more components there are too many pairs to try. Origin: `pair::MAX_COMPONENTS`.
    pub const MAX_COMPONENTS: usize = 24;

    /// The fewest training rows of a slice. Origin: `bins::MIN_VALUES`.
    pub const SMALLEST: usize = 8;

    /// The largest slice, as a divisor of the training rows. Larger ones have parts of their own in
    /// other scores. Origin: half of a quantile bin.
    pub const LARGEST: usize = 512;

    /// The ratio of the sizes of slices that are tried, as a fraction. Origin: limit of time.
    pub const GROWTH: (usize, usize) = (3, 2);

    /// The fewest values of one side that are a place. Origin: 2⁻³ by chance; the draws that are
    /// counted decide.
    pub const LEAST: f64 = 3.0;

    /// The most cells that are compared for rare values: rows of all values of all components,
    /// times components. The most frequent values are tried if there are more. Origin: limit of
    /// time.
    pub const MAX_COMPARED: usize = 1 << 22;

    /// The slices that are proposed. Origin: limit of time.
    pub const MAX_SCORES: usize = 4;
}

/// Whole numbers modulo small numbers (`learner/residue.rs`).
pub mod residue {
    /// The moduli: the primes up to 7, powers of 2 and of 10. Origin: those that programs use.
    pub const MODULI: [u32; 10] = [2, 3, 4, 5, 7, 8, 10, 16, 64, 100];

    /// The most decimals of numbers that count as whole numbers of their last unit. Origin: usual
    /// in releases.
    pub const MAX_DECIMALS: i32 = 4;

    /// The rows that are examined for decimals. Origin: limit of time.
    pub const EXAMINED: usize = 128;

    /// The most columns that are tried. Origin: limit of time.
    pub const MAX_COLUMNS: usize = 32;

    /// The chi-square statistic, in standard deviations above its mean, from which a residue is
    /// tried. Origin: usual for a test that is made often.
    pub const CONTRAST: f64 = 5.0;

    /// The scores that are tried. Origin: limit of time.
    pub const MAX_SCORES: usize = 2;
}

/// Parities (`learner/parity.rs`).
pub mod parity {
    /// The most bits of which all parities are computed. Origin: limit of time, 20 million
    /// additions.
    pub const MAX_BITS: usize = 20;

    /// The rows per side from which bits are made. Origin: limit of time.
    pub const EXAMINED: usize = 512;

    /// A parity is tried if the sides differ by so many standard errors. Of a million parities of
    /// fair coins, the largest difference exceeds it once in 25,000 times. Origin: theory.
    pub const SIGNIFICANT: f64 = 6.5;

    /// It must also be this part of the largest difference of all bits and pairs. The parities of
    /// independent bits are products, which are far smaller. Origin: not tuned.
    pub const PART: f64 = 0.5;
}

/// Permutations (`learner/order.rs`).
pub mod order {
    /// The most items. Origin: limit of time.
    pub const MAX_ITEMS: usize = 256;

    /// The rows of each side that must have the same items. Origin: limit of time.
    pub const EXAMINED: usize = 512;

    /// The items whose position is a score of its own. Origin: `coordinate::MAX_COORDINATES`.
    pub const MAX_POSITIONS: usize = 3;
}

/// Decision trees (`learner/forest.rs`).
pub mod forest {
    /// The most trees. Origin: limit of time.
    pub const TREES: usize = 96;

    /// Trees that are grown before the rows that are held out show whether more are better.
    /// Origin: usual for boosting.
    pub const AT_A_TIME: usize = 8;

    /// One row of so many is held out. Origin: usual.
    pub const HELD_OUT: usize = 4;

    /// Questions in a row. Witness files have trees of this depth. Origin: usual for boosting.
    pub const DEPTH: usize = 3;

    /// The part of each tree's correction that is applied. Origin: usual for boosting.
    pub const RATE: f64 = 0.3;

    /// Added to the weight of each leaf, so that leaves with few rows say little; in units of a
    /// row's weight, which is ¼ at even odds. Origin: by trial, no record.
    pub const SHRINKAGE: f64 = 20.0;

    /// The most values that are read for a tree: rows times components. Origin: limit of time.
    pub const MAX_VALUES: usize = 1 << 20;

    /// The most rows of each side. Origin: limit of time.
    pub const MAX_ROWS: usize = 1 << 15;

    /// The fewest rows of each side. Origin: by trial, no record.
    pub const MIN_ROWS: usize = 256;
}

/// Bins (`bins/mod.rs`).
pub mod bins {
    /// Quantile bins. The tails have geometric bins in addition. Origin: by trial, no record.
    pub const MIDDLE: usize = 256;

    /// The fewest values in a quantile bin or tail bin. Origin: by trial, no record.
    pub const MIN_VALUES: usize = 8;

    /// Quantile bins for a quick test. Origin: by trial, no record.
    pub const COARSE_MIDDLE: usize = 24;

    /// The fewest values in a bin for a quick test. Origin: by trial, no record.
    pub const COARSE_VALUES: usize = 32;

    /// A number or symbol that occurs this often in the sample is an atom. Origin: by trial, no
    /// record.
    pub const REPEATS: usize = 4;

    /// If at most this many numbers or symbols occur twice or more, rare atoms are these: noise
    /// with a density never repeats, so a value that does is an event of its own. Origin: by trial,
    /// no record.
    pub const FEW_REPEATED: usize = 64;

    /// The most atoms, and the most symbols, that have their own bin; if there are more, the most
    /// frequent ones. Origin: limit of memory.
    pub const MAX_ATOMS: usize = 1 << 15;

    /// Fewer numeric bins than this have no tail that a curve could predict. Origin: by trial, no
    /// record.
    pub const MIN_CURVE: usize = 9;
}

/// Components with the same distribution (`fit/alike.rs`).
pub mod alike {
    /// Components differ if the chi-square statistic is so many standard deviations above its mean.
    /// Origin: usual.
    pub const DIFFERENT: f64 = 3.0;

    /// The most cells of both sides together that are read. Origin: limit of time.
    pub const MAX_CELLS: usize = 1 << 22;

    /// Rows of each side from which bins are made. Origin: limit of time.
    pub const BINNED: usize = 512;

    /// The most components. Origin: limit of time and memory.
    pub const MAX_COMPONENTS: usize = 256;
}

/// Curves of log-odds and orders of bins (`fit/`).
pub mod fit {
    /// Knots of a curve, evenly spaced on the scale of normal scores. Origin: by trial, no record.
    pub const KNOTS: usize = 11;

    /// The normal scores of the outermost knots, plus and minus. Of normal numbers, 6 of 100,000
    /// are farther out. Origin: by trial, no record.
    pub const REACH: f64 = 4.0;

    /// The weights of the penalty on second differences, the looser curve first. Origin: by trial,
    /// no record.
    pub const STIFFNESS: [f64; 2] = [30.0, 300.0];

    /// The weight of the ridge penalty that makes a curve unique, in hits. Origin: by trial, no
    /// record.
    pub const CURVE_RIDGE: f64 = 1e-3;

    /// The weight of the ridge penalty on a straight line, in hits. Origin: by trial, no record.
    pub const LINE_RIDGE: f64 = 1.0;

    /// For a straight line, positions farther out than this many times the width of the middle half
    /// are moved in. Origin: by trial, no record.
    pub const FAR: f64 = 1e3;

    /// Groups of neighbouring bins that are ranked by their own ratio. Origin: by trial, no record.
    pub const RANKED: [usize; 3] = [12, 48, 256];

    /// The fewest hits of such a group. Origin: `bins::MIN_VALUES`.
    pub const RANKED_HITS: f64 = 8.0;

    /// Additional standard errors of pessimism for an order with one free parameter per bin. It
    /// must be clearly better than others. Origin: by trial.
    pub const RANKED_CAUTION: f64 = 2.0;

    /// The same for a monotone order, for the δ bound only, where hits are few. Origin: by trial,
    /// no record.
    pub const MONOTONE_CAUTION: f64 = 1.0;

    /// About this many cells of each side are used to make the bins of a table; all cells are
    /// counted. Origin: limit of time.
    pub const BINNED: usize = 1 << 15;

    /// Levels that the ratios of a table are rounded to, so that it is faster to look up. It stays
    /// nearly as informative. Origin: by trial, no record.
    pub const LEVELS: i32 = 64;
}

/// Which candidates are tried (`rule/gain.rs`, `rule/score_bins.rs`).
pub mod gain {
    /// How many times larger the gain of a late score must be. Origin: by trial, no record.
    pub const CLEARLY: f64 = 1.02;

    /// The gain of log-likelihood of all draws that may be chance; in nats. Origin: by trial, no
    /// record.
    pub const CHANCE: f64 = 6.0;

    /// The standard errors by which a late score must exceed the claim to be tried although it
    /// predicts no better, and how many times as many as the best other score. Origin: the usual
    /// level of a discovery; not tuned.
    pub const REFUTES: (f64, f64) = (5.0, 1.5);

    /// A bin counts as evidence against the claim if its hits in the other folds exceed it by so
    /// many standard errors. Origin: usual.
    pub const EXCEEDS: f64 = 2.0;

    /// The share of draws on which a score of the whole row may meet a row without a bin of its own
    /// and still count as distinguishing all of them. Origin: by trial, no record.
    pub const UNKNOWN: f64 = 1e-3;
}

/// How rules are selected (`rule/select.rs`, `rule/goal.rs`, `rule/ordered.rs`).
pub mod select {
    /// Folds of the cross-validation. Origin: usual.
    pub const FOLDS: usize = 4;

    /// Degrees of pessimism, in standard errors, with which a procedure chooses its cuts for the ε
    /// bound. Origin: by trial.
    pub const PESSIMISM: [f64; 3] = [2.0, 4.0, 8.0];

    /// The same for the δ bound, the most pessimistic first, which wins where they agree. A rare
    /// event that only one side shows has few hits, and it costs little to be wrong about it.
    /// Origin: by trial, no record.
    pub const DELTA_PESSIMISM: [f64; 3] = [4.0, 1.5, 0.5];

    /// The pessimism, in standard errors, with which procedures for the ε bound are compared.
    /// Origin: by trial; 8 for rules with one answer changed bounds in both directions (DESIGN.md).
    pub const COMPARISON: f64 = 5.0;

    /// A log-ratio is in the right order already. Only the cuts are left to choose, so this factor
    /// of the pessimism is enough for the ε bound. Origin: by trial.
    pub const RATIO: f64 = 0.7;

    /// The standard errors of the counts that a rule for the δ bound is discounted by when it is
    /// compared with those on other scores. Where most outputs are exactly at the claim, the
    /// luckiest cut through all of them promises more than a leak in few draws. Origin: theory; a
    /// promise is lucky by as much in one of six cases.
    pub const LUCK: f64 = 1.0;

    /// How many times more pessimistic the choice of a steady rule is. Origin: by trial, no record.
    pub const STEADY: f64 = 6.0;

    /// By how much, as a share, a later order must be better. Origin: by trial, no record.
    pub const BETTER: f64 = 1e-3;

    /// Up to this many places, a cut is tried at all of them; otherwise at about this many. Origin:
    /// limit of time.
    pub const CUTS: usize = 48;

    /// For the δ bound, cuts are also tried at this many bins of each end. Origin: by trial, no
    /// record.
    pub const CUTS_AT_ENDS: usize = 4;

    /// The most rounds in which both cuts are improved in turn. Origin: by trial, no record.
    pub const ROUNDS: usize = 4;
}

/// Rules for tails (`rule/tail.rs`, `explore.rs`).
pub mod tail {
    /// The log-likelihood that a more flexible curve must gain; in nats. With one degree of
    /// freedom, chance exceeds it in 1.4 % of all cases. Origin: by trial, no record.
    pub const GAIN: f64 = 3.0;

    /// Log-odds this many standard errors below the promise contradict it. Origin: usual.
    pub const CONTRADICTED: f64 = 3.0;

    /// How many times larger than that of the main rule the expected bound must be. Origin: by
    /// trial, no record.
    pub const CLEARLY: f64 = 1.02;

    /// The part of the best gain of log-likelihood that a score must have. Origin: by trial, no
    /// record.
    pub const NEARLY: f64 = 0.9;

    /// Standard errors more than the limits use, because the promise itself is an estimate. Origin:
    /// by trial, no record.
    pub const MORE_CAUTION: f64 = 1.0;
}

/// Groups of outputs for a Rényi divergence (`rule/moment.rs`).
pub mod moment {
    /// The most groups. Origin: limit of time, because every group is a rule that must be judged;
    /// more groups show hardly more.
    pub const GROUPS: usize = 16;

    /// Log-ratios beyond plus or minus these are one group each. Origin: by trial, no record.
    pub const ENDS: [f64; 6] = [0.5, 1.0, 1.5, 2.0, 3.0, 4.0];
}

/// Columns that cannot be read (`unread.rs`).
pub mod unread {
    use std::ops::RangeInclusive;

    /// The most rows per side that are examined. Origin: limit of time.
    pub const ROWS: usize = 1 << 15;

    /// Integers of these sizes may be identifiers or hashes, whose order means nothing. Smaller ones
    /// are usually counts; larger ones are usually doubles without room for a fraction. Origin:
    /// from 32-bit to 64-bit words.
    pub const LARGE: RangeInclusive<f64> = 4_294_967_296.0..=18_446_744_073_709_551_616.0;

    /// A value that occurs so often is read. Origin: as many as a bin needs.
    pub const OFTEN: usize = super::bins::MIN_VALUES;

    /// The share of new values among those that are not read. If values are drawn from as many as
    /// there are rows, it is about 0.4. Origin: between 0.4 and 1.
    pub const NEW: f64 = 0.9;

    /// Fewer values than one in this many rows are too few to hold a leak that is searched for
    /// elsewhere. Origin: as rare as the slices that the attack looks for.
    pub const RARE: usize = 1000;

    /// The fewest values that show whether they repeat. Origin: by chance, 32 of 1,000 equally
    /// likely values repeat in 39 % of all cases.
    pub const FEWEST: usize = 32;

    /// From this gain of log-likelihood on, the order of numbers tells the sides apart; in nats.
    /// Chance exceeds it once in 10^5 columns. Origin: usual.
    pub const PATTERN: f64 = 10.0;
}

/// Predictions that are bet on (`predict/`). They decide how few draws refute a broken claim.
pub mod predict {
    /// The penalty of a weight, as so much information about it. Origin: by trial;
    /// 1 to 4 make little difference.
    pub const RIDGE: f64 = 2.0;

    /// The penalty of the constant. Origin: usual, small.
    pub const FREE_INTERCEPT: f64 = 0.1;

    /// Newton's steps at a time. Origin: limit of time.
    pub const STEPS: usize = 5;

    /// A prediction `p` after `n` draws becomes `(p·n + DOUBT)/(n + DOUBTED_DRAWS)`. Origin: as if
    /// three more draws had been seen, half of them on either side.
    pub const DOUBT: f64 = 1.5;

    /// See there.
    pub const DOUBTED_DRAWS: f64 = 3.0;

    /// The most columns of numbers with a weight each. Origin: limit of time.
    pub const COLUMNS: usize = 12;

    /// The most columns with two weights each. Origin: limit of time.
    pub const FEW_COLUMNS: usize = 4;

    /// Where lines end, in median deviations. Origin: factors of two around one.
    pub const CLIPS: [f64; 3] = [0.5, 1.0, 2.0];

    /// The parts of equal mass between steps. Origin: usual.
    pub const QUANTILES: usize = 16;

    /// The draws from which on steps are fitted. Origin: a few draws for each step.
    pub const STEPS_FROM: usize = 64;

    /// Up to this many draws, predictors learn after every block. Origin: limit of time.
    pub const EAGER_DRAWS: u64 = 1024;

    /// Later they learn again when there are so many times more draws. Origin: limit of time.
    pub const MORE: f64 = 1.2;

    /// The outputs for which stakes are chosen. Origin: limit of time.
    pub const SAMPLE: usize = 256;

    /// The draws that predictors learn from. Origin: limit of time.
    pub const LEARN_DRAWS: u64 = 1 << 13;

    /// The cells that predictors learn from. Origin: limit of time.
    pub const LEARN_CELLS: u64 = 1 << 18;

    /// The draws that are bet on. Origin: limit of time.
    pub const BET_DRAWS: u64 = 1 << 16;

    /// The cells that are bet on. Origin: limit of time.
    pub const BET_CELLS: u64 = 1 << 20;
}
