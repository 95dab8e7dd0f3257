//! How long the process was ready to run while other programs had the CPU, as Linux counts it.

/// Time that the main thread has spent waiting for a CPU, ns; `None` where the system does not say.
pub(crate) fn waited_ns() -> Option<u64> {
    // "time on a CPU, time waiting for one, times that it got one": Documentation/scheduler/sched-stats.rst
    read(&std::fs::read_to_string("/proc/self/schedstat").ok()?)
}

fn read(text: &str) -> Option<u64> {
    text.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_number_counts() {
        assert_eq!(read("1941000000 6315000000 627\n"), Some(6_315_000_000));
        for text in ["", "1", "1 x 2", "1 -2 3"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
