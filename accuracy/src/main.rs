//! Fits the kernel model to measurements, and says how wrong it is.
//!
//! `accuracy score --data DIR` compares; `accuracy fit --data DIR` fits the constants and prints the tables that the
//! core embeds. `DIR` is laid out as the documentation of `data` says; files may be missing.

mod calibrated;
mod carry;
mod convolutions;
mod data;
mod fit;
mod graph;
#[cfg(test)]
mod ledger;
mod measured;
mod networks;
mod others;
mod power;
mod programs;
mod rows;
mod score;
mod speed;
mod statistics;
mod traces;
mod zoo;

use breakeven::kernel::Constants;
use clap::{Parser, Subcommand, ValueEnum};
use score::{Fits, Fold};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

#[derive(Parser)]
#[command(about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compare the model with measurements.
    Score {
        /// Folder of measurements.
        #[arg(long, required_unless_present = "measured")]
        data: Option<PathBuf>,
        /// A file of the measuring kit instead: how far the model is off from it.
        #[arg(long, conflicts_with_all = ["data", "Leave"])]
        measured: Option<PathBuf>,
        /// The device that the file's name for it stands for.
        #[arg(long, requires = "measured")]
        device: Option<String>,
        /// So many cores of that CPU.
        #[arg(long, requires = "measured")]
        cores: Option<u32>,
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
        #[command(flatten)]
        leave: Leave,
        /// Also write every kernel with its measured and modelled time to this CSV file.
        #[arg(long)]
        rows: Option<PathBuf>,
    },
    /// Compare watts, and times under power caps, with measurements.
    Power {
        /// Folder of measurements.
        #[arg(long)]
        data: PathBuf,
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
        /// Refit without each GPU in turn and score it with that fit.
        #[arg(long)]
        leave_one_gpu_out: bool,
        /// Print what a fit to all of it gives for `power.csv` instead.
        #[arg(long)]
        fit: bool,
    },
    /// Compare steps of whole image networks with measurements.
    Steps {
        /// Folder of measurements.
        #[arg(long)]
        data: PathBuf,
        #[command(flatten)]
        leave: Leave,
        /// Also write every kernel of them to this CSV file.
        #[arg(long)]
        rows: Option<PathBuf>,
    },
    /// Say how much nearer two thirds of a GPU's kernels bring the model to the other third.
    Calibrated {
        /// Files of the measuring kit.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Carry measured times from one GPU to another; fits and scores the table of ratios.
    Carry {
        /// Folder of measurements.
        #[arg(long)]
        data: PathBuf,
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
        /// Every GPU as a target, and not only those with traces of whole networks.
        #[arg(long)]
        all: bool,
        /// Also write the table of ratios to this file.
        #[arg(long)]
        write: Option<PathBuf>,
    },
    /// Say how fast the model answers.
    Speed {
        /// Folder of measurements: their kernels, and the largest of its networks.
        #[arg(long)]
        data: PathBuf,
    },
    /// Fit the constants; prints `constants.csv` and `spread.csv`.
    Fit {
        /// Folder of measurements.
        #[arg(long)]
        data: PathBuf,
        /// Write both tables into this folder instead.
        #[arg(long)]
        write: Option<PathBuf>,
    },
}

/// Refit without some GPUs in turn and score them with that fit.
#[derive(clap::Args)]
#[group(multiple = false)]
struct Leave {
    /// Without each GPU, and others of its chip.
    #[arg(long)]
    leave_one_gpu_out: bool,
    /// Without each generation, by its maker's name for the architecture.
    #[arg(long)]
    leave_one_generation_out: bool,
    /// Without each maker.
    #[arg(long)]
    leave_one_maker_out: bool,
}

impl Leave {
    fn fold(&self) -> Option<Fold> {
        match self {
            Self { leave_one_gpu_out: true, .. } => Some(Fold::Chip),
            Self { leave_one_generation_out: true, .. } => Some(Fold::Generation),
            Self { leave_one_maker_out: true, .. } => Some(Fold::Maker),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
}

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Score { measured: Some(file), device, cores, format, rows, .. } => {
            let report = measured::score(&file, device.as_deref(), cores, rows.as_deref())?;
            match format {
                Format::Text => show(&report.text())?,
                Format::Json => show(&format!("{}\n", serde_json::to_string_pretty(&report)?))?,
            }
        }
        Command::Score { data, format, leave, rows, .. } => {
            let data = data::read(&data.unwrap_or_default())?;
            for (gpu, rows) in &data.unknown {
                eprintln!("warning: {rows} rows left out: `{gpu}` is neither in aliases.csv nor in the catalogue");
            }
            for (name, ids) in &data.shared {
                eprintln!("warning: `{name}` names {}: taken for the first; aliases.csv can say which", ids.join(", "));
            }
            for network in data.networks.iter().filter(|n| !n.unknown.is_empty()) {
                let names: Vec<String> =
                    network.unknown.iter().map(|(name, times)| format!("`{name}` ({times})")).collect();
                eprintln!(
                    "warning: {} {}: {:.0} % of the calls are of ops that nobody knows and missing from the time: {}",
                    network.model,
                    network.phase,
                    100.0 * network.unknown_share(),
                    names.join(", ")
                );
            }
            let score = match leave.fold() {
                Some(fold) => score::leave_one_out(&data, fold),
                None => score::with_shipped(&data),
            };
            if let Some(file) = rows {
                score.write_rows(&data, &file)?;
            }
            match format {
                Format::Text => show(&score.report.text())?,
                Format::Json => show(&format!("{}\n", serde_json::to_string(&score.report)?))?,
            }
        }
        Command::Power { data, fit: true, .. } => show(&power::fitted(&data)?)?,
        Command::Power { data, format, leave_one_gpu_out, .. } => {
            let report = power::score(&data, leave_one_gpu_out)?;
            match format {
                Format::Text => show(&report.text())?,
                Format::Json => show(&format!("{}\n", serde_json::to_string_pretty(&report)?))?,
            }
        }
        Command::Steps { data, leave, rows } => {
            let data = data::read(&data)?;
            let fits = leave.fold().map(|fold| Fits::of(&data, fold));
            let constants = |gpu| fits.as_ref().map_or(Constants::shipped(), |fits| fits.without(gpu));
            show(&programs::text(&programs::rows(&data, constants)))?;
            if let Some(file) = rows {
                programs::write_kernels(&data, &file)?;
            }
        }
        Command::Calibrated { files } => {
            let reports = files.iter().map(|file| calibrated::score(file)).collect::<Result<Vec<_>>>()?;
            show(&format!("{}\n", serde_json::to_string_pretty(&reports)?))?;
        }
        Command::Carry { data: folder, format, all, write } => {
            let report = carry::report(&data::read(&folder)?, &folder, all)?;
            if let Some(file) = write {
                std::fs::write(file, &report.spread)?;
            }
            match format {
                Format::Text => show(&report.text())?,
                Format::Json => show(&format!("{}\n", serde_json::to_string(&report)?))?,
            }
        }
        Command::Speed { data } => show(&speed::speed(&data::read(&data)?)?)?,
        Command::Fit { data, write } => {
            let data = data::read(&data)?;
            let (constants, spread) = fit::tables(&data);
            match write {
                Some(folder) => {
                    std::fs::write(folder.join("constants.csv"), constants)?;
                    std::fs::write(folder.join("spread.csv"), spread)?;
                }
                None => show(&format!("{constants}\n{spread}"))?,
            }
        }
    }
    Ok(())
}

/// Writes to stdout. Whoever reads it may stop early, as `head` does.
fn show(text: &str) -> Result<()> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}
