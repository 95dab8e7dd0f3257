//! Entries: everything that ran with the same name, place, shapes and dtypes, counted together.
//!
//! A call is described by a slice of words, its key: [`HEAD`] words that say what and where, then each array as one
//! [`ArrayWord`] and its dims. The key is looked up by hash and compared whole, so that a collision costs time and
//! never mixes two calls. Most programs repeat themselves, so the key that followed last time is tried first.

use std::collections::{BTreeMap, BTreeSet};

/// Words before the first array: name and thread, code, instruction, library code.
pub(crate) const HEAD: usize = 4;
/// Distinct shapes at one place before dims are rounded; more where a program of PyTorch's or CuPy's has one array, as in
/// copies, whose bytes are to be exact.
const EXACT_SHAPES: u32 = 32;
const EXACT_SINGLE: u32 = 1024;
/// A dim of so many of the first shapes is not rounded: a width, say, where lengths vary.
const OFTEN: u32 = 4;
/// Distinct shapes beyond these, and the bits after the leading one that dims are rounded to then.
const ROUNDED: [(u32, u32); 2] = [(128, 3), (512, 2)];
const EMPTY: u32 = u32::MAX;

/// What came in or out, as one word of a key: dtype, number of dims, role, layout, bytes of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArrayWord {
    /// NumPy's type number (`NPY_DOUBLE` is 12).
    pub(crate) type_num: u8,
    /// Dims that follow.
    pub(crate) ndim: u8,
    /// A result, not an input.
    pub(crate) output: bool,
    /// Rows (C order) are contiguous.
    pub(crate) c_contiguous: bool,
    /// Columns (Fortran order) are contiguous.
    pub(crate) f_contiguous: bool,
    /// Channels are contiguous, then columns, then rows.
    pub(crate) channels_last: bool,
    /// The elements of the last axis lie together, with gaps between its rows or these in another order.
    pub(crate) rows: bool,
    /// How many of the first axes repeat the same memory.
    pub(crate) repeated: u8,
    /// Bytes of one element.
    pub(crate) itemsize: u32,
}

impl ArrayWord {
    /// As stored.
    pub(crate) const fn pack(self) -> u64 {
        self.type_num as u64
            | (self.ndim as u64) << 8
            | (self.output as u64) << 16
            | (self.c_contiguous as u64) << 17
            | (self.f_contiguous as u64) << 18
            | (self.channels_last as u64) << 19
            | (self.rows as u64) << 20
            | (self.repeated as u64 & 31) << 21
            | (self.itemsize as u64) << 32
    }

    /// As packed.
    pub(crate) const fn unpack(word: u64) -> Self {
        Self {
            type_num: word as u8,
            ndim: (word >> 8) as u8,
            output: word >> 16 & 1 == 1,
            c_contiguous: word >> 17 & 1 == 1,
            f_contiguous: word >> 18 & 1 == 1,
            channels_last: word >> 19 & 1 == 1,
            rows: word >> 20 & 1 == 1,
            repeated: (word >> 21 & 31) as u8,
            itemsize: (word >> 32) as u32,
        }
    }
}

/// The arrays of a key, each with its dims.
pub(crate) fn arrays(mut words: &[u64]) -> impl Iterator<Item = (ArrayWord, &[u64])> {
    std::iter::from_fn(move || {
        let (&first, rest) = words.split_first()?;
        let array = ArrayWord::unpack(first);
        let (dims, rest) = rest.split_at_checked(array.ndim.into())?;
        words = rest;
        Some((array, dims))
    })
}

/// One entry, in ticks of the recorder's clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    /// Index of the name.
    pub(crate) name: u32,
    /// Index of the site.
    pub(crate) site: u32,
    /// Index of the thread.
    pub(crate) thread: u32,
    /// `axis`, where the call gave one.
    pub(crate) axis: Option<i32>,
    /// Index of the context, of ops on tensors.
    pub(crate) context: Option<u32>,
    /// A data loader made the calls; of ops on tensors the context tells.
    pub(crate) loading: bool,
    /// The result is a scalar.
    pub(crate) scalar_result: bool,
    /// The result has memory of its own, though it could have been a view.
    pub(crate) copied: bool,
    /// Device and stream, where the program itself chose them; 0 for the host.
    pub(crate) tag: u8,
    /// Its arrays, as in a key.
    pub(crate) arrays: Box<[u64]>,
    /// Shapes are rounded.
    pub(crate) rounded: bool,
    /// How often it ran.
    pub(crate) count: u64,
    /// How often it was timed.
    pub(crate) timed: u64,
    /// Time in it when it was timed, children excluded.
    pub(crate) own_ticks: u64,
    /// Time between the op before and this one, when it was timed.
    pub(crate) gap_ticks: u64,
    /// What it takes but for outliers.
    pub(crate) typical: Typical,
    /// See `breakeven::workload::Entry::host_input_bytes`.
    pub(crate) host_input_bytes: u64,
    /// See `breakeven::workload::Entry::host_input_count`.
    pub(crate) host_input_count: u64,
}

/// Sums and counts of times below [`Typical::LONGEST`]: the first run of a loop and what the system did in between are
/// no guide to the runs that were not timed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Typical {
    pub(crate) own: u64,
    pub(crate) owns: u64,
    pub(crate) gap: u64,
    pub(crate) gaps: u64,
}

impl Typical {
    /// About 5 µs.
    const LONGEST: u64 = if cfg!(target_arch = "x86_64") { 15_000 } else { 5_000 };
    /// About 2 µs: the clock costs one hundredth of that.
    const TINY: u64 = if cfg!(target_arch = "x86_64") { 6_000 } else { 2_000 };
    /// Runs after which the time of one is known.
    const ENOUGH: u64 = 32;

    #[inline]
    fn add(&mut self, own: u64, gap: u64) {
        if own < Self::LONGEST {
            (self.own, self.owns) = (self.own + own, self.owns + 1);
        }
        // A gap of 0 is one that was not timed.
        if gap < Self::LONGEST && gap > 0 {
            (self.gap, self.gaps) = (self.gap + gap, self.gaps + 1);
        }
    }
}

impl Entry {
    /// It ran once and took so many ticks; 0 where that was not timed.
    #[inline]
    pub(crate) fn ran(&mut self, own: u64, gap: u64) {
        self.count += 1;
        self.timed += u64::from(own > 0);
        self.own_ticks += own;
        self.gap_ticks += gap;
        if own > 0 {
            self.typical.add(own, gap);
        }
    }

    /// Whether it is known to take so little that not every run need be timed.
    #[inline]
    pub(crate) fn is_tiny(&self) -> bool {
        let Typical { own, owns, gap, gaps } = self.typical;
        // Gaps after untimed calls are not known, so there may be none.
        owns >= Typical::ENOUGH && owns > self.timed / 2 && own / owns + gap / gaps.max(1) < Typical::TINY
    }
}

/// A key as stored: its words are `words[start..start + len]`.
#[derive(Clone, Copy, Debug)]
struct Key {
    hash: u64,
    start: u32,
    len: u32,
    entry: u32,
    /// The key that came after this one last time.
    next: u32,
}

/// All entries of a process. See the module.
#[derive(Debug, Default)]
pub(crate) struct Table {
    entries: Vec<Entry>,
    keys: Vec<Key>,
    words: Vec<u64>,
    /// Open addressing over `keys`, a power of two long.
    slots: Vec<u32>,
    last: u32,
    /// Entries by first word, site and arrays.
    same: BTreeMap<Box<[u64]>, u32>,
    /// Distinct keys by their head.
    shapes_at: BTreeMap<Box<[u64]>, Shapes>,
}

/// The distinct shapes of one place.
#[derive(Debug, Default)]
struct Shapes {
    seen: u32,
    /// In how many of the first ones a dim occurred.
    dims: BTreeMap<u64, u32>,
}

impl Shapes {
    fn met(&mut self, arrays: &[u64]) {
        if self.seen < EXACT_SHAPES {
            let dims: BTreeSet<u64> = self::arrays(arrays).flat_map(|(_, dims)| dims).copied().collect();
            dims.into_iter().for_each(|dim| *self.dims.entry(dim).or_default() += 1);
        }
        self.seen += 1;
    }

    /// How many distinct ones there were decides how exactly the next is kept.
    fn rounding(&self, words: &[u64]) -> Option<u32> {
        let by_numpy = tag(words[0]) == 0 && words[0] & IN_CONTEXT == 0;
        let single = arrays(&words[HEAD..]).nth(1).is_none();
        let exact = if single && !by_numpy { EXACT_SINGLE } else { EXACT_SHAPES };
        let beyond = self.seen.checked_sub(exact)?;
        Some(ROUNDED.iter().find(|(shapes, _)| beyond < *shapes).map_or(0, |(_, bits)| *bits))
    }

    /// Whether a dim is none of those that change from call to call.
    fn stays(&self, dim: u64) -> bool {
        self.dims.get(&dim).is_some_and(|shapes| *shapes >= OFTEN)
    }
}

fn hash(words: &[u64]) -> u64 {
    let mixed = words.iter().fold(0, |h: u64, &w| (h.rotate_left(5) ^ w).wrapping_mul(0x517c_c1b7_2722_0a95));
    mixed ^ mixed >> 32
}

/// Whether the key that `kept` begins with, of `len` words, is `words`. Keys are too short for a call of `memcmp`.
#[inline(always)]
fn begins_with(kept: &[u64], len: u32, words: &[u64]) -> bool {
    len as usize == words.len() && kept.len() >= words.len() && kept.iter().zip(words).all(|(kept, word)| kept == word)
}

impl Table {
    /// The entry of a call. `site` resolves the place and is asked only for keys never seen before.
    ///
    /// `words[0]` holds the name in its lower, thread and axis in its upper half (see [`what`]).
    #[inline]
    pub(crate) fn entry(&mut self, words: &[u64], site: impl FnOnce() -> u32) -> u32 {
        if let Some(key) = self.keys.get(self.last as usize)
            && let Some(next) = self.keys.get(key.next as usize)
            && self.words.get(next.start as usize..).is_some_and(|kept| begins_with(kept, next.len, words))
        {
            self.last = key.next;
            return next.entry;
        }
        self.entry_by_hash(words, site)
    }

    fn entry_by_hash(&mut self, words: &[u64], site: impl FnOnce() -> u32) -> u32 {
        let found = match self.find(words, hash(words)) {
            Some(key) => key,
            None => {
                let shapes = self.shapes_at.get(&words[..HEAD]);
                let bits = shapes.and_then(|shapes| shapes.rounding(words));
                let rounded = shapes.zip(bits).map(|(shapes, bits)| round(words, bits, |dim| shapes.stays(dim)));
                let kept = rounded.as_deref().unwrap_or(words);
                match self.find(kept, hash(kept)).filter(|_| rounded.is_some()) {
                    Some(key) => key,
                    None => self.insert(kept, site(), rounded.is_some()),
                }
            }
        };
        if let Some(last) = self.keys.get_mut(self.last as usize) {
            last.next = found;
        }
        self.last = found;
        self.keys[found as usize].entry
    }

    fn find(&self, words: &[u64], hash: u64) -> Option<u32> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            let key = self.keys.get(slot as usize)?;
            if key.hash == hash && self.words[key.start as usize..][..key.len as usize] == *words {
                return Some(slot);
            }
            at = (at + 1) & mask;
        }
    }

    fn insert(&mut self, words: &[u64], site: u32, rounded: bool) -> u32 {
        let (name, thread, axis) = what(words[0]);
        let (scalar_result, copied) = (words[0] & SCALAR != 0, words[0] & COPIED != 0);
        let arrays: Box<[u64]> = words[HEAD..].into();
        // Two adds on one line are one entry: the format knows lines, not instructions.
        let fresh = self.entries.len() as u32;
        let context = (words[0] & IN_CONTEXT != 0).then_some(words[HEAD - 1] as u32);
        let loading = if context.is_none() { words[HEAD - 1] & IN_LOADER } else { 0 };
        let same = [&[words[0], site.into(), context.map_or(loading, u64::from)], &words[HEAD..]].concat();
        let entry = *self.same.entry(same.into()).or_insert(fresh);
        if entry == fresh {
            self.entries.push(Entry {
                name,
                site,
                thread,
                axis,
                context,
                loading: loading != 0,
                scalar_result,
                copied,
                tag: tag(words[0]),
                arrays,
                rounded,
                ..Entry::default()
            });
        }
        self.shapes_at.entry(words[..HEAD].into()).or_default().met(&words[HEAD..]);
        let key = self.keys.len() as u32;
        let start = self.words.len() as u32;
        self.words.extend_from_slice(words);
        self.keys.push(Key { hash: hash(words), start, len: words.len() as u32, entry, next: EMPTY });
        if self.keys.len() * 2 > self.slots.len() {
            self.grow();
        } else {
            self.place(key);
        }
        key
    }

    fn grow(&mut self) {
        self.slots = vec![EMPTY; (self.slots.len() * 2).max(64)];
        for key in 0..self.keys.len() as u32 {
            self.place(key);
        }
    }

    fn place(&mut self, key: u32) {
        let mask = self.slots.len() - 1;
        let mut at = self.keys[key as usize].hash as usize & mask;
        while self.slots[at] != EMPTY {
            at = (at + 1) & mask;
        }
        self.slots[at] = key;
    }

    /// The entry of the call that was looked up last.
    pub(crate) fn last(&self) -> Option<u32> {
        self.keys.get(self.last as usize).map(|key| key.entry)
    }

    /// The entry with this index, if there is one.
    #[inline(always)]
    pub(crate) fn known(&mut self, entry: u32) -> Option<&mut Entry> {
        self.entries.get_mut(entry as usize)
    }

    /// The entry with this index.
    #[inline]
    pub(crate) fn get_mut(&mut self, entry: u32) -> &mut Entry {
        &mut self.entries[entry as usize]
    }

    /// All entries, in the order of their first run.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

/// Bit of the first word: the result is a scalar.
pub(crate) const SCALAR: u64 = 1 << 56;
/// Lowest bit of the first word's tag: see [`with_tag`].
const TAG: u32 = 59;
/// The highest tag.
pub(crate) const LAST_TAG: u8 = 31;

/// The first word for a call that the program itself gave to a device; `tag` up to [`LAST_TAG`], 0 for the host.
pub(crate) const fn with_tag(word: u64, tag: u8) -> u64 {
    word & !((LAST_TAG as u64) << TAG) | (tag as u64 & LAST_TAG as u64) << TAG
}

/// The tag of a first word.
pub(crate) const fn tag(word: u64) -> u8 {
    (word >> TAG) as u8
}

/// Bit of the first word: the result has memory of its own, though it could have been a view.
pub(crate) const COPIED: u64 = 1 << 57;

/// Bit of the first word: the last word of the place is a context.
pub(crate) const IN_CONTEXT: u64 = 1 << 58;

/// Bit of the last word of a place, where no address has one: a data loader made the call.
pub(crate) const IN_LOADER: u64 = 1 << 63;

/// The first word of a key: name, thread, and `axis` where the call gave one.
#[inline]
pub(crate) const fn what_word(name: u32, thread: u16, axis: Option<i32>) -> u64 {
    // NumPy has at most 64 dims: an axis is in -64..64, stored as 1..=128; 0 is "none".
    let axis = match axis {
        Some(axis) if -64 <= axis && axis < 64 => (axis + 65) as u64,
        _ => 0,
    };
    name as u64 | (thread as u64) << 32 | axis << 48
}

const fn what(word: u64) -> (u32, u32, Option<i32>) {
    let axis = match word >> 48 & 0xff {
        0 => None,
        axis => Some(axis as i32 - 65),
    };
    (word as u32, (word >> 32) as u32 & 0xffff, axis)
}

/// The same key with each dim that does not `stay` rounded to `bits` bits after the leading one, half up.
fn round(words: &[u64], bits: u32, stays: impl Fn(u64) -> bool) -> Vec<u64> {
    let mut rounded = words[..HEAD].to_vec();
    for (array, dims) in arrays(&words[HEAD..]) {
        rounded.push(array.pack());
        rounded.extend(dims.iter().map(|&dim| {
            let drop = (64 - dim.leading_zeros()).saturating_sub(bits + 1);
            if stays(dim) { dim } else { (dim + (1 << drop >> 1)) >> drop << drop }
        }));
    }
    rounded
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(name: u32, at: u64, dims: &[u64]) -> Vec<u64> {
        let array = ArrayWord {
            type_num: 12,
            ndim: dims.len() as u8,
            output: false,
            c_contiguous: true,
            f_contiguous: false,
            channels_last: false,
            rows: false,
            repeated: 0,
            itemsize: 8,
        };
        [&[what_word(name, 0, None), 7, at, 0, array.pack()], dims].concat()
    }

    #[test]
    fn a_million_equal_calls_are_one_entry() {
        let mut table = Table::default();
        for _ in 0..1_000_000 {
            let entry = table.entry(&key(1, 0, &[10]), || 0);
            table.get_mut(entry).count += 1;
        }
        assert_eq!(table.entries().len(), 1);
        assert_eq!(table.entries()[0].count, 1_000_000);
    }

    #[test]
    fn two_instructions_of_one_line_are_one_entry() {
        let mut table = Table::default();
        assert_eq!(table.entry(&key(1, 0, &[10]), || 5), table.entry(&key(1, 8, &[10]), || 5));
        assert_ne!(table.entry(&key(1, 0, &[10]), || 5), table.entry(&key(1, 8, &[11]), || 5));
        assert_ne!(table.entry(&key(1, 0, &[10]), || 5), table.entry(&key(1, 16, &[10]), || 6));
    }

    #[test]
    fn many_shapes_at_a_site_fall_into_few_entries() {
        let mut table = Table::default();
        for n in 1..200_000 {
            let (input, output) = (key(1, 0, &[n, 300]), &key(1, 0, &[n, 36])[HEAD..]);
            let entry = table.entry(&[&input, output].concat(), || 0);
            table.get_mut(entry).count += 1;
        }
        assert!(table.entries().len() < 150, "{}", table.entries().len());
        assert_eq!(table.entries().iter().map(|e| e.count).sum::<u64>(), 199_999);
        let elements: u64 = table.entries().iter().map(|e| e.count * e.arrays[1]).sum();
        let exact: u64 = (1..200_000).sum();
        assert!(elements.abs_diff(exact) as f64 / (exact as f64) < 0.005, "{elements} {exact}");
        assert!(table.entries().iter().all(|e| (e.arrays[2], e.arrays[5]) == (300, 36)), "which stay");
    }

    #[test]
    fn many_sizes_of_one_array_are_kept_apart_for_longer() {
        let mut table = Table::default();
        let on_device = |n| {
            let mut words = key(1, 0, &[n, 3]);
            words[0] = with_tag(words[0], 1);
            words
        };
        for n in 1..=u64::from(EXACT_SINGLE) {
            table.entry(&on_device(n), || 0);
        }
        assert!(table.entries().iter().zip(1..).all(|(e, n)| e.arrays[1..] == [n, 3] && !e.rounded));
        table.entry(&on_device(5001), || 0);
        assert!(table.entries().last().is_some_and(|e| e.arrays[1..] == [5120, 3] && e.rounded));
    }

    #[test]
    fn what_a_word_says_comes_back() {
        assert_eq!(what(what_word(9, 3, Some(-1))), (9, 3, Some(-1)));
        assert_eq!(what(what_word(9, 3, Some(0))), (9, 3, Some(0)));
        assert_eq!(what(what_word(9, 3, None)), (9, 3, None));
    }

    #[test]
    fn a_tag_stands_beside_what_a_word_says() {
        const MARKS: u64 = SCALAR | COPIED | IN_CONTEXT;
        let word = what_word(9, 3, Some(-1)) | MARKS;
        for given in [0, 1, LAST_TAG] {
            let tagged = with_tag(word, given);
            assert_eq!((tag(tagged), what(tagged), tagged & MARKS), (given, what(word), MARKS));
        }
        assert_eq!(with_tag(with_tag(word, LAST_TAG), 0), word);
    }

    proptest! {
        #[test]
        fn calls_are_told_apart_and_counted(calls in proptest::collection::vec((0u32..3, 0u64..3, 1u64..9), 1..400)) {
            let mut table = Table::default();
            let mut expected = BTreeMap::new();
            for &(name, site, n) in &calls {
                let entry = table.entry(&key(name, site, &[n]), || site as u32);
                table.get_mut(entry).count += 1;
                *expected.entry((name, site, n)).or_insert(0u64) += 1;
            }
            let counted: BTreeMap<_, _> =
                table.entries().iter().map(|e| ((e.name, u64::from(e.site), e.arrays[1]), e.count)).collect();
            prop_assert_eq!(counted, expected);
        }

        #[test]
        fn rounding_errs_by_an_eighth_at_most(dim in 1u64..1 << 40) {
            let rounded = round(&key(0, 0, &[dim]), 2, |_| false)[HEAD + 1];
            prop_assert!(rounded.abs_diff(dim) * 8 <= dim.max(8) , "{dim} {rounded}");
        }
    }
}
