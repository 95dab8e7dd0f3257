//! Kernels by what they do and by name; copies by direction.

use super::host::ByText;
use super::parts::{CopyTotal, KernelTotal, Times};
use super::seconds;
use crate::class::Class;
use crate::model::{Direction, Trace};
use crate::names::Name;
use crate::span::Tally;
use std::collections::BTreeMap;

/// Kernels by what they do and by name, the longest together first.
pub(super) fn by_kernel(traces: &[Trace]) -> (Vec<KernelTotal>, Vec<KernelTotal>) {
    let mut all = ByText::default();
    for trace in traces {
        let mut tallies = vec![Tally::default(); trace.names.len()];
        for kernel in &trace.kernels {
            if let Some(tally) = tallies.get_mut(kernel.name.0 as usize) {
                tally.add(kernel.when.length());
            }
        }
        let used = tallies.into_iter().enumerate().filter(|(_, tally)| tally.count > 0);
        all.add(trace, &used.map(|(place, tally)| (Name::at(place), tally)).collect());
    }
    let total = |(name, tally): (String, Tally)| KernelTotal {
        class: Class::of(name.as_bytes()),
        times: Times::from(tally),
        name,
    };
    let top: Vec<KernelTotal> = all.sorted().into_iter().map(total).collect();
    let mut classes: BTreeMap<Class, KernelTotal> = BTreeMap::new();
    for kernel in &top {
        match classes.get_mut(&kernel.class) {
            Some(class) => {
                class.times.count += kernel.times.count;
                class.times.seconds += kernel.times.seconds;
            }
            None => drop(classes.insert(kernel.class, kernel.clone())),
        }
    }
    let mut classes: Vec<KernelTotal> = classes.into_values().collect();
    classes.sort_by(|a, b| b.times.seconds.total_cmp(&a.times.seconds));
    (classes, top)
}

/// Copies by direction.
pub(super) fn by_direction(traces: &[Trace]) -> Vec<CopyTotal> {
    let mut all: BTreeMap<Direction, (Tally, Option<u64>)> = BTreeMap::new();
    for copy in traces.iter().flat_map(|trace| &trace.copies) {
        let (tally, bytes) = all.entry(copy.direction).or_insert((Tally::default(), Some(0)));
        tally.add(copy.when.length());
        *bytes = bytes.zip(copy.bytes).and_then(|(a, b)| a.checked_add(b));
    }
    let total = |(direction, (tally, bytes)): (Direction, (Tally, Option<u64>))| CopyTotal {
        direction,
        times: Times { count: tally.count, seconds: seconds(tally.ns) },
        bytes,
    };
    all.into_iter().map(total).collect()
}
