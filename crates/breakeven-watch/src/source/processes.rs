//! Processes of this machine: their names, their use of the CPU, and what the kernel's graphics drivers say of each.

use super::Process;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The short name of a process.
pub(super) fn name(root: &Path, pid: u32) -> String {
    super::sysfs::text(&root.join(format!("proc/{pid}/comm"))).unwrap_or_default()
}

/// When a process started and how long it and its ended children have used the CPU, both in clock ticks.
pub(super) fn stat(root: &Path, pid: u32) -> Option<(u64, u64)> {
    let line = fs::read_to_string(root.join(format!("proc/{pid}/stat"))).ok()?;
    // The name stands in brackets and may hold brackets itself.
    let rest = line.rsplit_once(')')?.1;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |n: usize| fields.get(n)?.parse::<u64>().ok();
    // A process that has ended and was not yet waited for is over.
    let over = matches!(fields.first(), Some(&"Z" | &"X"));
    (!over).then_some(())?;
    Some((number(19)?, number(11)? + number(12)? + number(13)? + number(14)?))
}

/// A process and everything that it started and that still runs.
pub(super) fn family(root: &Path, pid: u32) -> Vec<u32> {
    /// More than a script starts; a tree beyond that is not followed.
    const MOST: usize = 512;
    let mut all = vec![pid];
    let mut next = 0;
    while next < all.len() && all.len() < MOST {
        let tasks = root.join(format!("proc/{}/task", all[next]));
        for task in fs::read_dir(tasks).into_iter().flatten().flatten() {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            all.extend(children.split_ascii_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        }
        next += 1;
    }
    all
}

/// Processes that hold an open file of a graphics driver: `/proc/PID/fdinfo` says how long each engine worked for it (ns)
/// and how much memory it holds.
pub(super) struct Clients {
    root: PathBuf,
    addresses: Vec<String>,
    before: BTreeMap<(usize, u32), (Instant, f64)>,
    /// When all processes were searched last, and those that were found.
    searched: Option<(Instant, Vec<u32>)>,
}

/// How often all processes are searched, s; those that are known are looked at in between.
const SEARCH: f64 = 10.0;

impl Clients {
    /// Of the cards at these addresses.
    pub(super) fn new(root: &Path, addresses: Vec<String>) -> Self {
        Self { root: root.to_owned(), addresses, before: BTreeMap::new(), searched: None }
    }

    /// Who uses the cards, and their share of the time since the last look.
    pub(super) fn look(&mut self) -> Vec<Process> {
        let mut found = Vec::new();
        let now = Instant::now();
        let mut seen = BTreeMap::new();
        let fresh = self.searched.as_ref().is_none_or(|(then, _)| now.duration_since(*then).as_secs_f64() >= SEARCH);
        let known = self.searched.take();
        let pids =
            if fresh { pids(&self.root) } else { known.as_ref().map(|(_, pids)| pids.clone()).unwrap_or_default() };
        for pid in pids {
            for (gpu, (memory, engine_ns)) in self.uses(pid) {
                let passed = self.before.get(&(gpu, pid)).map(|(then, ns)| (now.duration_since(*then), engine_ns - ns));
                let busy = passed.map(|(passed, ns)| (ns / 1e9 / passed.as_secs_f64().max(1e-3)).clamp(0.0, 1.0));
                seen.insert((gpu, pid), (now, engine_ns));
                found.push(Process { gpu, pid, name: name(&self.root, pid), memory, busy });
            }
        }
        let pids = seen.keys().map(|(_, pid)| *pid).collect::<BTreeSet<u32>>().into_iter().collect();
        self.searched = Some((known.map_or(now, |(then, _)| if fresh { now } else { then }), pids));
        self.before = seen;
        found
    }

    /// Memory and engine time of a process on each card.
    fn uses(&self, pid: u32) -> BTreeMap<usize, (Option<f64>, f64)> {
        let (mut uses, mut clients) = (BTreeMap::new(), BTreeSet::new());
        let folder = self.root.join(format!("proc/{pid}/fd"));
        for fd in fs::read_dir(folder).into_iter().flatten().flatten() {
            // Reading all files of all processes would take longer than a look may.
            if !fs::read_link(fd.path()).is_ok_and(|to| to.to_string_lossy().contains("/dri/")) {
                continue;
            }
            let info = self.root.join(format!("proc/{pid}/fdinfo")).join(fd.file_name());
            let text = fs::read_to_string(info).unwrap_or_default();
            let Some(client) = Client::read(&text) else { continue };
            let Some(gpu) = self.addresses.iter().position(|address| *address == client.address) else { continue };
            // One client may have several files.
            if clients.insert((gpu, client.id)) {
                let sum = uses.entry(gpu).or_insert((None, 0.0));
                *sum = (client.memory.map(|bytes| sum.0.unwrap_or(0.0) + bytes).or(sum.0), sum.1 + client.engine_ns);
            }
        }
        uses
    }
}

/// What the file of one client says.
struct Client {
    address: String,
    id: String,
    memory: Option<f64>,
    engine_ns: f64,
}

impl Client {
    fn read(text: &str) -> Option<Self> {
        let value = |key: &str| text.lines().find_map(|line| Some(line.strip_prefix(key)?.strip_prefix(':')?.trim()));
        let bytes = |text: &str| {
            let mut words = text.split_ascii_whitespace();
            let number: f64 = words.next()?.parse().ok()?;
            Some(
                number
                    * match words.next() {
                        Some("KiB") => 1024.0,
                        Some("MiB") => 1_048_576.0,
                        _ => 1.0,
                    },
            )
        };
        let memory = ["drm-resident-vram", "drm-memory-vram", "drm-resident-vram0", "drm-resident-local0"];
        let engines = text.lines().filter_map(|line| {
            let (key, value) = line.split_once(':')?;
            let engine = key.starts_with("drm-engine-") && !key.starts_with("drm-engine-capacity-");
            engine.then(|| value.trim().strip_suffix(" ns")?.trim().parse::<f64>().ok())?
        });
        Some(Self {
            address: value("drm-pdev")?.to_owned(),
            id: value("drm-client-id").unwrap_or_default().to_owned(),
            memory: memory.into_iter().find_map(|key| bytes(value(key)?)),
            engine_ns: engines.sum(),
        })
    }
}

fn pids(root: &Path) -> Vec<u32> {
    let entries = fs::read_dir(root.join("proc")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_says_its_memory_and_the_time_of_its_engines() {
        let text = "pos:\t0\ndrm-driver:\tamdgpu\ndrm-client-id:\t7\ndrm-pdev:\t0000:83:00.0\n\
                    drm-memory-vram:\t2048 KiB\ndrm-engine-gfx:\t1000 ns\ndrm-engine-compute:\t500 ns\n";
        let client = Client::read(text).unwrap();
        assert_eq!((client.address.as_str(), client.id.as_str()), ("0000:83:00.0", "7"));
        assert_eq!((client.memory, client.engine_ns), (Some(2_097_152.0), 1500.0));
        assert!(Client::read("pos:\t0\n").is_none());
    }

    #[test]
    fn this_process_is_there_and_has_a_start() {
        let pid = std::process::id();
        let (started, _) = stat(Path::new("/"), pid).unwrap();
        assert!(started > 0 && family(Path::new("/"), pid).contains(&pid) && !name(Path::new("/"), pid).is_empty());
        assert_eq!(stat(Path::new("/"), u32::MAX), None);
    }
}
