//! What every estimate takes.

use crate::calibrate::machine_file;
use crate::config::Settings;
use crate::failure::Failure;
use crate::input::catalogue_text;
use breakeven::calibration;
use breakeven::request::{Divided, Options, Typed};
use clap::Args;
use std::path::PathBuf;

/// What every estimate takes.
#[derive(Debug, Args)]
pub(crate) struct OptionArgs {
    /// A GPU by any name, several apart by commas; again for more [default: all of the catalogue]
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "Devices")]
    gpu: Vec<String>,
    /// Compare with this CPU instead of the one measured or given
    #[arg(long, value_name = "NAME", help_heading = "Devices")]
    cpu: Option<String>,
    /// Catalogue text that adds or overrides GPUs, CPUs, machine types, prices and places
    #[arg(long, value_name = "FILE", help_heading = "Devices")]
    catalogue: Option<PathBuf>,
    /// A machine file of another machine, made there by `breakeven calibrate`: compare with its CPU, and take its GPU's times
    /// [default: this machine's own, where there is one]
    #[arg(long, value_name = "FILE", help_heading = "Devices")]
    machine: Option<PathBuf>,
    /// Leave start-up out of the times, on both sides
    #[arg(long, help_heading = "Devices")]
    exclude_startup: bool,

    /// Price of one GPU: `0.80` $/h
    #[arg(long, value_name = "USD_PER_H", help_heading = "Money and energy", allow_negative_numbers = true)]
    price: Option<String>,
    /// Price of the CPU machine: `0.20` $/h
    #[arg(long, value_name = "USD_PER_H", help_heading = "Money and energy", allow_negative_numbers = true)]
    cpu_price: Option<String>,
    /// Only GPUs that rent for at most this, $/h
    #[arg(long, value_name = "USD_PER_H", help_heading = "Money and energy", allow_negative_numbers = true)]
    max_price: Option<String>,
    /// Spot prices
    #[arg(long, help_heading = "Money and energy")]
    spot: bool,
    /// Prices, grid and cooling of this country or cloud region
    #[arg(long, value_name = "NAME", help_heading = "Money and energy")]
    region: Option<String>,
    /// Prices of this cloud; without --gpu only the GPUs that it rents
    #[arg(long, value_name = "NAME", help_heading = "Money and energy")]
    provider: Option<String>,
    /// Prices of clouds, of marketplaces (many hosts, each with its own price), or of all [default: all]
    #[arg(long, value_name = "CLASS", help_heading = "Money and energy")]
    provider_class: Option<String>,
    /// Also the monthly bill
    #[arg(long, value_name = "N", help_heading = "Money and energy", allow_negative_numbers = true)]
    runs_per_month: Option<String>,
    /// Board power of one GPU: `320W`
    #[arg(long, value_name = "WATTS", help_heading = "Money and energy", allow_negative_numbers = true)]
    gpu_watts: Option<String>,
    /// Power of the CPU: `120W`
    #[arg(long, value_name = "WATTS", help_heading = "Money and energy", allow_negative_numbers = true)]
    cpu_watts: Option<String>,
    /// Price of electricity, $/kWh: cost is then that of energy, not of rent
    #[arg(long, value_name = "USD_PER_KWH", help_heading = "Money and energy", allow_negative_numbers = true)]
    electricity: Option<String>,

    /// Rows of the GPU table, in text, Markdown and HTML; JSON has all [default: 3, in --verbose 10, elsewhere all]
    #[arg(long, value_name = "N", help_heading = "Report", allow_negative_numbers = true)]
    pub(crate) top: Option<u32>,
    /// value, speed, cost, energy or name; value: by time × cost the GPUs that win (the first is the best value), then
    /// the others by time (where none wins, the first is the closest)
    #[arg(long, value_name = "KEY", help_heading = "Report")]
    sort: Option<String>,
    /// Exit with 1 when this holds: 'speedup<2', 'any cost_usd>0.01'
    #[arg(long, value_name = "POLICY", help_heading = "Report")]
    fail_if: Option<String>,
}

/// What `run` and `show` take about the recorded program beside what every estimate takes.
#[derive(Debug, Args)]
pub(crate) struct ProgramArgs {
    /// The CPU beside the GPU [default: the one measured]
    #[arg(long, value_name = "NAME", help_heading = "Program")]
    host_cpu: Option<String>,
    /// How the script would be ported: `cupy`; as-written for one that uses a GPU library itself
    #[arg(long, value_name = "PROFILE", help_heading = "Program")]
    port: Option<String>,
    /// resident (arrays stay on the GPU), naive (each call copies) or as-written
    #[arg(long, value_name = "POLICY", help_heading = "Program")]
    policy: Option<String>,
    /// The program in another precision: fp64, fp32, or fp32 with products in tf32 or bf16
    #[arg(long, value_name = "TYPE", help_heading = "Program")]
    precision: Option<String>,
    /// A problem so many times as large as the recorded one, as `2`
    #[arg(long, value_name = "TIMES", help_heading = "Program", allow_negative_numbers = true)]
    size: Option<String>,

    /// This many GPUs for one run; a network of PyTorch is divided, any other program is run on each
    #[arg(long, value_name = "N", help_heading = "Several GPUs", allow_negative_numbers = true)]
    gpus: Option<String>,
    /// How they divide it: dp, fsdp, zero1, zero2, zero3, `tp=4,pp=2`, with gpipe or 1f1b, `micro=8` [default: dp]
    #[arg(long, value_name = "LAYOUT", help_heading = "Several GPUs")]
    parallel: Option<String>,
    /// Network of one node, in one direction: `200Gb/s` [default: assumed by the kind of GPU]
    #[arg(long, value_name = "RATE", help_heading = "Several GPUs", allow_negative_numbers = true)]
    network: Option<String>,
    /// GPUs of one node [default: 8]
    #[arg(long, value_name = "N", help_heading = "Several GPUs", allow_negative_numbers = true)]
    per_node: Option<String>,
    /// weak (each copy has the recorded batch) or strong (copies share it) [default: weak]
    #[arg(long, value_name = "KIND", help_heading = "Several GPUs")]
    scaling: Option<String>,
}

impl ProgramArgs {
    /// `options` with these.
    pub(crate) fn of(&self, options: Options) -> Options {
        Options {
            host_cpu: self.host_cpu.clone(),
            port: self.port.clone(),
            policy: self.policy.clone(),
            precision: self.precision.clone(),
            size: typed(self.size.as_ref()),
            several: self.several(),
            ..options
        }
    }

    /// Several GPUs, where anything of them is asked.
    fn several(&self) -> Option<Divided> {
        let asked = Divided {
            gpus: typed(self.gpus.as_ref()),
            parallel: self.parallel.clone(),
            network: typed(self.network.as_ref()),
            per_node: typed(self.per_node.as_ref()),
            scaling: self.scaling.clone(),
        };
        (asked != Divided::default()).then_some(asked)
    }
}

/// A quantity as typed.
pub(super) fn typed(text: Option<&String>) -> Option<Typed> {
    text.map(|t| Typed::Text(t.clone()))
}

impl OptionArgs {
    /// As the engine takes them; what is not given is as it is set.
    ///
    /// # Errors
    /// A catalogue file that cannot be read, or is wrong.
    pub(crate) fn options(&self, settings: &Settings) -> Result<Options, Failure> {
        // With it the cost would be that of energy; a price that is given asks for that of rent.
        let electricity = match self.price {
            Some(_) => self.electricity.clone(),
            None => settings.or(self.electricity.as_ref(), "electricity"),
        };
        let region = settings.or(self.region.as_ref(), "region");
        let catalogue = catalogue_text(self.catalogue.as_deref(), region.as_deref())?;
        let machine = machine_file::chosen(self.machine.as_deref(), settings)?;
        let other = machine.as_ref().filter(|machine| machine.of_another).map(|_| calibration::CPU.to_owned());
        Ok(Options {
            gpu: settings.gpus(&self.gpu),
            cpu: self.cpu.clone().or(other),
            machine: machine.map(|machine| machine.text),
            price: typed(self.price.as_ref()),
            cpu_price: typed(self.cpu_price.as_ref()),
            gpu_watts: typed(self.gpu_watts.as_ref()),
            cpu_watts: typed(self.cpu_watts.as_ref()),
            electricity: electricity.map(Typed::Text),
            region,
            provider: settings.or(self.provider.as_ref(), "provider"),
            provider_class: settings.or(self.provider_class.as_ref(), "provider-class"),
            spot: self.spot,
            max_price: typed(self.max_price.as_ref()),
            runs_per_month: settings.or(self.runs_per_month.as_ref(), "runs-per-month").map(Typed::Text),
            exclude_startup: self.exclude_startup,
            top: self.top,
            sort: self.sort.clone(),
            catalogue,
            fail_if: self.fail_if.clone(),
            ..Options::default()
        })
    }
}
