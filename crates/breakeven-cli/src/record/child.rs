//! The script as a child: signals reach it as they would without us, and we stay to report.
//!
//! A signal that goes to the whole process group (from the terminal, `timeout`, `kill -- -PID`) the script has already;
//! one that a process sent to us alone is handed on. Handlers are installed after the start, so that the child inherits what was ignored
//! (`nohup`) as it was.

use super::witness::Witness;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::iterator::{Handle, SignalsInfo};
use signal_hook::low_level::siginfo::{Cause, Origin};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A signal may have been sent to the whole group: everybody in it is given so long to get theirs.
const OWN_COPY: Duration = Duration::from_millis(50);

/// How the script ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By itself, with this exit code.
    Code(i32),
    /// Killed by this signal.
    Signal(i32),
}

impl From<ExitStatus> for Ended {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (_, Some(signal)) => Self::Signal(signal),
            (code, None) => Self::Code(code.unwrap_or(1)),
        }
    }
}

/// Starts `command` and waits for its end; its process id and how it ended.
///
/// # Errors
/// It could not be started.
pub(crate) fn run(command: &mut Command) -> io::Result<(u32, Ended)> {
    run_and(command, |_| ())
}

/// The same, doing something of our own with its process id while it runs.
///
/// # Errors
/// It could not be started.
pub(crate) fn run_and(command: &mut Command, meanwhile: impl FnOnce(u32)) -> io::Result<(u32, Ended)> {
    // Before the script, so that no signal to both finds only one of them there.
    let witness = Witness::start();
    let mut child = command.spawn()?;
    let pid = child.id();
    let forwarding = Forwarding::start(&child, witness)?;
    meanwhile(pid);
    let ended = forwarding.wait(&mut child)?;
    Ok((pid, ended))
}

/// Hands signals on to the child for as long as it lives.
struct Forwarding {
    /// `None` once the child has ended: its number may then be another process's.
    target: Arc<Mutex<Option<Pid>>>,
    pid: Pid,
    signals: Handle,
}

impl Forwarding {
    fn start(child: &Child, mut witness: Witness) -> io::Result<Self> {
        let pid = Pid::from_child(child);
        let target = Arc::new(Mutex::new(Some(pid)));
        let mut signals = SignalsInfo::<WithOrigin>::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2])?;
        let (shared, handle) = (Arc::clone(&target), signals.handle());
        std::thread::spawn(move || {
            while !signals.is_closed() {
                let mut came: Vec<Origin> = signals.wait().collect();
                came.retain(|origin| matches!(origin.cause, Cause::Sent(_)));
                if came.is_empty() {
                    continue;
                }
                std::thread::sleep(OWN_COPY);
                if witness.was_hit() {
                    // What else came until now came to all of us, too: nobody was there to tell.
                    signals.pending().for_each(drop);
                    witness = Witness::start();
                } else {
                    came.iter().for_each(|origin| hand_on(origin, &shared));
                }
            }
        });
        Ok(Self { target, pid, signals: handle })
    }

    fn wait(self, child: &mut Child) -> io::Result<Ended> {
        // First without reaping, so that the number stays the child's until forwarding has stopped.
        while let Err(error) = waitid(WaitId::Pid(self.pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            if error != rustix::io::Errno::INTR {
                break;
            }
        }
        if let Ok(mut target) = self.target.lock() {
            *target = None;
        }
        // The handlers stay, doing nothing: a Ctrl-C from here on does not stop the report.
        self.signals.close();
        child.wait().map(Ended::from)
    }
}

fn hand_on(origin: &Origin, target: &Mutex<Option<Pid>>) {
    if let (Ok(target), Some(signal)) = (target.lock(), Signal::from_named_raw(origin.signal))
        && let Some(pid) = *target
    {
        // It may have become another user's (sudo): then the signal is not ours to send.
        let _ = kill_process(pid, signal);
    }
}

/// Ends this process by `signal`, as the script ended; a core file stays the script's.
pub(crate) fn die_by(signal: i32) -> ! {
    let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Core, none);
    let _ = signal_hook::low_level::emulate_default_handler(signal);
    // Those that have no default to restore, such as SIGKILL.
    let _ = signal_hook::low_level::raise(signal);
    std::process::exit(128 + signal)
}
