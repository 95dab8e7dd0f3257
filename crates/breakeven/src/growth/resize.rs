//! The same program on a problem of another size.

use super::size::{Shapes, Size, dims_mut, elements, power, shape_power};
use crate::hardware::Device;
use crate::kernel::entry_time;
use crate::workload::{Entry, Op, Part, Phase, Workload, op::Direction};
use std::collections::BTreeMap;

/// The largest count of elements or bytes that a resized program keeps exact.
const MOST: f64 = 9e15;

/// What a batch does not change the size of.
const FIXED_ROLES: [&str; 3] = ["parameter", "gradient", "optimizer state"];

/// `workload` with the size `scale` times as large. Counts of calls and host code between them stay; each op's time on
/// the CPU grows as the model of `cpu` says that such an op grows.
pub fn resized(workload: &Workload, size: &Size, scale: f64, cpu: &Device) -> Workload {
    let mut new = workload.clone();
    if scale == 1.0 {
        return new;
    }
    let mut grown_by = Vec::with_capacity(new.ops.len());
    for entry in &mut new.ops {
        grown_by.push(resize(entry, size, scale, cpu));
    }
    new.program.takes(wall_after(workload, &new.ops));
    let (mut live, mut live_before) = (0.0, 0.0);
    // Arrays of the host's own grow as the whole does.
    let whole = match size.batch {
        Some(_) => scale,
        None => ratio(scale, shape_power(&size.shape, size.value)),
    };
    for buffer in &mut new.buffers {
        let fixed = size.batch.is_some() && buffer.role.as_deref().is_some_and(|role| FIXED_ROLES.contains(&role));
        let made_by = buffer.producer.and_then(|i| grown_by.get(i as usize));
        let by = if fixed { 1.0 } else { made_by.map_or(whole, |by| by.written) };
        let bytes = buffer.bytes as f64;
        live_before += bytes * buffer.peak_live as f64;
        live += bytes * by * buffer.peak_live as f64;
        buffer.bytes = count(bytes, by);
    }
    let by = match (&size.batch, live_before > 0.0) {
        (Some(_), _) if !new.program.peak_roles.is_empty() => of_roles(&mut new.program.peak_roles, scale),
        (_, true) => live / live_before,
        (_, false) => whole,
    };
    for peak in [&mut new.program.peak_bytes, &mut new.program.device_peak_bytes] {
        *peak = count(*peak as f64, by);
    }
    new
}

/// The shapes of a program that was [`resized`] are those of the new size, as if it had been recorded so.
pub fn reshape(workload: &mut Workload, size: &Size, scale: f64) {
    for entry in &mut workload.ops {
        let shapes = Shapes::of(entry);
        if shapes == Shapes::default() {
            continue;
        }
        let new = |dim: &u64| {
            let by = match &size.batch {
                Some(_) if *dim > 0 && dim.is_multiple_of(size.value) => scale,
                Some(_) => 1.0,
                None => libm::pow(scale, f64::from(power(*dim, size.value, &shapes))),
            };
            ((*dim as f64 * by).round() as u64).max(1).to_string()
        };
        let written = |all: &[Vec<u64>]| {
            let one = |shape: &Vec<u64>| format!("[{}]", shape.iter().map(new).collect::<Vec<_>>().join(","));
            all.iter().map(one).collect::<Vec<_>>().join(" ")
        };
        entry.shapes = Some(format!("{} -> {}", written(&shapes.inputs), written(&shapes.outputs)).trim().to_owned());
    }
}

/// Wall time of a program whose operations were changed to `ops`, ns. What runs in threads or processes side by side
/// takes that much less of the wall.
pub fn wall_after(before: &Workload, ops: &[Entry]) -> u64 {
    let all = |ops: &[Entry]| ops.iter().map(|e| e.cpu_ns as f64 + e.gap_ns as f64).sum::<f64>();
    let (then, now, wall) = (all(&before.ops), all(ops), before.program.wall_ns as f64);
    let side_by_side = if then > wall { wall / then } else { 1.0 };
    (wall + (now - then) * side_by_side).max(0.0) as u64
}

/// Makes what a batch `scale` times as large needs of the parts of the peak; by how much their sum grew.
fn of_roles(roles: &mut BTreeMap<String, u64>, scale: f64) -> f64 {
    let sum = |roles: &BTreeMap<String, u64>| roles.values().map(|bytes| *bytes as f64).sum::<f64>();
    let before = sum(roles);
    for (_, bytes) in roles.iter_mut().filter(|(role, _)| !FIXED_ROLES.contains(&role.as_str())) {
        *bytes = count(*bytes as f64, scale);
    }
    if before > 0.0 { sum(roles) / before } else { scale }
}

/// By how much an entry's bytes grew.
#[derive(Clone, Copy)]
struct Grown {
    written: f64,
}

fn resize(entry: &mut Entry, size: &Size, scale: f64, cpu: &Device) -> Grown {
    if size.batch.is_some() {
        return larger_batch(entry, size, scale, cpu);
    }
    let shapes = Shapes::of(entry);
    let before = model(entry, cpu);
    let needed = bytes_of_parts(&entry.op);
    for dim in dims_mut(&mut entry.op) {
        let exponent = power(*dim, size.value, &shapes);
        if exponent > 0 {
            *dim = count(*dim as f64, ratio(scale, exponent)).max(1);
        }
    }
    parts_grow(&mut entry.op, &needed);
    let grown = |side: &[Vec<u64>]| {
        let (mut old, mut new) = (0.0, 0.0);
        for shape in side {
            let all = elements(shape) as f64;
            old += all;
            new += all * ratio(scale, shape_power(shape, size.value));
        }
        (old > 0.0).then(|| new / old)
    };
    // Where one side is not written down, it grows as the other.
    let (read, written) = (grown(&shapes.inputs), grown(&shapes.outputs));
    let (read, written) = (read.or(written).unwrap_or(1.0), written.or(read).unwrap_or(1.0));
    entry.read_bytes = count(entry.read_bytes as f64, read);
    entry.written_bytes = count(entry.written_bytes as f64, written);
    entry.host_input_bytes = count(entry.host_input_bytes as f64, read);
    match &mut entry.op {
        Op::Transfer { bytes, .. } | Op::HostRead { bytes } => *bytes = count(*bytes as f64, read.max(written)),
        Op::Routine { parts } => copies_grow(parts, read, written),
        _ => {}
    }
    let after = model(entry, cpu);
    if before > 0.0 && after > 0.0 {
        entry.cpu_ns = count(entry.cpu_ns as f64, after / before);
    }
    Grown { written }
}

/// What a call copies in grows as what it reads, what it copies back as what it gives.
fn copies_grow(parts: &mut [Part], read: f64, written: f64) {
    for part in parts {
        if let Op::Transfer { direction, bytes, .. } = &mut part.op {
            *bytes = count(*bytes as f64, if *direction == Direction::H2d { read } else { written });
        }
    }
}

/// What the dims of each part of a routine need, bytes.
fn bytes_of_parts(op: &Op) -> Vec<f64> {
    let Op::Routine { parts } = op else { return Vec::new() };
    parts.iter().map(|part| part.op.min_bytes(part.dtype).get()).collect()
}

/// Bytes that were told of parts grow as those that their dims need, `before` that.
fn parts_grow(op: &mut Op, before: &[f64]) {
    let after = bytes_of_parts(op);
    let Op::Routine { parts } = op else { return };
    for (part, (before, after)) in parts.iter_mut().zip(before.iter().zip(after)) {
        let by = if *before > 0.0 { after / before } else { 1.0 };
        part.read_bytes = count(part.read_bytes as f64, by);
        part.written_bytes = count(part.written_bytes as f64, by);
    }
}

fn larger_batch(entry: &mut Entry, size: &Size, scale: f64, cpu: &Device) -> Grown {
    let (before, written) = (model(entry, cpu), entry.written_bytes as f64);
    // A batch of twice the samples takes twice as long to put together.
    if entry.phase == Some(Phase::Data) {
        entry.cpu_ns = count(entry.cpu_ns as f64, scale);
    } else if size.batch.as_ref().is_some_and(|batch| batch.scale(entry, scale)) {
        let after = model(entry, cpu);
        if before > 0.0 && after > 0.0 {
            entry.cpu_ns = count(entry.cpu_ns as f64, after / before);
        }
    }
    Grown { written: if written > 0.0 { entry.written_bytes as f64 / written } else { 1.0 } }
}

fn model(entry: &Entry, cpu: &Device) -> f64 {
    entry_time(entry, cpu).p50.get()
}

fn ratio(scale: f64, exponent: u32) -> f64 {
    (0..exponent).fold(1.0, |product, _| product * scale)
}

/// A count `by` times as large, as far as a number of this kind is exact.
pub(super) fn count(value: f64, by: f64) -> u64 {
    (value * by).round().clamp(0.0, MOST) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::problem_size;
    use crate::hardware::Catalogue;
    use crate::workload::samples;
    use proptest::prelude::*;

    fn cpu() -> Device {
        Catalogue::embedded().find_cpu("EPYC 7763").expect("it is in the catalogue").device.clone()
    }

    #[test]
    fn what_runs_side_by_side_takes_less_of_the_wall() {
        let mut heat = samples::heat();
        let all: u64 = heat.ops.iter().map(|e| e.cpu_ns + e.gap_ns).sum();
        heat.program.wall_ns = all / 4;
        let mut half = heat.ops.clone();
        half.iter_mut().for_each(|e| (e.cpu_ns, e.gap_ns) = (e.cpu_ns / 2, e.gap_ns / 2));
        let wall = wall_after(&heat, &half) as f64;
        assert!((wall / (all / 8) as f64 - 1.0).abs() < 1e-3, "{wall}");
        assert_eq!(wall_after(&heat, &heat.ops), heat.program.wall_ns);
    }

    #[test]
    fn a_grid_twice_as_wide_has_four_times_the_work() {
        let heat = samples::heat();
        let size = problem_size(&heat).expect("a grid");
        let double = resized(&heat, &size, 2.0, &cpu());
        let ratio = double.flop().get() / heat.flop().get();
        assert!((ratio / 4.0 - 1.0).abs() < 1e-3, "{ratio}");
        let peak = double.program.peak_bytes as f64 / heat.program.peak_bytes as f64;
        assert!((peak / 4.0 - 1.0).abs() < 0.01, "{peak}");
        assert!(double.program.wall_ns > 2 * heat.program.wall_ns);
    }

    proptest! {
        #[test]
        fn more_is_never_less(workload in samples::workloads(), a in 0.05..20.0f64, b in 0.05..20.0f64) {
            if let Some(size) = problem_size(&workload) {
                let [small, large] = [a.min(b), a.max(b)].map(|scale| resized(&workload, &size, scale, &cpu()));
                prop_assert!(small.flop().get() <= large.flop().get());
                prop_assert!(small.program.peak_bytes <= large.program.peak_bytes);
                for (s, l) in small.ops.iter().zip(&large.ops) {
                    prop_assert!(s.cpu_ns <= l.cpu_ns.max(1), "{s:?} {l:?}");
                }
            }
        }

        #[test]
        fn at_its_own_size_it_is_itself(workload in samples::workloads()) {
            if let Some(size) = problem_size(&workload) {
                prop_assert_eq!(resized(&workload, &size, 1.0, &cpu()), workload);
            }
        }
    }
}
