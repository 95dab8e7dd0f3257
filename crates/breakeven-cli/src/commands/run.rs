//! `breakeven run SCRIPT`: the script as it is, recorded; then the report.

use super::sizes::{self, Scales};
use super::{drawing, estimate::policy, misplaced, typed};
use crate::args::{Fake, Format, Recorder, ReportArgs, RunArgs};
use crate::config::Settings;
use crate::failure::{Failure, Outcome, say};
use crate::record::{self, Ended, Python};
use crate::{cores, input, output};
use breakeven::answer::answer_request;
use breakeven::estimate::gpu::USABLE_MEMORY;
use breakeven::hardware::{Catalogue, Vendor};
use breakeven::request::{Options, Request, Sized, Sizes};
use breakeven::workload::{Exit, Workload};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Runs the command. Until the script starts, what is wrong is an error (2); after it, a warning.
pub(crate) fn run(args: &RunArgs, settings: &Settings) -> Outcome {
    let command = script(args)?;
    reachable(args)?;
    let scales = args.scale.as_deref().map(sizes::read).transpose()?;
    let what = match &scales {
        Some(scales) => {
            sizes::marked(&command)?;
            sizes::arguments(&command, &scales.main)
        }
        None => command.clone(),
    };
    let options = Options { timeline: args.drawing.wanted(), ..args.program.of(args.options.options(settings)?) };
    check(&options)?;
    let pretended = args.pretend_gpu.as_deref().map(|name| pretended(name, &options)).transpose()?;
    let python = record::find(args.python.as_deref())?;

    if args.module.is_none() {
        misplaced::tell(&args.command);
    }
    let folder = tempfile::Builder::new()
        .prefix("breakeven-")
        .tempdir()
        .map_err(|e| Failure::file("make a temporary folder in", &std::env::temp_dir(), &e))?;
    let first = folder.path().join("1");
    let (pid, ended) = start(args, &python, &what, &first, pretended.as_ref(), false)
        .map_err(|e| Failure::file("start", &python.path, &e))?;

    let report = Request { today: input::today(), options, ..Request::default() };
    let again = Again {
        args,
        python: &python,
        what: &what,
        scaled: scales.as_ref().map(|scales| (command.as_slice(), scales)),
        first: &first,
        pretended: pretended.as_ref(),
    };
    let verdict = after(&again, pid, ended, report);
    drop(folder);
    match ended {
        Ended::Signal(signal) => record::die_by(signal),
        // A process's exit code has eight bits.
        Ended::Code(0) => Ok(verdict),
        Ended::Code(code) => Ok(ExitCode::from(u8::try_from(code & 0xff).unwrap_or(1))),
    }
}

/// The arguments for Python: `SCRIPT ARGS…` or `-m MODULE ARGS…`.
fn script(args: &RunArgs) -> Result<Vec<OsString>, Failure> {
    if let Some(module) = &args.module {
        return Ok([&["-m".into(), module.clone()], args.command.as_slice()].concat());
    }
    let Some(script) = args.command.first() else {
        let hint = "as in `breakeven run heat.py`, or `breakeven run -m package.module`";
        return Err(Failure::new("no-script", "no script is named", hint));
    };
    let path = Path::new(script);
    match path.metadata() {
        Ok(found) if found.is_dir() && !path.join("__main__.py").is_file() => {
            let message = format!("{} is a folder without __main__.py: Python cannot run it", path.display());
            Err(Failure::new("no-script", message, "name the script in it, or use -m for a package"))
        }
        Ok(_) if path.extension().is_some_and(|ending| ending == "ipynb") => {
            let message = format!("{} is a notebook: Python cannot run it", path.display());
            let hint = "`%load_ext breakeven` and `%%breakeven` record its cells, or `jupyter nbconvert --to script` makes a script of it";
            Err(Failure::new("no-script", message, hint))
        }
        Ok(_) => std::fs::File::open(path).map(|_| args.command.clone()).map_err(|e| Failure::file("read", path, &e)),
        Err(_) if script == "-" => {
            let hint = "save the script to a file, or pass it as /dev/stdin";
            Err(Failure::new("no-script", "`-` is no script: stdin belongs to the script itself", hint))
        }
        Err(_) if looks_like_a_module(&script.to_string_lossy()) => {
            let message = format!("there is no file {}", path.display());
            Err(Failure::new("no-script", message, format!("for a module: breakeven run -m {}", path.display())))
        }
        Err(e) => Err(Failure::new(
            "no-script",
            format!("cannot read the script {}: {}", path.display(), crate::failure::system_words(&e)),
            "options of breakeven come before the script, the script's own after it",
        )),
    }
}

fn looks_like_a_module(name: &str) -> bool {
    let dotted = name.contains('.') && !name.contains('/');
    dotted && ![".py", ".pyw", ".pyz", ".pyc", ".ipynb"].iter().any(|ending| name.ends_with(ending))
}

/// Refuses reports that could not be written, before the script takes its time.
fn reachable(args: &RunArgs) -> Result<(), Failure> {
    let ReportArgs { format, output, .. } = &args.report;
    if *format != Format::Text && output.is_none() && args.report_fd.is_none() {
        let message = "stdout belongs to the script: json and markdown need a place of their own";
        return Err(Failure::new("no-output", message, "add --output FILE or --report-fd N"));
    }
    if let Some(fd) = args.report_fd {
        output::open_descriptor(fd)?;
    }
    let written =
        [&[("--output", output.as_ref()), ("--save", args.save.as_ref())][..], &args.drawing.files()].concat();
    let script = args.command.first().filter(|_| args.module.is_none()).map(PathBuf::from);
    output::apart(&written, script.as_slice())?;
    for file in written.into_iter().filter_map(|(_, file)| file) {
        if output::is_stdout(file) {
            let hint = "name a file, or for the report a descriptor: --report-fd 3 3>report.json";
            return Err(Failure::new("no-output", "`-` is stdout, which belongs to the script", hint));
        }
        let folder = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            let message = format!("there is no folder {} to write {} in", folder.display(), file.display());
            return Err(Failure::new("no-folder", message, format!("mkdir -p {}", folder.display())));
        }
        if file.is_dir() {
            let message = format!("{} is a folder: a file is needed", file.display());
            return Err(Failure::new("no-folder", message, "name the file in it"));
        }
    }
    Ok(())
}

/// Refuses bad options by estimating nothing with them.
pub(super) fn check(options: &Options) -> Result<(), Failure> {
    let request = Request {
        today: input::today(),
        workload: Some(Box::default()),
        options: options.clone(),
        ..Request::default()
    };
    match answer_request(&request) {
        // Nothing has no size; whether the script has one is seen when it has run.
        Err(error) if error.code != "no-size" => Err(error.into()),
        _ => Ok(()),
    }
}

/// A GPU that is imitated.
struct Pretended {
    /// In the catalogue.
    id: String,
    /// What PyTorch is to answer for it, as the Python side reads it.
    figures: String,
}

/// The GPU of this name, imitated.
fn pretended(name: &str, options: &Options) -> Result<Pretended, Failure> {
    let catalogue = Catalogue::embedded().and(options.catalogue.as_deref())?;
    let found = catalogue.find_gpu(name)?;
    let gpu = match found.gpus.as_slice() {
        [gpu] => gpu,
        several => {
            let names: Vec<_> = several.iter().map(|gpu| gpu.id()).collect();
            let message = format!("`{name}` is {} GPUs, and a script can be shown one", several.len());
            return Err(Failure::new("several-gpus", message, format!("one of {}", names.join(", "))));
        }
    };
    let (id, gpu) = (gpu.id().to_string(), &gpu.device);
    let cuda = gpu.compute_capability.as_ref().filter(|_| gpu.vendor == Vendor::Nvidia);
    let (Some(capability), Some(units)) = (cuda, gpu.units) else {
        let message = format!("{} has no CUDA: PyTorch scripts that ask for it would not see it", gpu.name);
        return Err(Failure::new("no-cuda", message, "an NVIDIA GPU, such as l4 or h100-sxm"));
    };
    let vendor = if gpu.name.starts_with("NVIDIA") { "" } else { "NVIDIA " };
    let memory = gpu.memory.get();
    let figures = serde_json::json!({
        "name": format!("{vendor}{}", gpu.name), "memory": memory as u64, "usable": (memory * USABLE_MEMORY) as u64,
        "capability": capability, "units": units, "cache": gpu.cache.map_or(0, |bytes| bytes.get() as u64),
    });
    Ok(Pretended { id, figures: figures.to_string() })
}

/// Runs the script once, its records going to `folder`; a `silent` run has no input and no output.
fn start(
    args: &RunArgs,
    python: &Python,
    what: &[OsString],
    folder: &Path,
    pretended: Option<&Pretended>,
    silent: bool,
) -> io::Result<(u32, Ended)> {
    std::fs::create_dir(folder)?;
    let mut command = Command::new(&python.path);
    command.args(["-m", "breakeven._run"]).args(what).env("BREAKEVEN_RECORD_DIR", folder);
    command.env("BREAKEVEN_PARENT", std::process::id().to_string());
    if let Some(recorder) = args.recorder {
        command.env("BREAKEVEN_RECORDER", recorder.name());
    }
    if let Some(pretended) = pretended {
        command.env("BREAKEVEN_PRETEND_GPU", &pretended.figures);
    }
    match args.fake {
        Fake::Auto => {}
        Fake::Always => drop(command.env("BREAKEVEN_FAKE", "1")),
        Fake::Never => drop(command.env("BREAKEVEN_FAKE", "0")),
    }
    if silent {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    }
    record::run(&mut command)
}

/// How the script was run.
struct Again<'a> {
    args: &'a RunArgs,
    python: &'a Python,
    what: &'a [OsString],
    /// The command as typed, and the sizes that it is to be run at.
    scaled: Option<(&'a [OsString], &'a Scales)>,
    first: &'a Path,
    pretended: Option<&'a Pretended>,
}

/// Everything after the script's end; nothing here is an error any more.
fn after(again: &Again, pid: u32, ended: Ended, mut request: Request) -> ExitCode {
    let args = again.args;
    if args.recorder == Some(Recorder::Off) {
        return ExitCode::SUCCESS;
    }
    if let Ended::Signal(signal) = ended
        && matches!(signal, signal_hook::consts::SIGSEGV | signal_hook::consts::SIGBUS)
    {
        say(
            "note: the script died by a memory fault; `--recorder ast` or `--recorder off` runs it without native hooks",
        );
    }
    let Some(mut workload) = record::gather(again.first, pid) else {
        say("warning: nothing was recorded, so there is nothing to report");
        return ExitCode::SUCCESS;
    };
    workload.program.exit = match ended {
        Ended::Code(code) => Exit::Code(code),
        Ended::Signal(signal) => Exit::Signal(signal),
    };
    workload.program.imitated_gpu = again.pretended.map(|gpu| gpu.id.clone());
    if ended == Ended::Code(0) {
        workload.program.repeat_wall_ns = repeats(again);
    } else if args.fake != Fake::Always && workload.unseen.iter().any(|unseen| unseen.reason == "memory-short") {
        say(&format!(
            "note: the script ended as this machine's memory ran short, and may have done things that cannot be done \
             twice: it is not run again by itself. Without values it needs next to none:\n  {}",
            with_fake()
        ));
    }
    if ended == Ended::Code(0) {
        request.sizes = other_sizes(again);
    }
    let saved = args.save.as_deref().map(|file| save(&workload, file).and_then(|()| save_sizes(again, &request, file)));
    if let Some(Err(failure)) = saved {
        say("warning: the workload was not saved");
        failure.report();
    }
    let no_gpu = no_gpu(&workload, &request.options);
    if let Some(told) = &no_gpu {
        say(told);
    }
    request.workload = Some(Box::new(workload));
    let mut answer = match output::working("estimating", || cores::answer(&request)) {
        Ok(answer) => answer,
        Err(error) => {
            say("warning: there is no report");
            Failure::Input(error).report();
            return ExitCode::SUCCESS;
        }
    };
    if let Some(workload) = &request.workload
        && let Err(failure) = drawing::write(&args.drawing, workload, &request, &mut answer, args.report.quiet)
    {
        say("warning: what was asked for beside the report was not written");
        failure.report();
    }
    let text = output::render(&answer, &args.report, io::stderr());
    let written = match (args.report_fd, &args.report.output) {
        (Some(fd), _) => output::write_descriptor(fd, text.as_bytes()),
        (None, Some(file)) => output::write_to(Some(file), text.as_bytes()),
        // Nothing of what it would have done was seen.
        (None, None) if no_gpu.is_some() => Ok(()),
        (None, None) => {
            say(&format!("\n{text}"));
            Ok(())
        }
    };
    if let Err(failure) = written {
        say("warning: the report was not written");
        failure.report();
    }
    policy(&answer)
}

/// The command as it was typed, with `--fake`.
fn with_fake() -> String {
    let words: Vec<_> = typed::words().into_iter().filter(|w| w != "--fake=auto" && w != "--fake=never").collect();
    typed::again(&words, &["--fake".into()])
}

/// Where the script ended for want of a GPU or of a module: what happened, and what to type or do instead, in two lines.
fn no_gpu(workload: &Workload, options: &Options) -> Option<String> {
    let asked = workload.unseen.iter().find(|unseen| ["no-gpu", "no-module"].contains(&unseen.reason.as_str()))?;
    if !workload.failed() {
        return None;
    }
    let Some((what, instead)) = asked.text.split_once(": ") else { return Some(format!("note: {}", asked.text)) };
    if !instead.starts_with("--pretend-gpu") {
        return Some(format!("note: {what}\n hint: {instead}"));
    }
    let shown = options.gpu.iter().find_map(|name| imitable(name, options)).unwrap_or_else(|| "l4".to_owned());
    let again = typed::again(&typed::words(), &["--pretend-gpu".into(), shown.into()]);
    Some(format!("note: {what}\n hint: to record it as if there were one: {again}"))
}

/// How one GPU that can be imitated is named, where `name` means any: itself, or the id of the first of several.
fn imitable(name: &str, options: &Options) -> Option<String> {
    if pretended(name, options).is_ok() {
        return Some(name.to_owned());
    }
    let catalogue = Catalogue::embedded().and(options.catalogue.as_deref()).ok()?;
    let ids = catalogue.find_gpu(name).ok()?.gpus.into_iter().map(|gpu| gpu.id().to_string());
    ids.into_iter().find(|id| pretended(id, options).is_ok())
}

/// Wall times of runs 2 to N, ns, recorded as the first was; they end with the first that does not end well.
fn repeats(again: &Again) -> Vec<u64> {
    let mut times = Vec::new();
    for n in 2..=again.args.repeat {
        let Some(workload) = once_more(again, again.what, &n.to_string()) else {
            let of = again.args.repeat;
            say(&format!("warning: run {n} of {of} did not end well without input: it is not counted"));
            break;
        };
        times.push(workload.program.wall_ns.saturating_sub(workload.program.stolen_ns.unwrap_or(0)));
    }
    times
}

/// The same program at the other sizes. A run that does not end well is left out.
fn other_sizes(again: &Again) -> Option<Sizes> {
    let (command, scales) = again.scaled?;
    let mut others = Vec::new();
    for (n, size) in scales.others.iter().enumerate() {
        say(&format!("recording at size {} …", size.0));
        match once_more(again, &sizes::arguments(command, size), &format!("size-{n}")) {
            Some(workload) => others.push(Sized { scale: size.1, workload: Box::new(workload) }),
            None => say(&format!("warning: the run at size {} did not end well without input: it is left out", size.0)),
        }
    }
    (!others.is_empty()).then_some(Sizes { now: scales.main.1, others })
}

/// Another run, recorded without input and output, its records in the folder of that name beside the first's; nothing
/// where it does not end well.
fn once_more(again: &Again, what: &[OsString], name: &str) -> Option<Workload> {
    let folder = again.first.with_file_name(name);
    match start(again.args, again.python, what, &folder, again.pretended, true) {
        Ok((pid, Ended::Code(0))) => record::gather(&folder, pid),
        _ => None,
    }
}

/// Writes the runs of the other sizes beside `file`: `heat.breakeven.json` as `heat.0.25.breakeven.json`.
fn save_sizes(again: &Again, request: &Request, file: &Path) -> Result<(), Failure> {
    let (Some(sizes), Some((_, scales))) = (&request.sizes, again.scaled) else { return Ok(()) };
    for run in &sizes.others {
        let typed = scales.others.iter().find(|(_, value)| *value == run.scale).map_or("", |(typed, _)| typed);
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let (stem, endings) =
            name.split_once('.').map_or((name.as_ref(), String::new()), |(s, e)| (s, format!(".{e}")));
        save(&run.workload, &file.with_file_name(format!("{stem}.{typed}{endings}")))?;
    }
    Ok(())
}

/// Writes the workload, packed where the name ends in `.gz`.
pub(super) fn save(workload: &Workload, file: &Path) -> Result<(), Failure> {
    let text = workload.to_json()?;
    let packed = file.extension().is_some_and(|e| e == "gz");
    let bytes = if packed { input::pack(text.as_bytes()) } else { text.into_bytes() };
    output::write_to(Some(file), &bytes)?;
    output::wrote(file);
    Ok(())
}
