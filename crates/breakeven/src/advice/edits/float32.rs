//! Single precision: half the bytes everywhere, and many times the rate where a GPU computes double slowly.

use super::super::draft::{Draft, is_array_work};
use super::super::{Change, Context, Edit};
use crate::estimate::Side;
use crate::report::words;
use crate::workload::{Dtype, Entry, Op};

pub(super) const EDIT: Edit = Edit { id: "float32", sides: &[Side::Gpu, Side::Cpu], apply };

/// Share of the array time that may be factorisations and solves: their results can need every digit.
const FACTOR_SHARE: f64 = 0.10;
/// What solves step by step until a residual is small enough, which single precision may never reach.
const SOLVERS: [&str; 4] = ["scipy.integrate.", "scipy.linalg.", "scipy.optimize.", "scipy.sparse.linalg."];
/// Share of the array time in double precision from which the change is worth a word.
const DOUBLE_SHARE: f64 = 0.20;
/// Bytes of an op below which a CPU spends its time on the call and not on the numbers.
const SMALL: u64 = 1 << 16;

fn apply<'a>(draft: &Draft<'a>, ctx: &Context, side: Side) -> Option<Change<'a>> {
    let work = || draft.workload.ops.iter().filter(|e| is_array_work(&e.op));
    // By the model where nothing was timed: what it is part of does not matter, only how much.
    let spent = |e: &Entry| e.cpu_ns as f64;
    let all: f64 = work().map(spent).sum();
    // Made in double precision and converted on the same line (`rand(n).astype(np.float32)`): the script is past that.
    let converted =
        |e: &Entry| draft.workload.sites.get(e.site as usize).is_some_and(|site| site.text.contains("float32"));
    let double: f64 = work().filter(|e| single(e.dtype).is_some() && !converted(e)).map(spent).sum();
    let via = |e: &Entry| draft.workload.sites.get(e.site as usize).and_then(|site| site.via.as_deref());
    let solves = |e: &Entry| {
        matches!(e.op, Op::Factor { .. })
            || via(e).is_some_and(|via| SOLVERS.iter().any(|package| via.starts_with(package)))
    };
    let factor: f64 = work().filter(|e| solves(e)).map(spent).sum();
    if all <= 0.0 || double < DOUBLE_SHARE * all || factor > FACTOR_SHARE * all || wanted(draft) {
        return None;
    }
    let mut out = draft.clone();
    for (old, entry) in draft.workload.ops.iter().zip(&mut out.workload.ops) {
        let Some(dtype) = single(old.dtype) else { continue };
        if let Op::Transfer { bytes, .. } = &mut entry.op {
            *bytes /= 2;
        } else if !is_array_work(&old.op) {
            continue;
        }
        entry.dtype = dtype;
        entry.read_bytes /= 2;
        entry.written_bytes /= 2;
        entry.host_input_bytes /= 2;
        if side == Side::Cpu && old.read_bytes.saturating_add(old.written_bytes) >= SMALL {
            entry.cpu_ns = ctx.cpu_ns_after([old].into_iter(), entry);
        }
    }
    let written = |double: bool| -> f64 {
        let counted = work().filter(|e| !double || single(e.dtype).is_some());
        counted.map(|e| e.written_bytes as f64).sum()
    };
    let share = written(true) / written(false).max(1.0);
    for peak in [&mut out.workload.program.peak_bytes, &mut out.workload.program.device_peak_bytes] {
        *peak = (*peak as f64 * (1.0 - share / 2.0)) as u64;
    }
    let rate = match side {
        Side::Gpu => match (ctx.device.peaks.f64_vector, ctx.device.peaks.f32_vector) {
            (Some(double), Some(single)) if double.get() > 0.0 && single / double >= 4.0 => {
                // Published peaks are rounded; the units are built in powers of two.
                let rate = libm::exp2(libm::round(libm::log2(single / double)));
                format!("; {} computes double precision at 1:{rate:.0}", ctx.device.name)
            }
            _ => String::new(),
        },
        Side::Cpu => String::new(),
    };
    Some(Change {
        draft: out,
        title: "Single precision (float32)".to_owned(),
        why: format!(
            "{} of the array time is double precision, which moves twice the bytes{rate}",
            words::percent(double / all)
        ),
        site: None,
        patch: None,
        ready: Some("x = x.astype(np.float32)  # where arrays are made, and dtype=np.float32 for new ones".to_owned()),
        risk: Some(
            "about seven digits; sums of many terms and differences of near equals lose more: compare results once",
        ),
    })
}

/// The same kind of number in half the bytes.
fn single(dtype: Dtype) -> Option<Dtype> {
    match dtype {
        Dtype::F64 => Some(Dtype::F32),
        Dtype::C128 => Some(Dtype::C64),
        _ => None,
    }
}

/// Whether some line asks for double precision by name: then it is meant.
fn wanted(draft: &Draft) -> bool {
    let words = ["float64", "complex128", "double", "longdouble"];
    draft.workload.sites.iter().any(|s| words.iter().any(|w| s.text.contains(w)))
}
