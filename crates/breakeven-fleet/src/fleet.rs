//! All jobs of all logs: what is added up while they stream by.

use crate::cells::Unread;
use crate::job::Oddity;
use crate::models::Model;
use crate::names::Of;
use crate::outcome::{OUTCOMES, Outcome};
use crate::part::{Context, Part, Row};
use crate::table::{Block, Table};
use crate::tally::{Group, Totals};
use crate::usage::Usage;
use breakeven::Result;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

/// Worst jobs that are kept of each rule.
const WORST: usize = 10;
/// Rows that could not be read, of which one is told each.
const EXAMPLES: usize = 5;

/// A job among the worst.
#[derive(Clone, Debug)]
pub struct Worst {
    /// Its id as the log has it.
    pub id: String,
    /// The job.
    pub row: Row,
}

/// Takes a judged job with its id.
pub type Taker<'t> = dyn FnMut(&Row, &dyn Fn() -> String) -> Result<()> + Send + 't;

/// Everything known so far.
pub struct Fleet<'c> {
    /// What blocks are read with.
    pub context: Arc<Context<'c>>,
    /// All jobs together.
    pub totals: Totals,
    /// By user, account, partition and application, by the number of the name.
    pub groups: [Vec<Group>; 4],
    /// By GPU, by its number.
    pub by_model: Vec<Group>,
    /// The worst jobs of each rule.
    pub worst: [Vec<Worst>; OUTCOMES],
    /// Cells that could not be read.
    pub unread: Unread,
    /// Oddities met.
    pub odd: [u64; Oddity::ALL.len()],
    /// Rows that could not be read, in words.
    pub examples: Vec<String>,
    /// Notes on whole files.
    pub notes: Vec<(&'static str, String)>,
    /// Steps apart from their job, by the job's id.
    pub apart: BTreeMap<u64, Usage>,
    /// Jobs whose samples were given.
    pub sampled: u64,
    seen: HashSet<u64, BuildHasherDefault<Hashed>>,
    running: HashMap<u64, (Row, String)>,
    waiting: Vec<u64>,
}

/// What is hashed already.
#[derive(Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

impl<'c> Fleet<'c> {
    /// Nothing known yet.
    pub fn new(context: Context<'c>) -> Self {
        Self {
            context: Arc::new(context),
            totals: Totals::default(),
            groups: [const { Vec::new() }; 4],
            by_model: Vec::new(),
            worst: [const { Vec::new() }; OUTCOMES],
            unread: Unread::default(),
            odd: [0; Oddity::ALL.len()],
            examples: Vec::new(),
            notes: Vec::new(),
            apart: BTreeMap::new(),
            sampled: 0,
            seen: HashSet::default(),
            running: HashMap::new(),
            waiting: Vec::new(),
        }
    }

    /// Adds what came of a block; `take` gets each of its jobs but for those that are still running, which come last.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn fold(&mut self, part: Part, block: &Block, table: &Table, take: &mut Taker<'_>) -> Result<()> {
        self.totals.rows[Outcome::Step as usize] += part.steps;
        self.totals.rows[Outcome::BadRow as usize] += part.bad;
        self.examples.extend(part.example.filter(|_| self.examples.len() < EXAMPLES));
        self.unread.merge(part.unread);
        self.odd.iter_mut().zip(part.odd).for_each(|(sum, odd)| *sum += odd);
        for (key, usage) in part.apart {
            let known = self.apart.entry(key).or_default();
            known.and(&usage);
            known.partial |= usage.partial;
        }
        for row in part.rows {
            let id = || block.id(table, row.at);
            if row.run != 0 && row.is_running() {
                let before = self.running.insert(row.run, (row.clone(), id()));
                // Of two looks at a running job the later one counts.
                self.totals.rows[Outcome::Superseded as usize] += u64::from(before.is_some());
                continue;
            }
            if row.run != 0 && !self.seen.insert(row.run) {
                self.totals.rows[Outcome::Duplicate as usize] += 1;
                continue;
            }
            self.add(&row, &id);
            take(&row, &id)?;
        }
        Ok(())
    }

    /// Adds the jobs that were running and did not end in the log.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn finish(&mut self, take: &mut Taker<'_>) -> Result<()> {
        self.waiting = self.running.keys().copied().collect();
        self.waiting.sort_unstable();
        for run in std::mem::take(&mut self.waiting) {
            let Some((row, id)) = self.running.remove(&run) else { continue };
            if self.seen.insert(run) {
                self.add(&row, &|| id.clone());
                take(&row, &|| id.clone())?;
            } else {
                self.totals.rows[Outcome::Superseded as usize] += 1;
            }
        }
        Ok(())
    }

    fn add(&mut self, row: &Row, id: &dyn Fn() -> String) {
        let job = &row.judged;
        self.totals.add(job);
        for (groups, symbol) in self.groups.iter_mut().zip(row.names) {
            group(groups, symbol as usize).add(job);
        }
        if row.gpus.is_none_or(|gpus| gpus > 0.0) {
            group(&mut self.by_model, usize::from(row.model)).add(job);
        }
        let worst = &mut self.worst[job.outcome as usize];
        if !job.outcome.is_waste() && job.outcome != Outcome::PaysOnGpu {
            return;
        }
        let weight = |row: &Row| if row.judged.outcome.is_waste() { row.judged.freed_gpu_s } else { row.judged.cpu_s };
        if worst.len() == WORST && worst.last().is_some_and(|last| weight(&last.row) >= weight(row)) {
            return;
        }
        let at = worst.partition_point(|other| weight(&other.row) >= weight(row));
        worst.insert(at, Worst { id: id(), row: row.clone() });
        worst.truncate(WORST);
    }

    /// Rows read.
    pub fn rows(&self) -> u64 {
        self.totals.rows.iter().sum()
    }

    /// Groups of one kind by name, those that waste most first; then by GPU time, CPU time, name.
    pub fn groups(&self, of: Of) -> Vec<(String, Group)> {
        let named = |(symbol, group): (usize, &Group)| {
            let symbol = u32::try_from(symbol).unwrap_or(u32::MAX);
            (group.jobs > 0).then(|| (self.context.names.name(of, symbol).to_string(), *group))
        };
        sorted(self.groups[of as usize].iter().enumerate().filter_map(named).collect())
    }

    /// Groups by GPU.
    pub fn models(&self) -> Vec<(String, Group)> {
        let named = |(model, group): (usize, &Group)| {
            let gpu = self.context.models.gpu(Model::try_from(model).unwrap_or(Model::MAX));
            let name = if gpu.name.is_empty() { "(not named)".to_owned() } else { gpu.name.clone() };
            (group.jobs > 0).then_some((name, *group))
        };
        sorted(self.by_model.iter().enumerate().filter_map(named).collect())
    }

    /// Waiting time that is freed, s: for certain, and where somebody has a look. Of the jobs of a partition at least
    /// that
    /// part of their waiting that is the part of its GPU time that is freed: waiting grows faster than load.
    pub fn freed_wait(&self, certain: bool) -> f64 {
        let of = |group: &Group| {
            let freed = if certain { group.certain_s } else { group.look_s }.get();
            let used = group.gpu_s.get();
            if used > 0.0 { group.gpu_wait_s.get() * freed / used } else { 0.0 }
        };
        self.groups[Of::Partition as usize].iter().map(of).sum()
    }
}

fn group(groups: &mut Vec<Group>, at: usize) -> &mut Group {
    if groups.len() <= at {
        groups.resize(at + 1, Group::default());
    }
    &mut groups[at]
}

fn sorted(mut groups: Vec<(String, Group)>) -> Vec<(String, Group)> {
    let weight = |group: &Group| {
        let mut wasted = group.certain_s;
        wasted += group.look_s;
        (group.certain_s, wasted, group.gpu_s, group.cpu_s, group.jobs)
    };
    groups.sort_by(|(a, x), (b, y)| weight(y).cmp(&weight(x)).then_with(|| a.cmp(b)));
    groups
}
