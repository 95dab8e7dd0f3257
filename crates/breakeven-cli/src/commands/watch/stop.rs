//! What ends a session without a command: Ctrl-C and its kin. What was seen is reported all the same.
//! A terminal that hangs up is not among them, so that `nohup` keeps its meaning.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::mpsc::Sender;

/// 128 + SIGINT, as shells tell it.
const INTERRUPTED: i32 = 130;

/// Stops at the first such signal; the second ends us where we stand.
pub(super) fn by_signals(stop: Sender<()>) {
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return std::mem::forget(stop) };
    std::thread::spawn(move || {
        let mut coming = signals.forever();
        coming.next();
        let _ = stop.send(());
        coming.next();
        std::process::exit(INTERRUPTED);
    });
}
