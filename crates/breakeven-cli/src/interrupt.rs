//! Ctrl-C: one line, and exit code 130. Not for `run`, whose script it is for, nor for `serve` and `watch`, which it ends.

use crate::failure::say;
use signal_hook::consts::SIGINT;
use signal_hook::iterator::Signals;
use std::io::{self, IsTerminal};

/// 128 + SIGINT, as shells tell it.
const INTERRUPTED: i32 = 130;

/// Waits for Ctrl-C beside whatever the command does.
pub(crate) fn watch() {
    let Ok(mut signals) = Signals::new([SIGINT]) else { return };
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            // What a terminal showed of the work goes.
            let clear = if io::stderr().is_terminal() { "\r\u{1b}[K" } else { "" };
            say(&format!("{clear}Interrupted (Ctrl-C)"));
            std::process::exit(INTERRUPTED);
        }
    });
}
