//! Indexed reads and writes: the element, its 8-byte index, and the other side.

use super::{Need, Pass};

/// Bytes of an index.
const INDEX: f64 = 8.0;

pub(super) fn gather(n: f64, s: f64) -> Need {
    Need { flop: 0.0, bytes: n * (2.0 * s + INDEX) }
}

/// With `accumulate` the target is read as well, and one add done.
pub(super) fn scatter(n: f64, accumulate: bool, s: f64) -> Need {
    if accumulate {
        Need { flop: n, bytes: n * (3.0 * s + INDEX) }
    } else {
        Need { flop: 0.0, bytes: n * (2.0 * s + INDEX) }
    }
}

/// Whole rows by one index each; the gradient adds them back into the table.
pub(super) fn embedding(pass: Pass, n: f64, width: f64, s: f64) -> Need {
    match pass {
        Pass::Forward => Need { flop: 0.0, bytes: n * (2.0 * width * s + INDEX) },
        _ => Need { flop: n * width, bytes: n * (3.0 * width * s + INDEX) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_doubles_by_index() {
        assert_eq!(gather(10.0, 8.0), Need { flop: 0.0, bytes: 240.0 });
        assert_eq!(scatter(10.0, true, 8.0), Need { flop: 10.0, bytes: 320.0 });
    }

    #[test]
    fn a_row_has_one_index() {
        assert_eq!(embedding(Pass::Forward, 4.0, 768.0, 4.0).bytes, 4.0 * (6144.0 + 8.0));
        assert_eq!(embedding(Pass::Backward, 4.0, 768.0, 4.0).flop, 3072.0);
    }
}
