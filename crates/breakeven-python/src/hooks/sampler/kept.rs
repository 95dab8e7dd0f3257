//! How long the main thread was ready to run and did not, because other programs had the processors.
//!
//! Only a file of `/proc` tells. The sampling thread reads it through a table of file descriptors of its own, in which there
//! is nothing else: the script finds the numbers of its files, and their ends, as they would be without it.

use std::io::Write;

/// The file, open in this thread alone.
pub(super) struct Kept(libc::c_int);

impl Kept {
    /// Opens it for the thread that Linux knows by this number. `None` where the kernel has no such call (before 5.9), or
    /// keeps no such counts; then this thread shares the script's descriptors still, and opens none.
    pub(super) fn of(thread: i32) -> Option<Self> {
        const CLOSE_RANGE_UNSHARE: libc::c_uint = 2;
        let mut path = [0_u8; 64];
        write!(&mut path[..], "/proc/self/task/{thread}/schedstat").ok()?;
        // SAFETY: the call gives this thread an empty table of descriptors and closes none of the script's; the path ends in a
        // zero, as the buffer is longer.
        let file = unsafe {
            if libc::syscall(libc::SYS_close_range, 0, libc::c_uint::MAX, CLOSE_RANGE_UNSHARE) != 0 {
                return None;
            }
            libc::open(path.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC)
        };
        (file >= 0).then_some(Self(file))
    }

    /// All of it so far, ns.
    pub(super) fn ns(&self) -> u64 {
        let mut text = [0_u8; 96];
        // SAFETY: the kernel writes into the buffer alone.
        let length = unsafe { libc::pread(self.0, text.as_mut_ptr().cast(), text.len(), 0) };
        let text = text.get(..usize::try_from(length).unwrap_or(0)).unwrap_or_default();
        std::str::from_utf8(text).ok().and_then(crate::waited::read).unwrap_or(0)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: opened by this thread, in its own table.
        unsafe { libc::close(self.0) };
    }
}
