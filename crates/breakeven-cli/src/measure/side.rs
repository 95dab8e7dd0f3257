//! One side: the script in a process of its own, by `python -m breakeven.measure.run`, and what that wrote.

use super::activity::{Activity, Watching};
use crate::failure::{Failure, say};
use crate::record::{self, Ended, Python};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What drivers of GPUs make: NVIDIA on Linux, in WSL, on Jetson; AMD.
const DEVICES: [&str; 4] = ["/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-gpu", "/dev/kfd"];
/// Exit codes of the runner: there is no GPU for this side; something could not be written; Ctrl-C.
const NO_GPU: i32 = 4;
const CANNOT: i32 = 5;
const INTERRUPTED: i32 = 130;

/// Whether this machine has the driver of a GPU.
pub(crate) fn has_gpu() -> bool {
    DEVICES.iter().any(|path| Path::new(path).exists())
}

/// How a side runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// As it is, the GPU hidden.
    Cpu,
    /// As it is.
    Gpu,
    /// NumPy's functions by CuPy.
    Port,
    /// The same by the stand-in, which computes on the CPU: its times are none of a GPU's.
    CheckPort,
    /// On the CPU in double precision, to see which side of a difference is off.
    Float64,
    /// Recorded, for the prediction.
    Record,
}

impl How {
    const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
            Self::Port => "port",
            Self::CheckPort => "check-port",
            Self::Float64 => "float64",
            Self::Record => "record",
        }
    }
}

/// What the runner tells of a side.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Side {
    /// `cpu`, `gpu`, `port`, `check-port`.
    pub(crate) side: String,
    /// Cold first.
    pub(crate) runs: Vec<Run>,
    /// What the reader should know.
    #[serde(default)]
    pub(crate) notes: Vec<String>,
    /// Of NumPy, SciPy and the libraries that use a GPU, those that were imported.
    #[serde(default)]
    pub(crate) libraries: Vec<String>,
    /// What the GPU calls itself.
    #[serde(default)]
    pub(crate) device: Option<String>,
    /// Whether a library has had memory on a GPU.
    #[serde(default)]
    pub(crate) gpu_used: Option<bool>,
    /// What the drivers saw of the GPUs meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) activity: Option<Activity>,
    /// Why the side could not be run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refused: Option<String>,
    /// Its folder.
    #[serde(skip)]
    pub(crate) folder: PathBuf,
    /// Whether Ctrl-C ended it.
    #[serde(skip)]
    pub(crate) interrupted: bool,
    /// The signal that killed it, if one did.
    #[serde(skip)]
    pub(crate) killed: Option<i32>,
}

/// One run of the script.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Run {
    /// Wall time, s.
    pub(crate) seconds: f64,
    /// The script's exit code.
    pub(crate) exit: i32,
    /// Ended by Ctrl-C.
    #[serde(default)]
    pub(crate) interrupted: bool,
    /// The copy of the folder that it ran in.
    #[serde(skip_serializing, default)]
    pub(crate) root: PathBuf,
    /// What it printed as errors, a file.
    #[serde(skip_serializing, default)]
    pub(crate) stderr: PathBuf,
    /// What the GPU used, J, by the board's own counter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) joules: Option<f64>,
    /// What the port did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) port: Option<Port>,
}

/// What the port did in one run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Port {
    /// Calls that CuPy took.
    pub(crate) calls: u64,
    /// Copies between host and device.
    pub(crate) copies: Vec<Copy>,
    /// Calls that it did not take.
    pub(crate) fallbacks: Vec<Fallback>,
    /// Times by line, where each call waited for the device.
    #[serde(default)]
    pub(crate) lines: Vec<Line>,
}

/// Copies that one line asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Copy {
    /// `h2d` or `d2h`.
    pub(crate) direction: String,
    pub(crate) file: String,
    pub(crate) line: u32,
    /// What for.
    pub(crate) what: String,
    pub(crate) count: u64,
    pub(crate) bytes: u64,
    pub(crate) seconds: f64,
}

/// Calls of one function at one line that NumPy computed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Fallback {
    pub(crate) function: String,
    pub(crate) file: String,
    pub(crate) line: u32,
    /// Why CuPy did not.
    pub(crate) reason: String,
    pub(crate) count: u64,
    /// Copied for them.
    pub(crate) bytes: u64,
}

/// Calls of one line, each waited for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Line {
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) calls: u64,
    pub(crate) seconds: f64,
}

impl Side {
    /// Times of the warm runs, s, the shortest first; that of the only run where there is no other.
    pub(crate) fn warm(&self) -> Vec<f64> {
        let ended: Vec<&Run> = self.runs.iter().filter(|run| run.exit == 0 && !run.interrupted).collect();
        let mut times: Vec<f64> = ended.iter().skip(usize::from(ended.len() > 1)).map(|run| run.seconds).collect();
        times.sort_by(f64::total_cmp);
        times
    }

    /// Runs that ended well.
    pub(crate) fn ended(&self) -> usize {
        self.runs.iter().filter(|run| run.exit == 0 && !run.interrupted).count()
    }

    /// Takes the times out: those of the stand-in are no GPU's. JSON has `null` for them.
    pub(crate) fn without_times(mut self) -> Self {
        for run in &mut self.runs {
            run.seconds = f64::NAN;
            for copy in run.port.iter_mut().flat_map(|port| &mut port.copies) {
                copy.seconds = f64::NAN;
            }
        }
        self
    }

    /// Time of the first run, s.
    pub(crate) fn cold(&self) -> Option<f64> {
        self.runs.first().filter(|run| run.exit == 0 && !run.interrupted).map(|run| run.seconds)
    }

    /// The first run that did not end well, Ctrl-C apart.
    pub(crate) fn failed(&self) -> Option<&Run> {
        self.runs.iter().find(|run| run.exit != 0 && !run.interrupted)
    }

    /// Whether the script has a side of its own on a GPU.
    pub(crate) fn uses_gpu_library(&self) -> bool {
        ["cupy", "torch", "jax", "tensorflow"].iter().any(|name| self.uses(name))
    }

    /// Whether this library was imported.
    pub(crate) fn uses(&self, library: &str) -> bool {
        self.libraries.iter().any(|name| name == library)
    }

    /// A path in a copy of the folder as the user knows it.
    pub(crate) fn known<'a>(&self, file: &'a str) -> &'a str {
        let inside = |run: &Run| {
            let root = run.root.to_str()?;
            file.strip_prefix(root)?.strip_prefix('/')
        };
        self.runs.iter().find_map(inside).unwrap_or(file)
    }
}

/// Runs sides, each in a folder of its own.
pub(crate) struct Runner<'a> {
    pub(crate) python: &'a Python,
    pub(crate) folder: &'a Path,
    pub(crate) repeat: Option<u32>,
}

impl Runner<'_> {
    /// Runs `command` (a script and its arguments) on one side, in the folder of this name.
    ///
    /// # Errors
    /// Python cannot be started; the copies cannot be written.
    pub(crate) fn run(&self, name: &str, how: How, command: &[OsString]) -> Result<Side, Failure> {
        self.run_as(name, how, command, self.repeat, false)
    }

    /// The same once more, with a wait after each call, for the times of the lines.
    pub(crate) fn lines(&self, name: &str, how: How, command: &[OsString]) -> Result<Side, Failure> {
        self.run_as(name, how, command, Some(1), true)
    }

    fn run_as(
        &self,
        name: &str,
        how: How,
        command: &[OsString],
        repeat: Option<u32>,
        lines: bool,
    ) -> Result<Side, Failure> {
        let folder = self.folder.join(name);
        let mut python = self.python(how, &folder);
        if let Some(repeat) = repeat {
            python.arg(format!("--repeat={repeat}"));
        }
        if lines {
            python.arg("--lines=1");
        }
        python.arg("--").args(command).stderr(Stdio::piped());
        let watching = matches!(how, How::Gpu | How::Port).then(Watching::start).flatten();
        let (ended, told) = start(&mut python).map_err(|e| Failure::file("start", &self.python.path, &e))?;
        match ended {
            Ended::Code(0 | NO_GPU | INTERRUPTED) | Ended::Signal(_) => {}
            Ended::Code(CANNOT) => {
                let message = format!("the script cannot be run in a copy of its folder: {}", told.trim_end());
                return Err(Failure::new("no-copy", message, "make room, or set TMPDIR to a folder that has some"));
            }
            Ended::Code(code) => {
                let last = told.trim_end().lines().last().unwrap_or_default();
                let message = format!("the run of the {} side ended with {code}: {last}", how.name());
                return Err(Failure::new("no-measurement", message, "`breakeven doctor` says what is missing"));
            }
        }
        let mut side = std::fs::read(folder.join("result.json"))
            .ok()
            .and_then(|text| serde_json::from_slice::<Side>(&text).ok())
            .unwrap_or_else(|| Side { side: how.name().to_owned(), ..Side::default() });
        side.activity = watching.and_then(Watching::finish);
        let sigint = signal_hook::consts::SIGINT;
        side.interrupted = matches!(ended, Ended::Code(INTERRUPTED)) || ended == Ended::Signal(sigint);
        side.killed = match ended {
            Ended::Signal(signal) if signal != sigint => Some(signal),
            _ => None,
        };
        side.folder = folder;
        Ok(side)
    }

    /// Records the script, for the prediction; nothing where that does not end well.
    pub(crate) fn record(&self, command: &[OsString]) -> Option<breakeven::workload::Workload> {
        let folder = self.folder.join("record");
        let mut python = self.python(How::Record, &folder);
        python.arg("--").args(command).stderr(Stdio::null());
        match record::run(&mut python) {
            Ok((pid, Ended::Code(0))) => record::gather(&folder.join("record"), pid),
            Ok(_) => None,
            Err(error) => {
                say(&format!("warning: the script was not recorded: {error}"));
                None
            }
        }
    }

    fn python(&self, how: How, folder: &Path) -> Command {
        let mut command = Command::new(&self.python.path);
        command.args(["-m", "breakeven.measure.run"]).arg(format!("--side={}", how.name()));
        let mut out = OsString::from("--out=");
        out.push(folder);
        command.arg(out).stdin(Stdio::null()).stdout(Stdio::null());
        if std::env::var_os("PYTHONHASHSEED").is_none() {
            // The order of sets is the same on both sides.
            command.env("PYTHONHASHSEED", "0");
        }
        command
    }
}

/// How a process ended, and what it wrote to stderr.
fn start(command: &mut Command) -> std::io::Result<(Ended, String)> {
    let (mut reader, writer) = std::io::pipe()?;
    command.stderr(writer);
    let reading = std::thread::spawn(move || {
        let mut told = Vec::new();
        let _ = reader.read_to_end(&mut told);
        String::from_utf8_lossy(&told).into_owned()
    });
    let ended = record::run(command);
    // The last writer goes, so that reading ends.
    command.stderr(Stdio::null());
    let (_, ended) = ended?;
    Ok((ended, reading.join().unwrap_or_default()))
}
