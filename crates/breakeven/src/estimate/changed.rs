//! The recorded program as it would be in another precision, or on a larger or smaller problem.

use crate::growth::{problem_size, reshape, resized, shape_at, wall_after};
use crate::hardware::Device;
use crate::interval::Interval;
use crate::kernel::entry_time;
use crate::quantity::Measure;
use crate::report::words;
use crate::request::Options;
use crate::workload::{Dtype, Op, Workload};
use crate::{Error, Result};

/// ln-sigma of the CPU's time for each factor of e by which its work changes: models of growth are not exact.
const GROWTH_SIGMA: f64 = 0.05;
/// How many times as large or as small a problem may be made: as far as the break-even is looked for, and some more.
const FARTHEST: f64 = 1024.0;

/// A program that was changed.
pub struct Changed {
    /// Its entries' times on the CPU are those measured, changed as the model of that CPU says they change.
    pub workload: Workload,
    /// What was changed, in a sentence.
    pub text: String,
}

/// What the options make of `workload`; `None` where they leave it as it is. `cpu` is the baseline's model.
///
/// # Errors
/// A precision or a size that cannot be, or a size where the shapes of the program tell none.
pub fn changed(workload: &Workload, options: &Options, cpu: &Device) -> Result<Option<Changed>> {
    let precision = precision(options)?;
    let scale = scale(workload, options)?;
    let (mut out, mut said) = (None, Vec::new());
    if let Some((scale, size)) = &scale {
        said.push(format!("on {} instead of {}", shape_at(size, *scale), shape_at(size, 1.0)));
        let mut larger = resized(workload, size, *scale, cpu);
        reshape(&mut larger, size, *scale);
        out = Some(larger);
    }
    if let Some((dtype, name)) = precision {
        said.push(format!("in {name}"));
        out = Some(retimed(out.as_ref().unwrap_or(workload), dtype, cpu));
    }
    Ok(out.map(|mut workload| {
        // They were of the program as it is.
        workload.program.repeat_wall_ns.clear();
        let text = format!(
            "as the program would be {}: its time on the CPU is the measured one, changed as the model of the CPU changes",
            said.join(" and ")
        );
        Changed { workload, text }
    }))
}

fn scale(workload: &Workload, options: &Options) -> Result<Option<(f64, crate::growth::Size)>> {
    let Some(scale) = Measure::Ratio.read_field(&options.size, "size")?.filter(|scale| *scale != 1.0) else {
        return Ok(None);
    };
    if !(1.0 / FARTHEST..=FARTHEST).contains(&scale) {
        let message = format!("a problem {} its size is too far from what was recorded", words::times(scale));
        return Err(Error::new("out-of-range", message).hint("from 0.001 to 1000").field("size"));
    }
    let size = problem_size(workload).ok_or_else(|| {
        Error::new("no-size", "the shapes of the arrays tell no size that could grow")
            .hint("leave `size` out, or record a run on the other size")
            .field("size")
    })?;
    Ok(Some((scale, size)))
}

fn precision(options: &Options) -> Result<Option<(Dtype, &'static str)>> {
    let Some(text) = options.precision.as_deref() else { return Ok(None) };
    match Dtype::named(text) {
        Some(Dtype::F64) => Ok(Some((Dtype::F64, "fp64"))),
        Some(Dtype::F32) => Ok(Some((Dtype::F32, "fp32"))),
        Some(Dtype::Tf32) => Ok(Some((Dtype::Tf32, "fp32, products in tf32"))),
        Some(Dtype::Bf16) => Ok(Some((Dtype::Bf16, "fp32, products in bf16"))),
        _ => {
            let message = format!("a recorded program cannot be estimated in `{}`", words::printable(text, 40));
            Err(Error::new("unknown-precision", message)
                .hint("fp64, fp32, tf32 or bf16 (products alone; the rest is fp32)")
                .field("precision"))
        }
    }
}

/// The program in another precision on both sides; matrix units are the GPU's alone.
fn retimed(workload: &Workload, to: Dtype, cpu: &Device) -> Workload {
    let plain = if to == Dtype::F64 { Dtype::F64 } else { Dtype::F32 };
    let mut out = recast(workload, plain);
    for (old, new) in workload.ops.iter().zip(&mut out.ops).filter(|(old, new)| old.dtype != new.dtype) {
        let (before, after) = (entry_time(old, cpu).p50.get(), entry_time(new, cpu).p50.get());
        if before > 0.0 && old.op.is_array_work() {
            new.cpu_ns = (old.cpu_ns as f64 * after / before).round() as u64;
        }
    }
    out.program.takes(wall_after(workload, &out.ops));
    if to != Dtype::F64 {
        let products = |op: &Op| {
            matches!(op, Op::Matmul { .. } | Op::Convolution { .. } | Op::Attention { .. } | Op::Recurrent { .. })
        };
        let single = |dtype| matches!(dtype, Dtype::F32 | Dtype::Tf32);
        for entry in &mut out.ops {
            if let Op::Routine { parts } = &mut entry.op {
                let cast = parts.iter_mut().filter(|part| single(part.dtype) && products(&part.op));
                cast.for_each(|part| part.dtype = to);
            }
        }
        for entry in out.ops.iter_mut().filter(|entry| single(entry.dtype) && products(&entry.op)) {
            entry.dtype = to;
            entry.read_bytes = entry.read_bytes / 4 * to.bytes();
            entry.written_bytes = entry.written_bytes / 4 * to.bytes();
        }
    }
    out
}

/// The same program with its floating-point arrays in `F32` or `F64`; times stay.
pub fn recast(workload: &Workload, to: Dtype) -> Workload {
    let mut edited = workload.clone();
    let factor = if to == Dtype::F32 { 0.5 } else { 2.0 };
    let sized = |bytes: u64| (bytes as f64 * factor) as u64;
    let mut any = false;
    for entry in &mut edited.ops {
        if let Op::Routine { parts } = &mut entry.op {
            for part in parts {
                if let Some(dtype) = recast_type(part.dtype, to) {
                    part.dtype = dtype;
                    part.read_bytes = sized(part.read_bytes);
                    part.written_bytes = sized(part.written_bytes);
                }
            }
        }
        let Some(dtype) = recast_type(entry.dtype, to) else { continue };
        entry.dtype = dtype;
        any = true;
        entry.read_bytes = sized(entry.read_bytes);
        entry.written_bytes = sized(entry.written_bytes);
        entry.host_input_bytes = sized(entry.host_input_bytes);
        if let Op::HostRead { bytes } | Op::Transfer { bytes, .. } = &mut entry.op {
            *bytes = sized(*bytes);
        }
    }
    if any {
        edited.program.peak_bytes = sized(workload.program.peak_bytes);
        edited.program.device_peak_bytes = sized(workload.program.device_peak_bytes);
        edited.buffers.iter_mut().for_each(|buffer| buffer.bytes = sized(buffer.bytes));
    }
    edited
}

/// The type that floating-point numbers of `from` have in the other precision; `None` where it stays.
const fn recast_type(from: Dtype, to: Dtype) -> Option<Dtype> {
    Some(match (from, to) {
        (Dtype::F64, Dtype::F32) => Dtype::F32,
        (Dtype::C128, Dtype::F32) => Dtype::C64,
        (Dtype::F32 | Dtype::Tf32, Dtype::F64) => Dtype::F64,
        (Dtype::C64, Dtype::F64) => Dtype::C128,
        _ => return None,
    })
}

/// An interval as wide as a change by the factor `by` makes it.
pub fn less_sure(time: Interval, by: f64) -> Interval {
    time.widened(GROWTH_SIGMA * libm::fabs(libm::log(by.max(1e-12))))
}

#[cfg(test)]
mod tests {
    use super::super::{Estimate, program};
    use super::*;
    use crate::interval::Basis;
    use crate::request::{Request, Typed};
    use crate::workload::{Entry, samples};

    fn estimate(workload: &Workload, precision: Option<&str>, size: Option<&str>) -> Result<Estimate> {
        let options = Options {
            gpu: vec!["rtx-3080".to_owned()],
            precision: precision.map(str::to_owned),
            size: size.map(Typed::from),
            ..Options::default()
        };
        program::estimate(workload, &Request { today: "2026-11-21".to_owned(), options, ..Request::default() })
    }

    #[test]
    fn single_precision_is_faster_on_both_sides_and_only_the_measured_one_is_measured() {
        let heat = samples::heat();
        let double = estimate(&heat, None, None).unwrap();
        let single = estimate(&heat, Some("float32"), None).unwrap();
        assert_eq!((double.baseline.basis, single.baseline.basis), (Basis::Measured, Basis::Modelled));
        let p50 = |time: Option<Interval>| time.unwrap().p50;
        assert!(p50(single.baseline.time_s) < p50(double.baseline.time_s));
        assert!(p50(single.estimates[0].time_s) < p50(double.estimates[0].time_s));
        assert!(single.workload.peak_bytes.unwrap() < 0.51 * double.workload.peak_bytes.unwrap());
        assert!(single.notes.iter().any(|note| note.code == "changed-program" && note.text.contains("in fp32")));
        // heat.py is double precision already.
        let same = estimate(&heat, Some("fp64"), None).unwrap();
        assert_eq!(p50(same.baseline.time_s), p50(double.baseline.time_s));
    }

    #[test]
    fn a_busy_machine_changes_no_precision() {
        let time = |w: &Workload| estimate(w, Some("fp32"), None).unwrap().baseline.time_s.unwrap().p50;
        let quiet = samples::heat();
        let mut busy = quiet.clone();
        busy.program.stolen_ns = Some(3 * busy.program.wall_ns);
        busy.program.wall_ns *= 4;
        busy.ops.iter_mut().for_each(|entry| (entry.cpu_ns, entry.gap_ns) = (4 * entry.cpu_ns, 4 * entry.gap_ns));
        assert!((time(&busy) / time(&quiet) - 1.0).abs() < 0.01, "{} {}", time(&busy), time(&quiet));
    }

    #[test]
    fn products_in_tf32_become_what_is_asked_for() {
        let mut heat = samples::heat();
        let op = Op::Matmul { m: 8, n: 8, k: 8, batch: 1, bias: false };
        heat.ops[0] = Entry { op, dtype: Dtype::Tf32, read_bytes: 512, written_bytes: 256, ..heat.ops[0].clone() };
        let cpu = crate::hardware::Catalogue::embedded().cpus()[0].device.clone();
        let after = |to| retimed(&heat, to, &cpu).ops[0].clone();
        let found =
            [Dtype::F64, Dtype::F32, Dtype::Tf32, Dtype::Bf16].map(|to| (after(to).dtype, after(to).read_bytes));
        let expected = [(Dtype::F64, 1024), (Dtype::F32, 512), (Dtype::Tf32, 512), (Dtype::Bf16, 256)];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_larger_problem_takes_longer_and_is_less_sure() {
        let heat = samples::heat();
        let times = ["0.5", "1", "2"].map(|scale| estimate(&heat, None, Some(scale)).unwrap().baseline.time_s.unwrap());
        assert!(times.is_sorted_by(|a, b| a.p50 < b.p50), "{times:?}");
        assert!(times[2].p90 / times[2].p50 > times[1].p90 / times[1].p50);
        let gpu = |scale| estimate(&heat, None, Some(scale)).unwrap().estimates[0].time_s.unwrap().p50;
        assert!(gpu("0.5") < gpu("4"));
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_field() {
        let heat = samples::heat();
        for (precision, scale, field) in [
            (Some("int8"), None, "precision"),
            (Some("<b>"), None, "precision"),
            (None, Some("0"), "size"),
            (None, Some("1e9"), "size"),
            (None, Some("-2"), "size"),
        ] {
            let error = estimate(&heat, precision, scale).unwrap_err();
            assert_eq!(error.field, Some(field), "{error:?}");
            assert!(error.hint.is_some(), "{error:?}");
        }
        let error = estimate(&Workload::default(), None, Some("2")).unwrap_err();
        assert_eq!(error.code, "no-size");
    }
}
