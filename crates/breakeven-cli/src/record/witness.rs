//! Whether a signal was sent to us alone or to our whole process group, the script included.
//!
//! The kernel does not say. A process of ours in the same group does: one that does nothing but wait, and that any of
//! the signals in question ends.

use std::process::{Child, Command, Stdio};

/// A process that waits until we are gone.
pub(super) struct Witness(Option<Child>);

impl Witness {
    /// Starts one; where that fails, every signal will look as if it were sent to us alone.
    pub(super) fn start() -> Self {
        let mut command = Command::new("sh");
        // Its input ends with us. It leaves no core file behind.
        command.args(["-c", "ulimit -c 0; exec cat"]).env_clear();
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        Self(command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok())
    }

    /// Whether a signal has reached it since it was started.
    pub(super) fn was_hit(&mut self) -> bool {
        self.0.as_mut().is_some_and(|child| !matches!(child.try_wait(), Ok(None)))
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            // One that has ended already has nothing more to end.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
