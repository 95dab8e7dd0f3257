//! How long the process was ready to run while other programs had the CPU, as Linux counts it.

/// Time that the main thread has spent waiting for a CPU, ns; `None` where the system does not say.
pub(crate) fn waited_ns() -> Option<u64> {
    // "time on a CPU, time waiting for one, times that it got one": Documentation/scheduler/sched-stats.rst
    read(&std::fs::read_to_string("/proc/self/schedstat").ok()?)
}

/// The same of all threads together, and of every kind of waiting for a CPU; 0 where the system does not say.
pub(crate) fn waited_by_all_ns() -> u64 {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return 0 };
    let counted = |thread: std::fs::DirEntry| read(&std::fs::read_to_string(thread.path().join("schedstat")).ok()?);
    threads.flatten().filter_map(counted).sum()
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
