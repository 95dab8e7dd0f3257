//! A row as a job or a step of one.

use crate::cells::{Cells, Fields, Value};
use crate::field::Field;
use crate::usage::{By, Usage};
use crate::values::{Gres, Moment, State, Tres, gres};
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What is odd about a row, and counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "their words say it")]
pub enum Oddity {
    NegativeElapsed,
    EndBeforeStart,
    ClockChange,
    TimesDisagree,
    MixedZones,
    StartBeforeSubmit,
    GresOfSeveralNodes,
    Shards,
    GpuPartition,
}

impl Oddity {
    /// Every one.
    pub const ALL: [Self; 9] = [
        Self::NegativeElapsed,
        Self::EndBeforeStart,
        Self::ClockChange,
        Self::TimesDisagree,
        Self::MixedZones,
        Self::StartBeforeSubmit,
        Self::GresOfSeveralNodes,
        Self::Shards,
        Self::GpuPartition,
    ];

    /// For programs.
    pub const fn key(self) -> &'static str {
        match self {
            Self::NegativeElapsed => "negative-elapsed",
            Self::EndBeforeStart => "end-before-start",
            Self::ClockChange => "clock-change",
            Self::TimesDisagree => "times-disagree",
            Self::MixedZones => "mixed-zones",
            Self::StartBeforeSubmit => "start-before-submit",
            Self::GresOfSeveralNodes => "gres-of-several-nodes",
            Self::Shards => "shards",
            Self::GpuPartition => "gpu-partition",
        }
    }

    /// For people, after `12 jobs`.
    pub const fn words(self) -> &'static str {
        match self {
            Self::NegativeElapsed => "have a negative elapsed time: how long they ran is unknown",
            Self::EndBeforeStart => "end before they start: how long they ran is unknown",
            Self::ClockChange => {
                "have an hour more or less between start and end than elapsed: the clock changed, elapsed counts"
            }
            Self::TimesDisagree => {
                "have more elapsed time than lies between start and end: elapsed counts, nothing is certain"
            }
            Self::MixedZones => "tell the time zone of one moment and not of another: these are not subtracted",
            Self::StartBeforeSubmit => "start before they were submitted: how long they waited is unknown",
            Self::GresOfSeveralNodes => "tell GPUs by AllocGRES alone and have several nodes: how many GPUs is unknown",
            Self::Shards => "have shards of GPUs, whose size the log does not say",
            Self::GpuPartition => "ran in a partition that is called after GPUs, and how many they had is not told",
        }
    }
}

/// Whose row it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Id {
    /// A hash of cluster and id, without a step; 0 where there is no id.
    pub key: u64,
    /// Whether the row is of a step, and whether of one that may use the GPU: `.extern` is Slurm's own.
    pub step: Option<bool>,
}

impl Id {
    fn of(value: Value<'_>, cluster: Option<&str>) -> Self {
        let (base, step) = match value {
            Value::Text(text) => match text.trim().split_once('.') {
                Some((base, step)) => (base, Some(step != "extern")),
                None => (text.trim(), None),
            },
            Value::Number(number) => {
                let mut digits = [0; 20];
                return Self { key: key(shown(number as u64, &mut digits), cluster), step: None };
            }
            Value::Moment(_) | Value::Nothing => return Self::default(),
        };
        Self { key: key(base, cluster), step }
    }
}

/// A hash of a job's id that is never 0, but for no id.
pub fn key(base: &str, cluster: Option<&str>) -> u64 {
    if base.is_empty() {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    (base, cluster.unwrap_or_default()).hash(&mut hasher);
    hasher.finish().max(1)
}

/// A number's digits, written into `digits`.
fn shown(mut number: u64, digits: &mut [u8; 20]) -> &str {
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return std::str::from_utf8(&digits[at..]).unwrap_or_default();
        }
    }
}

/// A row, read.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Whose.
    pub id: Id,
    /// Its state.
    pub state: State,
    /// When it came, began and ended.
    pub submit: Option<Moment>,
    /// See `submit`.
    pub start: Option<Moment>,
    /// See `submit`.
    pub end: Option<Moment>,
    /// How long it ran, s.
    pub elapsed: Option<f64>,
    /// How long it waited, s.
    pub wait: Option<f64>,
    /// Allocated.
    pub nodes: Option<f64>,
    /// Allocated.
    pub cpus: Option<f64>,
    /// Allocated.
    pub gpus: Option<f64>,
    /// What the site calls them.
    pub model: Option<String>,
    /// CPU time used, s.
    pub cpu_time: Option<f64>,
    /// Use of its GPUs.
    pub usage: Usage,
    /// Energy as the site measured it, J.
    pub joules: Option<f64>,
    /// What is odd about it.
    pub odd: Vec<Oddity>,
}

impl Record {
    /// Reads a row.
    pub fn read<C: Cells + ?Sized>(fields: &mut Fields<'_, C>) -> Self {
        let cluster = fields.text(Field::Cluster);
        let mut job = Self {
            id: Id::of(fields.value(Field::Id), cluster.as_deref()),
            state: fields.state(),
            submit: fields.moment(Field::Submit),
            start: fields.moment(Field::Start),
            end: fields.moment(Field::End),
            cpu_time: fields.length(Field::CpuTime),
            joules: fields.joules(Field::Energy).filter(|joules| *joules > 0.0),
            ..Self::default()
        };
        job.usage = usage(fields);
        if job.id.step.is_none() {
            let alloc = match fields.value(Field::AllocTres) {
                Value::Text(text) => Tres::read(text.trim()),
                _ => Tres::default(),
            };
            job.nodes = fields.count(Field::Nodes).or(alloc.nodes);
            job.cpus = fields.count(Field::Cpus).or(alloc.cpus);
            let gpus = job.allocated(fields, alloc);
            (job.gpus, job.model) = (gpus.count, gpus.model.map(Cow::into_owned));
        }
        job.times(fields);
        job
    }

    /// How long it ran and waited.
    fn times<C: Cells + ?Sized>(&mut self, fields: &mut Fields<'_, C>) {
        let mut between = |from: Option<Moment>, to: Option<Moment>| {
            let (from, to) = from.zip(to)?;
            if from.zoned != to.zoned {
                self.odd.push(Oddity::MixedZones);
                return None;
            }
            Some(to.s - from.s)
        };
        let (ran, waited) = (between(self.start, self.end), between(self.submit, self.start));
        let told = fields.length(Field::Elapsed);
        self.elapsed = match (told, ran) {
            (Some(told), _) if told < 0.0 => {
                self.odd.push(Oddity::NegativeElapsed);
                None
            }
            (Some(told), Some(ran)) => {
                if ((ran - told).abs() - 3600.0).abs() <= 2.0 {
                    self.odd.push(Oddity::ClockChange);
                } else if told > ran + 2.0 {
                    self.odd.push(Oddity::TimesDisagree);
                }
                Some(told)
            }
            (Some(told), None) => Some(told),
            (None, Some(ran)) if ran < 0.0 => {
                self.odd.push(Oddity::EndBeforeStart);
                None
            }
            (None, ran) => ran,
        };
        self.wait = waited.filter(|waited| *waited >= 0.0);
        if waited.is_some() && self.wait.is_none() {
            self.odd.push(Oddity::StartBeforeSubmit);
        }
    }

    /// Its GPUs: by a column of their number, by the allocated resources, by the older list of them. A list of
    /// allocated
    /// resources without a GPU says that there was none.
    fn allocated<'a, C: Cells + ?Sized>(&mut self, fields: &mut Fields<'a, C>, alloc: Tres<'a>) -> Gres<'a> {
        let model = fields.text(Field::GpuModel);
        if let Some(count) = fields.count(Field::Gpus) {
            return Gres { count: Some(count), model: model.or(alloc.gpus.model), shards: false };
        }
        let older = match fields.value(Field::AllocGres) {
            Value::Text(text) => gres(text.trim()),
            _ => Gres::default(),
        };
        if alloc.gpus.shards || older.shards {
            self.odd.push(Oddity::Shards);
            return Gres { count: None, model, shards: true };
        }
        if alloc.gpus.count.is_some() {
            return Gres { model: model.or(alloc.gpus.model), ..alloc.gpus };
        }
        match older.count {
            Some(_) if self.nodes.is_some_and(|nodes| nodes > 1.0) => {
                self.odd.push(Oddity::GresOfSeveralNodes);
                return Gres { count: None, model: model.or(older.model), shards: false };
            }
            Some(_) => return Gres { model: model.or(older.model), ..older },
            None => {}
        }
        let partition = fields.text(Field::Partition).unwrap_or_default();
        let called = partition.as_bytes().windows(3).any(|part| part.eq_ignore_ascii_case(b"gpu"));
        if called {
            self.odd.push(Oddity::GpuPartition);
        }
        let none = alloc.known && !called;
        Gres { count: none.then_some(0.0), model, shards: false }
    }
}

impl Record {
    /// Which run of a job it is: its rows, however often they come, have the same; 0 where there is no id.
    pub fn run(&self) -> u64 {
        if self.id.key == 0 {
            return 0;
        }
        let mut hasher = DefaultHasher::new();
        let bits = |moment: Option<Moment>| moment.map_or(0, |moment| moment.s.to_bits());
        let told = self.start.or(self.submit);
        let length = if told.is_none() { self.elapsed.map_or(0, f64::to_bits) } else { 0 };
        (self.id.key, bits(told), length).hash(&mut hasher);
        hasher.finish().max(1)
    }

    /// The use of its GPUs that was found elsewhere: in steps that lie apart, in samples. What does not lie within
    /// the run,
    /// or does not say when it was, is of this run or of another of the same job.
    pub fn with(&self, mut usage: Usage, found: Option<&Usage>) -> Usage {
        const SLACK_S: f64 = 120.0;
        let Some(found) = found else { return usage };
        let run = self.start.zip(self.end.or_else(|| {
            let start = self.start?;
            Some(Moment { s: start.s + self.elapsed?, ..start })
        }));
        let inside = found
            .span
            .zip(run)
            .is_some_and(|((from, to), (start, end))| from >= start.s - SLACK_S && to <= end.s + SLACK_S);
        if inside {
            usage.and(found);
            usage.partial |= found.partial;
        } else {
            (usage.by, usage.partial) = (if usage.by == By::Nothing { found.by } else { usage.by }, true);
        }
        usage
    }
}

/// What a row says of the use of GPUs. Slurm's peak is in % and may be the sum over the GPUs of a task.
fn usage<C: Cells + ?Sized>(fields: &mut Fields<'_, C>) -> Usage {
    let tres = |value: Value<'_>| match value {
        Value::Text(text) if text.contains("gres/gpu") => {
            let tres = Tres::read(text.trim());
            (tres.gpu_percent.map(|percent| percent / 100.0), tres.gpu_bytes)
        }
        _ => (None, None),
    };
    let (peak, memory) = tres(fields.value(Field::TresPeak));
    let (mean, _) = tres(fields.value(Field::TresMean));
    if peak.is_some() || mean.is_some() {
        return Usage { by: By::Slurm, peak, mean, memory, ..Usage::default() };
    }
    let told = Usage {
        by: By::Columns,
        peak: fields.share(Field::GpuPeak),
        mean: fields.share(Field::GpuUse),
        memory: fields.bytes(Field::GpuMemory),
        idle: fields.count(Field::GpusIdle),
        ..Usage::default()
    };
    let nothing = !told.is_known() && told.memory.is_none() && told.idle.is_none();
    if nothing { Usage::default() } else { told }
}
