//! Ops that a recorder tells whole: it has looked into a compiled function, an estimator or a query.

use super::{Call, Lowered};
use crate::workload::{Dtype, Op};
use serde::Deserialize;

/// The keyword `op` of an event, as JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    op: Op,
    dtype: Dtype,
    /// Bytes of one run; where neither is told they are those of the op's dims.
    #[serde(default)]
    read: u64,
    #[serde(default)]
    written: u64,
}

/// The op of a call that tells it; `None` where it does not, or what it tells does not read.
pub(super) fn op(call: &Call) -> Option<Lowered> {
    let Told { op, dtype, read, written } = serde_json::from_str(call.keyword("op")?).ok()?;
    Some(Lowered { op, dtype, read, written })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::lower;

    fn told(text: &str) -> Lowered {
        let keywords = [("op", text)];
        lower(&Call { name: "jax.jit", inputs: &[], outputs: &[], keywords: &keywords, scalar_result: false })
    }

    #[test]
    fn what_is_told_is_taken_as_it_is() {
        let part = r#"{"op": {"scan": {"rows": 1, "width": 9}}, "dtype": "f32", "count": 3}"#;
        let lowered = told(&format!(r#"{{"op": {{"routine": {{"parts": [{part}]}}}}, "dtype": "f32", "read": 36}}"#));
        assert!(matches!(&lowered.op, Op::Routine { parts } if parts[0].count == 3), "{lowered:?}");
        assert_eq!((lowered.dtype, lowered.read, lowered.written), (Dtype::F32, 36, 0));
    }

    #[test]
    fn what_does_not_read_is_not_understood() {
        for text in ["", "{}", "[", r#"{"op": {"scan": {"rows": -1}}, "dtype": "f32"}"#] {
            assert_eq!(told(text).op, Op::Opaque, "{text}");
        }
    }
}
