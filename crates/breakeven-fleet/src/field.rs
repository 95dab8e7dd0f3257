//! What a log may say of a job, and the names by which columns of it are known without a mapping.

use breakeven::{Error, Result};

/// A column's meaning. The unit is that of its kind, see [`Kind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the table below says what each means")]
pub enum Field {
    Id,
    Cluster,
    User,
    Account,
    Partition,
    Name,
    Command,
    Application,
    State,
    Submit,
    Start,
    End,
    Elapsed,
    Nodes,
    Cpus,
    Gpus,
    GpuModel,
    AllocTres,
    ReqTres,
    AllocGres,
    Memory,
    CpuTime,
    TresPeak,
    TresMean,
    GpuUse,
    GpuPeak,
    GpuMemory,
    GpusIdle,
    Energy,
    Limit,
}

/// How a cell is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// As it stands.
    Text,
    /// A moment: a date with a time, or a number, s unless the mapping says otherwise.
    Moment,
    /// A length of time: `1-02:03:04`, or a number, s unless the mapping says otherwise.
    Length,
    /// A number.
    Count,
    /// An amount of memory: `16G`, or a number, bytes unless the mapping says otherwise.
    Bytes,
    /// A part of a whole: `35 %`, or a number, 0 to 1 unless the mapping says otherwise.
    Share,
    /// Joules unless the mapping says otherwise; Slurm's `K`, `M`, `G` are thousands.
    Joules,
}

use Kind::{Bytes, Count, Joules, Length, Moment, Share, Text};

/// Fields there are.
pub const FIELDS: usize = 30;

/// Each field: its name in a mapping, how it is read, and the columns that mean it without one, the best first, without
/// regard to case and underscores.
const TABLE: [(Field, &str, Kind, &[&str]); FIELDS] = [
    (Field::Id, "id", Text, &["jobid", "id", "jobidraw"]),
    (Field::Cluster, "cluster", Text, &["cluster"]),
    (Field::User, "user", Text, &["user", "username"]),
    (Field::Account, "account", Text, &["account", "group", "project"]),
    (Field::Partition, "partition", Text, &["partition", "queue"]),
    (Field::Name, "name", Text, &["jobname"]),
    (Field::Command, "command", Text, &["submitline", "command"]),
    (Field::Application, "application", Text, &["application"]),
    (Field::State, "state", Text, &["state", "status"]),
    (Field::Submit, "submit", Moment, &["submit", "submittime"]),
    (Field::Start, "start", Moment, &["start", "starttime"]),
    (Field::End, "end", Moment, &["end", "endtime"]),
    (Field::Elapsed, "elapsed", Length, &["elapsedraw", "elapsed", "elapseds"]),
    (Field::Nodes, "nodes", Count, &["nnodes", "allocnodes", "nodes"]),
    (Field::Cpus, "cpus", Count, &["alloccpus", "ncpus", "cpus"]),
    (Field::Gpus, "gpus", Count, &["gpus", "ngpus", "allocgpus"]),
    (Field::GpuModel, "gpu_model", Text, &["gpumodel", "gputype"]),
    (Field::AllocTres, "alloc_tres", Text, &["alloctres"]),
    (Field::ReqTres, "req_tres", Text, &["reqtres"]),
    (Field::AllocGres, "alloc_gres", Text, &["allocgres"]),
    (Field::Memory, "memory", Bytes, &["reqmem"]),
    (Field::CpuTime, "cpu_time", Length, &["totalcpu", "cputimes"]),
    (Field::TresPeak, "tres_peak", Text, &["tresusageinmax"]),
    (Field::TresMean, "tres_mean", Text, &["tresusageinave"]),
    (Field::GpuUse, "gpu_use", Share, &["gpuuse"]),
    (Field::GpuPeak, "gpu_peak", Share, &["gpupeak"]),
    (Field::GpuMemory, "gpu_memory", Bytes, &["gpumemorybytes"]),
    (Field::GpusIdle, "gpus_idle", Count, &["gpusidle"]),
    (Field::Energy, "energy", Joules, &["consumedenergyraw", "energyj", "consumedenergy"]),
    (Field::Limit, "limit", Length, &["timelimit"]),
];

impl Field {
    /// Every field.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.0)
    }

    /// Its name in a mapping.
    pub fn key(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// How it is read.
    pub fn kind(self) -> Kind {
        TABLE[self as usize].2
    }

    /// The field of that name in a mapping.
    ///
    /// # Errors
    /// A name that no field has.
    pub fn named(key: &str) -> Result<Self> {
        TABLE.iter().find(|row| row.1 == key).map(|row| row.0).ok_or_else(|| {
            let keys: Vec<&str> = TABLE.iter().map(|row| row.1).collect();
            Error::new("mapping", format!("`{key}` is nothing that a job log says of a job"))
                .hint(format!("one of {}", keys.join(", ")))
        })
    }
}

/// Where in a row a field stands: one column, or several that are multiplied, and by what.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Places of the columns.
    pub at: Vec<usize>,
    /// What a number is multiplied with, to have the unit of its kind.
    pub scale: f64,
}

/// Which column holds what.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// By field.
    pub columns: [Option<Column>; FIELDS],
    /// Columns of free text, which may hold the delimiter.
    pub free: Vec<usize>,
    /// Columns there are.
    pub width: usize,
}

/// Columns of sacct that hold whatever somebody typed.
const FREE: [&str; 7] = ["jobname", "submitline", "comment", "admincomment", "systemcomment", "workdir", "extra"];

/// A column's name as it is compared.
pub(crate) fn plain(name: &str) -> String {
    name.trim().trim_start_matches('\u{feff}').to_ascii_lowercase().replace(['_', ' ', '-'], "")
}

impl Layout {
    /// The columns of these names, as far as they are known.
    pub fn of(names: &[&str]) -> Self {
        let names: Vec<String> = names.iter().map(|name| plain(name)).collect();
        let column = |row: &(Field, &str, Kind, &[&str])| {
            let at = row.3.iter().find_map(|known| names.iter().position(|name| name == known))?;
            Some(Column { at: vec![at], scale: 1.0 })
        };
        let columns = std::array::from_fn(|field| column(&TABLE[field]));
        let free = (0..names.len()).filter(|at| FREE.contains(&names[*at].as_str())).collect();
        Self { columns, free, width: names.len() }
    }

    /// Whether a field has a column.
    pub fn has(&self, field: Field) -> bool {
        self.columns[field as usize].is_some()
    }

    /// Whether a table of these columns is a log of jobs: a job's id or user, and how long it ran or in what state it
    /// is.
    pub fn is_log(&self) -> bool {
        let times = self.has(Field::Elapsed) || (self.has(Field::Start) && self.has(Field::End));
        (self.has(Field::Id) || self.has(Field::User)) && (times || self.has(Field::State))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_fields() {
        assert!(TABLE.iter().enumerate().all(|(at, row)| row.0 as usize == at));
    }

    #[test]
    fn columns_are_found_in_any_order_and_spelling() {
        let layout = Layout::of(&["State", "ELAPSED", "JobIDRaw", "JobID", "job_name"]);
        let at = |field: Field| layout.columns[field as usize].as_ref().map(|column| column.at[0]);
        assert_eq!((at(Field::Id), at(Field::Elapsed), at(Field::Name)), (Some(3), Some(1), Some(4)));
        assert!(layout.is_log() && layout.free == [4]);
        assert!(!Layout::of(&["TIMESTAMP", "ContextTokens", "GeneratedTokens"]).is_log());
    }
}
