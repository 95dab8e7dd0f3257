//! One row a job, as Arrow: what it had, what is said of it, by what evidence, what to do.

use crate::fleet::Fleet;
use crate::names::{KINDS, Of};
use crate::outcome::{Advice, Outcome};
use crate::part::{Context, Row};
use crate::report::words;
use arrow_array::builder::{BooleanBuilder, Float64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use breakeven::interval::Interval;
use breakeven::{Error, Result};
use std::sync::Arc;

/// Text columns.
const TEXTS: [&str; 11] = [
    "id",
    "user",
    "account",
    "partition",
    "application",
    "state",
    "gpu",
    "outcome",
    "evidence",
    "evidence_from",
    "advice",
];
/// Columns of numbers.
const NUMBERS: [&str; 18] = [
    "gpus",
    "gpu_hours",
    "cpu_hours",
    "wall_hours",
    "wait_hours",
    "node_hours",
    "gpu_use",
    "gpu_peak",
    "gpu_memory_bytes",
    "usd",
    "kwh",
    "freed_gpu_hours",
    "freed_usd_p10",
    "freed_usd_p50",
    "freed_usd_p90",
    "freed_kwh_p10",
    "freed_kwh_p50",
    "freed_kwh_p90",
];

/// The columns.
pub fn schema() -> SchemaRef {
    let texts = TEXTS.iter().map(|name| Field::new(*name, DataType::Utf8, true));
    let flags = ["judged", "certain"].iter().map(|name| Field::new(*name, DataType::Boolean, false));
    let numbers = NUMBERS.iter().map(|name| Field::new(*name, DataType::Float64, true));
    Arc::new(Schema::new(texts.chain(flags).chain(numbers).collect::<Vec<_>>()))
}

/// Rows that wait to be a batch.
pub struct Builder {
    texts: [StringBuilder; TEXTS.len()],
    flags: [BooleanBuilder; 2],
    numbers: [Float64Builder; NUMBERS.len()],
    rows: usize,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            texts: std::array::from_fn(|_| StringBuilder::new()),
            flags: std::array::from_fn(|_| BooleanBuilder::new()),
            numbers: std::array::from_fn(|_| Float64Builder::new()),
            rows: 0,
        }
    }
}

impl Builder {
    /// Rows in it.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// One more.
    pub fn push(&mut self, row: &Row, id: &str, context: &Context<'_>) {
        let job = &row.judged;
        let name = |of: Of| (row.names[of as usize] != 0).then(|| context.names.name(of, row.names[of as usize]));
        let [user, account, partition, application] = KINDS.map(name);
        let gpu = context.models.gpu(row.model);
        let evidence = job.outcome.is_judged().then(|| words::evidence(row, context));
        let advice = (job.advice != Advice::Nothing).then(|| words::advice(row, context));
        let texts = [
            Some(id).filter(|id| !id.is_empty()),
            user.as_deref(),
            account.as_deref(),
            partition.as_deref(),
            application.as_deref(),
            Some(row.state.name()),
            Some(gpu.name.as_str()).filter(|name| !name.is_empty()),
            Some(job.outcome.key()),
            evidence.as_deref(),
            row.usage.by.key(),
            advice.as_deref(),
        ];
        self.texts.iter_mut().zip(texts).for_each(|(builder, text)| builder.append_option(text));
        self.flags[0].append_value(job.outcome.is_judged());
        self.flags[1].append_value(job.certain);
        let hours = |s: f64| Some(s / 3600.0).filter(|h| h.is_finite());
        let freed = |value: Option<f64>| value.filter(|_| job.outcome.is_waste());
        let of = |range: Option<Interval>, part: fn(Interval) -> f64| range.map(part);
        let numbers = [
            row.gpus,
            hours(job.gpu_s),
            hours(job.cpu_s),
            hours(job.wall_s),
            hours(job.wait_s),
            hours(job.node_s),
            row.usage.mean,
            row.usage.peak,
            row.usage.memory,
            of(job.usd, |i| i.p50),
            of(job.kwh, |i| i.p50),
            freed(hours(job.freed_gpu_s)),
            of(job.freed_usd, |i| i.p10),
            of(job.freed_usd, |i| i.p50),
            of(job.freed_usd, |i| i.p90),
            of(job.freed_kwh, |i| i.p10),
            of(job.freed_kwh, |i| i.p50),
            of(job.freed_kwh, |i| i.p90),
        ];
        self.numbers.iter_mut().zip(numbers).for_each(|(builder, number)| builder.append_option(number));
        self.rows += 1;
    }

    /// The rows so far, as a batch; none are left.
    ///
    /// # Errors
    /// None that arises with these columns.
    pub fn batch(&mut self) -> Result<RecordBatch> {
        self.rows = 0;
        let texts = self.texts.iter_mut().map(|builder| Arc::new(builder.finish()) as ArrayRef);
        let flags = self.flags.iter_mut().map(|builder| Arc::new(builder.finish()) as ArrayRef);
        let numbers = self.numbers.iter_mut().map(|builder| Arc::new(builder.finish()) as ArrayRef);
        let columns: Vec<ArrayRef> = texts.chain(flags).chain(numbers).collect();
        RecordBatch::try_new(schema(), columns)
            .map_err(|e| Error::new("table-write", format!("cannot make a batch: {e}")))
    }
}

/// Whether every row of a fleet is counted once: judged, not judged by reason, or no job of its own.
pub fn accounted(fleet: &Fleet<'_>) -> bool {
    let totals = &fleet.totals;
    let jobs = totals.all.jobs;
    jobs == totals.count(Outcome::is_job) && fleet.rows() == jobs + totals.count(|outcome| !outcome.is_job())
}
