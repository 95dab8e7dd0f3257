//! `breakeven fleet LOG…`: the jobs of a cluster, and what of their GPUs is wasted.

use crate::args::{FleetArgs, FleetFormat};
use crate::failure::{Failure, Outcome, say};
use crate::{cores, input, output};
use breakeven::Result;
use breakeven::estimate::Estimate;
use breakeven::quantity::Measure;
use breakeven::report::words::{count, printable};
use breakeven::request::Request;
use breakeven_fleet::models::Models;
use breakeven_fleet::names::Names;
use breakeven_fleet::part::Context;
use breakeven_fleet::read::Out;
use breakeven_fleet::{Fleet, Given, Mapping, Options, Recording, Recordings, policy, report, run};
use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

/// Runs the command.
pub(crate) fn fleet(args: &FleetArgs) -> Outcome {
    let stdout = PathBuf::from("-");
    let report = args.output.as_ref().unwrap_or(&stdout);
    let files = [("the report", Some(report)), ("--html", args.html.as_ref()), ("--out", args.out.as_ref())];
    output::apart(&files, &args.logs)?;
    let conditions = args.fail_if.iter().map(|text| policy::read(text)).collect::<Result<Vec<_>>>()?;
    let catalogue = input::catalogue(args.catalogue.as_deref())?;
    let given = given(args)?;
    // What is wrong with them is told before the logs are read.
    Models::new(&catalogue, given.clone())?;
    let mapping =
        args.mapping.as_deref().map(|file| Ok::<_, Failure>(Mapping::read(&input::text(file)?)?)).transpose()?;
    let options = Options { mapping, columns: args.columns.clone(), delimiter: args.delimiter };
    let recordings = Recordings::new(recordings(&args.recordings)?);
    let key = key(args)?;
    let context = |usage| {
        let models = Models::new(&catalogue, given.clone())?;
        Ok(Context { names: Names::new(key), models, recordings: recordings.clone(), usage })
    };
    let rows = Rows::default();
    let mut open = || rows.open(args.out.as_deref());
    let mut progress = progress();
    let done = run(&args.logs, &options, &context, &mut open, &mut progress);
    if io::stderr().is_terminal() {
        let _ = write!(io::stderr(), "\r\u{1b}[K");
    }
    let (fleet, out) = done?;
    out.finish()?;
    rows.finish(args.out.as_deref())?;
    deliver(args, &fleet)?;
    let failed = conditions.iter().zip(&args.fail_if).filter(|(condition, _)| policy::fails(condition, &fleet));
    let failed: Vec<&String> = failed.map(|(_, text)| text).collect();
    for text in &failed {
        say(&format!("--fail-if: `{}` holds, or is not known", printable(text, 60)));
    }
    Ok(ExitCode::from(u8::from(!failed.is_empty())))
}

fn deliver(args: &FleetArgs, fleet: &Fleet<'_>) -> std::result::Result<(), Failure> {
    let terminal = Some(io::stdout()).filter(|out| args.output.is_none() && out.is_terminal());
    let text = match args.format {
        FleetFormat::Text => report::text(fleet, output::width(terminal).map(usize::from)),
        FleetFormat::Json => report::json(fleet),
        FleetFormat::Markdown => report::markdown(fleet),
    };
    output::write_to(args.output.as_deref(), text.as_bytes())?;
    if let Some(file) = &args.html {
        output::write_to(Some(file), report::html(fleet).as_bytes())?;
        output::wrote(file);
    }
    if let Some(file) = &args.out {
        output::wrote(file);
    }
    Ok(())
}

/// What the user says of GPUs and money.
fn given(args: &FleetArgs) -> std::result::Result<Given, Failure> {
    let price = |text: &Option<String>| text.as_deref().map(|text| Measure::UsdPerHour.parse(text)).transpose();
    let mut given =
        Given { usd_per_gpu_h: price(&args.price)?, usd_per_cpu_h: price(&args.cpu_price)?, ..Given::default() };
    for gpu in &args.gpu {
        match gpu.split_once('=') {
            Some((name, gpu)) => given.named.push((name.trim().to_owned(), gpu.trim().to_owned())),
            None if given.gpu.is_some() => {
                let message = format!("--gpu {} is the second GPU of jobs that name none", printable(gpu, 60));
                return Err(Failure::new("two-gpus", message, "give one alone, and others as NAME=GPU"));
            }
            None => given.gpu = Some(gpu.clone()),
        }
    }
    Ok(given)
}

/// The key that names are hashed with.
fn key(args: &FleetArgs) -> std::result::Result<Option<[u8; 32]>, Failure> {
    const LEAST: usize = 16;
    let mut key = [0; 32];
    if let Some(file) = &args.anonymise_key {
        let bytes = fs::read(file).map_err(|e| Failure::file("read", file, &e))?;
        if bytes.len() < LEAST {
            let message = format!("{} holds {} bytes: a key has at least {LEAST}", file.display(), bytes.len());
            return Err(Failure::new("short-key", message, "make one: head -c 32 /dev/urandom > fleet.key"));
        }
        return Ok(Some(breakeven_fleet::names::key_of(&bytes)));
    }
    if !args.anonymise {
        return Ok(None);
    }
    let random = Path::new("/dev/urandom");
    let mut file = fs::File::open(random).map_err(|e| Failure::file("read", random, &e))?;
    file.read_exact(&mut key).map_err(|e| Failure::file("read", random, &e))?;
    Ok(Some(key))
}

/// What was recorded, estimated on every GPU.
fn recordings(paths: &[PathBuf]) -> std::result::Result<Vec<Recording>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let entries = fs::read_dir(path).map_err(|e| Failure::file("read", path, &e))?;
            let of = |entry: fs::DirEntry| Some(entry.path()).filter(|file| is_recording(file));
            let before = files.len();
            files.extend(entries.filter_map(std::result::Result::ok).filter_map(of));
            files[before..].sort();
            if files.len() == before {
                let message = format!("{} holds no *.breakeven.json", path.display());
                return Err(Failure::new("no-recording", message, "`breakeven run --save FILE SCRIPT` writes one"));
            }
        } else {
            files.push(path.clone());
        }
    }
    let one = |file: &PathBuf| {
        let workload = input::workload(file)?;
        let script = workload.program.argv.first().cloned().unwrap_or_else(|| workload.program.name.clone());
        let request = Request { today: input::today(), workload: Some(Box::new(workload)), ..Request::default() };
        let answer = output::working(&format!("estimating {}", file.display()), || cores::answer(&request))?;
        Ok(recording(script, &answer))
    };
    files.iter().map(one).collect()
}

fn is_recording(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.ends_with(".breakeven.json") || name.ends_with(".breakeven.json.gz")
}

fn recording(script: String, answer: &Estimate) -> Recording {
    let best = answer.estimates.iter().find(|gpu| Some(&gpu.gpu) == answer.summary.best_gpu.as_ref());
    let (gpu, speedup) = (best.map(|best| best.name.clone()), best.and_then(|best| best.speedup));
    Recording { script, verdict: answer.summary.verdict, gpu, speedup }
}

/// Where rows are written to while they come: a file that appears when it is whole.
#[derive(Clone, Default)]
struct Rows(Arc<Mutex<Option<output::Pending>>>);

impl Rows {
    fn open(&self, path: Option<&Path>) -> Result<Out> {
        let Some(path) = path else { return Ok(Out::nowhere()) };
        let pending = output::Pending::new(path).map_err(|failure| match failure {
            Failure::Input(error) => error,
            Failure::ReaderGone => breakeven::Error::new("file", "nobody reads what is written"),
        })?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(pending);
        Out::parquet(Box::new(self.clone()))
    }

    fn finish(&self, path: Option<&Path>) -> std::result::Result<(), Failure> {
        let pending = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match pending.zip(path) {
            Some((pending, path)) => pending.finish().map_err(|e| Failure::file("write", path, &e)),
            None => Ok(()),
        }
    }
}

impl Write for Rows {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut pending = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pending.as_mut().map_or(Ok(bytes.len()), |pending| pending.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut pending = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pending.as_mut().map_or(Ok(()), Write::flush)
    }
}

/// Says on a terminal how far it is, every so many rows.
fn progress() -> impl FnMut(u64) + Send {
    const EVERY: u64 = 100_000;
    let terminal = io::stderr().is_terminal();
    let mut told = 0;
    move |rows| {
        if terminal && rows >= told + EVERY {
            told = rows;
            let _ = write!(io::stderr(), "\r{} rows\u{1b}[K", count(rows));
        }
    }
}
