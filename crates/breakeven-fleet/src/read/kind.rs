//! What a text is, by how it begins: a job log, samples of GPUs, or neither, and then what it is instead.

use crate::arrow::no_log;
use crate::field::{Layout, plain};
use crate::read::Options;
use crate::table::Table;
use crate::values::moment;
use breakeven::{Error, Result};

/// What can be read of a text.
pub(super) enum Kind {
    /// A job log; whether its first line is its header, whether its cells may be quoted.
    Log { table: Box<Table>, header: bool, quoted: bool },
    /// Samples of GPUs, with the names of their columns.
    Samples { names: Vec<String> },
}

/// Fields of XDMoD's log files, which have no header (docs/resource-manager-slurm.md of XDMoD).
pub(super) const XDMOD: &str = "jobid,jobidraw,cluster,partition,qos,account,group,gid,user,uid,submit,eligible,start,\
                                end,elapsed,exitcode,state,nnodes,ncpus,reqcpus,reqmem,reqtres,alloctres,timelimit,\
                                nodelist,jobname";

/// Which kind a text is.
///
/// # Errors
/// `no-job-log` for what is neither, with what it is or lacks; `mapping` for a mapping that does not fit.
pub(super) fn kind(name: &str, head: &str, options: &Options) -> Result<Kind> {
    let Some(first) = head.lines().find(|line| !line.trim().is_empty()) else {
        let error = Error::new("no-job-log", format!("{name} is empty, or what is packed in it is damaged"));
        return Err(error.hint("export it again"));
    };
    let first = first.trim_start_matches('\u{feff}').trim_end_matches('\r');
    if let Some((what, hint)) = otherwise(first) {
        return Err(Error::new("no-job-log", format!("{name} is {what}: it is no job log")).hint(hint));
    }
    if let Some(columns) = &options.columns {
        let columns = if columns == "xdmod" { XDMOD } else { columns };
        let names: Vec<&str> = columns.split([',', '|']).map(str::trim).collect();
        let delimiter = options.delimiter.unwrap_or_else(|| delimiter(first));
        return log(name, &names, delimiter, false, options);
    }
    let delimiter = options.delimiter.unwrap_or_else(|| delimiter(first));
    let mut names: Vec<&str> = first.split(delimiter).map(|name| name.trim().trim_matches('"')).collect();
    if is_samples(&names) {
        return Ok(Kind::Samples { names: names.into_iter().map(str::to_owned).collect() });
    }
    // XDMoD's export has no header: an id twice, and moments where submit, eligible and start stand.
    let at = |place: usize| names.get(place).is_some_and(|cell| moment(cell).is_some() && cell.len() > 18);
    if names.len() >= 26 && delimiter == '|' && at(10) && at(11) && names[1].starts_with(|c: char| c.is_ascii_digit()) {
        let names: Vec<&str> = XDMOD.split(',').collect();
        return log(name, &names, delimiter, false, options);
    }
    if names.len() > 1 && names.last().is_some_and(|last| last.is_empty()) {
        names.pop();
    }
    log(name, &names, delimiter, true, options)
}

fn log(name: &str, names: &[&str], delimiter: char, header: bool, options: &Options) -> Result<Kind> {
    let mapping = options.mapping.clone().unwrap_or_default();
    let known = Layout::of(names);
    // sacct's own logs need no mapping: one that is for other files of the same call does not hinder them.
    let layout = match (&options.mapping, mapping.layout(names)) {
        (_, Ok(layout)) => layout,
        (Some(_), Err(_)) if known.is_log() => known,
        (_, Err(error)) => return Err(error),
    };
    if !layout.is_log() {
        let digits = names.iter().filter(|name| name.starts_with(|c: char| c.is_ascii_digit())).count();
        let error = no_log(name, names);
        let hint =
            "its first line is no header: --columns jobid,user,… says what its columns are, `xdmod` those of XDMoD";
        return Err(if digits * 3 > names.len() { error.hint(hint) } else { error });
    }
    let table = Table { name: name.to_owned(), layout, mapping, delimiter };
    Ok(Kind::Log { table: Box::new(table), header, quoted: delimiter != '|' })
}

/// What separates the cells of a header: the candidate that it has most of.
fn delimiter(header: &str) -> char {
    let most = ['|', '\t', ';', ',', '^'].into_iter().rev().max_by_key(|candidate| header.matches(*candidate).count());
    most.unwrap_or(',')
}

/// Whether columns are those of samples of GPUs.
fn is_samples(names: &[&str]) -> bool {
    let has = |part: &str| names.iter().any(|name| plain(name).contains(part));
    (has("utilization.gpu") || has("dcgmfi")) && !Layout::of(names).is_log() || has("dcgmfi")
}

/// What a file is that is no table of jobs, by its first line, and the next step.
fn otherwise(first: &str) -> Option<(&'static str, &'static str)> {
    let has = |part: &str| first.contains(part);
    Some(match () {
        () if first.starts_with(['{', '[']) => {
            ("JSON", "export the jobs as a table: `sacct -P --format=JobID,User,…`, or Parquet")
        }
        () if has("ContextTokens") || has("GeneratedTokens") => {
            ("a log of requests to a language model", "it tells no job, GPU or length of time")
        }
        () if first.starts_with("sn,cpu_milli") => {
            ("a list of nodes", "name the list of jobs (or pods) beside it, with --mapping")
        }
        () if first.starts_with("#Entity") || first.starts_with("# gpu") || first.starts_with("# Entity") => (
            "a display of dcgmi or `nvidia-smi dmon`, without the times of its samples",
            "log with `nvidia-smi --query-gpu=timestamp,index,utilization.gpu,memory.used --format=csv -l 30`",
        ),
        () if first.starts_with("SQLite format") => ("a database", "export its jobs as CSV or Parquet"),
        _ => return None,
    })
}
