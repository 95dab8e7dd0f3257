//! Which memory lives, who made its values, and whether a GPU port would have to copy them in.
//!
//! A buffer is known by the address of its first byte while it is allocated. [`Buffers::allocated`] and
//! [`Buffers::freed`] come from NumPy's allocator in the order in which they happened; memory that another library
//! owns is known from its first use.

use crate::address::AddressMap;
use std::hint::cold_path;

/// Stands for the host where an entry index is expected.
pub(crate) const HOST: u32 = u32::MAX;

/// A buffer, or the place of one that was freed: programs use the same addresses over and over.
#[derive(Clone, Copy, Debug)]
struct Slot {
    address: usize,
    bytes: u64,
    /// Position of the last use of its values; its group is told when they go.
    last_use: u64,
    /// Its group, or that of the buffer before it here.
    group: u32,
    /// Of [`LIVE`], [`RESIDENT`] and [`GROUPED`].
    state: u32,
}

/// Allocated now.
const LIVE: u32 = 1;
/// The device has its current values.
const RESIDENT: u32 = 2;
/// Somebody made or used its values, so it counts in its group.
const GROUPED: u32 = 4;
/// Most buffers of a loop are all of that.
const ALL: u32 = LIVE | RESIDENT | GROUPED;

impl Slot {
    const fn dead(address: usize) -> Self {
        Self { address, bytes: 0, last_use: 0, group: NO_GROUP, state: 0 }
    }

    #[inline(always)]
    fn is(&self, state: u32) -> bool {
        self.state & state == state
    }

    #[inline(always)]
    fn set_resident(&mut self, resident: bool) {
        self.state = self.state & !RESIDENT | if resident { RESIDENT } else { 0 };
    }
}

/// Buffers with the same producer and size, within a factor of two.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// See [`Groups::key`].
    key: u64,
    /// Entry that made them, or [`HOST`].
    pub(crate) producer: u32,
    /// Bytes of the largest.
    pub(crate) bytes: u64,
    /// How many there were.
    pub(crate) count: u64,
    /// How many of them were freed. (One counter goes up here and one there: a sum that goes both ways would be read
    /// right after it was written, over and over.)
    died: u64,
    /// The most that lived at once.
    pub(crate) peak_live: u64,
    /// Position in the order of the first use.
    pub(crate) first_use: u64,
    /// Position of the last use; of buffers that live see [`Slot::last_use`].
    pub(crate) last_use: u64,
    /// How often the host read or changed one.
    pub(crate) host_touches: u64,
}

impl Group {
    /// How many live now.
    #[inline(always)]
    fn live(&self) -> u64 {
        self.count.wrapping_sub(self.died)
    }
}

#[derive(Clone, Default)]
struct Groups {
    list: Vec<Group>,
    /// By producer (upper half) and size bucket.
    index: AddressMap<u64, u32>,
}

impl Groups {
    /// Producer and size bucket.
    fn key(producer: u32, bytes: u64) -> u64 {
        u64::from(producer) << 32 | u64::from(64 - bytes.leading_zeros())
    }

    /// Notes a use of `buffer` in its group, which the first use decides.
    #[inline(always)]
    fn used(&mut self, buffer: &mut Slot, producer: u32, position: u64) -> &mut Group {
        if !buffer.is(GROUPED) {
            self.join(buffer, producer, position);
        }
        buffer.last_use = position;
        &mut self.list[buffer.group as usize]
    }

    #[inline]
    fn join(&mut self, buffer: &mut Slot, producer: u32, position: u64) {
        let key = Self::key(producer, buffer.bytes);
        if self.list.get(buffer.group as usize).is_none_or(|group| group.key != key) {
            buffer.group = self.find(key, producer, position);
        }
        buffer.state |= GROUPED;
        let group = &mut self.list[buffer.group as usize];
        group.bytes = group.bytes.max(buffer.bytes);
        group.count += 1;
        group.peak_live = group.peak_live.max(group.live());
    }

    /// A buffer in this group is no more.
    #[inline(always)]
    fn left(&mut self, buffer: &Slot) {
        if let Some(group) = self.list.get_mut(buffer.group as usize) {
            group.died = group.died.wrapping_add(1);
            group.last_use = group.last_use.max(buffer.last_use);
        }
    }

    #[inline(never)]
    fn find(&mut self, key: u64, producer: u32, position: u64) -> u32 {
        let fresh = self.list.len() as u32;
        let group = *self.index.entry(key).or_insert(fresh);
        if group == fresh {
            let (first_use, last_use) = (position, position);
            let (bytes, count, died, peak_live, host_touches) = (0, 0, 0, 0, 0);
            self.list.push(Group { key, producer, bytes, count, died, peak_live, first_use, last_use, host_touches });
        }
        group
    }
}

/// No group is this one.
pub(crate) const NO_GROUP: u32 = u32::MAX;
/// Slots at hand, an even number.
const RECENT: usize = 1024;

/// All buffers of a process. See the module.
pub(crate) struct Buffers {
    /// Those looked up last, by a few bits of their addresses.
    recent: Box<[Slot; RECENT]>,
    /// The others that live.
    others: AddressMap<usize, Slot>,
    groups: Groups,
    bytes: Level,
    /// Address and size of the buffer allocated last, if nothing else has happened since; address 0: there is none.
    /// Most that is allocated is the result of an op, which then is one change and not two.
    newest: (usize, u64),
}

impl Default for Buffers {
    fn default() -> Self {
        Self {
            recent: Box::new([Slot::dead(0); RECENT]),
            others: AddressMap::default(),
            groups: Groups::default(),
            bytes: Level::default(),
            newest: (0, 0),
        }
    }
}

/// A sum that goes up and down, and the highest it has been.
#[derive(Default)]
struct Level {
    now: u64,
    peak: u64,
}

impl Level {
    #[inline(always)]
    fn rise(&mut self, by: u64) {
        self.now = self.now.wrapping_add(by);
        if self.now > self.peak {
            cold_path();
            self.peak = self.now;
        }
    }
}

impl Buffers {
    /// NumPy's allocator gave out `bytes` at `address`.
    #[inline]
    pub(crate) fn allocated(&mut self, address: usize, bytes: u64) {
        self.settle();
        self.begins(address, bytes);
    }

    /// NumPy's allocator took it back.
    #[inline]
    pub(crate) fn freed(&mut self, address: usize) {
        self.settle();
        let slot = self.slot(address);
        self.release(slot);
    }

    /// As [`Buffers::allocated`], to be carried out when it is known what the buffer is for; false, with nothing done,
    /// where another one waits. Neither allocates nor panics.
    #[inline(always)]
    pub(crate) fn allocated_just_now(&mut self, address: usize, bytes: u64) -> bool {
        let free = self.is_settled();
        if free {
            self.newest = (address, bytes);
        }
        free
    }

    /// As [`Buffers::freed`] for an address that was looked up lately, when nothing waits; false, with nothing done, for
    /// any other.
    /// Neither allocates nor panics.
    #[inline(always)]
    pub(crate) fn freed_lately(&mut self, address: usize) -> bool {
        self.is_settled() && self.ends(address)
    }

    /// As [`Buffers::settle`] for an address that was looked up lately; false, with nothing done, where it was not.
    /// Neither allocates nor panics.
    pub(crate) fn settle_lately(&mut self) -> bool {
        let (address, bytes) = self.newest;
        if address == 0 {
            return true;
        }
        if !self.ends(address) {
            return false;
        }
        self.newest.0 = 0;
        if let Some(slot) = Self::lately(&mut self.recent, address) {
            (slot.bytes, slot.state) = (bytes, LIVE);
            self.bytes.rise(bytes);
        }
        true
    }

    #[inline(always)]
    fn ends(&mut self, address: usize) -> bool {
        let Self { recent, groups, bytes, .. } = self;
        let Some(slot) = Self::lately(recent, address) else { return false };
        if slot.is(LIVE) {
            bytes.now = bytes.now.wrapping_sub(slot.bytes);
            if slot.is(GROUPED) {
                groups.left(slot);
            }
            slot.state &= !LIVE;
        }
        true
    }

    /// Whether nothing waits to be carried out.
    #[inline(always)]
    pub(crate) fn is_settled(&self) -> bool {
        self.newest.0 == 0
    }

    /// Carries out what waits.
    #[inline]
    pub(crate) fn settle(&mut self) {
        if !self.is_settled() {
            let (address, bytes) = std::mem::take(&mut self.newest);
            self.begins(address, bytes);
        }
    }

    fn begins(&mut self, address: usize, bytes: u64) {
        let slot = self.slot(address);
        self.release(slot);
        self.occupy(slot, bytes);
    }

    /// Where in `recent` an address is, if it is: in one of two slots side by side. With one, two arrays of a loop that
    /// share it would put each other out all the time.
    #[inline(always)]
    fn place(recent: &[Slot; RECENT], address: usize) -> usize {
        // Neighbouring small blocks lie 16 bytes apart, large ones a page; both should spread.
        let first = ((address as u32).wrapping_mul(0x9e37_79b1) >> 22) as usize % RECENT;
        if recent[first].address == address { first } else { first ^ 1 }
    }

    /// The slot of an address that was looked up lately.
    #[inline(always)]
    fn lately(recent: &mut [Slot; RECENT], address: usize) -> Option<&mut Slot> {
        let slot = &mut recent[Self::place(recent, address)];
        (slot.address == address).then_some(slot)
    }

    /// The slot of an address, live or not, as its place in `recent`.
    #[inline]
    fn slot(&mut self, address: usize) -> usize {
        let slot = Self::place(&self.recent, address);
        if self.recent[slot].address == address { slot } else { self.fetch(slot, address) }
    }

    /// Puts an address into `slot` or the one beside it, whichever was used longer ago.
    #[inline(never)]
    fn fetch(&mut self, slot: usize, address: usize) -> usize {
        let age = |slot: usize| (self.recent[slot].is(LIVE), self.recent[slot].last_use);
        let slot = if age(slot ^ 1) < age(slot) { slot ^ 1 } else { slot };
        let wanted = self.others.remove(&address).unwrap_or(Slot::dead(address));
        let before = std::mem::replace(&mut self.recent[slot], wanted);
        if before.is(LIVE) {
            self.others.insert(before.address, before);
        }
        slot
    }

    /// The groups, told of the last uses of the buffers that live.
    fn told(&self) -> Groups {
        let mut told = self.groups.clone();
        self.recent.iter().chain(self.others.values()).filter(|slot| slot.is(LIVE | GROUPED)).for_each(|slot| {
            let group = &mut told.list[slot.group as usize];
            group.last_use = group.last_use.max(slot.last_use);
        });
        told
    }

    #[inline]
    fn occupy(&mut self, slot: usize, bytes: u64) {
        let slot = &mut self.recent[slot];
        (slot.bytes, slot.state) = (bytes, LIVE);
        self.bytes.rise(bytes);
    }

    #[inline]
    fn release(&mut self, slot: usize) {
        let slot = &mut self.recent[slot];
        if slot.is(LIVE) {
            slot.state &= !LIVE;
            self.bytes.now -= slot.bytes;
            if slot.is(GROUPED) {
                self.groups.left(slot);
            }
        }
    }

    /// An op of entry `producer` wrote to the buffer at `address`, so the device has it now.
    ///
    /// `host` says that the values came from the host all the same (`np.array([1, 2])`).
    #[inline]
    pub(crate) fn written(&mut self, address: usize, bytes: u64, producer: u32, host: bool, position: u64) {
        let (buffer, groups) = self.known(address, bytes);
        if buffer.bytes == bytes {
            buffer.set_resident(!host);
            groups.used(buffer, if host { HOST } else { producer }, position);
        } else {
            // Nobody told that the one known here was freed: the allocator is not always hooked.
            let slot = self.slot(address);
            self.release(slot);
            self.occupy(slot, bytes);
            self.written(address, bytes, producer, host, position);
        }
    }

    /// An op reads the buffer: the bytes that a GPU port would have to copy in first, 0 where the device has them.
    #[inline]
    pub(crate) fn read(&mut self, address: usize, bytes: u64, position: u64) -> u64 {
        let (buffer, groups) = self.known(address, bytes);
        let missing = if buffer.is(RESIDENT) { 0 } else { buffer.bytes };
        buffer.state |= RESIDENT;
        groups.used(buffer, HOST, position);
        missing
    }

    /// The host reads the buffer; false where its values never left the host.
    pub(crate) fn host_read(&mut self, address: usize, bytes: u64, position: u64) -> bool {
        let (buffer, groups) = self.known(address, bytes);
        groups.used(buffer, HOST, position).host_touches += 1;
        buffer.is(RESIDENT)
    }

    /// The host changed the buffer's values, or made them.
    pub(crate) fn host_written(&mut self, address: usize, bytes: u64, position: u64) {
        let (buffer, groups) = self.known(address, bytes);
        buffer.set_resident(false);
        groups.used(buffer, HOST, position).host_touches += 1;
    }

    #[inline]
    fn known(&mut self, address: usize, bytes: u64) -> (&mut Slot, &mut Groups) {
        self.settle();
        let slot = self.slot(address);
        if !self.recent[slot].is(LIVE) {
            self.occupy(slot, bytes);
        }
        (&mut self.recent[slot], &mut self.groups)
    }

    /// As [`Buffers::read`] of an input that needs no more than a note of its use: known lately, and on the device.
    /// `None` for any other. Gives what [`Buffers::unread`] takes. To be called when nothing waits.
    #[inline(always)]
    pub(crate) fn read_again(&mut self, address: usize, position: u64) -> Option<u64> {
        let slot = Self::lately(&mut self.recent, address)?;
        if slot.state != ALL {
            return None;
        }
        Some(std::mem::replace(&mut slot.last_use, position))
    }

    /// The call that read a buffer with [`Buffers::read_again`] was none.
    pub(crate) fn unread(&mut self, address: usize, last_use: u64) {
        if let Some(slot) = Self::lately(&mut self.recent, address).filter(|slot| slot.is(LIVE)) {
            slot.last_use = last_use;
        }
    }

    /// As [`Buffers::written`] for a buffer known lately that is in a group or, allocated just now, will be in `group`;
    /// `None`, with nothing written, for any other.
    #[inline(always)]
    pub(crate) fn written_again(&mut self, address: usize, bytes: u64, group: u32, position: u64) -> Option<()> {
        let Self { recent, groups, bytes: level, newest, .. } = self;
        let slot = Self::lately(recent, address)?;
        if newest.0 == address {
            if slot.is(LIVE) || newest.1 != bytes {
                return None;
            }
            let group_of = groups.list.get_mut(group as usize)?;
            newest.0 = 0;
            (slot.bytes, slot.last_use, slot.group, slot.state) = (bytes, position, group, ALL);
            level.rise(bytes);
            group_of.count = group_of.count.wrapping_add(1);
            if group_of.live() > group_of.peak_live {
                cold_path();
                group_of.peak_live = group_of.live();
            }
            return Some(());
        }
        if newest.0 != 0 || !slot.is(LIVE | GROUPED) || slot.bytes != bytes {
            return None;
        }
        slot.state |= RESIDENT;
        slot.last_use = position;
        Some(())
    }

    /// The group of the buffers of so many bytes that `producer` makes; `None` where no such buffer has been made yet.
    pub(crate) fn group_of(&self, producer: u32, bytes: u64) -> Option<u32> {
        let group = *self.groups.index.get(&Groups::key(producer, bytes))?;
        self.groups.list.get(group as usize).filter(|known| known.bytes >= bytes).map(|_| group)
    }

    /// Forgets what lives; before a recording begins nothing is known of it.
    pub(crate) fn forget(&mut self) {
        *self = Self { groups: self.told(), ..Self::default() };
    }

    /// Forgets who made what and how much lived; what is allocated now stays known, with values unknown.
    pub(crate) fn reset(&mut self) {
        self.settle();
        let slots = self.recent.iter_mut().chain(self.others.values_mut());
        slots.for_each(|slot| (slot.state, slot.group) = (slot.state & !GROUPED, NO_GROUP));
        self.groups = Groups::default();
        self.bytes.peak = self.bytes.now;
    }

    /// The largest sum of live buffers so far, bytes.
    pub(crate) fn peak_bytes(&self) -> u64 {
        let (address, bytes) = self.newest;
        if self.is_settled() {
            return self.bytes.peak;
        }
        let at_hand = Some(&self.recent[Self::place(&self.recent, address)]).filter(|slot| slot.address == address);
        let before = at_hand.or_else(|| self.others.get(&address));
        let before = before.filter(|slot| slot.is(LIVE)).map_or(0, |slot| slot.bytes);
        self.bytes.peak.max(self.bytes.now - before + bytes)
    }

    /// All groups, in the order of their first use.
    pub(crate) fn groups(&self) -> Vec<Group> {
        self.told().list
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_host_array_is_copied_in_once() {
        let mut buffers = Buffers::default();
        buffers.allocated(16, 800);
        assert_eq!(buffers.read(16, 800, 0), 800);
        assert_eq!(buffers.read(16, 800, 1), 0);
        buffers.host_written(16, 800, 2);
        assert_eq!(buffers.read(16, 800, 2), 800);
    }

    #[test]
    fn what_an_op_made_is_there() {
        let mut buffers = Buffers::default();
        buffers.allocated(16, 800);
        buffers.written(16, 800, 3, false, 0);
        assert_eq!(buffers.read(16, 800, 1), 0);
        assert!(buffers.host_read(16, 800, 2));
        assert_eq!(buffers.groups()[0].producer, 3);
        assert_eq!(buffers.groups()[0].host_touches, 1);
    }

    #[test]
    fn a_list_made_into_an_array_is_the_hosts() {
        let mut buffers = Buffers::default();
        buffers.allocated(16, 24);
        buffers.written(16, 24, 3, true, 0);
        assert!(!buffers.host_read(16, 24, 1));
        assert_eq!(buffers.read(16, 24, 1), 24);
        assert_eq!(buffers.groups()[0].producer, HOST);
    }

    #[test]
    fn an_address_used_again_is_another_buffer() {
        let mut buffers = Buffers::default();
        for _ in 0..10 {
            buffers.allocated(16, 800);
            buffers.written(16, 800, 1, false, 0);
            buffers.freed(16);
        }
        let group = &buffers.groups()[0];
        assert_eq!((group.count, group.peak_live, buffers.peak_bytes()), (10, 1, 800));
        buffers.allocated(16, 800);
        assert_eq!(buffers.read(16, 800, 11), 800);
    }

    #[test]
    fn an_address_written_with_another_size_is_another_buffer() {
        let mut buffers = Buffers::default();
        buffers.written(16, 8000, 1, false, 0);
        buffers.written(16, 4000, HOST, true, 1);
        assert_eq!(buffers.read(16, 4000, 2), 4000);
        assert_eq!(buffers.peak_bytes(), 8000);
    }

    #[test]
    fn the_peak_is_of_what_lives_at_once() {
        let mut buffers = Buffers::default();
        buffers.allocated(16, 100);
        buffers.allocated(32, 50);
        buffers.freed(16);
        buffers.allocated(48, 60);
        assert_eq!(buffers.peak_bytes(), 150);
    }

    /// How far apart addresses are that share a place in the table of late ones.
    const SHARING: usize = 1 << 32;

    /// Buffers told of the same things by the long way and, where it may be gone, the short one.
    #[derive(Default)]
    struct Both {
        long: Buffers,
        short: Buffers,
        cut: u32,
    }

    impl Both {
        fn did(&mut self, done: Option<()>) -> bool {
            self.cut += u32::from(done.is_some());
            done.is_some()
        }

        fn allocated(&mut self, address: usize, bytes: u64) {
            self.long.allocated(address, bytes);
            if !self.short.allocated_just_now(address, bytes) {
                self.short.allocated(address, bytes);
            }
        }

        fn freed(&mut self, address: usize) {
            self.long.freed(address);
            let done = self.short.freed_lately(address);
            if !self.did(done.then_some(())) {
                self.short.freed(address);
            }
        }

        fn read(&mut self, address: usize, bytes: u64, position: u64) {
            let missing = self.long.read(address, bytes, position);
            self.short.settle();
            let done = self.short.read_again(address, position);
            let by_short_cut = if self.did(done.map(drop)) { 0 } else { self.short.read(address, bytes, position) };
            assert_eq!(missing, by_short_cut);
        }

        fn written(&mut self, address: usize, bytes: u64, producer: u32, position: u64) {
            self.long.written(address, bytes, producer, false, position);
            let group = self.short.group_of(producer, bytes).unwrap_or(NO_GROUP);
            let done = self.short.written_again(address, bytes, group, position);
            if !self.did(done) {
                self.short.written(address, bytes, producer, false, position);
            }
        }
    }

    proptest! {
        #[test]
        fn the_short_cut_does_what_the_long_way_does(
            calls in proptest::collection::vec((0u8..4, 1usize..5, 1u64..4, 0u32..3), 1..400),
        ) {
            let mut both = Both::default();
            for (position, (what, place, bytes, producer)) in (0..).zip(calls) {
                // Three of the addresses have the same bits where the table of late ones looks, which has room for two.
                let address = [0, 16, 32, 16 + SHARING, 16 + 2 * SHARING][place];
                match what {
                    0 => both.allocated(address, bytes * 100),
                    1 => both.freed(address),
                    2 => both.read(address, bytes * 100, position),
                    _ => both.written(address, bytes * 100, producer, position),
                }
                prop_assert_eq!(both.long.peak_bytes(), both.short.peak_bytes());
                if both.short.is_settled() {
                    prop_assert_eq!(format!("{:?}", both.long.groups()), format!("{:?}", both.short.groups()));
                }
            }
            both.short.settle();
            prop_assert_eq!(format!("{:?}", both.long.groups()), format!("{:?}", both.short.groups()));
        }
    }

    #[test]
    fn a_loop_takes_the_short_cut() {
        let mut both = Both::default();
        both.allocated(32, 80);
        for position in 0..100 {
            both.read(32, 80, position);
            both.allocated(16, 80);
            both.written(16, 80, 7, position);
            both.freed(16);
        }
        assert_eq!(both.cut, 3 * 100 - 2);
        assert_eq!(both.long.peak_bytes(), 160);
    }

    #[test]
    fn so_does_one_whose_arrays_share_a_place() {
        let mut both = Both::default();
        both.allocated(16, 80);
        for position in 0..100 {
            both.read(16, 80, position);
            both.allocated(16 + SHARING, 80);
            both.written(16 + SHARING, 80, 7, position);
            both.freed(16 + SHARING);
        }
        assert_eq!(both.cut, 3 * 100 - 2);
    }

    #[test]
    fn freeing_what_was_never_seen_is_nothing() {
        let mut buffers = Buffers::default();
        buffers.freed(16);
        assert_eq!(buffers.peak_bytes(), 0);
    }
}
