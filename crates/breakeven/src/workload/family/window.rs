//! Sliding windows: one operation per output and window element (two when it is weighted: resize, stencil); a median
//! window is sorted. Bytes are input and output once each: neighbours share the rest in cache.

use super::{Need, Pass, log2};
use crate::workload::op::Window;

pub(super) fn need(kind: Window, pass: Pass, [n, input, window]: [f64; 3], s: f64) -> Need {
    let each = match kind {
        Window::MaxPool | Window::AveragePool => window,
        Window::Resize | Window::Stencil => 2.0 * window,
        Window::Median => window * log2(window).max(1.0),
    };
    let passes = if pass == Pass::Backward { 2.0 } else { 1.0 };
    Need { flop: passes * n * each, bytes: passes * (n + input) * s }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pooling_and_stencil() {
        let dims = [100.0, 400.0, 4.0];
        assert_eq!(need(Window::MaxPool, Pass::Forward, dims, 4.0), Need { flop: 400.0, bytes: 2000.0 });
        assert_eq!(need(Window::Stencil, Pass::Forward, dims, 4.0).flop, 800.0);
        assert_eq!(need(Window::Median, Pass::Forward, dims, 4.0).flop, 800.0); // 4·log₂ 4
    }
}
