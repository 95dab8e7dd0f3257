//! Copies: read once, written once; a fill (no inputs) only writes.

use super::Need;

pub(super) fn need(n: f64, inputs: u32, s: f64) -> Need {
    let passes = if inputs == 0 { 1.0 } else { 2.0 };
    Need { flop: 0.0, bytes: passes * n * s }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fill_only_writes() {
        assert_eq!(need(1000.0, 0, 4.0).bytes, 4000.0);
        assert_eq!(need(1000.0, 1, 4.0).bytes, 8000.0);
        assert_eq!(need(1000.0, 3, 4.0).bytes, 8000.0); // n is what is copied in all
    }
}
