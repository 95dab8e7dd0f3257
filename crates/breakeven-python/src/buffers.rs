//! Which memory lives, who made its values, and whether a GPU port would have to copy them in.
//!
//! A buffer is known by the address of its first byte while it is allocated. [`Buffers::allocated`] and
//! [`Buffers::freed`] come from NumPy's allocator in the order in which they happened; memory that another library
//! owns is known from its first use.

use crate::address::AddressMap;

/// Stands for the host where an entry index is expected.
pub(crate) const HOST: u32 = u32::MAX;

/// A buffer, or the place of one that was freed: programs use the same addresses over and over.
#[derive(Clone, Copy, Debug)]
struct Slot {
    address: usize,
    bytes: u64,
    /// Allocated now.
    live: bool,
    /// The device has its current values.
    resident: bool,
    /// Somebody made or used its values, so it counts in `group`.
    grouped: bool,
    /// Its group, or that of the buffer before it here, and what that group is of.
    group: u32,
    group_key: u64,
}

/// Buffers with the same producer and size, within a factor of two.
#[derive(Clone, Debug)]
pub(crate) struct Group {
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
    /// Position of the last use.
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

#[derive(Default)]
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
        if !buffer.grouped {
            self.join(buffer, producer, position);
        }
        let group = &mut self.list[buffer.group as usize];
        group.last_use = position;
        group
    }

    #[inline]
    fn join(&mut self, buffer: &mut Slot, producer: u32, position: u64) {
        let key = Self::key(producer, buffer.bytes);
        if buffer.group_key != key {
            buffer.group = self.find(key, producer, position);
            buffer.group_key = key;
        }
        buffer.grouped = true;
        let group = &mut self.list[buffer.group as usize];
        group.bytes = group.bytes.max(buffer.bytes);
        group.count += 1;
        group.peak_live = group.peak_live.max(group.live());
    }

    #[inline(never)]
    fn find(&mut self, key: u64, producer: u32, position: u64) -> u32 {
        let fresh = self.list.len() as u32;
        let group = *self.index.entry(key).or_insert(fresh);
        if group == fresh {
            let (first_use, last_use) = (position, position);
            let (bytes, count, died, peak_live, host_touches) = (0, 0, 0, 0, 0);
            self.list.push(Group { producer, bytes, count, died, peak_live, first_use, last_use, host_touches });
        }
        group
    }
}

/// No group has this key.
const NO_GROUP: u64 = u64::MAX;
/// Addresses looked up last, by a few of their bits.
const RECENT: usize = 1024;
/// Dead slots beyond twice the live ones and so many are swept out.
const SWEEP: usize = 1 << 16;

/// All buffers of a process. See the module.
pub(crate) struct Buffers {
    slots: Vec<Slot>,
    by_address: AddressMap<usize, u32>,
    recent: Box<[u32; RECENT]>,
    live: usize,
    groups: Groups,
    bytes: Level,
}

impl Default for Buffers {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            by_address: AddressMap::default(),
            recent: Box::new([u32::MAX; RECENT]),
            live: 0,
            groups: Groups::default(),
            bytes: Level::default(),
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
    fn rise(&mut self, by: u64) {
        self.now += by;
        self.peak = self.peak.max(self.now);
    }
}

impl Buffers {
    /// NumPy's allocator gave out `bytes` at `address`.
    #[inline]
    pub(crate) fn allocated(&mut self, address: usize, bytes: u64) {
        let slot = self.slot(address);
        self.release(slot);
        self.occupy(slot, bytes);
    }

    /// NumPy's allocator took it back.
    #[inline]
    pub(crate) fn freed(&mut self, address: usize) {
        let slot = self.slot(address);
        self.release(slot);
    }

    /// As [`Buffers::allocated`] or, without `bytes`, [`Buffers::freed`] for an address that was looked up lately;
    /// false where it was not. Neither allocates nor panics.
    #[inline(always)]
    pub(crate) fn changed_lately(&mut self, address: usize, bytes: Option<u64>) -> bool {
        let slot = self.recent[Self::recent(address)];
        let Some(slot) = self.slots.get_mut(slot as usize).filter(|slot| slot.address == address) else { return false };
        if slot.live {
            slot.live = false;
            self.live = self.live.wrapping_sub(1);
            self.bytes.now = self.bytes.now.wrapping_sub(slot.bytes);
            if slot.grouped
                && let Some(group) = self.groups.list.get_mut(slot.group as usize)
            {
                group.died = group.died.wrapping_add(1);
            }
        }
        if let Some(bytes) = bytes {
            (slot.bytes, slot.live, slot.resident, slot.grouped) = (bytes, true, false, false);
            self.live = self.live.wrapping_add(1);
            self.bytes.now = self.bytes.now.wrapping_add(bytes);
            self.bytes.peak = self.bytes.peak.max(self.bytes.now);
        }
        true
    }

    /// Where in `recent` an address is, if it is.
    #[inline]
    fn recent(address: usize) -> usize {
        // Neighbouring small blocks lie 16 bytes apart, large ones a page; both should spread.
        (address >> 4 ^ address >> 12) % RECENT
    }

    /// The slot of an address, live or not.
    #[inline]
    fn slot(&mut self, address: usize) -> u32 {
        let slot = self.recent[Self::recent(address)];
        if self.slots.get(slot as usize).is_some_and(|slot| slot.address == address) {
            return slot;
        }
        self.find_slot(address)
    }

    #[cold]
    fn find_slot(&mut self, address: usize) -> u32 {
        if self.slots.len() > 2 * self.live + SWEEP {
            self.sweep();
        }
        let fresh = self.slots.len() as u32;
        let slot = *self.by_address.entry(address).or_insert(fresh);
        if slot == fresh {
            let (bytes, live, resident, grouped, group) = (0, false, false, false, 0);
            self.slots.push(Slot { address, bytes, live, resident, grouped, group, group_key: NO_GROUP });
        }
        self.recent[Self::recent(address)] = slot;
        slot
    }

    fn sweep(&mut self) {
        self.slots.retain(|slot| slot.live);
        self.by_address = self.slots.iter().enumerate().map(|(i, slot)| (slot.address, i as u32)).collect();
        self.recent.fill(u32::MAX);
    }

    #[inline]
    fn occupy(&mut self, slot: u32, bytes: u64) {
        let slot = &mut self.slots[slot as usize];
        (slot.bytes, slot.live, slot.resident, slot.grouped) = (bytes, true, false, false);
        self.live += 1;
        self.bytes.rise(bytes);
    }

    #[inline]
    fn release(&mut self, slot: u32) {
        let slot = &mut self.slots[slot as usize];
        if slot.live {
            slot.live = false;
            self.live -= 1;
            self.bytes.now -= slot.bytes;
            if slot.grouped {
                self.groups.list[slot.group as usize].died += 1;
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
            buffer.resident = !host;
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
        let missing = if buffer.resident { 0 } else { buffer.bytes };
        buffer.resident = true;
        groups.used(buffer, HOST, position);
        missing
    }

    /// The host reads the buffer; false where its values never left the host.
    pub(crate) fn host_read(&mut self, address: usize, bytes: u64, position: u64) -> bool {
        let (buffer, groups) = self.known(address, bytes);
        groups.used(buffer, HOST, position).host_touches += 1;
        buffer.resident
    }

    /// The host changed the buffer's values, or made them.
    pub(crate) fn host_written(&mut self, address: usize, bytes: u64, position: u64) {
        let (buffer, groups) = self.known(address, bytes);
        buffer.resident = false;
        groups.used(buffer, HOST, position).host_touches += 1;
    }

    #[inline]
    fn known(&mut self, address: usize, bytes: u64) -> (&mut Slot, &mut Groups) {
        let mut slot = self.recent[Self::recent(address)] as usize;
        if self.slots.get(slot).is_none_or(|slot| slot.address != address || !slot.live) {
            slot = self.find_live(address, bytes);
        }
        (&mut self.slots[slot], &mut self.groups)
    }

    #[inline(never)]
    fn find_live(&mut self, address: usize, bytes: u64) -> usize {
        let slot = self.slot(address);
        if !self.slots[slot as usize].live {
            self.occupy(slot, bytes);
        }
        slot as usize
    }

    /// The slot of an input that needs no more than a note of its use: known lately, and on the device.
    #[inline(always)]
    pub(crate) fn settled(&self, address: usize) -> Option<u32> {
        let index = self.recent[Self::recent(address)];
        let slot = self.slots.get(index as usize)?;
        (slot.address == address && slot.live && slot.resident && slot.grouped).then_some(index)
    }

    /// The slot of an output of `bytes`, known lately, that is in a group or will be in `group`.
    #[inline(always)]
    pub(crate) fn output(&self, address: usize, bytes: u64, group: u32) -> Option<u32> {
        let index = self.recent[Self::recent(address)];
        let slot = self.slots.get(index as usize)?;
        let known = slot.grouped || group != u32::MAX;
        (known && slot.address == address && slot.live && slot.bytes == bytes).then_some(index)
    }

    /// As [`Buffers::read`] for a slot that is [`Buffers::settled`].
    #[inline(always)]
    pub(crate) fn read_again(&mut self, slot: u32, position: u64) {
        if let Some(slot) = self.slots.get(slot as usize)
            && let Some(group) = self.groups.list.get_mut(slot.group as usize)
        {
            group.last_use = position;
        }
    }

    /// As [`Buffers::written`] for an [`Buffers::output`] of a producer and size whose group is known.
    #[inline(always)]
    pub(crate) fn written_again(&mut self, slot: u32, group: u32, group_key: u64, position: u64) {
        let Some(slot) = self.slots.get_mut(slot as usize) else { return };
        slot.resident = true;
        let fresh = !slot.grouped;
        if fresh {
            (slot.grouped, slot.group, slot.group_key) = (true, group, group_key);
        }
        let Some(group) = self.groups.list.get_mut(slot.group as usize) else { return };
        group.last_use = position;
        if fresh {
            group.count = group.count.wrapping_add(1);
            group.bytes = group.bytes.max(slot.bytes);
            group.peak_live = group.peak_live.max(group.live());
        }
    }

    /// The group of the buffers of so many bytes that `producer` makes, with its key; `None` where there is none yet.
    pub(crate) fn group_of(&self, producer: u32, bytes: u64) -> Option<(u32, u64)> {
        let key = Groups::key(producer, bytes);
        self.groups.index.get(&key).map(|&group| (group, key))
    }

    /// Forgets what lives; before a recording begins nothing is known of it.
    pub(crate) fn forget(&mut self) {
        *self = Self { groups: std::mem::take(&mut self.groups), ..Self::default() };
    }

    /// Forgets who made what and how much lived; what is allocated now stays known, with values unknown.
    pub(crate) fn reset(&mut self) {
        self.slots.iter_mut().for_each(|slot| (slot.grouped, slot.group_key) = (false, NO_GROUP));
        self.groups = Groups::default();
        self.bytes.peak = self.bytes.now;
    }

    /// The largest sum of live buffers so far, bytes.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.bytes.peak
    }

    /// All groups, in the order of their first use.
    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn the_short_cut_does_what_the_long_way_does() {
        let mut buffers = Buffers::default();
        assert!(!buffers.changed_lately(16, Some(800)));
        buffers.allocated(16, 800);
        buffers.written(16, 800, 1, false, 0);
        assert!(buffers.changed_lately(16, None));
        assert!(buffers.changed_lately(16, Some(400)));
        assert_eq!(buffers.read(16, 400, 1), 400);
        assert_eq!((buffers.peak_bytes(), buffers.groups()[0].live()), (800, 0));
        // Another address with the same bits where the table of late ones looks.
        assert!(!buffers.changed_lately(16 + (1 << 30), Some(8)));
    }

    #[test]
    fn freeing_what_was_never_seen_is_nothing() {
        let mut buffers = Buffers::default();
        buffers.freed(16);
        assert_eq!(buffers.peak_bytes(), 0);
    }
}
