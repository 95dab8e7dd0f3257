//! Tensors that live: whose memory counts, as what, and whether a GPU port would have to copy their values in.
//!
//! A storage (the memory behind one tensor and all its views) has a number from [`Ledger::add`] until
//! [`Ledger::freed`]. What it is for may be known late (a gradient is one when the optimizer takes it), so the split of
//! the peak is corrected for storages that were alive then.

use crate::address::AddressMap;
use crate::buffers::HOST;
use std::collections::BTreeMap;

/// What a storage is for, as the workload format names it.
pub(crate) const ROLES: [&str; 6] = ["parameter", "gradient", "optimizer state", "activation", "input", "temporary"];

const ACTIVATION: usize = 3;

fn total(of: &[u64]) -> u64 {
    of.iter().fold(0, |sum, &bytes| sum.saturating_add(bytes))
}

#[derive(Clone, Debug)]
struct Storage {
    bytes: u64,
    role: usize,
    producer: u32,
    first: u64,
    last: u64,
    /// The device has its current values.
    resident: bool,
    /// It stays in the host's memory: its bytes are not the device's.
    host: bool,
    touches: u64,
    /// Storages added before it.
    born: u64,
}

/// Storages with the same producer, size within a factor of two, and role.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    /// Bytes of the largest.
    pub(crate) bytes: u64,
    /// How many there were.
    pub(crate) count: u64,
    /// The most that lived at once.
    pub(crate) peak_live: u64,
    live: u64,
    /// Position of the first use.
    pub(crate) first_use: u64,
    /// Position of the last use.
    pub(crate) last_use: u64,
    /// How often the host read one.
    pub(crate) host_touches: u64,
}

/// Producer ([`HOST`] for the host), size class, role.
pub(crate) type GroupKey = (u32, u32, usize);

/// All storages of a process.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    storages: AddressMap<u64, Storage>,
    added: u64,
    now: [u64; ROLES.len()],
    peak: [u64; ROLES.len()],
    /// `added` when the peak was reached.
    peak_at: u64,
    /// The most that lived at once in the step of a loop that goes on, and in the last one that was watched.
    step_peak: u64,
    last_step_peak: u64,
    /// The most that lived at once since the script began to ask anew.
    asked_peak: u64,
    /// The device's memory, where it is imitated.
    pub(crate) limit: Option<u64>,
    /// Bytes that did not fit and were not given.
    refused: Option<u64>,
    /// All that would have been in use then, unless the program found a way to go on.
    wanted: u64,
    dead: BTreeMap<GroupKey, Group>,
}

impl Ledger {
    /// A storage of `bytes` for `role` (an index into [`ROLES`]), which an op has `made` or the host filled; its number.
    pub(crate) fn add(&mut self, bytes: u64, role: usize, host: bool, made: bool) -> u64 {
        self.added += 1;
        let role = role.min(ROLES.len() - 1);
        let refuse = !host && !self.grants(bytes);
        let host = host || refuse;
        let (producer, first, last, resident, touches) = (HOST, u64::MAX, 0, made, 0);
        let storage = Storage { bytes, role, producer, first, last, resident, host, touches, born: self.added };
        self.storages.insert(self.added, storage);
        if !host {
            self.rise(role, bytes);
        }
        self.added
    }

    /// Whether so much is there beside what lives.
    fn grants(&mut self, bytes: u64) -> bool {
        let whole = self.live_bytes().saturating_add(bytes);
        let granted = self.limit.is_none_or(|limit| whole <= limit);
        if !granted {
            (self.refused, self.wanted) = (Some(bytes), whole);
        } else if bytes > 0 {
            self.wanted = 0;
        }
        granted
    }

    fn rise(&mut self, role: usize, bytes: u64) {
        self.now[role] = self.now[role].saturating_add(bytes);
        let live = total(&self.now);
        self.step_peak = self.step_peak.max(live);
        self.asked_peak = self.asked_peak.max(live);
        if live > total(&self.peak) {
            self.peak = self.now;
            self.peak_at = self.added;
        }
    }

    /// A step of a loop that is watched ends.
    pub(crate) fn step_ends(&mut self) {
        (self.last_step_peak, self.step_peak) = (self.step_peak, total(&self.now));
    }

    /// Steps that nobody watched left so much more, in all, than the one before them had.
    pub(crate) fn steps_left(&mut self, more: u64) {
        let whole = self.last_step_peak.saturating_add(more);
        self.asked_peak = self.asked_peak.max(whole);
        if whole > total(&self.peak) {
            self.peak = self.now;
            self.peak[ACTIVATION] = self.peak[ACTIVATION].saturating_add(whole.saturating_sub(total(&self.now)));
            self.peak_at = self.added;
        }
    }

    /// Its memory was given back.
    pub(crate) fn freed(&mut self, id: u64) {
        if let Some(storage) = self.storages.remove(&id) {
            if !storage.host {
                self.now[storage.role] = self.now[storage.role].saturating_sub(storage.bytes);
            }
            fold(&mut self.dead, &storage, false);
        }
    }

    /// It is `bytes` long now, in memory of its own: what it had is given back once its values are in the new. Where there
    /// is no room for that it stays as it was.
    pub(crate) fn resized(&mut self, id: u64, bytes: u64) {
        let Some(&Storage { host, role, .. }) = self.storages.get(&id) else { return };
        if !host && !self.grants(bytes) {
            return;
        }
        let old = self.storages.get_mut(&id).map_or(0, |storage| std::mem::replace(&mut storage.bytes, bytes));
        if !host {
            self.rise(role, bytes);
            self.now[role] = self.now[role].saturating_sub(old);
        }
    }

    /// It is in the host's memory from now on, or in the device's, where it is what the host had.
    pub(crate) fn move_to(&mut self, id: u64, host: bool) {
        let Some(storage) = self.storages.get_mut(&id).filter(|storage| storage.host != host) else { return };
        storage.host = host;
        storage.resident = false;
        let (role, bytes) = (storage.role, storage.bytes);
        if host {
            self.now[role] = self.now[role].saturating_sub(bytes);
        } else {
            self.rise(role, bytes);
        }
    }

    /// It is for `role`, and was all along.
    pub(crate) fn assign(&mut self, id: u64, role: usize) {
        if let Some(storage) = self.storages.get_mut(&id)
            && role < ROLES.len()
            && role != storage.role
        {
            let (old, bytes) = (std::mem::replace(&mut storage.role, role), storage.bytes);
            if !storage.host {
                let at_peak = storage.born <= self.peak_at;
                let shift = |of: &mut [u64]| {
                    of[old] = of[old].saturating_sub(bytes);
                    of[role] = of[role].saturating_add(bytes);
                };
                shift(&mut self.now);
                if at_peak {
                    shift(&mut self.peak);
                }
            }
        }
    }

    /// An op reads it: the bytes that a GPU port would have to copy in first, 0 where the device has them.
    pub(crate) fn read(&mut self, id: u64, position: u64) -> u64 {
        let Some(storage) = self.storages.get_mut(&id) else { return 0 };
        let missing = if storage.resident { 0 } else { storage.bytes };
        storage.resident = true;
        storage.used(position);
        missing
    }

    /// An op of entry `producer` wrote it; `host` where its values came from the host.
    pub(crate) fn written(&mut self, id: u64, producer: u32, host: bool, position: u64) {
        if let Some(storage) = self.storages.get_mut(&id) {
            if storage.first == u64::MAX {
                storage.producer = if host { HOST } else { producer };
            }
            storage.resident = !host;
            storage.used(position);
        }
    }

    /// The host reads it; false where its values never left the host.
    pub(crate) fn host_read(&mut self, id: u64, position: u64) -> bool {
        let Some(storage) = self.storages.get_mut(&id) else { return true };
        storage.touches += 1;
        storage.used(position);
        storage.resident
    }

    /// Bytes that were asked for last and did not fit; asking forgets them.
    pub(crate) fn refused(&mut self) -> Option<u64> {
        self.refused.take()
    }

    /// The program has done without what did not fit.
    pub(crate) fn did_without(&mut self) {
        self.wanted = 0;
    }

    /// Live bytes on the device now.
    pub(crate) fn live_bytes(&self) -> u64 {
        total(&self.now)
    }

    /// The most that lived on the device at once since [`Self::ask_anew`].
    pub(crate) fn asked_peak_bytes(&self) -> u64 {
        self.asked_peak
    }

    /// The script's own peak begins anew from what lives.
    pub(crate) fn ask_anew(&mut self) {
        self.asked_peak = total(&self.now);
    }

    /// The same, or what did not fit where nothing was made after that; and its parts by role.
    pub(crate) fn peak(&self) -> (u64, BTreeMap<String, u64>) {
        let parts = ROLES.iter().zip(self.peak).filter(|&(_, bytes)| bytes > 0);
        (total(&self.peak).max(self.wanted), parts.map(|(role, bytes)| ((*role).to_owned(), bytes)).collect())
    }

    /// The most begins anew from what lives.
    pub(crate) fn reset_peak(&mut self) {
        self.peak = self.now;
        self.peak_at = self.added;
        self.ask_anew();
    }

    /// Forgets everything: what lives is another process's.
    pub(crate) fn disown(&mut self) {
        *self = Self { added: self.added, limit: self.limit, ..Self::default() };
    }

    /// Forgets what was; what lives stays.
    pub(crate) fn reset(&mut self) {
        self.dead.clear();
        self.reset_peak();
        #[expect(clippy::iter_over_hash_type, reason = "each is set to the same, in whatever order")]
        for storage in self.storages.values_mut() {
            (storage.producer, storage.first, storage.last, storage.touches) = (HOST, u64::MAX, 0, 0);
        }
    }

    /// All groups.
    pub(crate) fn groups(&self) -> BTreeMap<GroupKey, Group> {
        let mut groups = self.dead.clone();
        let mut live: Vec<_> = self.storages.values().collect();
        live.sort_unstable_by_key(|storage| storage.born);
        live.into_iter().for_each(|storage| fold(&mut groups, storage, true));
        groups
    }
}

impl Storage {
    fn used(&mut self, position: u64) {
        self.first = self.first.min(position);
        self.last = self.last.max(position);
    }
}

/// Adds a storage to its group. Those that died are taken to have lived one after the other.
fn fold(groups: &mut BTreeMap<GroupKey, Group>, storage: &Storage, live: bool) {
    if storage.first == u64::MAX {
        return; // nobody used it
    }
    let key = (storage.producer, 64 - storage.bytes.leading_zeros(), storage.role);
    let fresh = Group { first_use: storage.first, ..Group::default() };
    let group = groups.entry(key).or_insert(fresh);
    group.bytes = group.bytes.max(storage.bytes);
    group.count += 1;
    group.live += u64::from(live);
    group.peak_live = group.peak_live.max(group.live).max(1);
    group.first_use = group.first_use.min(storage.first);
    group.last_use = group.last_use.max(storage.last);
    group.host_touches += storage.touches;
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRADIENT: usize = 1;
    const TEMPORARY: usize = 5;

    #[test]
    fn the_peak_is_split_by_what_it_turned_out_to_be() {
        let mut ledger = Ledger::default();
        let kept = ledger.add(100, TEMPORARY, false, true);
        let gone = ledger.add(50, ACTIVATION, false, true);
        ledger.freed(gone);
        ledger.assign(kept, GRADIENT);
        let (bytes, parts) = ledger.peak();
        assert_eq!(bytes, 150);
        assert_eq!(parts, [("activation".to_owned(), 50), ("gradient".to_owned(), 100)].into());
        let later = ledger.add(10, TEMPORARY, false, true);
        ledger.assign(later, GRADIENT);
        assert_eq!(ledger.peak().1["gradient"], 100);
        assert_eq!(ledger.live_bytes(), 110);
    }

    #[test]
    fn a_script_that_asks_anew_leaves_the_peak() {
        let mut ledger = Ledger::default();
        let gone = ledger.add(100, ACTIVATION, false, true);
        ledger.freed(gone);
        ledger.ask_anew();
        ledger.add(30, ACTIVATION, false, true);
        assert_eq!((ledger.asked_peak_bytes(), ledger.peak().0), (30, 100));
    }

    #[test]
    fn what_goes_to_the_host_is_no_device_memory_until_it_comes_back() {
        let mut ledger = Ledger::default();
        let id = ledger.add(100, 4, false, true);
        ledger.move_to(id, true);
        assert_eq!((ledger.live_bytes(), ledger.host_read(id, 0)), (0, false));
        ledger.reset_peak();
        ledger.move_to(id, false);
        assert_eq!((ledger.peak().0, ledger.read(id, 1)), (100, 100), "with a copy");
    }

    #[test]
    fn what_unwatched_steps_left_was_there_beside_what_lives_within_a_step() {
        let mut ledger = Ledger::default();
        ledger.add(100, 0, false, true);
        let gone = ledger.add(50, ACTIVATION, false, true);
        ledger.freed(gone);
        ledger.step_ends();
        ledger.steps_left(0);
        assert_eq!(ledger.peak().0, 150, "nothing was left");
        ledger.add(30, TEMPORARY, false, true);
        ledger.steps_left(30);
        assert_eq!((ledger.peak().0, ledger.peak().1["activation"]), (180, 50));
        ledger.steps_left(20);
        assert_eq!(ledger.peak().0, 180, "some is gone");
    }

    #[test]
    fn what_stays_on_the_host_is_no_device_memory() {
        let mut ledger = Ledger::default();
        let id = ledger.add(1 << 40, 0, true, true);
        assert_eq!(ledger.peak().0, 0);
        ledger.freed(id);
        assert_eq!(ledger.live_bytes(), 0);
    }

    #[test]
    fn what_does_not_fit_is_refused_and_counts_unless_the_program_goes_on() {
        let mut ledger = Ledger { limit: Some(100), ..Ledger::default() };
        ledger.add(60, 0, false, true);
        let too_much = ledger.add(50, 0, false, true);
        assert_eq!((ledger.refused(), ledger.refused(), ledger.live_bytes()), (Some(50), None, 60));
        ledger.freed(too_much);
        assert_eq!(ledger.peak().0, 110);
        ledger.add(40, 0, false, true);
        assert_eq!((ledger.refused(), ledger.peak().0), (None, 100));
        ledger.add(7, 0, false, true);
        assert_eq!(ledger.peak().0, 107);
        ledger.did_without();
        assert_eq!(ledger.peak().0, 100);
    }

    #[test]
    fn what_has_no_room_to_grow_stays_as_it_was() {
        let mut ledger = Ledger { limit: Some(100), ..Ledger::default() };
        let id = ledger.add(30, 0, false, true);
        ledger.resized(id, 71);
        assert_eq!((ledger.refused(), ledger.live_bytes(), ledger.peak().0), (Some(71), 30, 101));
        ledger.resized(id, 70);
        assert_eq!((ledger.refused(), ledger.live_bytes(), ledger.peak().0), (None, 70, 100));
        ledger.freed(id);
        assert_eq!(ledger.live_bytes(), 0);
    }

    #[test]
    fn values_of_the_host_are_copied_in_once() {
        let mut ledger = Ledger::default();
        let id = ledger.add(800, 4, false, false);
        assert_eq!((ledger.read(id, 0), ledger.read(id, 1)), (800, 0));
        ledger.written(id, 3, true, 2);
        assert_eq!(ledger.read(id, 3), 800);
        assert_eq!(ledger.read(12345, 3), 0);
    }

    #[test]
    fn a_storage_that_grows_counts_what_it_is_now() {
        let mut ledger = Ledger::default();
        let id = ledger.add(0, 0, false, true);
        ledger.resized(id, 64);
        assert_eq!((ledger.peak().0, ledger.live_bytes()), (64, 64));
        ledger.resized(id, 16);
        assert_eq!((ledger.peak().0, ledger.live_bytes()), (80, 16), "both are there while it is copied");
        ledger.resized(id, 0);
        assert_eq!((ledger.peak().0, ledger.live_bytes()), (80, 0));
    }
}
