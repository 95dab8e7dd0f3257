//! One workload of many: a program's processes and threads, recorded apart.

use super::{Entry, HostCode, HostKind, Program, Site, Step, Unseen, Wait, Workload, order};
use std::collections::BTreeMap;

/// What `cloudpickle` names the file of a function that it sends to another process: lines are those of the script.
pub const SENT: &str = "<dynamic-code>";

/// Puts the parts of one program together; `None` when there are none.
///
/// The first part is the parent: its program description, wall time and hook cost stay. Equal sites and entries become
/// one and their counts add up; the orders follow each other, as if the parts ran one after the other, so entries that
/// ran in other processes should carry their `pid` (see [`tag_process`]). Functions that were [`SENT`] to other processes are
/// the script's. Peak memory is the sum of the peaks, an upper
/// bound. Marker times count from the parent's start.
///
/// ```
/// use breakeven::workload::merge::merge;
/// assert_eq!(merge(Vec::new()), None);
/// ```
pub fn merge(parts: Vec<Workload>) -> Option<Workload> {
    let mut parts = parts.into_iter();
    let parent = parts.next()?;
    let Some(second) = parts.next() else { return Some(parent) };
    let mut all = Merge::start(parent);
    all.add(second);
    parts.for_each(|part| all.add(part));
    Some(all.whole)
}

/// Marks every entry that says nothing else as run by process `pid`.
pub fn tag_process(workload: &mut Workload, pid: u32) {
    for entry in &mut workload.ops {
        entry.pid.get_or_insert(pid);
    }
}

/// What has been put together, and where its sites and entries are.
struct Merge {
    whole: Workload,
    sites: BTreeMap<String, u32>,
    entries: BTreeMap<String, u32>,
}

impl Merge {
    /// An empty whole with the parent's description, then the parent.
    fn start(mut parent: Workload) -> Self {
        let mut whole =
            Workload { program: parent.program.clone(), format: parent.format.clone(), ..Workload::default() };
        whole.program.processes = 0;
        whole.program.peak_bytes = 0;
        whole.program.device_peak_bytes = 0;
        whole.program.loaders = None;
        // Markers already count from the parent's start.
        parent.program.start_unix_ms = whole.program.start_unix_ms;
        let mut all = Self { whole, sites: BTreeMap::new(), entries: BTreeMap::new() };
        all.add(parent);
        all
    }

    fn add(&mut self, part: Workload) {
        let before = self.whole.op_count();
        let ops = part.op_count();
        let listed = part.order.is_empty().then(|| as_listed(&part.ops));
        let sites: Vec<u32> = part.sites.into_iter().map(|site| self.site(site)).collect();
        let site = |index: u32| sites.get(index as usize).copied().unwrap_or(index);
        let mut entries = Vec::with_capacity(part.ops.len());
        for entry in part.ops {
            entries.push(self.entry(Entry { site: site(entry.site), ..entry }));
        }
        let entry = |index: u32| entries.get(index as usize).copied().unwrap_or(index);
        self.whole.order.extend(order::renumber(listed.unwrap_or(part.order), &entry));
        self.whole.buffers.extend(part.buffers.into_iter().map(|mut buffer| {
            buffer.producer = buffer.producer.map(entry);
            buffer.first_use += before;
            buffer.last_use = buffer.last_use.min(ops) + before;
            buffer
        }));
        let later_ms = part.program.start_unix_ms.zip(self.whole.program.start_unix_ms);
        let later_ns = later_ms.map_or(0, |(own, first)| own.saturating_sub(first).saturating_mul(1_000_000));
        self.whole.markers.extend(part.markers.into_iter().map(|mut marker| {
            marker.site = site(marker.site);
            marker.position += before;
            marker.at_ns = marker.at_ns.saturating_add(later_ns);
            marker
        }));
        // What others waited for, they did beside the parent.
        let beside = self.whole.program.processes > 0;
        if !beside {
            let place = |wait: Wait| Wait { site: wait.site.map(site), before: wait.before.map(site), ..wait };
            self.whole.waits = part.waits.into_iter().map(place).collect();
        }
        for row in part.host_code.into_iter().filter(|row| !(beside && row.kind == HostKind::Waiting)) {
            add_host_code(&mut self.whole.host_code, HostCode { site: row.site.map(site), ..row });
        }
        for unseen in part.unseen {
            add_unseen(&mut self.whole.unseen, unseen);
        }
        let program = &mut self.whole.program;
        if program.processes > 0 {
            // While this one was at work, the parent waited for it, or may have.
            let (waited, more) = waited_for(&part.program, program.idle_ns);
            program.idle_ns -= waited;
            // Other programs that kept this one from a processor kept the parent waiting.
            if part.program.stolen_ns.is_some() && part.program.wall_ns > part.program.idle_ns {
                program.stolen_ns = Some(program.stolen_ns.unwrap_or(0).saturating_add(more));
            }
        }
        program.processes = program.processes.saturating_add(part.program.processes);
        // The coarsest of them says how sparse times may be.
        program.sampling = program.sampling.max(part.program.sampling);
        program.peak_bytes = program.peak_bytes.saturating_add(part.program.peak_bytes);
        program.device_peak_bytes = program.device_peak_bytes.saturating_add(part.program.device_peak_bytes);
        if let Some(more) = part.program.loaders {
            let all = program.loaders.get_or_insert_default();
            all.workers = all.workers.max(more.workers);
            all.batches = all.batches.saturating_add(more.batches);
            all.ns = all.ns.saturating_add(more.ns);
        }
        program.gpu = program.gpu.take().or(part.program.gpu);
        for (package, version) in part.program.versions {
            program.versions.entry(package).or_insert(version);
        }
        for field in part.optional_fields {
            if !self.whole.optional_fields.contains(&field) {
                self.whole.optional_fields.push(field);
            }
        }
    }

    fn site(&mut self, mut site: Site) -> u32 {
        let sites = &mut self.whole.sites;
        if site.file == SENT
            && let Some(script) = sites.iter().find(|known| is_named(known, &self.whole.program.name))
        {
            site.file.clone_from(&script.file);
        }
        *self.sites.entry(format!("{site:?}")).or_insert_with(|| {
            sites.push(site);
            (sites.len() - 1) as u32
        })
    }

    fn entry(&mut self, entry: Entry) -> u32 {
        let ops = &mut self.whole.ops;
        match self.entries.get(&identity(&entry)) {
            Some(&index) => {
                let known = &mut ops[index as usize];
                known.count = known.count.saturating_add(entry.count);
                known.cpu_ns = known.cpu_ns.saturating_add(entry.cpu_ns);
                known.gap_ns = known.gap_ns.saturating_add(entry.gap_ns);
                known.host_input_bytes = known.host_input_bytes.saturating_add(entry.host_input_bytes);
                known.host_input_count = known.host_input_count.saturating_add(entry.host_input_count);
                index
            }
            None => {
                let index = ops.len() as u32;
                self.entries.insert(identity(&entry), index);
                ops.push(entry);
                index
            }
        }
    }
}

/// For how much of its `idle` time a parent waited for another process, and for how long other programs kept that from a
/// processor meanwhile, ns.
fn waited_for(other: &Program, idle: u64) -> (u64, u64) {
    let busy = other.wall_ns.saturating_sub(other.idle_ns);
    let waited = idle.min(busy);
    let stolen = other.stolen_ns.unwrap_or(0).min(busy);
    let share = if busy > 0 { stolen as f64 / busy as f64 } else { 0.0 };
    (waited, (waited as f64 * share) as u64)
}

/// Takes the time that the parent, the first part, slept while others were at work off what each of its threads spent
/// between ops, the longest first, and off its waiting: the others' own ops tell that work. Done before [`merge`].
pub fn without_sleep(parts: &mut [Workload]) {
    let Some((whole, others)) = parts.split_first_mut() else { return };
    let (mut idle, mut ns) = (whole.program.idle_ns, 0_u64);
    for other in others {
        let (waited, more) = waited_for(&other.program, idle);
        idle -= waited;
        ns = ns.saturating_add(waited).saturating_add(more);
    }
    if ns == 0 {
        return;
    }
    let mut own: Vec<&mut Entry> = whole.ops.iter_mut().filter(|entry| entry.pid.is_none()).collect();
    own.sort_by_key(|entry| std::cmp::Reverse(entry.gap_ns));
    let mut left: BTreeMap<Option<u32>, u64> = BTreeMap::new();
    for entry in own {
        take(left.entry(entry.thread).or_insert(ns), &mut entry.gap_ns);
    }
    let mut left = ns;
    for row in whole.host_code.iter_mut().filter(|row| row.kind == HostKind::Waiting) {
        take(&mut left, &mut row.ns);
    }
    whole.host_code.retain(|row| row.ns > 0 || row.kind != HostKind::Waiting);
}

/// Takes from `from` what is `left` to be taken, as far as there is any.
fn take(left: &mut u64, from: &mut u64) {
    let taken = (*left).min(*from);
    *left -= taken;
    *from -= taken;
}

/// Whether the site is in the file with this name.
fn is_named(site: &Site, name: &str) -> bool {
    !name.is_empty() && site.file.rsplit('/').next() == name.rsplit('/').next()
}

/// Everything of an entry that does not add up.
fn identity(entry: &Entry) -> String {
    let still = Entry { count: 0, cpu_ns: 0, gap_ns: 0, host_input_bytes: 0, host_input_count: 0, ..entry.clone() };
    format!("{still:?}")
}

/// The order that an empty one stands for.
fn as_listed(ops: &[Entry]) -> Vec<Step> {
    ops.iter().enumerate().map(|(i, entry)| Step::Repeat(entry.count, vec![Step::Run(i as u32)])).collect()
}

fn add_host_code(all: &mut Vec<HostCode>, row: HostCode) {
    let equal = |known: &&mut HostCode| {
        (known.site, known.kind) == (row.site, row.kind)
            && (&known.library, &known.function) == (&row.library, &row.function)
    };
    match all.iter_mut().find(equal) {
        Some(known) => {
            known.ns = known.ns.saturating_add(row.ns);
            known.samples = known.samples.saturating_add(row.samples);
        }
        None => all.push(row),
    }
}

fn add_unseen(all: &mut Vec<Unseen>, unseen: Unseen) {
    match all.iter_mut().find(|known| known.reason == unseen.reason && known.text == unseen.text) {
        Some(known) => {
            known.ns = known.ns.saturating_add(unseen.ns);
            known.count = known.count.saturating_add(unseen.count);
        }
        None => all.push(unseen),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Program;
    use crate::workload::samples::{heat, workloads};
    use proptest::prelude::*;

    fn totals(w: &Workload) -> (u64, u64, u64, u32, u64, usize) {
        // Of what processes waited for, only the first one's counts.
        let host_code = w.host_code.iter().filter(|row| row.kind != HostKind::Waiting);
        let host_code = host_code.map(|row| row.ns + row.samples).sum::<u64>();
        let unseen = w.unseen.iter().map(|u| u.ns + u.count).sum::<u64>() + host_code;
        let cpu = w.ops.iter().map(|e| e.cpu_ns + e.gap_ns).sum();
        (w.op_count(), cpu, unseen, w.program.processes, w.program.peak_bytes, w.markers.len())
    }

    #[test]
    fn two_processes_of_one_script_share_its_sites() {
        let mut child = heat();
        tag_process(&mut child, 42);
        let both = merge(vec![heat(), child]).unwrap();
        assert_eq!(both.sites, heat().sites);
        assert_eq!(both.ops.len(), 2 * heat().ops.len());
        assert_eq!(both.program.wall_ns, heat().program.wall_ns);
        assert_eq!(both.program.processes, 2);
        assert_eq!(both.check(), Ok(()));
    }

    #[test]
    fn a_function_that_was_sent_to_a_worker_is_the_scripts() {
        let (parent, mut child) = (heat(), heat());
        child.sites.iter_mut().for_each(|site| site.file = SENT.to_owned());
        let named = Program { name: parent.sites[0].file.clone(), ..parent.program.clone() };
        let both = merge(vec![Workload { program: named, ..parent }, child.clone()]).unwrap();
        assert_eq!(both.sites.len(), heat().sites.len());
        let unnamed = Program { name: "train.py".to_owned(), ..heat().program };
        let both = merge(vec![Workload { program: unnamed, ..heat() }, child]).unwrap();
        assert_eq!(both.sites.len(), 2 * heat().sites.len());
    }

    #[test]
    fn host_code_of_two_processes_is_one_row_a_line_and_library() {
        let row = |site, library: &str| HostCode {
            site: Some(site),
            kind: HostKind::Native,
            library: Some(library.to_owned()),
            function: None,
            ns: 7,
            samples: 1,
        };
        let (mut parent, mut child) = (heat(), heat());
        parent.host_code = vec![row(0, "polars")];
        child.sites.rotate_left(1);
        child.ops.iter_mut().for_each(|entry| entry.site = 0);
        child.host_code = vec![row(child.sites.len() as u32 - 1, "polars"), row(0, "polars"), row(0, "numba")];
        let both = merge(vec![parent, child]).unwrap();
        let twice = HostCode { ns: 14, samples: 2, ..row(0, "polars") };
        assert_eq!(both.host_code, [twice, row(1, "polars"), row(1, "numba")]);
        assert_eq!(both.check(), Ok(()));
    }

    #[test]
    fn a_parent_does_not_wait_for_nothing_while_its_child_computes() {
        let (mut parent, mut child) = (heat(), heat());
        (parent.program.idle_ns, child.program.idle_ns) = (1_500_000_000, 600_000_000);
        child.program.wall_ns = 1_000_000_000;
        let both = merge(vec![parent, child.clone(), child]).unwrap();
        assert_eq!(both.program.idle_ns, 700_000_000);
    }

    #[test]
    fn what_kept_a_child_from_a_processor_kept_its_parent_waiting() {
        let of = |wall_ns, idle_ns, stolen_ns| Workload {
            program: Program { wall_ns, idle_ns, stolen_ns, processes: 1, ..Program::default() },
            ..Workload::default()
        };
        // Two workers side by side, which had a processor for half of the time.
        let worker = || of(80, 0, Some(40));
        let all = merge(vec![of(100, 90, Some(4)), worker(), worker()]).unwrap();
        assert_eq!((all.program.idle_ns, all.program.stolen_ns), (0, Some(4 + 40 + 5)));
        assert_eq!(merge(vec![of(100, 90, None), of(80, 0, None)]).unwrap().program.stolen_ns, None);
    }

    #[test]
    fn a_parent_sleeps_no_longer_than_nobody_else_worked() {
        let (mut parent, mut worker) = (heat(), heat());
        parent.ops[0].gap_ns = 100;
        parent.ops[0].pid = None;
        (parent.program.wall_ns, parent.program.idle_ns) = (200, 90);
        (worker.program.wall_ns, worker.program.idle_ns, worker.program.stolen_ns) = (80, 0, Some(8));
        let mut parts = vec![parent.clone(), worker];
        parts[0].ops.truncate(1);
        without_sleep(&mut parts);
        assert_eq!(parts[0].ops[0].gap_ns, 100 - 80 - 8);
        let mut alone = vec![parent.clone()];
        without_sleep(&mut alone);
        assert_eq!(alone, [parent]);
    }

    #[test]
    fn two_runs_of_the_same_entries_add_their_counts() {
        let both = merge(vec![heat(), heat()]).unwrap();
        assert_eq!(both.ops.len(), heat().ops.len());
        assert_eq!(both.op_count(), 2 * heat().op_count());
        assert_eq!(both.check(), Ok(()));
    }

    proptest! {
        #[test]
        fn one_part_stays_as_it_is(w in workloads()) {
            prop_assert_eq!(merge(vec![w.clone()]), Some(w));
        }

        #[test]
        fn totals_add_up_in_any_grouping(a in workloads(), b in workloads(), c in workloads()) {
            let flat = merge(vec![a.clone(), b.clone(), c.clone()]).unwrap();
            prop_assert_eq!(flat.check(), Ok(()));
            let left = merge(vec![merge(vec![a.clone(), b.clone()]).unwrap(), c.clone()]).unwrap();
            let right = merge(vec![a.clone(), merge(vec![b.clone(), c.clone()]).unwrap()]).unwrap();
            prop_assert_eq!(&left, &flat);
            prop_assert_eq!(totals(&right), totals(&flat));
            prop_assert_eq!(&right.ops, &flat.ops);
            prop_assert_eq!(&right.host_code, &flat.host_code);
            let sum = [&a, &b, &c].map(totals).into_iter().fold((0, 0, 0, 0, 0, 0), |s, t| {
                (s.0 + t.0, s.1 + t.1, s.2 + t.2, s.3 + t.3, s.4 + t.4, s.5 + t.5)
            });
            prop_assert_eq!(totals(&flat), sum);
        }
    }
}
