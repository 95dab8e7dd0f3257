//! What a workload must be beyond its types: indices that exist, counts that agree, numbers that are numbers.

use super::{FORMAT, Op, Workload, order};
use crate::error::{Error, Result};

/// Arithmetic per element beyond which a figure is a mistake.
const MAX_FLOP_PER_ELEMENT: f64 = 1e12;

impl Workload {
    /// Whether everything in it fits together.
    ///
    /// # Errors
    /// `bad-workload` with the path of the first thing that does not.
    pub fn check(&self) -> Result<()> {
        if self.format != FORMAT {
            return bad(
                "format",
                format_args!("is `{}`, not {FORMAT}", self.format.chars().take(40).collect::<String>()),
            );
        }
        if !(self.program.hook_ns.is_finite() && self.program.hook_ns >= 0.0) {
            return bad("program.hook_ns", "is not a number from 0 on");
        }
        if self.program.processes == 0 || self.program.sampling == 0 {
            return bad("program", "has `processes` or `sampling` 0; each is at least 1");
        }
        self.check_ops()?;
        let ops = self.check_order()?;
        self.check_buffers(ops)?;
        for (i, wait) in self.waits.iter().enumerate() {
            if let Some(site) = wait.site.into_iter().chain(wait.before).find(|&s| s as usize >= self.sites.len()) {
                return bad(format_args!("waits[{i}]"), beyond(site.into(), "sites", self.sites.len()));
            }
        }
        for (i, row) in self.host_code.iter().enumerate() {
            if let Some(site) = row.site.filter(|&site| site as usize >= self.sites.len()) {
                return bad(format_args!("host_code[{i}].site"), beyond(site.into(), "sites", self.sites.len()));
            }
        }
        for (i, marker) in self.markers.iter().enumerate() {
            if marker.site as usize >= self.sites.len() {
                return bad(format_args!("markers[{i}].site"), beyond(marker.site.into(), "sites", self.sites.len()));
            }
            if marker.position > ops {
                return bad(
                    format_args!("markers[{i}].position"),
                    format_args!("is {}, after the last of {ops} ops", marker.position),
                );
            }
        }
        Ok(())
    }

    fn check_ops(&self) -> Result<()> {
        for (i, entry) in self.ops.iter().enumerate() {
            if entry.site as usize >= self.sites.len() {
                return bad(format_args!("ops[{i}].site"), beyond(entry.site.into(), "sites", self.sites.len()));
            }
            if entry.count == 0 {
                return bad(format_args!("ops[{i}].count"), "is 0; what never ran has no entry");
            }
            check_op(&entry.op, format_args!("ops[{i}].op"))?;
            let parts = if let Op::Routine { parts } = &entry.op { parts.as_slice() } else { &[] };
            for (k, part) in parts.iter().enumerate() {
                if matches!(part.op, Op::Routine { .. }) {
                    return bad(format_args!("ops[{i}].op.parts[{k}]"), "is a routine within a routine");
                }
                check_op(&part.op, format_args!("ops[{i}].op.parts[{k}].op"))?;
            }
        }
        Ok(())
    }

    /// The number of ops that ran.
    fn check_order(&self) -> Result<u64> {
        let Some(ops) = self.ops.iter().try_fold(0_u64, |sum, entry| sum.checked_add(entry.count)) else {
            return bad("ops", "has counts whose sum is beyond 2⁶⁴");
        };
        if self.order.is_empty() {
            return Ok(ops);
        }
        let Some(counts) = order::counts(&self.order, self.ops.len()) else {
            return bad(
                "order",
                format_args!("runs more than 2⁶⁴ ops or an entry beyond the {} of `ops`", self.ops.len()),
            );
        };
        match self.ops.iter().zip(&counts).position(|(entry, count)| entry.count != *count) {
            Some(i) => bad(
                format_args!("ops[{i}].count"),
                format_args!("is {}, but `order` runs it {} times", self.ops[i].count, counts[i]),
            ),
            None => Ok(ops),
        }
    }

    fn check_buffers(&self, ops: u64) -> Result<()> {
        for (i, buffer) in self.buffers.iter().enumerate() {
            match buffer.producer {
                Some(entry) if entry as usize >= self.ops.len() => {
                    return bad(format_args!("buffers[{i}].producer"), beyond(entry.into(), "ops", self.ops.len()));
                }
                _ => {}
            }
            if buffer.peak_live > buffer.count {
                return bad(
                    format_args!("buffers[{i}].peak_live"),
                    format_args!("is {}, more than its count {}", buffer.peak_live, buffer.count),
                );
            }
            if buffer.first_use > buffer.last_use || buffer.last_use > ops {
                return bad(
                    format_args!("buffers[{i}]"),
                    format_args!("is used from {} to {}; positions go up to {ops}", buffer.first_use, buffer.last_use),
                );
            }
        }
        Ok(())
    }
}

fn check_op(op: &Op, path: std::fmt::Arguments<'_>) -> Result<()> {
    if let Op::Elementwise { flop_per_element, .. } | Op::Reduce { flop_per_element, .. } = *op
        && !(0.0..=MAX_FLOP_PER_ELEMENT).contains(&flop_per_element)
    {
        return bad(
            format_args!("{path}.flop_per_element"),
            format_args!("is {flop_per_element}, not from 0 to {MAX_FLOP_PER_ELEMENT:e}"),
        );
    }
    Ok(())
}

fn beyond(index: u64, list: &str, len: usize) -> String {
    format!("is {index}, and `{list}` has {len} items")
}

fn bad<T>(path: impl std::fmt::Display, what: impl std::fmt::Display) -> Result<T> {
    Err(Error::new("bad-workload", format!("the workload is not sound: `{path}` {what}"))
        .hint("docs/workload-format.md explains every field"))
}
