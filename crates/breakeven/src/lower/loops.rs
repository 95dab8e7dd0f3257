//! Loops of a compiled function as kernels, one thread a round of a loop whose rounds do not need each other.
//!
//! The recorder counts, the table of functions (`callables/flops.csv`) says what each costs:
//!
//! ```text
//! {"parts": [{"n": 40000, "count": 200, "dtype": "f64", "functions": {"one": 5}, "read": 320000, "written": 320000},
//!            {"op": {"transfer": {"direction": "d2h", "bytes": 8}}, "dtype": "f64"}]}
//! ```

use super::{Call, Lowered, elementwise};
use crate::workload::{Dtype, Op, Part};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The keyword `facts` of an event, as JSON.
#[derive(Deserialize)]
struct Facts {
    parts: Vec<Kernel>,
}

#[derive(Deserialize)]
struct Kernel {
    /// Threads, where it is a loop's.
    #[serde(default)]
    n: u64,
    /// How often a thread does what a row of `callables/flops.csv` names: `one` is an addition, a product, a test.
    #[serde(default)]
    functions: BTreeMap<String, f64>,
    /// The op itself, where it is no loop's.
    op: Option<Op>,
    dtype: Dtype,
    #[serde(default = "once")]
    count: u64,
    #[serde(default)]
    read: u64,
    #[serde(default)]
    written: u64,
}

const fn once() -> u64 {
    1
}

/// From this share of a kernel's arithmetic on its functions decide how long it takes.
const MOSTLY: f64 = 0.2;

/// The op of a call that tells its loops; `None` where it does not, or what it tells does not read.
pub(super) fn op(call: &Call) -> Option<Lowered> {
    let Facts { parts } = serde_json::from_str(call.keyword("facts")?).ok()?;
    let (mut read, mut written) = (0_u64, 0_u64);
    let mut dtype = None;
    let mut lowered = Vec::with_capacity(parts.len());
    for kernel in parts {
        let op = kernel.op.clone().map_or_else(|| threads(&kernel), Some)?;
        read = read.saturating_add(kernel.read.saturating_mul(kernel.count));
        written = written.saturating_add(kernel.written.saturating_mul(kernel.count));
        dtype.get_or_insert(kernel.dtype);
        let Kernel { dtype, count, read: read_bytes, written: written_bytes, .. } = kernel;
        lowered.push(Part { op, dtype, count, read_bytes, written_bytes });
    }
    Some(Lowered { op: Op::Routine { parts: lowered }, dtype: dtype.unwrap_or(Dtype::F64), read, written })
}

/// The kernel of a loop; `None` where a function is not in the table.
fn threads(kernel: &Kernel) -> Option<Op> {
    let (mut flop, mut by_polynomial) = (0.0, 0.0);
    for (function, times) in &kernel.functions {
        let cost = elementwise::cost(function)?;
        flop += cost.flop * times;
        by_polynomial += if cost.transcendental { cost.flop * times } else { 0.0 };
    }
    let transcendental = by_polynomial > MOSTLY * flop;
    Some(Op::Elementwise { n: kernel.n, inputs: 1, flop_per_element: flop, transcendental })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::lower;

    fn facts(text: &str) -> Lowered {
        let keywords = [("facts", text)];
        lower(&Call { name: "numba.njit", inputs: &[], outputs: &[], keywords: &keywords, scalar_result: false })
    }

    #[test]
    fn functions_cost_what_the_table_says() {
        let kernel =
            r#"{"n": 9, "count": 3, "dtype": "f32", "functions": {"one": 2, "sin": 1}, "read": 8, "written": 4}"#;
        let copy = r#"{"op": {"transfer": {"direction": "d2h", "bytes": 8}}, "dtype": "f64"}"#;
        let lowered = facts(&format!(r#"{{"parts": [{kernel}, {copy}]}}"#));
        let Op::Routine { parts } = &lowered.op else { panic!("{lowered:?}") };
        let sine = elementwise::cost("sin").map_or(0.0, |cost| cost.flop);
        let op = Op::Elementwise { n: 9, inputs: 1, flop_per_element: 2.0 + sine, transcendental: true };
        assert_eq!(parts[0], Part { op, dtype: Dtype::F32, count: 3, read_bytes: 8, written_bytes: 4 });
        assert_eq!((parts.len(), lowered.read, lowered.written, lowered.dtype), (2, 24, 12, Dtype::F32));
    }

    #[test]
    fn what_does_not_read_is_not_understood() {
        let unknown = r#"{"parts": [{"n": 9, "dtype": "f32", "functions": {"no such": 2}}]}"#;
        for text in ["", "{}", r#"{"parts": [{"n": -1, "dtype": "f32"}]}"#, unknown] {
            assert_eq!(facts(text).op, Op::Opaque, "{text}");
        }
    }
}
